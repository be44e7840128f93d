import type { p4v1 } from '@int/p4runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Bench, Code, createBench } from './controller.js';
import {
  ACTION,
  bytes,
  DELETE,
  does,
  entity,
  entry,
  exact,
  frame,
  INSERT,
  MODIFY,
  station,
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

const pre = (kind: string, value: object): p4v1.Entity =>
  entity('packetReplicationEngineEntry', { type: { case: kind, value } });
const to = (port: number, instance = 0): object => ({ portKind: { case: 'port', value: bytes(port) }, instance });
const group = (multicastGroupId: number, replicas: readonly object[] = [], more = {}): p4v1.Entity =>
  pre('multicastGroupEntry', { multicastGroupId, replicas, ...more });
const session = (sessionId: number, replicas: readonly object[] = [], more = {}): p4v1.Entity =>
  pre('cloneSessionEntry', { sessionId, replicas, ...more });

describe.each([
  ['multicast groups (P4Runtime 1.5, section 9.5.1)', group],
  ['clone sessions (P4Runtime 1.5, section 9.5.2)', session],
] as const)('%s', (_, make) => {
  it('are inserted, modified, read, deleted', async () => {
    expect(await code(INSERT, make(1, [to(1), to(2, 5)]))).toBe(0);
    expect(await code(INSERT, make(1))).toBe(Code.AlreadyExists);
    expect(await code(INSERT, make(2))).toBe(0);
    expect(await bench.controller.read(make(1))).toEqual([make(1, [to(1), to(2, 5)])]);
    expect(await bench.controller.read(make(0))).toHaveLength(2);
    expect(await code(MODIFY, make(1, [to(3)]))).toBe(0);
    expect(await code(MODIFY, make(9))).toBe(Code.NotFound);
    expect(await bench.controller.read(make(1))).toEqual([make(1, [to(3)])]);
    expect(await code(DELETE, make(1))).toBe(0);
    expect(await code(DELETE, make(1))).toBe(Code.NotFound);
    expect(await bench.controller.readCode(make(1))).toBe(Code.NotFound);
  });

  it.each([
    ['id 0', 0, []],
    ['a port that does not exist', 1, [to(77)]],
    ['an empty port', 1, [{ portKind: { case: 'port', value: bytes() } }]],
    ['no port', 1, [{}]],
    ['the same port and instance twice', 1, [to(1, 2), to(2, 2), to(1, 2)]],
    ['an instance of more than 16 bits', 1, [to(1, 65_536)]],
  ] as const)('with %s are INVALID_ARGUMENT', async (_name, id, replicas) => {
    expect(await code(INSERT, make(id, replicas))).toBe(Code.InvalidArgument);
  });

  it('without type, or with backup replicas (UNIMPLEMENTED), are refused', async () => {
    expect(await code(UNSPECIFIED, make(1))).toBe(Code.InvalidArgument);
    const backup = { ...to(1), backupReplicas: [{ port: bytes(2), instance: 1 }] };
    expect(await code(INSERT, make(1, [backup]))).toBe(Code.Unimplemented);
  });

  it('take the deprecated number of a port', async () => {
    const replica = { portKind: { case: 'egressPort', value: 4 } };
    expect(await code(INSERT, make(1, [replica]))).toBe(0);
    expect(await bench.controller.read(make(1))).toEqual([make(1, [replica])]);
  });

  it('have ports of any length, and are read with the shortest', async () => {
    const padded = { portKind: { case: 'port', value: bytes(0, 0, 3) } };
    expect(await code(INSERT, make(1, [padded]))).toBe(0);
    expect(await bench.controller.read(make(1))).toEqual([make(1, [to(3)])]);
  });

  it('are restored by a batch that rolls back', async () => {
    await bench.controller.write([update(INSERT, make(1, [to(1)]))]);
    const batch = [
      update(MODIFY, make(1, [to(2)])),
      update(DELETE, make(1)),
      update(INSERT, make(2)),
      update(DELETE, make(7)),
    ];
    expect((await bench.controller.codes(batch, 1))[3]).toBe(Code.NotFound);
    expect(await bench.controller.read(make(0))).toEqual([make(1, [to(1)])]);
  });
});

describe('multicast', () => {
  it('goes to all replicas, and to none once the group is gone', async () => {
    await bench.controller.write([
      update(INSERT, group(7, [to(1), to(2), to(2, 1)], { metadata: bytes(1, 2) })),
      update(INSERT, station(1, 0, { action: does(ACTION.flood, bytes(7)) })),
    ]);
    const ports = (): number[] => bench.target.machine!.process(0, frame(1)).map(({ port }) => port);
    expect(ports().sort()).toEqual([1, 2, 2]);
    expect(await bench.controller.read(group(7))).toMatchObject([
      { entity: { value: { type: { value: { metadata: bytes(1, 2) } } } } },
    ]);
    await bench.controller.write([update(DELETE, group(7))]);
    expect(ports()).toEqual([]);
  });

  it('of an id above 65535 is OUT_OF_RANGE', async () => {
    expect(await code(INSERT, group(65_536))).toBe(Code.OutOfRange);
  });

  it('sees groups that a command made', async () => {
    bench.target.machine?.commands('mc_mgrp_create 5\nmc_node_create 3 1 2\nmc_node_associate 5 0');
    expect(await bench.controller.read(group(0))).toEqual([group(5, [to(1, 3), to(2, 3)])]);
  });
});

describe('clones', () => {
  it('go to all replicas, cut to length', async () => {
    const { controller, target } = bench;
    await controller.write([
      update(INSERT, session(9, [to(4, 1), to(5, 2)], { packetLengthBytes: 20, classOfService: 3 })),
      update(INSERT, station(1, 1)),
      update(
        INSERT,
        entry({ tableId: TABLE.rules, match: [exact(1, bytes(9))], priority: 1, action: does(ACTION.copy, bytes(9)) }),
      ),
    ]);
    const sent = target.machine!.process(0, frame(1, [9]));
    expect(sent.map(({ port, frame: { length } }) => [port, length]).sort()).toEqual([
      [1, 38],
      [4, 20],
      [5, 20],
    ]);
  });

  it('have a class of service up to 7, an id up to 32767, and no negative length: INVALID_ARGUMENT', async () => {
    expect(await code(INSERT, session(1, [], { classOfService: 8 }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, session(32_768))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, session(1, [], { packetLengthBytes: -1 }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, session(1, [], { classOfService: 7, packetLengthBytes: 1 }))).toBe(0);
  });

  it('see sessions that a command made', async () => {
    bench.target.machine?.command('mirroring_add 5 3');
    expect(await bench.controller.read(session(0))).toEqual([session(5, [to(3)])]);
  });
});

describe('the packet replication engine', () => {
  it('refuses entries that are not set with INVALID_ARGUMENT', async () => {
    const nothing = entity('packetReplicationEngineEntry', {});
    expect(await code(INSERT, nothing)).toBe(Code.InvalidArgument);
    expect(await bench.controller.readCode(nothing)).toBe(Code.InvalidArgument);
  });
});

describe('extern entries (P4Runtime 1.5, section 9.10)', () => {
  it('are UNIMPLEMENTED, and there are none to read', async () => {
    expect(await code(INSERT, entity('externEntry', { externTypeId: 0x81 }))).toBe(Code.Unimplemented);
    expect(await bench.controller.readCode(entity('externEntry', { externTypeId: 0x81 }))).toBe(Code.Unimplemented);
    expect(await bench.controller.read(entity('externEntry', {}))).toEqual([]);
  });
});
