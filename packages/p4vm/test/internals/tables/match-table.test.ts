import { describe, expect, it } from 'vitest';
import { ActionProfile } from '../../../src/externs/action-profile.js';
import { Calculations } from '../../../src/externs/calculations.js';
import { DirectCounter } from '../../../src/externs/counter.js';
import { DirectMeter } from '../../../src/externs/meter.js';
import { createRandomBits } from '../../../src/externs/random.js';
import { ControlError, type ControlErrorCode } from '../../../src/tables/control-error.js';
import { MatchTable } from '../../../src/tables/match-table.js';
import type { BoundAction } from '../../../src/tables/table.js';
import { ParserValueSet } from '../../../src/tables/value-set.js';
import {
  action,
  any,
  bits,
  call,
  constEntry,
  drop,
  environment,
  exact,
  extern,
  forward,
  integer,
  key,
  masked,
  member,
  prefix,
  range,
  table,
  to,
  valueSet,
} from './declarations.js';

function refusal(attempt: () => unknown): ControlErrorCode | undefined {
  try {
    attempt();
    return undefined;
  } catch (error) {
    if (error instanceof ControlError) return error.code;
    throw error;
  }
}

/** A result of a lookup, which the next lookup changes. */
function seen({ action, data, words, isHit, handle }: BoundAction): object {
  return { action, data, words: [...words].slice(0, data.length), isHit, handle };
}

const oneKey = [key('hdr.a', bits(16), 'exact')];

describe('entries and handles', () => {
  it('gives the lowest free slot again, with a version above it', () => {
    const tested = new MatchTable(table({ keys: oneKey }), environment());
    const add = (value: number): number => tested.add([exact(value)], to(1, 7));
    expect([add(1), add(2), add(3)]).toEqual([0, 1, 2]);
    tested.delete(1);
    tested.delete(0);
    expect(add(4)).toBe(0x01000000);
    expect(add(5)).toBe(0x01000001);
    expect(refusal(() => tested.delete(0))).toBe('ERR_CONTROL_EXPIRED_HANDLE');
    expect(refusal(() => tested.modify(9, to(2)))).toBe('ERR_CONTROL_BAD_HANDLE');
    expect(seen(tested.lookup(4))).toEqual({ action: 1, data: [7], words: [7], isHit: true, handle: 0x01000000 });
    tested.clear();
    expect(add(6)).toBe(0);
  });

  it('gives the lowest of many free slots, whatever the order in which they became free', () => {
    const tested = new MatchTable(table({ size: 50_000, keys: oneKey }), environment());
    const add = (value: number): number => tested.add([exact(value)], to(1, 7));
    for (let value = 0; value < 50_000; value++) add(value);
    const freed = Array.from({ length: 25_000 }, (_, index) => (index * 7919) % 50_000);
    for (const handle of freed) tested.delete(handle);
    const again = [...new Set(freed)].sort((a, b) => a - b);
    expect(again.map((value) => add(value) & 0xffffff)).toEqual(again);
  });

  it('changes the action of an entry, and refuses actions and data it has not got', () => {
    const tested = new MatchTable(table({ keys: oneKey }), environment());
    const handle = tested.add([exact(1)], to(2));
    tested.modify(handle, to(3, 0x0000_1234_5678_9abcn, 0xff));
    expect(tested.lookup(1).data).toEqual([0x1234_5678_9abcn, -1]);
    expect([...tested.lookup(1).words]).toEqual([0x5678_9abc, 0x1234, -1]);
    expect(refusal(() => tested.modify(handle, to(9)))).toBe('ERR_CONTROL_UNKNOWN_ACTION');
    expect(refusal(() => tested.modify(handle, to(1)))).toBe('ERR_CONTROL_WRONG_ARITY');
    expect(tested.lookup(1).action).toBe(3);
  });

  it('cuts action data to the width of the parameter, and shows them as they were given', () => {
    const tested = new MatchTable(table({ keys: oneKey }), environment());
    const handle = tested.add([exact(1)], to(1, 0x3ff));
    expect(tested.lookup(1).data).toEqual([0x1ff]);
    expect(tested.entry(handle).target).toEqual(to(1, 0x3ff));
    tested.modify(handle, to(1, 5));
    expect(tested.entry(handle).target).toEqual(to(1, 5));
    tested.modify(handle, to(1, -1));
    expect(tested.entry(handle).target).toEqual(to(1, -1));
    tested.delete(handle);
    expect(tested.entry(tested.add([exact(1)], to(1, 6))).target).toEqual(to(1, 6));
  });

  it('says what every lookup finds while it is empty, unless misses are counted or chosen', () => {
    const tested = new MatchTable(table({ keys: oneKey, defaultAction: call(1, 5) }), environment());
    expect(seen(tested.empty!)).toEqual({ action: 1, data: [5], words: [5], isHit: false, handle: -1 });
    tested.setDefault(to(1, 6));
    expect(tested.empty?.data).toEqual([6]);
    const handles = [tested.add([exact(1)], to(2)), tested.add([exact(2)], to(2))];
    expect(tested.empty).toBeUndefined();
    tested.delete(handles[0]!);
    expect(tested.empty).toBeUndefined();
    tested.delete(handles[1]!);
    expect(tested.empty?.data).toEqual([6]);
    tested.add([exact(1)], to(2));
    tested.clear();
    expect(tested.empty?.data).toEqual([6]);
    const counter = new DirectCounter(extern(0, 'direct_counter', 'c', [member('CounterType', 'packets')]));
    const counted = new MatchTable(table({ keys: oneKey }), environment(), { counter });
    expect([counted.empty, counted.isEmpty]).toEqual([undefined, true]);
    const found = [counted.miss(), counted.lookup(1)].map(seen);
    expect(found[0]).toEqual(found[1]);
    expect(counter.readMisses().packets).toBe(2);
    counted.add([exact(1)], to(2));
    expect(counted.isEmpty).toBe(false);
    const entries = [constEntry([exact(1)], call(2), 1)];
    expect(new MatchTable(table({ keys: oneKey, entries }), environment()).empty).toBeUndefined();
  });

  it('keeps a copy of a result', () => {
    const tested = new MatchTable(table({ keys: oneKey }), environment());
    tested.add([exact(1)], to(1, 7));
    tested.add([exact(2)], to(1, 8));
    const first = tested.lookup(1).copy();
    expect([tested.lookup(2).data, first.data, first.isHit, first.handle]).toEqual([[8], [7], true, 0]);
  });

  it('refuses keys that are too wide, too many, or of another kind', () => {
    const tested = new MatchTable(table({ keys: oneKey }), environment());
    const add = (...keys: Parameters<MatchTable['add']>[0]): unknown => tested.add(keys, to(2));
    expect(refusal(() => add(exact(0x10000)))).toBe('ERR_CONTROL_VALUE_TOO_WIDE');
    expect(refusal(() => add(exact(1), exact(1)))).toBe('ERR_CONTROL_WRONG_ARITY');
    expect(refusal(() => add(masked(1, 1)))).toBe('ERR_CONTROL_BAD_MATCH');
    expect(refusal(() => add(any))).toBe('ERR_CONTROL_BAD_MATCH');
    expect(tested.count).toBe(0);
  });

  it('has no entries without keys, and takes the default action then', () => {
    const tested = new MatchTable(table({ defaultAction: call(1, 5) }), environment());
    expect(refusal(() => tested.add([], to(2)))).toBe('ERR_CONTROL_NO_KEY');
    expect(seen(tested.lookup())).toEqual({ action: 1, data: [5], words: [5], isHit: false, handle: -1 });
  });

  it('keeps entries of the program, and refuses changes of constant ones', () => {
    const entries = [constEntry([exact(1)], call(2), 1), constEntry([exact(2)], call(1, 4), 2)];
    const tested = new MatchTable(table({ keys: oneKey, entries, areEntriesConst: true }), environment());
    expect(tested.lookup(2)).toMatchObject({ action: 1, data: [4], isHit: true });
    expect(refusal(() => tested.add([exact(3)], to(2)))).toBe('ERR_CONTROL_CONST_TABLE');
    expect(refusal(() => tested.delete(0))).toBe('ERR_CONTROL_CONST_TABLE');
    expect(refusal(() => tested.modify(0, to(2)))).toBe('ERR_CONTROL_CONST_TABLE');
    expect(refusal(() => tested.clear())).toBe('ERR_CONTROL_CONST_TABLE');
    tested.reset();
    expect(tested.count).toBe(2);
  });

  it('lets other entries of the program go, but not the constant ones among them', () => {
    const entries = [constEntry([exact(1)], call(2), 1, true), constEntry([exact(2)], call(2), 2, false)];
    const tested = new MatchTable(table({ keys: oneKey, entries }), environment());
    tested.delete(1);
    expect(refusal(() => tested.delete(0))).toBe('ERR_CONTROL_CONST_TABLE');
    tested.add([exact(9)], to(2));
    tested.clear();
    expect(tested.entries().map((entry) => entry.isConst)).toEqual([true]);
    tested.reset();
    expect(tested.count).toBe(2);
  });

  it('sets and resets the default action unless it is constant', () => {
    const tested = new MatchTable(table({ keys: oneKey }), environment());
    tested.setDefault(to(1, 3));
    expect(tested.lookup(0)).toMatchObject({ action: 1, data: [3], isHit: false });
    tested.resetDefault();
    expect(tested.lookup(0)).toMatchObject({ action: 0, isHit: false });
    const fixed = new MatchTable(table({ keys: oneKey, isDefaultConst: true }), environment());
    expect(refusal(() => fixed.setDefault(to(2)))).toBe('ERR_CONTROL_CONST_DEFAULT');
    const none = new MatchTable(table({ keys: oneKey, defaultAction: undefined }), environment());
    expect(none.lookup(0).action).toBe(-1);
  });

  it('counts the prefix of an lpm key from the top of its width', () => {
    const tested = new MatchTable(table({ keys: [key('k', bits(9), 'lpm')] }), environment());
    tested.add([prefix(0b1_0000_0000, 1)], to(2));
    tested.add([prefix(0b1_1000_0000, 2)], to(1, 1));
    expect(tested.lookup(0b1_0111_1111).action).toBe(2);
    expect(tested.lookup(0b1_1000_0001).action).toBe(1);
    expect(tested.lookup(0b0_1000_0001).isHit).toBe(false);
  });

  it('lets priorities alone decide beside a ternary key, and the lower slot between equal ones', () => {
    const keys = [key('a', bits(8), 'ternary'), key('b', bits(32), 'lpm')];
    const tested = new MatchTable(table({ keys }), environment());
    tested.add([any, prefix(0x0a000000, 8)], to(1, 1), 5);
    tested.add([any, prefix(0x0a000001, 32)], to(1, 2), 6);
    tested.add([masked(0, 1), prefix(0x0a000000, 24)], to(1, 3), 5);
    expect(tested.lookup(0, 0x0a000001).data).toEqual([1]);
    tested.delete(0);
    expect(tested.lookup(0, 0x0a000001).data).toEqual([3]);
    expect(tested.lookup(1, 0x0a000001).data).toEqual([2]);
    tested.add([any, prefix(0, 0)], to(1, 4), 5);
    expect(tested.lookup(0, 0x0a000001)).toMatchObject({ data: [4], handle: 0x01000000 });
  });

  it('tells ranges that differ only in their ends apart', () => {
    const tested = new MatchTable(table({ keys: [key('a', bits(16), 'range')] }), environment());
    tested.add([range(1, 5)], to(1, 1));
    tested.add([range(1, 6)], to(1, 2));
    expect(refusal(() => tested.add([range(1, 5)], to(2)))).toBe('ERR_CONTROL_DUPLICATE_ENTRY');
    expect(refusal(() => tested.add([range(6, 5)], to(2)))).toBe('ERR_CONTROL_BAD_MATCH');
    expect(tested.lookup(5).data).toEqual([1]);
    expect(tested.lookup(6).data).toEqual([2]);
  });

  it('reports entries whose timeout passed without a hit', () => {
    const clock = environment();
    const tested = new MatchTable(table({ keys: oneKey, supportsTimeout: true }), clock);
    const handles = [1, 2].map((value) => tested.add([exact(value)], to(2)));
    for (const handle of handles) tested.setTimeout(handle, 1000);
    clock.nowUs = 900;
    tested.lookup(1);
    clock.nowUs = 1500;
    expect(tested.expired()).toEqual([handles[1]]);
    const without = new MatchTable(table({ keys: oneKey }), clock);
    expect(refusal(() => without.setTimeout(0, 1))).toBe('ERR_CONTROL_NO_TIMEOUT');
  });
});

describe('direct counters and meters', () => {
  it('counts hits only, in packets and bytes, and begins anew with each entry', () => {
    const clock = environment();
    const counter = new DirectCounter(extern(0, 'direct_counter', 'c', [member('CounterType', 'packets_and_bytes')]));
    const tested = new MatchTable(table({ keys: oneKey }), clock, { counter });
    const handle = tested.add([exact(1)], to(2));
    clock.packetLength = 100;
    tested.lookup(1);
    clock.packetLength = 50;
    tested.lookup(1);
    tested.lookup(2);
    expect(tested.readCounter(handle)).toEqual({ packets: 2, bytes: 150 });
    tested.delete(handle);
    const again = tested.add([exact(1)], to(2));
    expect(tested.readCounter(again)).toEqual({ packets: 0, bytes: 0 });
    expect(refusal(() => tested.readCounter(7))).toBe('ERR_CONTROL_BAD_HANDLE');
  });

  it('runs the meter of the entry on a hit', () => {
    const clock = environment();
    const meter = new DirectMeter(extern(0, 'direct_meter', 'm', [member('MeterType', 'packets')]));
    const tested = new MatchTable(table({ keys: oneKey }), clock, { meter });
    const handle = tested.add([exact(1)], to(2));
    tested.lookup(1);
    expect(meter.color).toBe(0);
    tested.setMeterRates(handle, [
      { rate: 0, burst: 1 },
      { rate: 0, burst: 2 },
    ]);
    const colors = [1, 1, 1, 2].map((value) => {
      tested.lookup(value);
      return meter.color;
    });
    expect(colors).toEqual([0, 1, 2, -1]);
  });
});

describe('action profiles', () => {
  const keys = [key('dst', bits(32), 'exact'), key('src', bits(32), 'selector'), key('port', bits(9), 'selector')];

  function selectorTable(): { tested: MatchTable; profile: ActionProfile } {
    const calculations = new Calculations([], createRandomBits(1));
    const declaration = extern(0, 'action_selector', 'sel', [
      member('HashAlgorithm', 'crc16'),
      integer(16),
      integer(14),
    ]);
    const profile = new ActionProfile(declaration, (name) => calculations.get(name));
    const actions = [forward, drop];
    const tested = new MatchTable(
      table({ keys, actions, implementation: declaration, defaultAction: undefined }),
      environment(),
      { profile },
    );
    return { tested, profile };
  }

  it('chooses the member at hash modulo size, among members in order of their handles', () => {
    const { tested, profile } = selectorTable();
    const members = [1, 2, 3].map((port) => profile.addMember(forward, [BigInt(port)]));
    const group = profile.createGroup();
    for (const each of [2, 0, 1]) profile.addToGroup(members[each]!, group);
    tested.add([exact(9)], { kind: 'group', handle: group });
    const calculations = new Calculations([], createRandomBits(1));
    for (let src = 0; src < 50; src++) {
      // 32 bits of src, 9 of port (5), then zeros: 6 bytes.
      const bytes = Uint8Array.of(0, 0, 0, src, 0x02, 0x80);
      const chosen = calculations.get('crc16').hash32(bytes, 6) % 3;
      expect(tested.lookup(9, src, 5)).toMatchObject({ action: 0, data: [chosen + 1], isHit: true });
    }
  });

  it('does nothing for an empty group, and refuses to point an entry to one', () => {
    const { tested, profile } = selectorTable();
    const one = profile.addMember(forward, [1n]);
    const group = profile.createGroup();
    expect(refusal(() => tested.add([exact(9)], { kind: 'group', handle: group }))).toBe('ERR_CONTROL_EMPTY_GROUP');
    profile.addToGroup(one, group);
    const handle = tested.add([exact(9)], { kind: 'group', handle: group });
    profile.removeFromGroup(one, group);
    expect(tested.lookup(9, 1, 1)).toMatchObject({ action: -1, isHit: true });
    expect(refusal(() => profile.deleteGroup(group))).toBe('ERR_CONTROL_GROUP_IN_USE');
    tested.delete(handle);
    profile.deleteGroup(group);
    profile.deleteMember(one);
    expect(profile.members()).toEqual([]);
  });

  it('keeps members while entries, groups or the default point to them', () => {
    const { tested, profile } = selectorTable();
    const one = profile.addMember(drop, []);
    const two = profile.addMember(forward, [2n]);
    const handle = tested.add([exact(1)], { kind: 'member', handle: one });
    expect(refusal(() => profile.deleteMember(one))).toBe('ERR_CONTROL_MEMBER_IN_USE');
    tested.modify(handle, { kind: 'member', handle: two });
    profile.deleteMember(one);
    expect(tested.lookup(1, 0, 0)).toMatchObject({ action: 0, data: [2] });
    expect(tested.lookup(2, 0, 0)).toMatchObject({ action: -1, isHit: false });
    tested.setDefault({ kind: 'member', handle: two });
    expect(tested.lookup(2, 0, 0)).toMatchObject({ action: 0, data: [2], isHit: false });
    tested.delete(handle);
    expect(refusal(() => profile.deleteMember(two))).toBe('ERR_CONTROL_MEMBER_IN_USE');
    tested.resetDefault();
    profile.deleteMember(two);
    expect(refusal(() => tested.add([exact(1)], to(1)))).toBe('ERR_CONTROL_INDIRECT');
    expect(refusal(() => profile.member(two))).toBe('ERR_CONTROL_BAD_MEMBER');
  });

  it('finds the position of a member action in each table that shares the profile', () => {
    const calculations = new Calculations([], createRandomBits(1));
    const declaration = extern(0, 'action_profile', 'prof', [integer(16)]);
    const profile = new ActionProfile(declaration, (name) => calculations.get(name));
    const other = action(7, 'MyIngress.other');
    const [first, second] = [
      [drop, forward],
      [other, forward],
    ].map((actions) => {
      const tested = new MatchTable(table({ keys: [keys[0]!], actions }), environment(), { profile });
      return tested;
    });
    const one = profile.addMember(forward, [3n]);
    const dropping = profile.addMember(drop, []);
    first!.add([exact(1)], { kind: 'member', handle: dropping });
    second!.add([exact(1)], { kind: 'member', handle: one });
    expect(first!.lookup(1)).toMatchObject({ action: 0, data: [] });
    expect(second!.lookup(1)).toMatchObject({ action: 1, data: [3] });
    expect(refusal(() => profile.createGroup())).toBe('ERR_CONTROL_NO_SELECTOR');
  });
});

describe('value sets', () => {
  it('match what was added, by all their keys', () => {
    const set = new ParserValueSet(valueSet(0, 'P.s', 4, key('a', bits(16), 'exact'), key('b', bits(48), 'exact')));
    set.add([exact(1), exact(5n)]);
    set.add([exact(1), exact(5n)]);
    expect(set.members()).toHaveLength(1);
    expect(set.matches(1, 5n)).toBe(true);
    expect(set.matches(1, 6n)).toBe(false);
    set.remove([exact(1), exact(6n)]);
    set.remove([exact(1), exact(5n)]);
    expect(set.matches(1, 5n)).toBe(false);
    expect(refusal(() => set.add([exact(1)]))).toBe('ERR_CONTROL_WRONG_ARITY');
  });

  it('match ranges and masks where the program says so', () => {
    const set = new ParserValueSet(valueSet(0, 'P.s', 4, key('a', bits(16), 'range'), key('b', bits(8), 'ternary')));
    set.add([range(10, 20), masked(0x80, 0x80)]);
    expect([set.matches(10, 0xff), set.matches(20, 0x80), set.matches(20, 0x7f), set.matches(21, 0x80)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    set.clear();
    expect(set.matches(10, 0xff)).toBe(false);
  });
});
