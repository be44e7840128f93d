import type { p4v1 } from '@int/p4runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Bench, Code, createBench } from './controller.js';
import {
  ACTION,
  bytes,
  call,
  DELETE,
  entity,
  entry,
  exact,
  frame,
  INSERT,
  MODIFY,
  PROFILE,
  TABLE,
  UNSPECIFIED,
  update,
} from './everything.js';

let bench: Bench;
beforeEach(async () => {
  bench = createBench({ target: { ports: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } });
  await bench.controller.lead();
});

const code = (type: p4v1.Update_Type, of: p4v1.Entity): Promise<number> => bench.controller.code(update(type, of));

const member = (memberId: number, port = memberId, more = {}): p4v1.Entity =>
  entity('actionProfileMember', {
    actionProfileId: PROFILE.selector,
    memberId,
    action: call(ACTION.forward, bytes(port)),
    ...more,
  });
const group = (groupId: number, members: readonly object[], more = {}): p4v1.Entity =>
  entity('actionProfileGroup', { actionProfileId: PROFILE.selector, groupId, members, ...more });
const weighs = (memberId: number, weight = 1, port?: number): object => ({
  memberId,
  weight,
  watchKind: port === undefined ? { case: undefined } : { case: 'watchPort', value: bytes(port) },
});
const balanced = (n: number, type: object): p4v1.Entity =>
  entry({ tableId: TABLE.balanced, match: [exact(1, bytes(n))], action: { type } });
const toGroup = (value: number): object => ({ case: 'actionProfileGroupId', value });
const toMember = (value: number): object => ({ case: 'actionProfileMemberId', value });
const oneShot = (...actions: readonly object[]): object => ({
  case: 'actionProfileActionSet',
  value: { actionProfileActions: actions },
});
const share = (port: number, weight = 1, watch?: number): object => ({
  action: call(ACTION.forward, bytes(port)),
  weight,
  watchKind: watch === undefined ? { case: undefined } : { case: 'watchPort', value: bytes(watch) },
});

/** The ports of many packets that hit entry n of `balanced`, and how many went to each. */
function spread(n: number, packets = 400): Map<number, number> {
  const ports = new Map<number, number>();
  for (let i = 0; i < packets; i++) {
    const packet = frame(1, [3, 0, i >> 8, i & 255, 0, 0, 0, n]);
    packet[10] = i & 255;
    for (const { port } of bench.target.machine!.process(0, packet)) ports.set(port, (ports.get(port) ?? 0) + 1);
  }
  return ports;
}

describe('members of action profiles (P4Runtime 1.5, section 9.2.1)', () => {
  it('are inserted, modified, read, deleted', async () => {
    expect(await code(INSERT, member(1))).toBe(0);
    expect(await code(INSERT, member(1))).toBe(Code.AlreadyExists);
    expect(await code(MODIFY, member(1, 5))).toBe(0);
    expect(await code(MODIFY, member(2))).toBe(Code.NotFound);
    expect(await bench.controller.read(member(1))).toEqual([member(1, 5)]);
    expect(await code(DELETE, member(1))).toBe(0);
    expect(await code(DELETE, member(1))).toBe(Code.NotFound);
    expect(await bench.controller.readCode(member(1))).toBe(Code.NotFound);
  });

  it.each([
    ['without action', member(1, 1, { action: undefined })],
    ['with id 0', member(0)],
    ['with an action that no table of the profile has', member(1, 1, { action: call(ACTION.learn) })],
    ['with a wrong parameter', member(1, 1, { action: call(ACTION.forward, bytes(2, 0)) })],
    ['of an unknown profile', member(1, 1, { actionProfileId: 7 })],
  ])('%s are INVALID_ARGUMENT', async (_, of) => {
    expect(await code(INSERT, of)).toBe(Code.InvalidArgument);
  });

  it('without type are INVALID_ARGUMENT', async () => {
    expect(await code(UNSPECIFIED, member(1))).toBe(Code.InvalidArgument);
    expect(await code(UNSPECIFIED, group(1, []))).toBe(Code.InvalidArgument);
  });

  it('beyond the size of the profile are RESOURCE_EXHAUSTED', async () => {
    const all = Array.from({ length: 65 }, (_, n) => update(INSERT, member(n + 1, 1)));
    const codes = await bench.controller.codes(all);
    expect(codes.slice(0, 64)).toEqual(new Array(64).fill(0));
    expect(codes[64]).toBe(Code.ResourceExhausted);
  });

  it('that are referred to cannot be deleted: FAILED_PRECONDITION', async () => {
    await bench.controller.write([update(INSERT, member(1)), update(INSERT, member(2))]);
    await bench.controller.write([update(INSERT, group(1, [weighs(1)])), update(INSERT, balanced(1, toMember(2)))]);
    expect(await bench.controller.codes([update(DELETE, member(1)), update(DELETE, member(2))])).toEqual([
      Code.FailedPrecondition,
      Code.FailedPrecondition,
    ]);
  });

  it('change what entries and groups do', async () => {
    await bench.controller.write([update(INSERT, member(1))]);
    await bench.controller.write([update(INSERT, group(1, [weighs(1)]))]);
    await bench.controller.write([update(INSERT, balanced(1, toMember(1))), update(INSERT, balanced(2, toGroup(1)))]);
    await bench.controller.write([update(MODIFY, member(1, 6))]);
    expect([...spread(1).keys(), ...spread(2).keys()]).toEqual([6, 6]);
  });

  it('are read of all profiles, and of one', async () => {
    const other = entity('actionProfileMember', {
      actionProfileId: PROFILE.members,
      memberId: 1,
      action: call(ACTION.drop),
    });
    await bench.controller.write([update(INSERT, member(1)), update(INSERT, member(2)), update(INSERT, other)]);
    expect(await bench.controller.read(entity('actionProfileMember', {}))).toHaveLength(3);
    expect(await bench.controller.read(entity('actionProfileMember', { actionProfileId: PROFILE.members }))).toEqual([
      other,
    ]);
    expect(await bench.controller.readCode(entity('actionProfileMember', { memberId: 1 }))).toBe(Code.InvalidArgument);
  });
});

describe('groups of action profiles (P4Runtime 1.5, section 9.2.2)', () => {
  beforeEach(async () => {
    await bench.controller.write([1, 2, 3, 4].map((id) => update(INSERT, member(id))));
  });

  it('have ids of their own, apart from those of members', async () => {
    expect(await code(INSERT, group(1, [weighs(1)]))).toBe(0);
    expect(await code(INSERT, group(1, []))).toBe(Code.AlreadyExists);
    expect(await code(MODIFY, group(2, []))).toBe(Code.NotFound);
    expect(await code(DELETE, group(2, []))).toBe(Code.NotFound);
    expect(await bench.controller.read(group(1, []))).toEqual([group(1, [weighs(1)])]);
    expect(await bench.controller.read(entity('actionProfileGroup', {}))).toHaveLength(1);
    expect(await code(DELETE, group(1, []))).toBe(0);
    expect(await bench.controller.readCode(group(1, []))).toBe(Code.NotFound);
  });

  it.each([
    ['a member twice', group(1, [weighs(1), weighs(1)])],
    ['weight 0', group(1, [weighs(1, 0)])],
    ['a negative weight', group(1, [weighs(1, -1)])],
    ['a negative max_size', group(1, [], { maxSize: -1 })],
    ['a watch port that does not exist', group(1, [weighs(1, 1, 77)])],
    ['id 0', group(0, [])],
    ['a profile without selector', group(1, [], { actionProfileId: PROFILE.members })],
  ])('with %s are INVALID_ARGUMENT', async (_, of) => {
    expect(await code(INSERT, of)).toBe(Code.InvalidArgument);
  });

  it('with a missing member are NOT_FOUND', async () => {
    expect(await code(INSERT, group(1, [weighs(9)]))).toBe(Code.NotFound);
    expect(await code(INSERT, group(1, [weighs(1)]))).toBe(0);
    expect(await code(MODIFY, group(1, [weighs(9)]))).toBe(Code.NotFound);
    expect(await bench.controller.read(group(1, []))).toEqual([group(1, [weighs(1)])]);
  });

  it('keep their max_size, and do not outgrow it', async () => {
    expect(await code(INSERT, group(1, [weighs(1, 2)], { maxSize: 1 }))).toBe(Code.ResourceExhausted);
    expect(await code(INSERT, group(1, [weighs(1)], { maxSize: 2 }))).toBe(0);
    expect(await code(MODIFY, group(1, [weighs(1)], { maxSize: 3 }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, group(1, [weighs(1), weighs(2), weighs(3)], { maxSize: 2 }))).toBe(
      Code.ResourceExhausted,
    );
    expect(await code(MODIFY, group(1, [weighs(1), weighs(2)], { maxSize: 2 }))).toBe(0);
  });

  it('that are referred to cannot be deleted: FAILED_PRECONDITION', async () => {
    await bench.controller.write([update(INSERT, group(1, [weighs(1)]))]);
    await bench.controller.write([update(INSERT, balanced(1, toGroup(1)))]);
    expect(await code(DELETE, group(1, []))).toBe(Code.FailedPrecondition);
    expect(await code(DELETE, balanced(1, {}))).toBe(0);
    expect(await code(DELETE, group(1, []))).toBe(0);
  });

  it('spread packets by weight', async () => {
    await bench.controller.write([update(INSERT, group(1, [weighs(1, 1), weighs(2, 3)]))]);
    await bench.controller.write([update(INSERT, balanced(1, toGroup(1)))]);
    const ports = spread(1, 2000);
    expect([...ports.keys()].sort()).toEqual([1, 2]);
    expect(ports.get(2)! / ports.get(1)!).toBeGreaterThan(2.2);
    expect(ports.get(2)! / ports.get(1)!).toBeLessThan(4);
  });

  it('leave out members whose watch port is down', async () => {
    await bench.controller.write([update(INSERT, group(1, [weighs(1, 1, 1), weighs(2, 1, 2)]))]);
    await bench.controller.write([update(INSERT, balanced(1, toGroup(1)))]);
    expect([...spread(1).keys()].sort()).toEqual([1, 2]);
    bench.target.setPort(1, false);
    expect([...spread(1).keys()]).toEqual([2]);
    bench.target.setPort(2, false);
    expect([...spread(1).keys()]).toEqual([]);
    bench.target.setPort(1, true);
    expect([...spread(1).keys()]).toEqual([1]);
    expect(await bench.controller.read(group(1, []))).toEqual([group(1, [weighs(1, 1, 1), weighs(2, 1, 2)])]);
  });

  it('have watch ports of any length, and are read with the shortest', async () => {
    const padded = { memberId: 1, weight: 1, watchKind: { case: 'watchPort', value: bytes(0, 2) } };
    expect(await code(INSERT, group(1, [padded]))).toBe(0);
    expect(await bench.controller.read(group(1, []))).toEqual([group(1, [weighs(1, 1, 2)])]);
  });

  it('may be empty', async () => {
    expect(await code(INSERT, group(1, []))).toBe(0);
    expect(await code(INSERT, balanced(1, toGroup(1)))).toBe(0);
    expect(spread(1).size).toBe(0);
  });

  it('are restored by a batch that rolls back', async () => {
    await bench.controller.write([update(INSERT, group(1, [weighs(1), weighs(2, 2)], { maxSize: 5 }))]);
    await bench.controller.write([update(INSERT, balanced(1, toGroup(1)))]);
    const all = [
      entity('actionProfileMember', {}),
      entity('actionProfileGroup', {}),
      entry({ tableId: TABLE.balanced }),
    ];
    const before = await bench.controller.read(...all);
    const batch = [
      update(MODIFY, group(1, [weighs(3)], { maxSize: 5 })),
      update(DELETE, balanced(1, {})),
      update(DELETE, group(1, [])),
      update(DELETE, member(1)),
      update(INSERT, member(9, 3)),
      update(MODIFY, member(2, 7)),
      update(INSERT, member(9, 3)),
    ];
    const codes = await bench.controller.codes(batch, 1);
    expect(codes).toEqual([...new Array(6).fill(Code.Aborted), Code.AlreadyExists]);
    const after = await bench.controller.read(...all);
    expect(after).toHaveLength(before.length);
    expect(after).toEqual(expect.arrayContaining(before));
  });
});

describe('entries of indirect tables', () => {
  it('refuse missing members and groups with NOT_FOUND, id 0 and actions with INVALID_ARGUMENT', async () => {
    expect(await code(INSERT, balanced(1, toMember(1)))).toBe(Code.NotFound);
    expect(await code(INSERT, balanced(1, toGroup(1)))).toBe(Code.NotFound);
    expect(await code(INSERT, balanced(1, toMember(0)))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, balanced(1, { case: 'action', value: call(ACTION.drop) }))).toBe(Code.InvalidArgument);
    const indirect = (type: object): p4v1.Entity =>
      entry({ tableId: TABLE.indirect, match: [exact(1, bytes(1))], action: { type } });
    expect(await code(INSERT, indirect(toGroup(1)))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, indirect(oneShot(share(1))))).toBe(Code.InvalidArgument);
  });
});

describe('one shot action selector programming (P4Runtime 1.5, section 9.2.3)', () => {
  it('makes a group for an entry, which is read as it was written', async () => {
    const set = oneShot(share(1), share(2, 3, 2), share(1));
    expect(await code(INSERT, balanced(1, set))).toBe(0);
    expect(await bench.controller.read(entry({ tableId: TABLE.balanced }))).toEqual([balanced(1, set)]);
    expect(await bench.controller.read(entity('actionProfileMember', {}), entity('actionProfileGroup', {}))).toEqual(
      [],
    );
    expect([...spread(1).keys()].sort()).toEqual([1, 2]);
    bench.target.setPort(2, false);
    expect([...spread(1).keys()]).toEqual([1]);
  });

  it('is read with the shortest values and ports', async () => {
    const watchKind = { case: 'watchPort', value: bytes(0, 2) };
    const padded = oneShot({ action: call(ACTION.forward, bytes(0, 1)), weight: 1, watchKind });
    expect(await code(INSERT, balanced(1, padded))).toBe(0);
    const found = await bench.controller.read(entry({ tableId: TABLE.balanced }));
    expect(found).toEqual([balanced(1, oneShot(share(1, 1, 2)))]);
  });

  it('replaces the group with MODIFY, and frees it with DELETE', async () => {
    for (let round = 0; round < 10; round++) {
      const shares = Array.from({ length: 30 }, (_, n) => share(n % 8));
      expect(await code(INSERT, balanced(1, oneShot(...shares)))).toBe(0);
      expect(await code(MODIFY, balanced(1, oneShot(share(4))))).toBe(0);
      expect([...spread(1).keys()]).toEqual([4]);
      expect(await code(DELETE, balanced(1, {}))).toBe(0);
    }
    expect(bench.target.machine?.control.profile('I.selector').members()).toEqual([]);
  });

  it('is restored by a batch that rolls back', async () => {
    const set = oneShot(share(1), share(2));
    await bench.controller.write([update(INSERT, balanced(1, set))]);
    const batch = [
      update(MODIFY, balanced(1, oneShot(share(3)))),
      update(DELETE, balanced(1, {})),
      update(DELETE, balanced(2, {})),
    ];
    expect(await bench.controller.codes(batch, 1)).toEqual([Code.Aborted, Code.Aborted, Code.NotFound]);
    expect(await bench.controller.read(entry({ tableId: TABLE.balanced }))).toEqual([balanced(1, set)]);
    expect(bench.target.machine?.control.profile('I.selector').members()).toHaveLength(2);
  });

  it('does not mix with members and groups: INVALID_ARGUMENT', async () => {
    await bench.controller.write([update(INSERT, balanced(1, oneShot(share(1))))]);
    expect(await code(INSERT, member(1))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, group(1, []))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, balanced(2, toMember(1)))).toBe(Code.InvalidArgument);
    await bench.controller.write([update(DELETE, balanced(1, {}))]);
    expect(await code(INSERT, member(1))).toBe(0);
    expect(await code(INSERT, balanced(1, oneShot(share(1))))).toBe(Code.InvalidArgument);
  });

  it('with wrong weights, ports, actions is INVALID_ARGUMENT; beyond the size RESOURCE_EXHAUSTED; group actions UNIMPLEMENTED', async () => {
    const bad = [
      share(1, 0),
      share(1, -2),
      share(1, 1, 99),
      { ...share(1), action: call(ACTION.learn) },
      { weight: 1 },
    ];
    for (const each of bad) expect(await code(INSERT, balanced(1, oneShot(each)))).toBe(Code.InvalidArgument);
    const many = oneShot(...Array.from({ length: 65 }, () => share(1)));
    expect(await code(INSERT, balanced(1, many))).toBe(Code.ResourceExhausted);
    const value = { actionProfileActions: [share(1)], groupAction: call(ACTION.drop) };
    expect(await code(INSERT, balanced(1, { case: 'actionProfileActionSet', value }))).toBe(Code.Unimplemented);
    const random = { actionProfileActions: [share(1)], actionSelectionMode: 2 };
    expect(await code(INSERT, balanced(1, { case: 'actionProfileActionSet', value: random }))).toBe(Code.Unimplemented);
    const hash = { actionProfileActions: [share(1)], actionSelectionMode: 1, sizeSemantics: 1 };
    expect(await code(INSERT, balanced(1, { case: 'actionProfileActionSet', value: hash }))).toBe(0);
    expect(bench.target.machine?.control.profile('I.selector').members()).toHaveLength(1);
  });
});
