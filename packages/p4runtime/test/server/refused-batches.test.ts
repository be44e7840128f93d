import { once } from 'node:events';
import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2';
import { setImmediate } from 'node:timers/promises';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport, Http2SessionManager } from '@connectrpc/connect-node';
import { P4RuntimeClient, P4RuntimeError, p4v1 } from '@int/p4runtime';
import { StatusSchema } from '@int/p4runtime/internals';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inTime } from '../../../../.ci/test/until.js';
import { type Bench, Code, createBench } from './controller.js';
import { DELETE, INSERT, station, update } from './everything.js';

const { CONTINUE_ON_ERROR, ROLLBACK_ON_ERROR } = p4v1.WriteRequest_Atomicity;
/** What a client takes that does not tell: the longest value of Node. */
const UNTOLD_BYTES = 65_536;

let bench: Bench;
let port: number;
const sessions: ClientHttp2Session[] = [];

beforeEach(async () => {
  bench = createBench();
  ({ port } = await bench.server.listen({ port: 0 }));
  await bench.controller.lead();
});

afterEach(async () => {
  await setImmediate();
  for (const session of sessions.splice(0)) session.destroy();
  await bench.server.close();
});

const MISSING = Array.from({ length: 20_000 }, (_, i) => update(DELETE, station(i + 1)));

/** As many updates as given, all refused: the table has none of these stations. */
const refused = (count: number): p4v1.Update[] => MISSING.slice(0, count);

function write(updates: p4v1.Update[], atomicity = CONTINUE_ON_ERROR): p4v1.WriteRequest {
  return create(p4v1.WriteRequestSchema, { deviceId: 1n, electionId: { low: 1n }, updates, atomicity });
}

interface Answer {
  readonly code: number;
  readonly text: string;
  /** The errors of the updates; undefined: none were told. */
  readonly errors: readonly p4v1.Error[] | undefined;
  /** Bytes of the fields that ended the answer, as RFC 9113 counts them. */
  readonly bytes: number;
}

/** A client of no library, which tells that it takes `told` bytes of metadata, or tells nothing. */
async function open(told: number | undefined): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`, {
    settings: told === undefined ? {} : { maxHeaderListSize: told },
  });
  sessions.push(session);
  await once(session, 'connect');
  return session;
}

async function call(session: ClientHttp2Session, request: p4v1.WriteRequest): Promise<Answer> {
  const bytes = toBinary(p4v1.WriteRequestSchema, request);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/p4.v1.P4Runtime/Write',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  let last: IncomingHttpHeaders = {};
  stream.on('response', (headers) => (last = headers));
  stream.on('trailers', (headers) => (last = headers));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  stream.end(Buffer.concat([head, bytes]));
  stream.resume();
  await inTime('the end of the answer', once(stream, 'end'));
  const details = last['grpc-status-details-bin'];
  const status = typeof details === 'string' ? fromBinary(StatusSchema, Buffer.from(details, 'base64')) : undefined;
  return {
    code: Number(last['grpc-status']),
    text: decodeURIComponent(String(last['grpc-message'])),
    errors: status?.details.map(({ value }) => fromBinary(p4v1.ErrorSchema, value)),
    bytes: Object.entries(last).reduce((sum, [name, value]) => sum + name.length + String(value).length + 32, 0),
  };
}

/** The answer to a batch of refused updates is whole, and not more than its client takes. @returns whether errors were told */
function expectAnswer({ code, text, errors, bytes }: Answer, count: number, told: number): boolean {
  expect(bytes).toBeLessThanOrEqual(told);
  expect(text).toContain(`${count} of ${count} updates failed`);
  if (errors === undefined) {
    expect(code).toBe(Code.ResourceExhausted);
    return false;
  }
  expect(code).toBe(Code.Unknown);
  expect(errors).toHaveLength(count);
  expect(errors.every(({ canonicalCode }) => canonicalCode === Code.NotFound)).toBe(true);
  expect(errors[0]!.message).not.toBe('');
  return true;
}

describe('a batch of refused updates', () => {
  it.each([
    [undefined, [1, 500], [2001, 20_000]],
    [8192, [1], [500, 2001]],
    [16_384, [1], [500]],
    [72_740, [1, 500], [2001]],
  ])('has an answer for a client that takes %j bytes of metadata', async (told, withErrors, without) => {
    const session = await open(told);
    const found: number[] = [];
    for (const count of [...withErrors, ...without]) {
      const answer = await call(session, write(refused(count)));
      if (expectAnswer(answer, count, told ?? UNTOLD_BYTES)) found.push(count);
    }
    expect(found).toEqual(withErrors);
  });

  it('is answered in full, with a message at least, if it has as many updates as the answer to a larger one names', async () => {
    for (const told of [undefined, 8192, 16_384, 65_536]) {
      const session = await open(told);
      const { text } = await call(session, write(refused(2001)));
      const most = Number(/send at most (\d+) updates at a time/.exec(text)?.[1]);
      expect(most).toBeGreaterThan(90);
      expect(expectAnswer(await call(session, write(refused(most))), most, told ?? UNTOLD_BYTES)).toBe(true);
    }
  });

  it('leaves out the messages of later updates before it leaves out codes, and says which updates were done', async () => {
    const session = await open(16_384);
    const { code, errors } = await call(session, write([update(INSERT, station(1)), ...refused(90)]));
    expect(code).toBe(Code.Unknown);
    expect(errors?.map(({ canonicalCode }) => canonicalCode)).toEqual([
      ...[0, 0],
      ...new Array(89).fill(Code.NotFound),
    ]);
    const told = errors!.slice(2).map(({ message }) => message !== '');
    expect(told.indexOf(false)).toBeGreaterThan(10);
    expect(told.slice(told.indexOf(false))).not.toContain(true);
  });

  it('is undone as a whole where it asks for that, and also if its errors are too many to tell', async () => {
    const session = await open(undefined);
    const answer = await call(session, write([update(INSERT, station(9)), ...refused(2001)], ROLLBACK_ON_ERROR));
    expect([answer.code, answer.errors]).toEqual([Code.ResourceExhausted, undefined]);
    expect(await bench.controller.code(update(DELETE, station(9)))).toBe(Code.NotFound);
  });

  it('has an answer for a client of connect that tells to take more than Node does, and whose connection stays', async () => {
    const baseUrl = `http://127.0.0.1:${port}`;
    const sessionManager = new Http2SessionManager(baseUrl, {}, { settings: { maxHeaderListSize: 2_500_000 } });
    const client = createClient(p4v1.P4Runtime, createGrpcTransport({ baseUrl, sessionManager }));
    for (const count of [2001, 1, 500]) {
      const error: unknown = await inTime(
        'the answer',
        client.write(write(refused(count))).catch((each) => each),
      );
      const { code, message } = ConnectError.from(error);
      expect(code, message).toBe(count <= 500 ? Code.Unknown : Code.ResourceExhausted);
      expect(ConnectError.from(error).findDetails(p4v1.ErrorSchema)).toHaveLength(count <= 500 ? count : 0);
    }
    await setImmediate();
    sessionManager.abort();
  });

  it('of any size fits the client of this package, which sends it in parts', async () => {
    const client = new P4RuntimeClient({ target: `127.0.0.1:${port}`, electionId: 2 });
    await client.connect();
    const entries = Array.from({ length: 2001 }, (_, i) =>
      client.entry('stations', { dst: 2 ** 40 + i }, 'forward', { port: 1 }),
    );
    const error: unknown = await client.delete(...entries).catch((each) => each);
    expect(P4RuntimeError.is(error) && error.updates.map(({ index, grpcName }) => [index, grpcName])).toEqual(
      entries.map((_, i) => [i, 'NOT_FOUND']),
    );
    await client.close();
  });

  it('has all its errors for a client in this process, whatever their size', async () => {
    expect(await bench.controller.codes(refused(5000))).toEqual(new Array(5000).fill(Code.NotFound));
  });
});
