import { create } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { p4v1 } from '@int/p4runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { type Bench, Code, createBench, type Session } from './controller.js';
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
  idOf,
  MODIFY,
  station,
  TABLE,
  UNSPECIFIED,
  update,
} from './everything.js';

let bench: Bench;
let session: Session;
beforeEach(async () => {
  bench = createBench();
  session = await bench.controller.lead();
});

const code = (type: p4v1.Update_Type, of: p4v1.Entity): Promise<number> => bench.controller.code(update(type, of));

describe('packet-in (P4Runtime 1.5, section 16.1)', () => {
  it('has the fields of its header as metadata, and the rest as payload; only the primary gets it', async () => {
    const backup = bench.controller.session();
    backup.arbitrate(0n);
    await backup.next('arbitration');
    await bench.controller.write([update(INSERT, station(1, 0, { action: does(ACTION.toCpu, bytes(99)) }))]);
    bench.target.machine?.receive(300, frame(1));
    const { payload, metadata } = await session.next('packet');
    expect(payload).toEqual(frame(1));
    expect(metadata).toMatchObject([
      { metadataId: 1, value: bytes(1, 44) },
      { metadataId: 2, value: bytes(99) },
    ]);
    expect(backup.of('packet')).toEqual([]);
    expect(bench.server.statistics(1)).toMatchObject({ packetIns: 1 });
  });

  it('without a primary is counted as dropped', async () => {
    await bench.controller.write([update(INSERT, station(1, 0, { action: does(ACTION.toCpu, bytes(1)) }))]);
    session.close();
    await until('the end of the stream', () => bench.server.streams === 0);
    bench.target.machine?.receive(3, frame(1));
    expect(bench.server.statistics(1)?.dropped.noPrimary).toBe(1);
  });

  it('that the primary does not take is counted as dropped, within the limit of the stream', async () => {
    bench = createBench({ limits: { streamBytes: 1000 } });
    session = await bench.controller.lead();
    await bench.controller.write([update(INSERT, station(1, 0, { action: does(ACTION.toCpu, bytes(1)) }))]);
    // No turn of the event loop comes between them.
    for (let i = 0; i < 100; i++) bench.target.machine?.receive(3, frame(1));
    const { packetIns = 0, dropped } = bench.server.statistics(1)!;
    expect([packetIns > 0, packetIns < 10, packetIns + dropped.streamFull]).toEqual([true, true, 100]);
  });
});

describe('packet-out (P4Runtime 1.5, section 16.1)', () => {
  const metadata = (port: number, direct: number): object[] => [
    { metadataId: 1, value: bytes(port) },
    { metadataId: 2, value: bytes(0) },
    { metadataId: 3, value: bytes(direct) },
  ];
  const send = (payload: Uint8Array, fields: object[], to = session): void =>
    to.send({ update: { case: 'packet', value: { payload, metadata: fields as never } } });

  it('goes where its metadata say, or through the tables', async () => {
    await bench.controller.write([update(INSERT, station(1, 5))]);
    send(frame(1), metadata(8, 1));
    send(frame(1), metadata(8, 0));
    await until('two packets', () => bench.sent.length === 2);
    expect(bench.sent).toEqual([
      { port: 8, frame: frame(1) },
      { port: 5, frame: frame(1) },
    ]);
    expect(bench.server.statistics(1)).toMatchObject({ packetOuts: 2 });
  });

  it.each([
    ['without metadata', []],
    ['with too few metadata', metadata(1, 1).slice(1)],
    ['with unknown metadata', [...metadata(1, 1).slice(1), { metadataId: 9, value: bytes(1) }]],
    ['with metadata that are there twice', [...metadata(1, 1).slice(1), metadata(1, 1)[1]!]],
    ['with a value that is too wide', [{ metadataId: 1, value: bytes(2, 0) }, ...metadata(1, 1).slice(1)]],
    ['with an empty value', [{ metadataId: 1, value: bytes() }, ...metadata(1, 1).slice(1)]],
  ])('%s is dropped, and the client told: INVALID_ARGUMENT', async (_, fields) => {
    send(frame(1), fields);
    const error = await session.next('error');
    expect(error).toMatchObject({ canonicalCode: Code.InvalidArgument, details: { case: 'packetOut' } });
    expect(error.details.value).toMatchObject({ packetOut: { payload: frame(1) } });
    expect(bench.sent).toEqual([]);
    expect(bench.server.statistics(1)?.dropped.badPacketOut).toBe(1);
  });

  it('of a backup is dropped, and the client told: PERMISSION_DENIED', async () => {
    const backup = bench.controller.session();
    backup.arbitrate(0n);
    await backup.next('arbitration');
    send(frame(1), metadata(8, 1), backup);
    expect((await backup.next('error')).canonicalCode).toBe(Code.PermissionDenied);
    const nobody = bench.controller.session();
    send(frame(1), metadata(8, 1), nobody);
    expect((await nobody.next('error')).canonicalCode).toBe(Code.PermissionDenied);
    expect(bench.sent).toEqual([]);
  });

  it('without a pipeline is dropped, and the client told: FAILED_PRECONDITION', async () => {
    bench = createBench({ isEmpty: true });
    session = await bench.controller.lead();
    send(frame(1), metadata(8, 1));
    expect((await session.next('error')).canonicalCode).toBe(Code.FailedPrecondition);
  });
});

describe('other stream messages', () => {
  it('of another kind, or of none, are reported: UNIMPLEMENTED, INVALID_ARGUMENT', async () => {
    const value = anyPack(p4v1.IndexSchema, create(p4v1.IndexSchema));
    session.send({ update: { case: 'other', value } });
    expect(await session.next('error')).toMatchObject({
      canonicalCode: Code.Unimplemented,
      details: { case: 'other' },
    });
    session.send({});
    expect((await session.next('error', 2)).canonicalCode).toBe(Code.InvalidArgument);
  });
});

const DIGEST = idOf('digests', 'learned_t');

describe('digests (P4Runtime 1.5, section 9.9)', () => {
  const digest = (config: object | undefined = {}): p4v1.Entity =>
    entity('digestEntry', { digestId: DIGEST, ...(config === undefined ? {} : { config }) });
  /** Sends a packet from station n of which the program tells. */
  const learn = (n: number, port = 3): void => {
    const packet = frame(1, [9]);
    packet[11] = n;
    bench.target.machine?.receive(port, packet);
  };
  const stations = (list: p4v1.DigestList): (number | undefined)[] =>
    list.data.map(({ data }) => {
      const [first] = data.case === 'struct' ? data.value.members : [];
      return first?.data.case === 'bitstring' ? first.data.value.at(-1) : undefined;
    });

  beforeEach(async () => {
    await bench.controller.write([
      update(
        INSERT,
        entry({ tableId: TABLE.rules, match: [exact(1, bytes(9))], priority: 1, action: does(ACTION.learn) }),
      ),
      update(INSERT, station(1, 1)),
    ]);
  });

  it('are enabled by INSERT, changed by MODIFY, disabled by DELETE', async () => {
    expect(await code(MODIFY, digest())).toBe(Code.NotFound);
    expect(await code(DELETE, digest())).toBe(Code.NotFound);
    expect(await bench.controller.readCode(digest())).toBe(Code.NotFound);
    expect(await code(INSERT, digest({ maxListSize: 2 }))).toBe(0);
    expect(await code(INSERT, digest())).toBe(Code.AlreadyExists);
    expect(await code(MODIFY, digest({ maxTimeoutNs: 7n, maxListSize: 3, ackTimeoutNs: 9n }))).toBe(0);
    expect(await bench.controller.read(digest())).toEqual([
      digest({ maxTimeoutNs: 7n, maxListSize: 3, ackTimeoutNs: 9n }),
    ]);
    expect(await bench.controller.read(entity('digestEntry', {}))).toHaveLength(1);
    expect(await code(DELETE, digest())).toBe(0);
    expect(await bench.controller.read(entity('digestEntry', {}))).toEqual([]);
  });

  it('refuse wrong values with INVALID_ARGUMENT', async () => {
    expect(await code(UNSPECIFIED, digest())).toBe(Code.InvalidArgument);
    expect(await code(INSERT, entity('digestEntry', { digestId: 77 }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, digest({ maxTimeoutNs: -1n }))).toBe(Code.InvalidArgument);
    expect(await code(INSERT, digest({ maxListSize: -1 }))).toBe(Code.InvalidArgument);
  });

  it('are sent at once with a timeout of 0, as data of their type', async () => {
    await bench.controller.write([update(INSERT, digest({}))]);
    learn(5, 257);
    const list = await session.next('digest');
    expect(list).toMatchObject({ digestId: DIGEST, listId: 1n });
    const bits = (...value: number[]): object => ({ data: { case: 'bitstring', value: bytes(...value) } });
    expect(list.data).toMatchObject([
      { data: { case: 'struct', value: { members: [bits(4, 0, 0, 0, 0, 5), bits(1, 1), bits(0x12, 0x34)] } } },
    ]);
  });

  it('are sent as a list of distinct messages once it is full, or its time is over', async () => {
    await bench.controller.write([update(INSERT, digest({ maxTimeoutNs: 10n ** 9n, maxListSize: 3 }))]);
    for (const n of [1, 2, 1, 2, 3]) learn(n);
    expect(stations(await session.next('digest'))).toEqual([1, 2, 3]);
    learn(4);
    bench.clock.advance(0.9e9);
    expect(session.of('digest')).toHaveLength(1);
    bench.clock.advance(0.2e9);
    expect(stations(await session.next('digest', 2))).toEqual([4]);
  });

  it('are not sent again before they are acknowledged, or the time for that is over', async () => {
    await bench.controller.write([update(INSERT, digest({ ackTimeoutNs: 10n ** 9n }))]);
    learn(1);
    const { listId } = await session.next('digest');
    learn(1);
    learn(2);
    expect(stations(await session.next('digest', 2))).toEqual([2]);
    session.send({ update: { case: 'digestAck', value: { digestId: DIGEST, listId } } });
    await until('a third list', () => {
      learn(1);
      return session.of('digest').length === 3;
    });
    learn(2);
    bench.clock.advance(1.1e9);
    learn(2);
    expect(stations(await session.next('digest', 4))).toEqual([2]);
  });

  it('acknowledged with an unknown id are reported: INVALID_ARGUMENT', async () => {
    session.send({ update: { case: 'digestAck', value: { digestId: 77 } } });
    const error = await session.next('error');
    expect(error).toMatchObject({ canonicalCode: Code.InvalidArgument, details: { case: 'digestListAck' } });
  });

  it('are not sent once disabled, and leave nothing behind', async () => {
    await bench.controller.write([update(INSERT, digest({ maxTimeoutNs: 10n ** 9n, maxListSize: 9 }))]);
    learn(1);
    await bench.controller.write([update(DELETE, digest())]);
    bench.clock.advance(5e9);
    learn(2);
    await bench.controller.write([update(INSERT, digest({}))]);
    learn(3);
    expect(stations(await session.next('digest'))).toEqual([3]);
    expect(session.of('digest')).toHaveLength(1);
  });
});
