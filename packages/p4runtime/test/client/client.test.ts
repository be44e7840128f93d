import { type Entity, match, P4RuntimeClient, P4RuntimeError, type SessionState } from '@int/p4runtime';
import { entry } from '@int/p4runtime/internals';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { Bench, CPU, program, SOURCE } from './switch.js';

const { lpm, optional, range, ternary } = match;

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});
afterEach(() => bench.close());

const all = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const each of source) found.push(each);
  return found;
};

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const RULE = entry(
  'I.rules',
  { source_address: ternary('10.0.0.0/8'), port: range(80, 443), protocol: optional(6), kind: 'kind_t.MARKED' },
  'send_counted',
  { port: 5, cell: 0xffff_ffff },
  { priority: 10 },
);

/** An Ethernet frame of 60 bytes from a station to another. */
function frame(destination: number, source: number, type = 0x1234): Uint8Array {
  const bytes = new Uint8Array(60);
  bytes.set([2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source, type >> 8, type & 0xff]);
  return bytes;
}

describe('a client', () => {
  it('learns the switch from its P4Info, and gives it a pipeline', async () => {
    const client = bench.client();
    expect(await client.connect()).toBe(true);
    expect(await client.version()).toMatch(/^1\.\d+\.\d+$/);
    expect(await client.getPipeline()).toBeUndefined();
    expect(await failure(client.insert(RULE))).toMatchObject({ code: 'ERR_P4RUNTIME_REFUSED' });
    await client.setPipeline({ program: program(), deviceConfig: new TextEncoder().encode(SOURCE), cookie: 7n });
    const other = bench.client({ electionId: 0 });
    const pipeline = await other.getPipeline();
    expect(pipeline).toMatchObject({ cookie: 7n });
    expect(new TextDecoder().decode(pipeline?.deviceConfig)).toBe(SOURCE);
    expect(other.p4info).toEqual(client.p4info);
  });

  it('writes and reads table entries by names and values', async () => {
    const client = await bench.primary();
    const station = entry('stations', { destination: '02:00:00:00:00:07' }, 'send', { port: 3 });
    await client.insert(RULE, station);
    expect(await all(client.entries('rules'))).toEqual([
      {
        kind: 'table-entry',
        table: 'I.rules',
        match: {
          source_address: { kind: 'ternary', value: 0x0a00_0000n, mask: 0xff00_0000n },
          port: { kind: 'range', low: 80n, high: 443n },
          protocol: { kind: 'optional', value: 6n },
          kind: { kind: 'ternary', value: 2n, mask: 0xffn },
        },
        action: { action: 'I.send_counted', params: { port: 5n, cell: 0xffff_ffffn } },
        priority: 10,
      },
    ]);
    await client.modify({ ...station, action: { action: 'drop', params: {} } });
    expect(await all(client.entries('I.stations'))).toMatchObject([{ action: { action: 'I.drop', params: {} } }]);
    await client.delete(RULE, station);
    expect(await all(client.read(entry('rules'), entry('stations')))).toEqual([]);
  });

  it('writes and reads every other kind of entity', async () => {
    const client = await bench.primary();
    const entities: Entity[] = [
      { kind: 'member', profile: 'ways', id: 1, action: { action: 'I.send', params: { port: 1n } } },
      { kind: 'member', profile: 'ways', id: 2, action: { action: 'I.drop', params: {} } },
      {
        kind: 'group',
        profile: 'ways',
        id: 5,
        maxSize: 4,
        members: [
          { id: 1, weight: 2 },
          { id: 2, weight: 1 },
        ],
      },
      {
        kind: 'multicast-group',
        id: 9,
        replicas: [
          { port: 1, instance: 1 },
          { port: 2, instance: 0 },
        ],
      },
      { kind: 'clone-session', id: 3, replicas: [{ port: 4, instance: 0 }], classOfService: 1, packetLengthBytes: 100 },
      { kind: 'digest', digest: 'learned_t', config: { maxTimeoutNs: 0n, maxListSize: 1, ackTimeoutNs: 0n } },
    ];
    await client.insert(...entities);
    await client.insert(
      entry('routes', { destination: lpm('10.1.0.0/16') }, { group: 5 }),
      entry('routes', { destination: '10.2.0.0/16' }, { member: 1 }),
      entry(
        'spread',
        { destination: lpm('10.3.0.0', 16) },
        {
          oneShot: [
            { action: 'send', params: { port: 7 }, weight: 2 },
            { action: 'drop', params: {}, weight: 1 },
          ],
        },
      ),
    );
    await client.modify(
      { kind: 'counter', counter: 'ports', index: 2, value: { packets: 5n, bytes: 600n } },
      { kind: 'meter', meter: 'rates', index: 1, rates: { cir: 10n, cburst: 20n, pir: 30n, pburst: 40n } },
      { kind: 'register', register: 'cells', index: 4, value: '10.0.0.1' },
      { kind: 'register', register: 'signed', index: 1, value: -5 },
      { kind: 'value-set', valueSet: 'types', members: [{ '': 0x1234 }] },
      entry('stations', {}, 'punt', {}, { isDefault: true }),
    );
    const asked = await all(
      client.read(
        { kind: 'member', profile: '', id: 0 },
        { kind: 'group', profile: 'ways', id: 0, members: [] },
        { kind: 'multicast-group', id: 9, replicas: [] },
        { kind: 'clone-session', id: 3, replicas: [] },
        { kind: 'digest', digest: 'learned_t' },
      ),
    );
    expect(asked).toEqual(entities.map((each) => ('profile' in each ? { ...each, profile: 'I.ways' } : each)));
    const destinations = (await all(client.read(entry('routes'), entry('spread')))).map((each) =>
      each.kind === 'table-entry' ? [each.match['hdr.ipv4.destination'], each.action] : [],
    );
    expect(destinations).toEqual([
      [{ kind: 'lpm', value: 0x0a01_0000n, length: 16 }, { group: 5 }],
      [{ kind: 'lpm', value: 0x0a02_0000n, length: 16 }, { member: 1 }],
      [
        { kind: 'lpm', value: 0x0a03_0000n, length: 16 },
        {
          oneShot: [
            { action: 'I.send', params: { port: 7n }, weight: 2 },
            { action: 'I.drop', params: {}, weight: 1 },
          ],
        },
      ],
    ]);
    const state = await all(
      client.read(
        { kind: 'counter', counter: 'ports', index: 2 },
        { kind: 'meter', meter: 'rates', index: 1 },
        { kind: 'register', register: 'cells', index: 4 },
        { kind: 'register', register: 'signed', index: 1 },
        { kind: 'value-set', valueSet: 'types', members: [] },
        entry('stations', {}, undefined, {}, { isDefault: true }),
      ),
    );
    expect(state).toMatchObject([
      { counter: 'I.ports', index: 2, value: { packets: 5n, bytes: 600n } },
      { meter: 'I.rates', index: 1, rates: { cir: 10n, cburst: 20n, pir: 30n, pburst: 40n } },
      { register: 'I.cells', index: 4, value: 0x0a00_0001n },
      { register: 'I.signed', index: 1, value: -5n },
      { valueSet: 'P.types', members: [{ '': { kind: 'exact', value: 0x1234n } }] },
      { isDefault: true, action: { action: 'I.punt', params: {} } },
    ]);
    expect((await all(client.read({ kind: 'register', register: 'cells' }))).length).toBe(16);
    await client.insert(RULE);
    const counted: Entity = { kind: 'direct-counter', entry: RULE, value: { packets: 9n, bytes: 0n } };
    await client.modify(counted);
    expect(await all(client.read({ kind: 'direct-counter', entry: RULE }))).toMatchObject([{ value: { packets: 9n } }]);
  });

  it('tells which updates were refused, over several requests', async () => {
    const client = await bench.primary({ batch: 4 });
    const station = (at: number): Entity => entry('stations', { destination: at }, 'send', { port: 1 });
    await client.insert(station(2), station(9));
    const error = await failure(client.insert(...Array.from({ length: 11 }, (_, at) => station(at))));
    expect(P4RuntimeError.is(error)).toBe(true);
    expect(error).toMatchObject({
      code: 'ERR_P4RUNTIME_REFUSED',
      grpcName: 'UNKNOWN',
      updates: [
        { index: 2, grpcName: 'ALREADY_EXISTS' },
        { index: 9, grpcName: 'ALREADY_EXISTS' },
      ],
    });
    expect((await all(client.entries('stations'))).length).toBe(11);
    const updates = [station(20), station(2)].map((entity) => ({ type: 'insert', entity }) as const);
    expect(await failure(client.write(updates, 'rollback-on-error'))).toMatchObject({ code: 'ERR_P4RUNTIME_REFUSED' });
    expect((await all(client.entries('stations'))).length).toBe(11);
    await expect(
      client.write(
        Array.from({ length: 5 }, () => updates[0]!),
        'dataplane-atomic',
      ),
    ).rejects.toThrow(RangeError);
  });

  it.each([
    ['an unknown table', entry('nowhere'), 'ERR_P4INFO_UNKNOWN'],
    ['an unknown field', entry('rules', { nothing: 1 }), 'ERR_P4RUNTIME_MATCH'],
    ['an unknown action', entry('rules', {}, 'jump'), 'ERR_P4INFO_UNKNOWN'],
    ['an unknown parameter', entry('rules', {}, 'send_counted', { port: 1, cell: 2, more: 3 }), 'ERR_P4RUNTIME_VALUE'],
    ['a missing parameter', entry('rules', {}, 'send_counted', { port: 1 }), 'ERR_P4RUNTIME_VALUE'],
    ['a value too wide', entry('rules', {}, 'send_counted', { port: 512, cell: 2 }), 'ERR_P4RUNTIME_VALUE'],
    ['a text that is no value', entry('stations', { destination: 'here' }), 'ERR_P4RUNTIME_VALUE'],
    ['a match of another kind', entry('stations', { destination: range(1, 2) }), 'ERR_P4RUNTIME_MATCH'],
    ['a prefix too long', entry('routes', { destination: '10.0.0.0/33' }), 'ERR_P4RUNTIME_MATCH'],
    ['an empty range', entry('rules', { port: range(2, 1) }), 'ERR_P4RUNTIME_MATCH'],
    ['anything for an exact field', entry('stations', { destination: '_' }), 'ERR_P4RUNTIME_MATCH'],
  ])('refuses %s before it is sent', async (_what, entity, code) => {
    const client = await bench.primary();
    expect(await failure(client.insert(entity))).toMatchObject({ code });
  });

  it('leaves out matches of anything', async () => {
    const client = await bench.primary();
    const wide = { source_address: '_', port: '0..65535', kind: ternary(5, 0) };
    await client.insert(entry('rules', wide, 'drop', {}, { priority: 1 }));
    expect((await all(client.entries('rules'))).map((each) => each.match)).toEqual([{}]);
  });

  it('sends and receives packets, digests and notices of idle entries', async () => {
    const client = await bench.primary();
    const packets = client.packets();
    const digests = client.digests();
    const idle = client.idleTimeouts();
    await client.insert({
      kind: 'digest',
      digest: 'learned_t',
      config: { maxTimeoutNs: 0n, maxListSize: 1, ackTimeoutNs: 0n },
    });
    await client.insert(entry('stations', { destination: '02:00:00:00:00:01' }, 'punt'));
    bench.target.machine?.receive(4, frame(1, 9));
    expect((await packets.next()).value).toMatchObject({ metadata: { ingress_port: 4n }, payload: frame(1, 9) });
    expect((await digests.next()).value).toMatchObject({
      digest: 'learned_t',
      data: [{ source: 0x0200_0000_0009n, port: 4n, change: -3n, is_new: true }],
    });
    await client.packetOut(frame(1, 2), { egress_port: CPU });
    expect((await packets.next()).value).toMatchObject({
      metadata: { ingress_port: BigInt(CPU) },
      payload: frame(1, 2),
    });
    expect(await failure(client.packetOut(frame(1, 2)))).toMatchObject({ code: 'ERR_P4RUNTIME_VALUE' });
    await client.insert(entry('known', { source: '02:00:00:00:00:09' }, 'NoAction', {}, { idleTimeoutNs: 1_000_000n }));
    expect((await idle.next()).value?.entries).toMatchObject([
      { table: 'I.known', match: { 'hdr.ethernet.source': { value: 0x0200_0000_0009n } }, idleTimeoutNs: 1_000_000n },
    ]);
    expect([packets.dropped, client.unreadable]).toEqual([0, 0]);
    await packets.return();
    expect(await packets.next()).toEqual({ value: undefined, done: true });
  });

  it('competes with others: the highest election id writes', async () => {
    const states: SessionState[] = [];
    const first = await bench.primary({ electionId: 1, onState: (state) => states.push(state) });
    const second = bench.client({ electionId: 2n ** 64n });
    expect(await second.connect()).toBe(true);
    await until('the first hears of the second', () => !first.isPrimary);
    expect(states.at(-1)).toEqual({ kind: 'backup', electionId: 2n ** 64n, hasPrimary: true });
    expect(await failure(first.insert(RULE))).toMatchObject({
      code: 'ERR_P4RUNTIME_NOT_PRIMARY',
      grpcName: 'PERMISSION_DENIED',
    });
    await second.insert(RULE);
    expect((await all(first.entries('rules'))).length).toBe(1);
    const third = bench.client({ electionId: 2n ** 64n });
    expect(await failure(third.connect())).toMatchObject({
      code: 'ERR_P4RUNTIME_REFUSED',
      grpcName: 'INVALID_ARGUMENT',
    });
  });

  it('reconciles: what differs is written, what is not wanted goes', async () => {
    const client = await bench.primary();
    const station = (at: number, port: number): Entity => entry('stations', { destination: at }, 'send', { port });
    await client.insert(station(1, 1), station(2, 2), station(3, 3), RULE);
    const wanted: Entity[] = [
      station(2, 2),
      station(3, 7),
      station(4, 4),
      { kind: 'group', profile: 'ways', id: 1, maxSize: 2, members: [{ id: 1, weight: 1 }] },
      { kind: 'member', profile: 'ways', id: 1, action: { action: 'send', params: { port: 2 } } },
      entry('routes', { destination: '10.0.0.0/8' }, { group: 1 }),
      entry('stations', {}, 'punt', {}, { isDefault: true }),
      { kind: 'register', register: 'cells', index: 3, value: 77 },
    ];
    // One entry goes, one changes, one comes; member, group, route, default and cell.
    expect(await client.reconcile(wanted)).toBe(8);
    expect(await client.reconcile(wanted)).toBe(0);
    expect((await all(client.entries('stations'))).length).toBe(3);
    expect((await all(client.entries('rules'))).length).toBe(1);
  });
});

describe('a client over a socket', () => {
  it('connects again after the server has gone, and makes the switch what it keeps', async () => {
    const { host, port } = await bench.server.listen({ port: 0 });
    const states: SessionState[] = [];
    const kept = entry('stations', { destination: 1 }, 'send', { port: 1 });
    const client = bench.client({
      target: `${host}:${port}`,
      retry: { firstMs: 10, maxMs: 50 },
      keep: () => [kept],
      onState: (state) => states.push(state),
    });
    await client.connect();
    await until('there is nothing to keep it in', () => states.some(({ kind }) => kind === 'not-reconciled'));
    await client.setPipeline({ program: program(), deviceConfig: new TextEncoder().encode(SOURCE) });
    await client.insert(kept);
    await bench.server.close();
    await until('the loss is seen', () => states.some(({ kind }) => kind === 'disconnected'));
    const next = new Bench();
    try {
      const before = await next.primary({ electionId: 1 });
      await before.close();
      await next.server.listen({ host, port });
      await until('the switch has what is kept', () => states.some(({ kind }) => kind === 'reconciled'));
      expect(states.at(-1)).toEqual({ kind: 'reconciled', changes: 1, hasNewPipeline: false });
      expect((await all(client.entries('stations'))).length).toBe(1);
    } finally {
      await client.close();
      await next.close();
    }
  }, 60_000);

  it('leaves nothing behind that fails after it is closed', async () => {
    const { host, port } = await bench.server.listen({ port: 0 });
    const client = bench.client({ target: `${host}:${port}`, pingMs: 5 });
    await client.connect();
    await client.close();
    // A timer of pings would throw outside of any test.
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(client.isPrimary).toBe(false);
  });

  it('says so if nobody is there, or it is closed', async () => {
    const client = new P4RuntimeClient({ target: '127.0.0.1:1' });
    expect(await failure(client.connect())).toMatchObject({ code: 'ERR_P4RUNTIME_CONNECTION' });
    await client.close();
    expect(await failure(client.version())).toMatchObject({ code: 'ERR_P4RUNTIME_CLOSED' });
  });
});
