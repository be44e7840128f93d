import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { toBinary } from '@bufbuild/protobuf';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { type P4RuntimeLimits, p4v1 } from '@int/p4runtime';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { until } from '../../../../.ci/test/until.js';
import { type Bench, Code, Controller, createBench } from './controller.js';
import { entry, frame, INSERT, station, TABLE, update } from './everything.js';

let bench: Bench;
let port: number;
const sessions: ClientHttp2Session[] = [];

async function listen(limits: Partial<P4RuntimeLimits> = {}): Promise<void> {
  bench = createBench({ limits });
  ({ port } = await bench.server.listen({ port: 0 }));
}

afterEach(async () => {
  await destroyAll();
  await bench.server.close();
});

/**
 * Ends the clients' connections outside of their reads: Node's HTTP/2 frees the streams of a session that is destroyed where an
 * answer has just come in, and then reads on in them.
 */
async function destroyAll(): Promise<void> {
  await setImmediate();
  for (const session of sessions.splice(0)) session.destroy();
}

function open(): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {});
  sessions.push(session);
  return session;
}

function call(session: ClientHttp2Session, method: string, headers: Record<string, string> = {}): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/p4.v1.P4Runtime/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  });
  stream.on('error', () => {});
  return stream;
}

/** A message of gRPC: not compressed, its length, its bytes. */
function framed(bytes: Uint8Array, length = bytes.length): Buffer {
  const message = Buffer.alloc(5 + bytes.length);
  message.writeUInt32BE(length, 1);
  message.set(bytes, 5);
  return message;
}

/** The gRPC status of an answer; undefined: the stream was reset. */
async function statusOf(stream: ClientHttp2Stream): Promise<number | undefined> {
  let status: string | undefined;
  const take = (headers: Record<string, unknown>): void => {
    if (typeof headers['grpc-status'] === 'string') status = headers['grpc-status'];
  };
  stream.on('response', take);
  stream.on('trailers', take);
  stream.resume();
  await new Promise<void>((resolve) => {
    stream.on('end', () => resolve());
    stream.on('close', () => resolve());
  });
  return status === undefined ? undefined : Number(status);
}

/** Whether the switch still forwards, and a controller still gets answers. */
async function expectHealth(): Promise<void> {
  const controller = new Controller(createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));
  const session = await controller.lead(2n ** 40n);
  await controller.codes([update(INSERT, station(1, 7))]);
  expect(await controller.read(entry({ tableId: TABLE.stations }))).toEqual([station(1, 7)]);
  expect(bench.target.machine?.process(0, frame(1))).toMatchObject([{ port: 7 }]);
  session.close();
}

describe('hostile clients', () => {
  beforeEach(() => listen());

  it('that send random bytes to every method get errors', async () => {
    const session = open();
    for (let i = 0; i < runs(800); i++) {
      const method = ['Write', 'Read', 'SetForwardingPipelineConfig', 'GetForwardingPipelineConfig', 'Capabilities'][
        i % 5
      ]!;
      const stream = call(session, method);
      stream.end(framed(randomBytes(i % 300)));
      expect([0, 2, 3, 5, 7, 8, 9, 13, 12]).toContain(await statusOf(stream));
    }
    await expectHealth();
  });

  it('that send random bytes into streams get errors', async () => {
    const session = open();
    const streams = Array.from({ length: runs(800) }, (_, i) => {
      const stream = call(session, 'StreamChannel');
      stream.write(framed(randomBytes(i % 100)));
      stream.end();
      return statusOf(stream);
    });
    await Promise.all(streams);
    await expectHealth();
  });

  it('that send random bytes to the port are cut off', async () => {
    for (let i = 0; i < 20; i++) {
      const socket = connectTcp(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.end(randomBytes(1000));
      socket.resume();
      await once(socket, 'close');
    }
    await expectHealth();
  });

  it('with broken requests get errors, and nothing is thrown', async () => {
    const session = open();
    const status = (headers: Record<string, string>, path = 'Capabilities'): Promise<number | undefined> => {
      const stream = call(session, path, headers);
      stream.end(framed(new Uint8Array(0)));
      return statusOf(stream);
    };
    expect(await status({})).toBe(0);
    expect(await status({}, 'Nothing')).toBe(Code.Unimplemented);
    expect(await status({ ':authority': 'a b/?#[' })).toBeUndefined();
    expect(await status({ ':path': '/' })).toBe(Code.Unimplemented);
    expect(await status({ 'grpc-timeout': 'never' })).not.toBe(0);
    expect(await status({ 'grpc-encoding': 'gzip' })).toBe(Code.Unimplemented);
    const compressed = call(session, 'Capabilities', { 'grpc-encoding': 'gzip' });
    compressed.end(Buffer.from([1, 0, 0, 0, 1, 9]));
    expect(await statusOf(compressed)).not.toBe(0);
    const short = call(session, 'Capabilities');
    short.end(framed(new Uint8Array(3), 300));
    expect(await statusOf(short)).not.toBe(0);
    const two = call(session, 'Capabilities');
    two.end(Buffer.concat([framed(new Uint8Array(0)), framed(new Uint8Array(0))]));
    expect(await statusOf(two)).not.toBe(0);
    await expectHealth();
  });

  it('that send messages beyond the limit get RESOURCE_EXHAUSTED before these are taken in', async () => {
    const session = open();
    for (const method of [
      'Write',
      'Read',
      'GetForwardingPipelineConfig',
      'StreamChannel',
      'SetForwardingPipelineConfig',
    ]) {
      const stream = call(session, method);
      stream.write(framed(new Uint8Array(1000), 0x7fff_ffff));
      expect(await statusOf(stream)).toBe(Code.ResourceExhausted);
    }
    await expectHealth();
  });

  it('that cancel calls at any point leave nothing behind', async () => {
    const session = open();
    const updates = Array.from({ length: 50 }, (_, n) => update(INSERT, station(n + 100)));
    const write = framed(
      toBinary(p4v1.WriteRequestSchema, {
        $typeName: 'p4.v1.WriteRequest',
        deviceId: 1n,
        roleId: 0n,
        role: '',
        updates,
        atomicity: 0,
      }),
    );
    for (let i = 0; i < runs(1600); i++) {
      const stream = call(session, i % 2 === 0 ? 'Write' : 'StreamChannel');
      stream.write(write.subarray(0, 1 + ((i * 37) % write.length)));
      if (i % 3 === 0) await setImmediate();
      stream.close(constants.NGHTTP2_CANCEL);
    }
    await until('the end of all streams', () => bench.server.streams === 0);
    await expectHealth();
  });

  it('that begin and never end: half a request, half a header, a preface alone', async () => {
    const session = open();
    for (let i = 0; i < 50; i++) call(session, 'Write').write(framed(new Uint8Array(10), 1000));
    for (let i = 0; i < 20; i++) {
      const socket = connectTcp(port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.slice(0, 5 + i));
      await once(socket, 'connect');
      sessions.push({ destroy: () => socket.destroy() } as never);
    }
    await expectHealth();
  });

  it('that ask for whole tables and do not read the answers hold nobody up', async () => {
    const controller = new Controller(bench.server.transport());
    await controller.lead(5n);
    await controller.write(
      Array.from({ length: 1000 }, (_, n) => update(INSERT, station(n, 1, { metadata: new Uint8Array(1000) }))),
    );
    const session = open();
    const read = toBinary(p4v1.ReadRequestSchema, {
      $typeName: 'p4.v1.ReadRequest',
      deviceId: 1n,
      role: '',
      entities: [entry({ tableId: TABLE.stations })],
    });
    for (let i = 0; i < 30; i++) {
      const stream = call(session, 'Read');
      stream.pause();
      stream.end(framed(read));
    }
    await controller.write([update(INSERT, station(2000))]);
    expect(await controller.read(entry({ tableId: TABLE.stations }))).toHaveLength(1001);
  });
});

describe('limits of a server', () => {
  it('refuse the 1,000 streams of a client beyond their number with RESOURCE_EXHAUSTED', async () => {
    await listen({ streams: 100 });
    const session = open();
    const before = process.memoryUsage().heapUsed;
    const ended: (number | undefined)[] = [];
    for (let i = 0; i < 1000; i++) {
      const stream = call(session, 'StreamChannel');
      void statusOf(stream).then((status) => ended.push(status));
    }
    await until('900 refused streams', () => ended.length === 900);
    expect(new Set(ended)).toEqual(new Set([Code.ResourceExhausted]));
    expect(bench.server.streams).toBe(100);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200e6);
    await destroyAll();
    await until('the end of all streams', () => bench.server.streams === 0);
    await expectHealth();
  });

  it('bound the bytes of all requests that are being received', async () => {
    await listen({ requestBytes: 100_000 });
    const session = open();
    const streams = Array.from({ length: 20 }, () => {
      const stream = call(session, 'Write');
      stream.write(framed(new Uint8Array(50_000), 1_000_000));
      return statusOf(stream);
    });
    expect(await Promise.race(streams)).toBe(Code.ResourceExhausted);
    await destroyAll();
    await Promise.all(streams);
    await expectHealth();
  });

  it('bound the connections', async () => {
    await listen({ connections: 3 });
    const sockets = Array.from({ length: 10 }, () => connectTcp(port, '127.0.0.1'));
    let closed = 0;
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.on('close', () => closed++);
      socket.resume();
    }
    await until('seven refused connections', () => closed === 7);
    expect(bench.server.refused).toEqual({ connections: 7, handshakes: 0, streams: 0 });
    for (const socket of sockets) socket.destroy();
    await until('their end', () => closed === 10);
    await expectHealth();
  });

  it('cut off a request that is not sent in time', async () => {
    await listen({ requestMs: 100 });
    const stream = call(open(), 'Write');
    stream.write(framed(new Uint8Array(10), 1000));
    expect(await statusOf(stream)).toBeUndefined();
  });

  it('cut off a connection that answers no ping', async () => {
    await listen({ pingMs: 100 });
    const socket = connectTcp(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    await once(socket, 'close');
  });

  it('are whole numbers from 1', () => {
    bench = createBench();
    expect(() => createBench({ limits: { streams: 0 } })).toThrow(RangeError);
    expect(() => createBench({ limits: { roles: 1.5 } })).toThrow(RangeError);
  });
});
