import type { Table } from '@int/p4vm';
import { describe, expect, test } from 'vitest';
import { build } from './building.js';

/** The table `t` of control `I`, with its properties; actions a(port), b() and NoAction are there. */
function table(properties: string, { metadata = '', top = '' } = {}): Table {
  const locals = `
    action a(bit<9> port) { sm.egress_spec = port; }
    action b() { }
    action set(inout bit<8> place, in bit<16> from, bit<8> value, bool flag, int<4> small) { place = value; }
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<2>>(MeterType.bytes) rate;
    @name("prof") action_profile(16) profile;
    table t { ${properties} }`;
  const { tables } = build({ locals, apply: 't.apply();', metadata, top });
  const [made] = tables;
  if (made === undefined) throw new Error('no table');
  return made;
}

describe('properties of tables', () => {
  test('have defaults', () => {
    expect(table('actions = { b; }')).toMatchObject({
      id: 0,
      name: 'I.t',
      keys: [],
      size: 1024,
      defaultAction: { action: 1, data: [] },
      isDefaultConst: false,
      areEntriesConst: false,
      entries: [],
      supportsTimeout: false,
    });
  });

  test('name the default action with its data', () => {
    const made = table('key = { m.x: exact; } actions = { b; a; } const default_action = a(5); size = 7 * 3;');
    expect(made).toMatchObject({ defaultAction: { action: 1, data: [5n] }, isDefaultConst: true, size: 21 });
    expect(made.actions).toHaveLength(2);
  });

  test('bind arguments to directional parameters, and keep data as bit patterns', () => {
    const made = table(
      'actions = { @defaultonly set(m.x, hdr.h.b); @tableonly b; } default_action = set(m.x, hdr.h.b, 255, true, -1);',
    );
    expect(made.actions[0]).toMatchObject({
      isDefaultOnly: true,
      isTableOnly: false,
      bound: [
        { kind: 'member', field: 'x' },
        { kind: 'member', field: 'b' },
      ],
    });
    expect(made.actions[1]).toMatchObject({ isTableOnly: true, bound: [] });
    expect(made.defaultAction).toEqual({ action: 0, data: [255n, 1n, 15n] });
  });

  test('name extern objects, declared or made on the spot', () => {
    const first = table('actions = { b; } counters = hits; meters = rate;');
    expect(first.counter?.name).toBe('I.hits');
    expect(first.meter?.name).toBe('I.rate');
    const second = table('key = { m.x: exact; } actions = { b; } implementation = profile; support_timeout = true;');
    expect(second.implementation).toMatchObject({ name: 'I.prof', type: 'action_profile' });
    expect(second.supportsTimeout).toBe(true);
    const third = table(`key = { m.x: exact; m.y: selector; } actions = { b; }
      @name("sel") implementation = action_selector(HashAlgorithm.crc16, 8, 10);`);
    expect(third.implementation).toMatchObject({ name: 'sel', type: 'action_selector' });
    expect(third.keys.map(({ matchKind }) => matchKind)).toEqual(['exact', 'selector']);
  });
});

describe('entries', () => {
  test('of exact keys are values, booleans, enums and errors among them', () => {
    const top = 'enum Color { red, green } enum bit<8> Proto { tcp = 6, udp = 17 }';
    const metadata = 'Color c; Proto p; error e; int<8> i;';
    const keys = 'm.f: exact; m.c: exact; m.p: exact; m.e: exact; m.i: exact;';
    const made = table(
      `key = { ${keys} } actions = { b; a; } const entries = { (true, Color.green, Proto.udp, error.NoMatch, -2): a(3); }`,
      { top, metadata },
    );
    expect(made.areEntriesConst).toBe(true);
    expect(made.size).toBe(1);
    expect(made.entries).toMatchObject([
      {
        keys: [1n, 1n, 17n, 2n, 254n].map((value) => ({ kind: 'exact', value })),
        call: { action: 1, data: [3n] },
        priority: 1,
        isConst: true,
      },
    ]);
  });

  test('of lpm keys are prefixes, made from masks', () => {
    const made = table(`key = { hdr.w.y: lpm; } actions = { a; } const entries = {
      0x0a000000 &&& 0xff000000: a(1); 0x0a0b0c0d &&& 0xffffff00: a(2); 0x0a0b0c0d: a(3); 5 &&& 0: a(4); }`);
    expect(made.entries.map(({ keys }) => keys[0])).toEqual([
      { kind: 'prefix', value: 0x0a000000n, length: 8 },
      { kind: 'prefix', value: 0x0a0b0c00n, length: 24 },
      { kind: 'prefix', value: 0x0a0b0c0dn, length: 32 },
      { kind: 'prefix', value: 0n, length: 0 },
    ]);
    expect(made.entries.map(({ priority }) => priority)).toEqual([1, 2, 3, 4]);
  });

  test('of ternary, range and optional keys keep to their kinds', () => {
    const made = table(`key = { m.x: ternary; m.y: range; hdr.h.a: optional; } actions = { a; } entries = {
      (0x1f &&& 0x0f, 3 .. 9, 5): a(1);
      const (4, 7, _): a(2);
      _: a(3); }`);
    expect(made.entries.map(({ keys }) => keys)).toEqual([
      [
        { kind: 'mask', value: 0xfn, mask: 0xfn },
        { kind: 'range', low: 3n, high: 9n },
        { kind: 'exact', value: 5n },
      ],
      [{ kind: 'mask', value: 4n, mask: 0xffn }, { kind: 'range', low: 7n, high: 7n }, { kind: 'any' }],
      [{ kind: 'any' }, { kind: 'any' }, { kind: 'any' }],
    ]);
    expect(made.entries.map(({ isConst }) => isConst)).toEqual([false, true, false]);
    expect(made.size).toBe(1024);
  });

  test('with priorities that the largest wins are turned round', () => {
    const made = table(`key = { m.x: ternary; } actions = { a; } entries = {
      priority = 30: 1: a(1); 2: a(2); priority = 50: 3: a(3); 4: a(4); }`);
    expect(made.entries.map(({ priority }) => priority)).toEqual([21, 22, 1, 2]);
  });

  test('with priorities that the smallest wins are as they are, with the steps of the table', () => {
    const made = table(`key = { m.x: ternary; } actions = { a; } largest_priority_wins = false; priority_delta = 10;
      entries = { const priority = 10: 1: a(1); 2: a(2); 3: a(3); priority = 40: 4: a(4); 5: a(5); }`);
    expect(made.entries.map(({ priority }) => priority)).toEqual([10, 20, 30, 40, 50]);
  });

  test('with the annotation @priority have that in place of their order', () => {
    const made = table(`key = { m.x: ternary; } actions = { a; } const entries = {
      1 &&& 3: a(1) @priority(3); 1: a(2); 1 &&& 1: a(3) @priority(1); }`);
    expect(made.entries.map(({ priority }) => priority)).toEqual([3, 2, 1]);
  });
});

describe('field lists', () => {
  test('come from annotations with numbers, constants and members of enums, on fields and whole structs', () => {
    const top = `
      const bit<8> LIST = 4;
      enum bit<8> Lists { none = 0, clone = 2 }
      struct inner { bit<8> a; @field_list(7) bit<8> b; }
      struct outer { inner i; bit<8> c; }`;
    const metadata = `
      @field_list(1, 2) bit<8> one;
      @field_list(Lists.clone) bit<8> two;
      @field_list(LIST) outer whole;
      inner part;
      h_t h;`;
    const { fieldLists } = build({ top, metadata });
    expect(Object.fromEntries(fieldLists)).toEqual({
      1: [['one']],
      2: [['one'], ['two']],
      4: [
        ['whole', 'i', 'a'],
        ['whole', 'i', 'b'],
        ['whole', 'c'],
      ],
      7: [
        ['whole', 'i', 'b'],
        ['part', 'b'],
      ],
    });
  });

  test('are empty without annotations', () => {
    expect(build({}).fieldLists.size).toBe(0);
  });
});
