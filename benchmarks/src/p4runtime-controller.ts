/** The controller of the benchmark: a process of its own that writes and reads, and tells its parent the times. */
import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { p4v1 } from '@int/p4runtime';
import { ROUTES, writeOf } from './p4runtime/requests.js';

const [, , port, entriesText, batchText] = process.argv;
const entries = Number(entriesText);
const batch = Number(batchText);
const client = createClient(p4v1.P4Runtime, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));

/** Batches that are under way at once. */
const WINDOW = 4;

async function write(requests: readonly p4v1.WriteRequest[]): Promise<number> {
  const begin = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < requests.length; at = next++) await client.write(requests[at]!);
  };
  await Promise.all(Array.from({ length: WINDOW }, worker));
  return (performance.now() - begin) / 1000;
}

async function read(): Promise<{ readonly seconds: number; readonly count: number }> {
  const begin = performance.now();
  let count = 0;
  const entities = [{ entity: { case: 'tableEntry' as const, value: { tableId: ROUTES } } }];
  for await (const answer of client.read({ deviceId: 1n, entities })) count += answer.entities.length;
  return { seconds: (performance.now() - begin) / 1000, count };
}

const requestsOf = (type: p4v1.Update_Type): p4v1.WriteRequest[] =>
  Array.from({ length: Math.ceil(entries / batch) }, (_, i) =>
    writeOf(i * batch, Math.min(batch, entries - i * batch), type),
  );

const stream = client.streamChannel(
  (async function* () {
    const value = { deviceId: 1n, electionId: { low: 1n } };
    yield create(p4v1.StreamMessageRequestSchema, { update: { case: 'arbitration', value } });
    await new Promise(() => {});
  })(),
);
await stream[Symbol.asyncIterator]().next();

// The first passes warm both sides up.
const { INSERT, MODIFY, DELETE } = p4v1.Update_Type;
await write(requestsOf(INSERT).slice(0, 20));
await write(requestsOf(DELETE).slice(0, 20));
process.send?.({ kind: 'begin' });
const insert = await write(requestsOf(INSERT));
const modify = await write(requestsOf(MODIFY));
process.send?.({ kind: 'written', insert, modify });
await read();
const { seconds, count } = await read();
process.send?.({ kind: 'read', seconds, count });
const remove = await write(requestsOf(DELETE));
process.send?.({ kind: 'end', remove });
process.exit(0);
