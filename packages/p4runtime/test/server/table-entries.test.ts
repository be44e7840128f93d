import { create } from '@bufbuild/protobuf';
import { p4v1 } from '@int/p4runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Bench, Code, createBench } from './controller.js';
import {
  ACTION,
  bytes,
  call,
  DELETE,
  does,
  entity,
  entry,
  exact,
  frame,
  INSERT,
  lpm,
  MODIFY,
  optional,
  range,
  station,
  TABLE,
  ternary,
  UNSPECIFIED,
  update,
} from './everything.js';

let bench: Bench;
beforeEach(async () => {
  bench = createBench();
  await bench.controller.lead();
});

const code = (type: p4v1.Update_Type, of: p4v1.Entity): Promise<number> => bench.controller.code(update(type, of));

const route = (match: readonly unknown[], more = {}): p4v1.Entity =>
  entry({ tableId: TABLE.routes, match, action: does(ACTION.forward, bytes(1)), ...more });
const rule = (match: readonly unknown[], more = {}): p4v1.Entity =>
  entry({
    tableId: TABLE.rules,
    match: [exact(1, bytes(9)), ...match],
    priority: 10,
    action: does(ACTION.drop),
    ...more,
  });

async function readBack(filter: p4v1.Entity): Promise<p4v1.TableEntry[]> {
  return (await bench.controller.read(filter)).map(({ entity: each }) => each.value as p4v1.TableEntry);
}

describe('Write (P4Runtime 1.5, section 12)', () => {
  it('checks device and role (NOT_FOUND), then primary (PERMISSION_DENIED), then pipeline (FAILED_PRECONDITION)', async () => {
    const { controller } = createBench({ isEmpty: true });
    const write = async (init: object): Promise<number> =>
      controller.client.write(init).then(
        () => 0,
        ({ code: each }) => each,
      );
    expect(await write({ deviceId: 9n })).toBe(Code.NotFound);
    expect(await write({ deviceId: 1n, role: 'unknown' })).toBe(Code.NotFound);
    expect(await write({ deviceId: 1n, electionId: { low: 1n } })).toBe(Code.PermissionDenied);
    await controller.lead();
    expect(await write({ deviceId: 1n, electionId: { low: 1n } })).toBe(Code.FailedPrecondition);
  });

  it('refuses an update without type or without entity with INVALID_ARGUMENT', async () => {
    expect(await code(UNSPECIFIED, station(1))).toBe(Code.InvalidArgument);
    expect(await code(9 as never, station(1))).toBe(Code.InvalidArgument);
    expect(await bench.controller.code(create(p4v1.UpdateSchema, { type: INSERT }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, create(p4v1.EntitySchema))).toBe(Code.InvalidArgument);
  });

  it('answers ALREADY_EXISTS, NOT_FOUND and RESOURCE_EXHAUSTED for entries that exist, are missing, do not fit', async () => {
    expect(await code(INSERT, station(1))).toBe(0);
    expect(await code(INSERT, station(1, 2))).toBe(Code.AlreadyExists);
    expect(await code(MODIFY, station(2))).toBe(Code.NotFound);
    expect(await code(DELETE, station(2))).toBe(Code.NotFound);
    const many = Array.from({ length: 20 }, (_, n) =>
      update(INSERT, entry({ tableId: TABLE.initial, match: [exact(1, bytes(n + 10))], action: does(ACTION.drop) })),
    );
    const codes = await bench.controller.codes(many);
    // Two entries are in the program.
    expect(codes.filter((each) => each === 0)).toHaveLength(14);
    expect(codes.slice(14)).toEqual(new Array(6).fill(Code.ResourceExhausted));
  });

  it('answers UNKNOWN with one error per update, in order, OK included', async () => {
    const updates = [update(INSERT, station(1)), update(INSERT, station(1)), update(DELETE, station(9))];
    const error = await bench.controller.write(updates).then(
      () => undefined,
      (each) => each,
    );
    expect(error.code).toBe(Code.Unknown);
    const errors = error.findDetails(p4v1.ErrorSchema) as p4v1.Error[];
    expect(errors.map(({ canonicalCode }) => canonicalCode)).toEqual([0, Code.AlreadyExists, Code.NotFound]);
    expect(errors[0]?.message).toBe('');
    expect(errors[1]?.message).not.toBe('');
  });

  it('CONTINUE_ON_ERROR attempts every update', async () => {
    const updates = [update(INSERT, station(1)), update(DELETE, station(9)), update(INSERT, station(2))];
    expect(await bench.controller.codes(updates)).toEqual([0, Code.NotFound, 0]);
    expect(await readBack(entry({ tableId: TABLE.stations }))).toHaveLength(2);
  });

  it.each(['ROLLBACK_ON_ERROR', 'DATAPLANE_ATOMIC'] as const)('%s carries out all updates or none', async (name) => {
    const atomicity = p4v1.WriteRequest_Atomicity[name];
    const { controller, target } = bench;
    const kept = station(3, 3, {
      metadata: bytes(7),
      idleTimeoutNs: 10n ** 9n,
      counterData: { packetCount: 5n, byteCount: 500n },
    });
    expect(await controller.codes([update(INSERT, kept), update(INSERT, station(4))], atomicity)).toEqual([0, 0]);
    const all = [entry({ counterData: {}, meterConfig: {} }), entry({ tableId: TABLE.keyless, isDefaultAction: true })];
    const before = await controller.read(...all);
    const batch = [
      update(INSERT, station(1)),
      update(MODIFY, station(3, 9)),
      update(DELETE, station(3)),
      update(INSERT, station(3, 8)),
      update(DELETE, station(4)),
      update(MODIFY, entry({ tableId: TABLE.keyless, isDefaultAction: true, action: does(ACTION.forward, bytes(2)) })),
      update(DELETE, station(99)),
      update(INSERT, station(5)),
    ];
    const codes = await controller.codes(batch, atomicity);
    expect(codes).toEqual([
      Code.Aborted,
      Code.Aborted,
      Code.Aborted,
      Code.Aborted,
      Code.Aborted,
      Code.Aborted,
      Code.NotFound,
      Code.Aborted,
    ]);
    const after = await controller.read(...all);
    expect(new Set(after.map((each) => JSON.stringify(each, text)))).toEqual(
      new Set(before.map((each) => JSON.stringify(each, text))),
    );
    expect(target.machine?.process(0, frame(3))).toMatchObject([{ port: 3 }]);
  });

  it('refuses an unknown atomicity with INVALID_ARGUMENT', async () => {
    await expect(bench.controller.write([], 7 as never)).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it('bounds the updates of a batch with RESOURCE_EXHAUSTED', async () => {
    const { controller } = createBench({ limits: { updates: 3 } });
    await controller.lead();
    await expect(controller.write([1, 2, 3, 4].map((n) => update(INSERT, station(n))))).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
  });
});

const text = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? `${value}` : value instanceof Uint8Array ? [...value] : value;

describe('bytestrings (P4Runtime 1.5, section 8.3)', () => {
  it('are taken in any length that holds the value, and given in the shortest', async () => {
    const match = [exact(1, bytes(0, 0, 0, 2, 0, 0, 0, 0, 1))];
    expect(await code(INSERT, station(0, 0, { match, action: does(ACTION.forward, bytes(0, 0, 7)) }))).toBe(0);
    const [found] = await readBack(entry({ tableId: TABLE.stations }));
    expect(found?.match[0]?.fieldMatchType.value).toMatchObject({ value: bytes(2, 0, 0, 0, 0, 1) });
    expect(found?.action?.type.value).toMatchObject({ params: [{ value: bytes(7) }] });
    expect(await code(DELETE, station(1))).toBe(0);
  });

  it('that are empty or too wide are refused', async () => {
    expect(await code(INSERT, station(1, 1, { match: [exact(1, bytes())] }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, station(1, 1, { match: [exact(1, bytes(1, 0, 0, 0, 0, 0, 0))] }))).toBe(
      Code.InvalidArgument,
    );
    expect(await code(INSERT, station(1, 1, { action: does(ACTION.forward, bytes()) }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, station(1, 1, { action: does(ACTION.forward, bytes(2, 0)) }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, station(1, 1, { action: does(ACTION.forward, bytes(1, 255)) }))).toBe(0);
  });
});

describe('table entries: match (P4Runtime 1.5, section 9.1.1)', () => {
  it.each([
    ['a table with id 0', station(1, 1, { tableId: 0 })],
    ['an unknown table', station(1, 1, { tableId: 0x0200_0001 })],
    ['an exact field that is missing', station(1, 1, { match: [] })],
    ['a field that does not exist', station(1, 1, { match: [exact(1, bytes(1)), exact(9, bytes(1))] })],
    ['a field that is there twice', station(1, 1, { match: [exact(1, bytes(1)), exact(1, bytes(1))] })],
    ['a match of another kind', station(1, 1, { match: [lpm(1, bytes(1), 48)] })],
    ['a field without match', station(1, 1, { match: [{ fieldId: 1 }] })],
    ['a prefix of length 0', route([lpm(1, bytes(0), 0)])],
    ['a negative prefix', route([lpm(1, bytes(0), -1)])],
    ['a prefix longer than the field', route([lpm(1, bytes(1), 33)])],
    ['bits beyond the prefix', route([lpm(1, bytes(10, 0, 0, 1), 8)])],
    ['a ternary mask of 0', rule([ternary(2, bytes(0), bytes(0))])],
    ['bits outside of the mask', rule([ternary(2, bytes(3), bytes(1))])],
    ['an empty range', rule([range(3, bytes(2), bytes(1))])],
    ['a range of all values', rule([range(3, bytes(0), bytes(255))])],
    ['an empty optional value', rule([optional(4, bytes())])],
    ['no priority where one is needed', rule([], { priority: 0 })],
    ['a negative priority', rule([], { priority: -1 })],
    ['a priority where none is allowed', station(1, 1, { priority: 1 })],
    ['is_const', station(1, 1, { isConst: true })],
    ['an entry of a table without key', entry({ tableId: TABLE.keyless, action: does(ACTION.forward, bytes(1)) })],
  ])('refuses %s with INVALID_ARGUMENT', async (_, of) => {
    expect(await code(INSERT, of)).toBe(Code.InvalidArgument);
  });

  it('keeps all kinds of matches as they are written, without those that match anything', async () => {
    const entries = [
      route([lpm(1, bytes(10, 0, 0, 0), 8)]),
      route([]),
      rule([
        ternary(2, bytes(1, 0), bytes(255, 0)),
        range(3, bytes(1), bytes(9)),
        optional(4, bytes(1, 2, 3, 4, 5, 6, 7, 8, 9)),
        lpm(5, bytes(128, 0, 0, 0), 1),
      ]),
      rule([], { priority: 11 }),
      rule([range(3, bytes(0), bytes(5))], { priority: 12 }),
    ];
    for (const each of entries) expect(await code(INSERT, each)).toBe(0);
    const found = await bench.controller.read(entry({ tableId: TABLE.routes }), entry({ tableId: TABLE.rules }));
    expect(found).toEqual(entries);
  });

  it('takes the fields in any order', async () => {
    const match = [range(3, bytes(1), bytes(9)), ternary(2, bytes(1), bytes(1)), exact(1, bytes(9))];
    expect(await code(INSERT, rule([], { match }))).toBe(0);
    expect(await code(INSERT, rule([ternary(2, bytes(1), bytes(1)), range(3, bytes(1), bytes(9))]))).toBe(
      Code.AlreadyExists,
    );
  });

  it('lets the largest priority win, and tells entries of the same match apart by it', async () => {
    const learn = { action: does(ACTION.forward, bytes(4)) };
    expect(await code(INSERT, station(1))).toBe(0);
    expect(await code(INSERT, rule([], { priority: 5, action: does(ACTION.drop) }))).toBe(0);
    expect(await code(INSERT, rule([], { priority: 2_000_000_000, ...learn }))).toBe(0);
    expect(await code(INSERT, rule([], { priority: 7, action: does(ACTION.drop) }))).toBe(0);
    expect(bench.target.machine?.process(0, frame(1, [9]))).toMatchObject([{ port: 4 }]);
    expect(await code(DELETE, rule([], { priority: 2_000_000_000 }))).toBe(0);
    expect(bench.target.machine?.process(0, frame(1, [9]))).toEqual([]);
  });
});

describe('table entries: action (P4Runtime 1.5, section 9.1.2)', () => {
  it.each([
    ['no action', station(1, 1, { action: undefined })],
    ['an empty action', station(1, 1, { action: {} })],
    ['an action that the table does not have', station(1, 1, { action: does(ACTION.copy, bytes(1)) })],
    ['an unknown action', station(1, 1, { action: does(0x0100_0001) })],
    ['a missing parameter', station(1, 1, { action: does(ACTION.forward) })],
    ['an extra parameter', station(1, 1, { action: does(ACTION.forward, bytes(1), bytes(1)) })],
    [
      'a parameter that does not exist',
      station(1, 1, {
        action: {
          type: { case: 'action', value: { actionId: ACTION.forward, params: [{ paramId: 2, value: bytes(1) }] } },
        },
      }),
    ],
    ['a member in a direct table', station(1, 1, { action: { type: { case: 'actionProfileMemberId', value: 1 } } })],
    ['a group in a direct table', station(1, 1, { action: { type: { case: 'actionProfileGroupId', value: 1 } } })],
    [
      'an action set in a direct table',
      station(1, 1, { action: { type: { case: 'actionProfileActionSet', value: {} } } }),
    ],
  ])('refuses %s with INVALID_ARGUMENT', async (_, of) => {
    expect(await code(INSERT, of)).toBe(Code.InvalidArgument);
  });

  it('refuses an action out of its scope with PERMISSION_DENIED', async () => {
    expect(await code(INSERT, station(1, 1, { action: does(ACTION.onlyDefault) }))).toBe(Code.PermissionDenied);
    const chosen = { tableId: TABLE.stations, isDefaultAction: true };
    expect(await code(MODIFY, entry({ ...chosen, action: does(ACTION.onlyEntry) }))).toBe(Code.PermissionDenied);
    expect(await code(INSERT, station(1, 1, { action: does(ACTION.onlyEntry) }))).toBe(0);
    expect(await code(MODIFY, entry({ ...chosen, action: does(ACTION.onlyDefault) }))).toBe(0);
  });

  it('MODIFY without an action keeps the action; DELETE looks at the key alone', async () => {
    expect(await code(INSERT, rule([], { metadata: bytes(1) }))).toBe(0);
    expect(await code(MODIFY, rule([], { action: undefined }))).toBe(0);
    expect(await readBack(entry({ tableId: TABLE.rules }))).toMatchObject([{ metadata: bytes(1) }]);
    expect(await code(INSERT, station(1, 7, { metadata: bytes(1) }))).toBe(0);
    expect(await code(MODIFY, station(1, 0, { action: undefined, metadata: bytes(2) }))).toBe(0);
    const [found] = await readBack(entry({ tableId: TABLE.stations }));
    expect(found).toMatchObject({ metadata: bytes(2), action: { type: { value: { actionId: ACTION.forward } } } });
    const nonsense = station(1, 0, { action: does(99), idleTimeoutNs: -5n, meterConfig: { cir: -1n } });
    expect(await code(DELETE, nonsense)).toBe(0);
  });

  it('takes the parameters in any order', async () => {
    const params = [
      { paramId: 3, value: bytes(1) },
      { paramId: 1, value: bytes(5) },
      { paramId: 2, value: bytes(9) },
    ];
    const action = { type: { case: 'action', value: { actionId: ACTION.rewrite, params } } };
    expect(await code(INSERT, station(1, 0, { action }))).toBe(0);
    const [found] = await readBack(entry({ tableId: TABLE.stations }));
    expect(found?.action?.type.value).toEqual(
      create(p4v1.ActionSchema, call(ACTION.rewrite, bytes(5), bytes(9), bytes(1))),
    );
  });
});

describe('the default entry (P4Runtime 1.5, section 9.1.3)', () => {
  const chosen = (more = {}, tableId = TABLE.stations): p4v1.Entity =>
    entry({ tableId, isDefaultAction: true, ...more });

  it('can only be modified: INSERT and DELETE are INVALID_ARGUMENT', async () => {
    const action = does(ACTION.forward, bytes(1));
    expect(await code(INSERT, chosen({ action }))).toBe(Code.InvalidArgument);
    expect(await code(DELETE, chosen({ action }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, chosen({ action }))).toBe(0);
    expect(bench.target.machine?.process(0, frame(1))).toMatchObject([{ port: 1 }]);
  });

  it('has no match, no priority, no timeout: INVALID_ARGUMENT', async () => {
    const action = does(ACTION.forward, bytes(1));
    expect(await code(MODIFY, chosen({ action, match: [exact(1, bytes(1))] }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, chosen({ action, priority: 3 }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, chosen({ action, idleTimeoutNs: 3n }))).toBe(Code.InvalidArgument);
    expect(await code(MODIFY, chosen({ action, timeSinceLastHit: {} }))).toBe(Code.InvalidArgument);
    expect(await bench.controller.readCode(chosen({ timeSinceLastHit: {} }))).toBe(Code.InvalidArgument);
  });

  it('without an action goes back to that of the program, with metadata and direct resources', async () => {
    const before = await readBack(chosen({ counterData: {}, meterConfig: {} }));
    expect(before).toMatchObject([{ action: { type: { value: { actionId: ACTION.drop } } } }]);
    const meterConfig = { cir: 1n, cburst: 1n, pir: 1n, pburst: 1n };
    const more = {
      action: does(ACTION.forward, bytes(1)),
      metadata: bytes(3),
      meterConfig,
      counterData: { packetCount: 7n },
    };
    expect(await code(MODIFY, chosen(more))).toBe(0);
    expect(await readBack(chosen({ counterData: {}, meterConfig: {} }))).toMatchObject([
      { metadata: bytes(3), meterConfig, counterData: { packetCount: 7n } },
    ]);
    // Whatever else the update says.
    for (const { action: _, ...rest } of [{ ...more, action: undefined }, { action: undefined }]) {
      expect(await code(MODIFY, chosen(more))).toBe(0);
      expect(await code(MODIFY, chosen(rest))).toBe(0);
      expect(await readBack(chosen({ counterData: {}, meterConfig: {} }))).toEqual(before);
    }
  });

  it('counts the packets that match no entry', async () => {
    bench.target.machine?.process(0, frame(5));
    const [found] = await readBack(chosen({ counterData: {} }));
    expect(found?.counterData).toMatchObject({ packetCount: 1n, byteCount: 38n });
  });

  it('that is constant is PERMISSION_DENIED, and that of an indirect table INVALID_ARGUMENT', async () => {
    const action = does(ACTION.forward, bytes(1));
    expect(await code(MODIFY, chosen({ action }, TABLE.routes))).toBe(Code.PermissionDenied);
    expect(await code(MODIFY, chosen({}, TABLE.routes))).toBe(Code.PermissionDenied);
    expect(await code(MODIFY, chosen({ action }, TABLE.indirect))).toBe(Code.InvalidArgument);
  });
});

describe('constant and initial entries (P4Runtime 1.5, sections 9.1.4 and 9.1.5)', () => {
  it('constant tables take no entries: PERMISSION_DENIED', async () => {
    const match = [ternary(1, bytes(0xf0), bytes(0xf0))];
    const fixed = (more = {}): p4v1.Entity => entry({ tableId: TABLE.fixed, match, priority: 3, ...more });
    expect(await code(INSERT, fixed({ priority: 9, action: does(ACTION.drop) }))).toBe(Code.PermissionDenied);
    expect(await code(MODIFY, fixed({ action: does(ACTION.drop) }))).toBe(Code.PermissionDenied);
    expect(await code(DELETE, fixed())).toBe(Code.PermissionDenied);
    expect(await code(MODIFY, fixed({ metadata: bytes(1) }))).toBe(Code.PermissionDenied);
    expect(await code(MODIFY, fixed())).toBe(0);
    expect(await code(MODIFY, fixed({ priority: 2 }))).toBe(Code.NotFound);
  });

  it('constant tables are read with priorities N to 1', async () => {
    const found = await readBack(entry({ tableId: TABLE.fixed }));
    expect(found.map(({ priority, isConst }) => [priority, isConst])).toEqual([
      [3, true],
      [2, true],
      [1, true],
    ]);
    expect(found[2]?.match).toEqual([]);
  });

  it('initial entries can change, those marked const cannot', async () => {
    const initial = (n: number, more = {}): p4v1.Entity =>
      entry({ tableId: TABLE.initial, match: [exact(1, bytes(n))], ...more });
    expect(await readBack(entry({ tableId: TABLE.initial }))).toMatchObject([{ isConst: true }, { isConst: false }]);
    expect(await code(MODIFY, initial(1, { action: does(ACTION.forward, bytes(1)) }))).toBe(Code.PermissionDenied);
    expect(await code(DELETE, initial(1))).toBe(Code.PermissionDenied);
    expect(await code(MODIFY, initial(2, { action: does(ACTION.forward, bytes(9)) }))).toBe(0);
    expect(await code(DELETE, initial(2))).toBe(0);
    expect(await code(INSERT, initial(3, { action: does(ACTION.drop) }))).toBe(0);
    expect(await readBack(entry({ tableId: TABLE.initial }))).toHaveLength(2);
  });
});

describe('metadata of entries', () => {
  it('are kept, given back, replaced by MODIFY, and bounded', async () => {
    const more = { metadata: bytes(0, 1), controllerMetadata: 0xffff_ffff_ffff_ffffn };
    expect(await code(INSERT, station(1, 1, more))).toBe(0);
    expect(await bench.controller.read(entry({ tableId: TABLE.stations }))).toEqual([station(1, 1, more)]);
    expect(await code(MODIFY, station(1, 2))).toBe(0);
    expect(await bench.controller.read(entry({ tableId: TABLE.stations }))).toEqual([station(1, 2)]);
    expect(await code(INSERT, station(2, 1, { metadata: new Uint8Array(5000) }))).toBe(Code.ResourceExhausted);
  });
});

describe('direct resources (P4Runtime 1.5, section 9.1.7)', () => {
  const meterConfig = { cir: 10n, cburst: 20n, pir: 30n, pburst: 40n };
  const all = { counterData: {}, meterConfig: {} };

  it('INSERT sets counter and meter, or begins with 0 and green', async () => {
    expect(await code(INSERT, station(1, 1, { meterConfig, counterData: { packetCount: 3n, byteCount: 4n } }))).toBe(0);
    expect(await code(INSERT, station(2, 1))).toBe(0);
    const found = await readBack(entry({ tableId: TABLE.stations, ...all }));
    expect(found).toMatchObject([
      { meterConfig, counterData: { packetCount: 3n, byteCount: 4n } },
      { counterData: { packetCount: 0n } },
    ]);
    expect(found[1]?.meterConfig).toBeUndefined();
  });

  it('a Read has them only if asked', async () => {
    await code(INSERT, station(1, 1, { meterConfig }));
    const [found] = await readBack(entry({ tableId: TABLE.stations }));
    expect([found?.meterConfig, found?.counterData]).toEqual([undefined, undefined]);
  });

  it('MODIFY without them keeps the counter and resets the meter', async () => {
    await code(INSERT, station(1, 1, { meterConfig, counterData: { packetCount: 3n } }));
    expect(await code(MODIFY, station(1, 2))).toBe(0);
    const [found] = await readBack(entry({ tableId: TABLE.stations, ...all }));
    expect(found).toMatchObject({ counterData: { packetCount: 3n } });
    expect(found?.meterConfig).toBeUndefined();
  });

  it('a new entry does not take over the meter of a deleted one', async () => {
    await code(INSERT, station(1, 1, { meterConfig: { cir: 0n, cburst: 0n, pir: 0n, pburst: 0n } }));
    expect(await code(DELETE, station(1))).toBe(0);
    await code(INSERT, station(2, 1));
    expect(bench.target.machine?.process(0, frame(2, [5]))[0]?.frame[15]).toBe(0);
  });

  it('are INVALID_ARGUMENT in tables that have none, or with wrong values', async () => {
    expect(await code(INSERT, route([], { counterData: {} }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, route([], { meterConfig }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, station(1, 1, { counterData: { packetCount: -1n } }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, station(1, 1, { meterConfig: { ...meterConfig, eburst: 1n } }))).toBe(
      Code.InvalidArgument,
    );
    expect(await bench.controller.readCode(entry({ tableId: TABLE.routes, counterData: {} }))).toBe(
      Code.InvalidArgument,
    );
  });

  it('counters per colour are UNIMPLEMENTED', async () => {
    expect(await code(INSERT, station(1, 1, { meterCounterData: {} }))).toBe(Code.Unimplemented);
    expect(await bench.controller.readCode(entry({ tableId: TABLE.stations, meterCounterData: {} }))).toBe(
      Code.Unimplemented,
    );
  });

  it('count and meter packets', async () => {
    const config = { cir: 1n, cburst: 1n, pir: 1n, pburst: 2n };
    await code(INSERT, station(1, 1, { meterConfig: config }));
    const colours = [1, 2, 3].map(() => bench.target.machine?.process(0, frame(1, [5]))[0]?.frame[15]);
    expect(colours).toEqual([0, 1, 2]);
    const [found] = await readBack(entry({ tableId: TABLE.stations, ...all }));
    expect(found?.counterData).toMatchObject({ packetCount: 3n, byteCount: 114n });
  });

  it('DirectCounterEntry and DirectMeterEntry read and modify them, and nothing else', async () => {
    await code(INSERT, station(1, 1));
    const key = { tableId: TABLE.stations, match: [exact(1, bytes(2, 0, 0, 0, 0, 1))] };
    const counter = (more = {}): p4v1.Entity => entity('directCounterEntry', { tableEntry: key, ...more });
    const meter = (more = {}): p4v1.Entity => entity('directMeterEntry', { tableEntry: key, ...more });
    for (const each of [counter(), meter()]) {
      expect(await code(INSERT, each)).toBe(Code.InvalidArgument);
      expect(await code(DELETE, each)).toBe(Code.InvalidArgument);
    }
    expect(await code(MODIFY, counter({ data: { packetCount: 9n } }))).toBe(0);
    expect(await code(MODIFY, counter())).toBe(0);
    expect(await code(MODIFY, meter({ config: meterConfig }))).toBe(0);
    expect(await bench.controller.read(counter(), meter())).toEqual([
      counter({ data: { packetCount: 9n } }),
      meter({ config: meterConfig }),
    ]);
    expect(await code(MODIFY, meter())).toBe(0);
    expect(await bench.controller.read(meter())).toEqual([meter()]);
  });

  it('DirectCounterEntry and DirectMeterEntry of missing entries are NOT_FOUND, of other tables INVALID_ARGUMENT', async () => {
    for (const kind of ['directCounterEntry', 'directMeterEntry'] as const) {
      const missing = entity(kind, { tableEntry: { tableId: TABLE.stations, match: [exact(1, bytes(1))] } });
      expect(await code(MODIFY, missing)).toBe(Code.NotFound);
      expect(await bench.controller.readCode(missing)).toBe(Code.NotFound);
      const none = entity(kind, { tableEntry: { tableId: TABLE.routes, match: [lpm(1, bytes(0x80, 0, 0, 0), 1)] } });
      expect(await code(MODIFY, none)).toBe(Code.InvalidArgument);
      expect(await bench.controller.readCode(none)).toBe(Code.InvalidArgument);
      expect(await code(MODIFY, entity(kind, {}))).toBe(Code.InvalidArgument);
      expect(await bench.controller.readCode(entity(kind, {}))).toBe(Code.InvalidArgument);
    }
  });

  it('DirectCounterEntry and DirectMeterEntry of all entries, and of all tables', async () => {
    await bench.controller.write([1, 2, 3].map((n) => update(INSERT, station(n))));
    for (const kind of ['directCounterEntry', 'directMeterEntry'] as const) {
      expect(await bench.controller.read(entity(kind, { tableEntry: { tableId: TABLE.stations } }))).toHaveLength(3);
      expect(await bench.controller.read(entity(kind, { tableEntry: {} }))).toHaveLength(3);
      const chosen = { tableId: TABLE.stations, isDefaultAction: true };
      expect(await bench.controller.read(entity(kind, { tableEntry: chosen }))).toHaveLength(1);
    }
  });
});

describe('idle timeouts (P4Runtime 1.5, sections 9.1.8 and 16.4)', () => {
  const second = 1_000_000_000n;

  it('are INVALID_ARGUMENT on tables without support, or below 0', async () => {
    expect(await code(INSERT, route([], { idleTimeoutNs: second }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, station(1, 1, { idleTimeoutNs: -1n }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, station(1, 1, { timeSinceLastHit: {} }))).toBe(Code.InvalidArgument);
    expect(await bench.controller.readCode(entry({ tableId: TABLE.routes, timeSinceLastHit: {} }))).toBe(
      Code.InvalidArgument,
    );
  });

  it('time_since_last_hit is answered if asked, also without a timeout', async () => {
    await code(INSERT, station(1, 1));
    bench.clock.advance(3e9);
    bench.target.machine?.process(0, frame(1));
    bench.clock.advance(2e9);
    const [asked] = await readBack(entry({ tableId: TABLE.stations, timeSinceLastHit: {} }));
    expect(asked?.timeSinceLastHit).toMatchObject({ elapsedNs: 2n * second });
    const [other] = await readBack(entry({ tableId: TABLE.stations }));
    expect(other?.timeSinceLastHit).toBeUndefined();
  });

  it('tell the primary of idle entries, together and with their metadata, and again after another timeout', async () => {
    const session = await bench.controller.lead(2n);
    const idle = (n: number): p4v1.Entity => station(n, 1, { idleTimeoutNs: second, metadata: bytes(n) });
    await bench.controller.write([1, 2].map((n) => update(INSERT, idle(n))));
    bench.clock.advance(0.9e9);
    bench.target.machine?.process(0, frame(2));
    bench.clock.advance(0.2e9);
    const first = await session.next('idleTimeoutNotification');
    expect(first.tableEntry).toMatchObject([
      {
        tableId: TABLE.stations,
        match: [exact(1, bytes(2, 0, 0, 0, 0, 1))],
        idleTimeoutNs: second,
        metadata: bytes(1),
      },
    ]);
    expect(first.timestamp).toBeGreaterThan(0n);
    bench.clock.advance(0.85e9);
    expect((await session.next('idleTimeoutNotification', 2)).tableEntry).toMatchObject([{ metadata: bytes(2) }]);
    bench.clock.advance(0.1e9);
    expect((await session.next('idleTimeoutNotification', 3)).tableEntry).toMatchObject([{ metadata: bytes(1) }]);
    await bench.controller.write([1, 2].map((n) => update(DELETE, idle(n))));
    bench.clock.advance(10e9);
    expect(session.of('idleTimeoutNotification')).toHaveLength(3);
  });

  it('are read back as they were written', async () => {
    await code(INSERT, station(1, 1, { idleTimeoutNs: 1n }));
    expect(await bench.controller.read(entry({ tableId: TABLE.stations }))).toEqual([
      station(1, 1, { idleTimeoutNs: 1n }),
    ]);
    await code(MODIFY, station(1, 1));
    expect(await bench.controller.read(entry({ tableId: TABLE.stations }))).toEqual([station(1, 1)]);
  });
});

describe('Read of table entries (P4Runtime 1.5, sections 9.1.6 and 13)', () => {
  beforeEach(async () => {
    await bench.controller.write([
      update(INSERT, station(1, 1, { metadata: bytes(1) })),
      update(INSERT, station(2, 2, { controllerMetadata: 5n })),
      update(INSERT, station(3, 3, { action: does(ACTION.drop) })),
      update(INSERT, rule([], { priority: 4 })),
      update(INSERT, rule([range(3, bytes(1), bytes(2))], { priority: 4 })),
      update(INSERT, rule([range(3, bytes(1), bytes(2))], { priority: 5 })),
    ]);
  });

  it('needs no primary and no stream, but a device and a pipeline', async () => {
    const { controller } = createBench();
    expect(await controller.read(entry({ tableId: TABLE.stations }))).toEqual([]);
    controller.deviceId = 9n;
    expect(await controller.readCode(entry({}))).toBe(Code.NotFound);
    expect(await createBench({ isEmpty: true }).controller.readCode(entry({}))).toBe(Code.FailedPrecondition);
  });

  it('selects all entries of all tables, those of one, one entry, by priority, by action, by metadata', async () => {
    const { controller } = bench;
    const count = async (filter: Readonly<Record<string, unknown>>): Promise<number> =>
      (await controller.read(entry(filter))).length;
    expect(await count({})).toBe(11);
    expect(await count({ tableId: TABLE.stations })).toBe(3);
    expect(await count({ tableId: TABLE.stations, match: [exact(1, bytes(2, 0, 0, 0, 0, 2))] })).toBe(1);
    expect(await count({ tableId: TABLE.stations, match: [exact(1, bytes(9))] })).toBe(0);
    expect(await count({ tableId: TABLE.rules, priority: 4 })).toBe(2);
    expect(await count({ tableId: TABLE.rules, match: [exact(1, bytes(9)), range(3, bytes(1), bytes(2))] })).toBe(2);
    expect(
      await count({ tableId: TABLE.rules, match: [exact(1, bytes(9)), range(3, bytes(1), bytes(2))], priority: 5 }),
    ).toBe(1);
    expect(await count({ tableId: TABLE.rules, match: [exact(1, bytes(9))] })).toBe(1);
    expect(
      await count({ tableId: TABLE.stations, action: { type: { case: 'action', value: { actionId: ACTION.drop } } } }),
    ).toBe(1);
    expect(await count({ tableId: TABLE.stations, metadata: bytes(1) })).toBe(1);
    expect(await count({ tableId: TABLE.stations, controllerMetadata: 5n })).toBe(1);
    expect(await count({ tableId: TABLE.stations, isDefaultAction: true })).toBe(1);
    expect(await count({ isDefaultAction: true })).toBe(8);
  });

  it('refuses wrong requests with UNKNOWN and one error per request, after the results of the others', async () => {
    const { controller } = bench;
    const found: p4v1.Entity[] = [];
    const entities = [
      entry({ tableId: TABLE.stations }),
      create(p4v1.EntitySchema),
      entry({ tableId: 77 }),
      entry({ tableId: TABLE.rules }),
      entry({ tableId: TABLE.stations, match: [lpm(1, bytes(1), 1)] }),
      entry({ priority: 4 }),
      entry({ tableId: TABLE.stations, priority: 4 }),
      entry({ tableId: TABLE.stations, action: does(77) }),
    ];
    const error = await (async () => {
      for await (const each of controller.client.read({ deviceId: 1n, entities })) found.push(...each.entities);
    })().then(
      () => undefined,
      (each) => each,
    );
    expect(found).toHaveLength(6);
    expect(error.code).toBe(Code.Unknown);
    const codes = (error.findDetails(p4v1.ErrorSchema) as p4v1.Error[]).map(({ canonicalCode }) => canonicalCode);
    const bad = Code.InvalidArgument;
    expect(codes).toEqual([0, bad, bad, 0, bad, bad, bad, bad]);
  });

  it('answers in messages of at most 1000 entities', async () => {
    const { controller } = bench;
    await controller.write(Array.from({ length: 1000 }, (_, n) => update(INSERT, station(n + 10))));
    const sizes: number[] = [];
    for await (const { entities } of controller.client.read({ deviceId: 1n, entities: [entry({})] }))
      sizes.push(entities.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1011);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1000);
  });

  it('sees whole Writes only, however they overlap', async () => {
    const { controller } = bench;
    const batch = (type: p4v1.Update_Type): p4v1.Update[] =>
      Array.from({ length: 500 }, (_, n) => update(type, station(n + 10)));
    const sizes: Promise<number>[] = [];
    const writes: Promise<void>[] = [];
    for (let i = 0; i < 4; i++) {
      writes.push(controller.write(batch(i % 2 === 0 ? INSERT : DELETE)));
      sizes.push(controller.read(entry({ tableId: TABLE.stations })).then(({ length }) => length));
    }
    await Promise.all(writes);
    for (const size of await Promise.all(sizes)) expect([3, 503]).toContain(size);
  });

  it('bounds the answer with RESOURCE_EXHAUSTED', async () => {
    const { controller } = createBench({ limits: { readBytes: 100 } });
    await controller.lead();
    await controller.write([1, 2, 3, 4, 5].map((n) => update(INSERT, station(n))));
    expect(await controller.readCode(entry({ tableId: TABLE.stations }))).toBe(Code.ResourceExhausted);
  });

  it('sees entries that others made, such as a command of the machine', async () => {
    const { controller, target } = bench;
    target.machine?.command('table_add I.stations I.forward 02:00:00:00:00:09 => 4');
    expect(
      await controller.read(entry({ tableId: TABLE.stations, match: [exact(1, bytes(2, 0, 0, 0, 0, 9))] })),
    ).toEqual([station(9, 4)]);
    target.machine?.command('table_clear I.stations');
    expect(await controller.read(entry({ tableId: TABLE.stations }))).toEqual([]);
    target.machine?.command('table_add I.stations I.forward 02:00:00:00:00:01 => 4');
    expect(await controller.read(entry({ tableId: TABLE.stations }))).toEqual([station(1, 4)]);
  });
});
