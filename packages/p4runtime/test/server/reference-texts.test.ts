// The codes and the words of errors that the server of the reference switch gives. Suites and controllers of others look for them.
import { create } from '@bufbuild/protobuf';
import { p4v1 } from '@int/p4runtime';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Bench, Code, createBench, refusalOf } from './controller.js';
import {
  ACTION,
  bytes,
  call,
  DELETE,
  does,
  entity,
  entry,
  exact,
  INSERT,
  idOf,
  lpm,
  MODIFY,
  PROFILE,
  range,
  station,
  TABLE,
  ternary,
  UNSPECIFIED,
  update,
} from './everything.js';

const { InvalidArgument, AlreadyExists, NotFound, PermissionDenied, OutOfRange, FailedPrecondition } = Code;
const SET = p4v1.SetForwardingPipelineConfigRequest_Action;

let bench: Bench;
beforeAll(async () => {
  bench = createBench();
  await bench.controller.lead();
});

const forward = does(ACTION.forward, bytes(1));
const route = (match: readonly unknown[], more = {}): p4v1.Entity =>
  entry({ tableId: TABLE.routes, match, action: forward, ...more });
const rule = (match: readonly unknown[], more = {}): p4v1.Entity =>
  entry({ tableId: TABLE.rules, match: [exact(1, bytes(9)), ...match], priority: 1, action: forward, ...more });
const missing = (tableId: number, more = {}): p4v1.Entity => entry({ tableId, isDefaultAction: true, ...more });
const member = (memberId: number, more = {}): p4v1.Entity =>
  entity('actionProfileMember', {
    actionProfileId: PROFILE.selector,
    memberId,
    action: call(ACTION.forward, bytes(1)),
    ...more,
  });
const group = (groupId: number, members: readonly object[] = [], maxSize = 4): p4v1.Entity =>
  entity('actionProfileGroup', { actionProfileId: PROFILE.selector, groupId, maxSize, members });
const balanced = (actions: readonly object[]): p4v1.Entity =>
  entry({
    tableId: TABLE.balanced,
    match: [exact(1, bytes(1))],
    action: { type: { case: 'actionProfileActionSet', value: { actionProfileActions: actions } } },
  });
const step = { action: call(ACTION.forward, bytes(1)), weight: 1 };
const counter = (index: bigint): p4v1.Entity =>
  entity('counterEntry', { counterId: idOf('counters', 'I.ports'), index: { index }, data: { packetCount: 1n } });
const engine = (kind: string, value: object): p4v1.Entity =>
  entity('packetReplicationEngineEntry', { type: { case: kind, value } });
const multicast = (multicastGroupId: number, replicas: readonly object[] = []): p4v1.Entity =>
  engine('multicastGroupEntry', { multicastGroupId, replicas });
const session = (sessionId: number): p4v1.Entity => engine('cloneSessionEntry', { sessionId });
const replica = { portKind: { case: 'port', value: bytes(1) }, instance: 1 };
const digest = entity('digestEntry', { digestId: idOf('digests', 'learned_t'), config: { maxListSize: 1 } });
const cell = (value: object): p4v1.Entity =>
  entity('registerEntry', {
    registerId: idOf('registers', 'I.cells'),
    index: { index: 0n },
    data: { data: { case: 'bitstring', value } },
  });
const direct = (kind: 'directCounterEntry' | 'directMeterEntry', tableEntry?: object): p4v1.Entity =>
  entity(kind, tableEntry === undefined ? {} : { tableEntry });

type Type = p4v1.Update_Type;
type Row = [words: string, code: number, type: Type, of: p4v1.Entity, before?: p4v1.Entity];

const TABLES: readonly Row[] = [
  ['Update type is not set', InvalidArgument, UNSPECIFIED, station(1)],
  ['Invalid update type', InvalidArgument, 9 as Type, station(1)],
  ['Invalid P4 id', InvalidArgument, INSERT, entry({ tableId: 0x02ffffff })],
  ['Match entry exists, use MODIFY if you wish to change action', AlreadyExists, INSERT, station(1), station(1)],
  ['Cannot find match entry', NotFound, MODIFY, station(1)],
  ['Cannot find match entry', NotFound, DELETE, station(1)],
  ["'action' field must be set", InvalidArgument, INSERT, station(1, 1, { action: undefined })],
  [
    'has_time_since_last_hit must not be set in WriteRequest',
    InvalidArgument,
    INSERT,
    station(1, 1, { timeSinceLastHit: { elapsedNs: 1n } }),
  ],
  ['idle_timeout_ns must be a positive value', InvalidArgument, INSERT, station(1, 1, { idleTimeoutNs: -1n })],
  [
    'idle_timeout_ns must be set to 0 for tables which do not support idle timeout',
    InvalidArgument,
    INSERT,
    route([lpm(1, bytes(10, 0, 0, 0), 8)], { idleTimeoutNs: 1n }),
  ],
  ['Table has no direct counters', InvalidArgument, INSERT, route([], { counterData: {} })],
  ['Table has no direct meters', InvalidArgument, INSERT, route([], { meterConfig: {} })],
  ['Missing non-ternary field in match key', InvalidArgument, INSERT, station(1, 1, { match: [] })],
  ['Unknown field in match key', InvalidArgument, INSERT, route([lpm(7, bytes(1), 8)])],
  ['Invalid match type', InvalidArgument, INSERT, route([exact(1, bytes(1))])],
  [
    'Bytestring provided does not fit within 32 bits',
    InvalidArgument,
    INSERT,
    route([lpm(1, bytes(1, 0, 0, 0, 0), 8)]),
  ],
  ['Prefix length cannot be < 0', InvalidArgument, INSERT, route([lpm(1, bytes(0), -1)])],
  ['Prefix length cannot be > bitwidth', InvalidArgument, INSERT, route([lpm(1, bytes(0), 33)])],
  ['omit match field instead of using a prefix length of 0', InvalidArgument, INSERT, route([lpm(1, bytes(0), 0)])],
  [
    'Invalid LPM value, incorrect number of trailing zeros',
    InvalidArgument,
    INSERT,
    route([lpm(1, bytes(10, 0, 0, 1), 8)]),
  ],
  ['omit match field instead of using 0 mask', InvalidArgument, INSERT, rule([ternary(2, bytes(0), bytes(0))])],
  [
    'Invalid ternary value, make sure value & mask == value',
    InvalidArgument,
    INSERT,
    rule([ternary(2, bytes(3), bytes(1))]),
  ],
  [
    'omit match field instead of using low=0 and high=2**bitwidth-1',
    InvalidArgument,
    INSERT,
    rule([range(3, bytes(0), bytes(255))]),
  ],
  ['Invalid range value, make sure low <= high', InvalidArgument, INSERT, rule([range(3, bytes(2), bytes(1))])],
  ['Zero priority for ternary match', InvalidArgument, INSERT, rule([], { priority: 0 })],
  ['Non-zero priority for non-ternary match', InvalidArgument, INSERT, station(1, 1, { priority: 1 })],
  ['Invalid action for table', InvalidArgument, INSERT, station(1, 1, { action: does(ACTION.copy, bytes(1)) })],
  ['Invalid table action type', InvalidArgument, INSERT, station(1, 1, { action: {} })],
  ['Unexpected number of action parameters', InvalidArgument, INSERT, station(1, 1, { action: does(ACTION.forward) })],
  [
    'Unknown action parameter',
    InvalidArgument,
    INSERT,
    station(1, 1, {
      action: {
        type: { case: 'action', value: { actionId: ACTION.forward, params: [{ paramId: 2, value: bytes(1) }] } },
      },
    }),
  ],
  [
    'Bytestring provided does not fit within 9 bits',
    InvalidArgument,
    INSERT,
    station(1, 1, { action: does(ACTION.forward, bytes(2, 0)) }),
  ],
  [
    'Cannot use DEFAULT_ONLY action in table entry',
    PermissionDenied,
    INSERT,
    station(1, 1, { action: does(ACTION.onlyDefault) }),
  ],
  [
    'Cannot use TABLE_ONLY action as default action',
    PermissionDenied,
    MODIFY,
    missing(TABLE.stations, { action: does(ACTION.onlyEntry) }),
  ],
  ['Cannot use INSERT for default entry', InvalidArgument, INSERT, missing(TABLE.stations, { action: forward })],
  ['Cannot use DELETE for default entry', InvalidArgument, DELETE, missing(TABLE.stations)],
  ['Non-empty key for default entry', InvalidArgument, MODIFY, station(1, 1, { isDefaultAction: true })],
  ['Non-zero priority for default entry', InvalidArgument, MODIFY, missing(TABLE.stations, { priority: 1 })],
  ['which has a const default action', PermissionDenied, MODIFY, missing(TABLE.routes, { action: forward })],
  [
    'Cannot set / reset default action for indirect table',
    InvalidArgument,
    MODIFY,
    missing(TABLE.balanced, { action: forward }),
  ],
  [
    'Cannot provide direct action for indirect table',
    InvalidArgument,
    INSERT,
    entry({ tableId: TABLE.balanced, match: [exact(1, bytes(1))], action: forward }),
  ],
  [
    'Cannot provide indirect action for direct table',
    InvalidArgument,
    INSERT,
    station(1, 1, { action: { type: { case: 'actionProfileMemberId', value: 1 } } }),
  ],
];

const PROFILES: readonly Row[] = [
  ['Duplicate member id: 1', AlreadyExists, INSERT, member(1), member(1)],
  ['Member id does not exist: 1', NotFound, MODIFY, member(1)],
  ['Member id does not exist: 1', NotFound, DELETE, member(1)],
  ['Invalid action for action profile', InvalidArgument, INSERT, member(1, { action: call(ACTION.copy, bytes(1)) })],
  ['Duplicate group id: 1', AlreadyExists, INSERT, group(1), group(1)],
  ['Group id does not exist: 1', NotFound, MODIFY, group(1)],
  ['Group id does not exist: 1', NotFound, DELETE, group(1)],
  ['Group max_size cannot be less than 0', InvalidArgument, INSERT, group(1, [], -1)],
  ['Cannot change group max_size after group creation', InvalidArgument, MODIFY, group(1, [], 3), group(1)],
  ['Member id does not exist: 7', NotFound, INSERT, group(1, [{ memberId: 7, weight: 1 }])],
  [
    'Member weight must be a positive integer value',
    InvalidArgument,
    INSERT,
    group(1, [{ memberId: 1, weight: 0 }]),
    member(1),
  ],
  [
    'Duplicate member id 1 for group 2, use weights instead',
    InvalidArgument,
    INSERT,
    group(2, [
      { memberId: 1, weight: 1 },
      { memberId: 1, weight: 1 },
    ]),
    member(1),
  ],
  [
    'Sum of member weights exceeds maximum group size',
    Code.ResourceExhausted,
    INSERT,
    group(1, [{ memberId: 1, weight: 5 }]),
    member(1),
  ],
  ['Member weight must be a positive integer value', InvalidArgument, INSERT, balanced([{ ...step, weight: 0 }])],
  ['Invalid attempt to mix action selector programming modes', InvalidArgument, INSERT, balanced([step]), member(1)],
  ['Invalid attempt to mix action selector programming modes', InvalidArgument, INSERT, member(1), balanced([step])],
];

const OTHERS: readonly Row[] = [
  ['A negative number is not a valid index value', InvalidArgument, MODIFY, counter(-1n)],
  ['INSERT update type not supported for counters', InvalidArgument, INSERT, counter(1n)],
  ['DELETE update type not supported for counters', InvalidArgument, DELETE, counter(1n)],
  ['Bytestring provided does not fit within 48 bits', OutOfRange, MODIFY, cell(bytes(1, 0, 0, 0, 0, 0, 0))],
  ['Bytestring provided does not fit within 48 bits', OutOfRange, MODIFY, cell(bytes())],
  ['Missing table_entry field in DirectCounterEntry', InvalidArgument, MODIFY, direct('directCounterEntry')],
  ['Missing table_entry field in DirectMeterEntry', InvalidArgument, MODIFY, direct('directMeterEntry')],
  [
    'Table has no direct counters',
    InvalidArgument,
    MODIFY,
    direct('directCounterEntry', { tableId: TABLE.routes, isDefaultAction: true }),
  ],
  ['0 is not a valid group id', InvalidArgument, INSERT, multicast(0)],
  ['Group id value is too high', OutOfRange, INSERT, multicast(0x1_0000)],
  ['Multicast group already exists', AlreadyExists, INSERT, multicast(1), multicast(1)],
  ['Multicast group does not exist', NotFound, MODIFY, multicast(1)],
  ['Multicast group does not exist', NotFound, DELETE, multicast(1)],
  ['Duplicate replica in multicast group', InvalidArgument, INSERT, multicast(1, [replica, replica])],
  ['Missing port in multicast group replica', InvalidArgument, INSERT, multicast(1, [{ instance: 1 }])],
  [
    'Port must not be the empty string',
    InvalidArgument,
    INSERT,
    multicast(1, [{ portKind: { case: 'port', value: bytes() } }]),
  ],
  ['0 is not a valid session id', InvalidArgument, INSERT, session(0)],
  ['Clone session id out-of-range', InvalidArgument, INSERT, session(0x1_0000)],
  ['Clone session id already exists', AlreadyExists, INSERT, session(1), session(1)],
  ['Clone session id does not exist', NotFound, MODIFY, session(1)],
  ['already configured', AlreadyExists, INSERT, digest, digest],
  ['not configured', NotFound, MODIFY, digest],
  ['not configured', NotFound, DELETE, digest],
];

describe('a Write that is refused says', () => {
  it.each<Row>([...TABLES, ...PROFILES, ...OTHERS])('%s', async (words, code, type, of, before) => {
    if (before !== undefined) await bench.controller.write([update(INSERT, before)]);
    const refused = await bench.controller.refusal(update(type, of));
    if (before !== undefined) await bench.controller.write([update(DELETE, before)]);
    expect(refused).toEqual({ code, message: expect.stringContaining(words) });
  });

  it('No forwarding pipeline config set for this device, or Not primary', async () => {
    const { controller } = createBench({ isEmpty: true });
    const insert = update(INSERT, station(1));
    expect(await controller.refusal(insert)).toEqual({ code: PermissionDenied, message: 'Not primary' });
    await controller.lead();
    const words = 'No forwarding pipeline config set for this device';
    expect(await controller.refusal(insert)).toEqual({ code: FailedPrecondition, message: words });
    expect(await controller.readRefusal(station(1))).toEqual({ code: FailedPrecondition, message: words });
  });
});

describe('a Read that is refused says', () => {
  const filter = (tableId: number): p4v1.Entity => entry({ tableId, timeSinceLastHit: {} });
  it.each<readonly [string, number, p4v1.Entity]>([
    ['Invalid P4 id', InvalidArgument, entry({ tableId: 0x02ffffff })],
    [
      'Do not set time_since_last_hit for a ReadRequest if the table does not support idle timeout',
      InvalidArgument,
      filter(TABLE.routes),
    ],
    [
      "Default table entries do not support entry ageing, do not set 'time_since_last_hit' in your ReadRequest",
      InvalidArgument,
      missing(TABLE.stations, { timeSinceLastHit: {} }),
    ],
    ['Missing table_entry field in DirectMeterEntry', InvalidArgument, direct('directMeterEntry')],
    ['Table has no direct counters', InvalidArgument, direct('directCounterEntry', { tableId: TABLE.routes })],
    ['A negative number is not a valid index value', InvalidArgument, counter(-1n)],
    ['Multicast group does not exist', NotFound, multicast(1)],
    ['Clone session id does not exist', NotFound, session(1)],
    ['not configured', NotFound, digest],
  ])('%s', async (words, code, of) => {
    expect(await bench.controller.readRefusal(of)).toEqual({ code, message: expect.stringContaining(words) });
  });
});

describe('pipelines and streams say', () => {
  it('Invalid SetForwardingPipeline action, Invalid response_type', async () => {
    const { client, deviceId } = bench.controller;
    const set = client.setForwardingPipelineConfig({
      deviceId,
      electionId: { low: 1n },
      action: SET.UNSPECIFIED,
      config: {},
    });
    expect(await refusalOf(set)).toEqual({ code: InvalidArgument, message: 'Invalid SetForwardingPipeline action' });
    const get = client.getForwardingPipelineConfig({ deviceId, responseType: 9 as never });
    const words = expect.stringContaining('Invalid response_type in GetForwardingPipelineConfigRequest');
    expect(await refusalOf(get)).toEqual({ code: InvalidArgument, message: words });
  });

  it('Election id already exists, New election id already exists, Invalid device id, Too many connections', async () => {
    const { controller } = createBench({ limits: { streamsPerRole: 3 } });
    await controller.lead(5n);
    const same = controller.session();
    same.arbitrate(5n);
    expect(await same.end()).toMatchObject({
      code: InvalidArgument,
      rawMessage: expect.stringMatching(/^Election id already exists/),
    });
    const other = controller.session();
    other.arbitrate(4n);
    await other.next('arbitration');
    other.arbitrate(5n);
    const words = expect.stringMatching(/^New election id already exists/);
    expect(await other.end()).toMatchObject({ code: InvalidArgument, rawMessage: words });
    const moved = controller.session();
    moved.arbitrate(3n);
    expect((await moved.next('arbitration')).status?.message).toBe('Is backup');
    moved.arbitrate(3n, 2n);
    expect(await moved.end()).toMatchObject({
      code: FailedPrecondition,
      rawMessage: expect.stringContaining('Invalid device id'),
    });
    for (const id of [1n, 2n]) {
      const one = controller.session();
      one.arbitrate(id);
      await one.next('arbitration');
    }
    const last = controller.session();
    last.arbitrate(6n);
    const full = expect.stringContaining('Too many connections');
    expect(await last.end()).toMatchObject({ code: Code.ResourceExhausted, rawMessage: full });
  });

  it('Unexpected metadata, Unknown metadata id in PacketOut message', async () => {
    const { controller } = createBench();
    const stream = await controller.lead();
    const send = async (n: number, ...metadata: object[]): Promise<string> => {
      const value = create(p4v1.PacketOutSchema, { payload: bytes(1), metadata: metadata as never });
      stream.send({ update: { case: 'packet', value } });
      const { canonicalCode, message } = await stream.next('error', n);
      expect(canonicalCode).toBe(InvalidArgument);
      return message;
    };
    const value = bytes(1);
    expect(await send(1)).toContain('Unexpected metadata in PacketOut message');
    const all = [1, 2, 9].map((metadataId) => ({ metadataId, value }));
    expect(await send(2, ...all)).toContain('Unknown metadata id in PacketOut message');
  });
});
