/**
 * The controller of the benchmark: a process of its own. It runs the phases that its parent names, one at a time, and tells how long
 * each took, by the clock and in its own processor time.
 */
import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { p4v1 } from '@int/p4runtime';
import type { Command, PhaseName, Told } from './p4runtime/phases.js';
import { pipelineOf, ROUTES, writeOf } from './p4runtime/requests.js';

const [, , port, entriesText, batchText] = process.argv;
const entries = Number(entriesText);
const batch = Number(batchText);
const client = createClient(p4v1.P4Runtime, createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }));

/** Batches that are under way at once. */
const WINDOW = 4;
/** Updates of one batch that takes effect at once, or not at all. */
const ATOMIC = 500;
/** Times that a phase is repeated for a longest pause. */
const TIMES = 20;

async function write(requests: readonly p4v1.WriteRequest[]): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < requests.length; at = next++) await client.write(requests[at]!);
  };
  await Promise.all(Array.from({ length: WINDOW }, worker));
}

async function read(): Promise<number> {
  let count = 0;
  const entities = [{ entity: { case: 'tableEntry' as const, value: { tableId: ROUTES } } }];
  for await (const answer of client.read({ deviceId: 1n, entities })) count += answer.entities.length;
  return count;
}

const requestsOf = (type: p4v1.Update_Type): p4v1.WriteRequest[] =>
  Array.from({ length: Math.ceil(entries / batch) }, (_, i) =>
    writeOf(i * batch, Math.min(batch, entries - i * batch), type),
  );

const { INSERT, MODIFY, DELETE } = p4v1.Update_Type;
const { VERIFY, RECONCILE_AND_COMMIT } = p4v1.SetForwardingPipelineConfigRequest_Action;
const { DATAPLANE_ATOMIC, ROLLBACK_ON_ERROR } = p4v1.WriteRequest_Atomicity;

async function times(run: (time: number) => Promise<unknown>): Promise<undefined> {
  for (let time = 0; time < TIMES; time++) await run(time);
}

/** Makes the requests of a phase, and returns what sends them: making them is not the server's time. */
function prepare(phase: PhaseName): () => Promise<number | undefined> {
  switch (phase) {
    case 'warm': {
      const [inserts, deletes] = [requestsOf(INSERT).slice(0, 40), requestsOf(DELETE).slice(0, 40)];
      return async () => {
        await write(inserts);
        await read();
        await write(deletes);
        return undefined;
      };
    }
    case 'quiet':
      return () => new Promise((resolve) => setTimeout(() => resolve(undefined), 3000));
    case 'insert':
    case 'modify':
    case 'delete': {
      const requests = requestsOf({ insert: INSERT, modify: MODIFY, delete: DELETE }[phase]);
      return async () => {
        await write(requests);
        return undefined;
      };
    }
    case 'read':
      return read;
    case 'atomic': {
      const request = writeOf(0, ATOMIC, MODIFY, DATAPLANE_ATOMIC);
      return () => times(() => client.write(request));
    }
    case 'rollback': {
      // The last update fails: the entry is there.
      const request = writeOf(0, ATOMIC, MODIFY, ROLLBACK_ON_ERROR);
      request.updates.push(...writeOf(0, 1, INSERT).updates);
      return () => times(() => client.write(request).catch(() => {}));
    }
    case 'verify':
      return () => times((time) => client.setForwardingPipelineConfig(pipelineOf(time, VERIFY)));
    case 'reconcile':
      return async () => {
        await client.setForwardingPipelineConfig(pipelineOf(1, RECONCILE_AND_COMMIT));
        return undefined;
      };
  }
}

const stream = client.streamChannel(
  (async function* () {
    const value = { deviceId: 1n, electionId: { low: 1n } };
    yield create(p4v1.StreamMessageRequestSchema, { update: { case: 'arbitration', value } });
    await new Promise(() => {});
  })(),
);
await stream[Symbol.asyncIterator]().next();

let run: () => Promise<number | undefined> = async () => {};
process.on('message', (command: Command) => {
  if (command === 'end') process.exit(0);
  const tell = (told: Told): void => void process.send?.(told);
  if (command === 'go') {
    const cpu = process.cpuUsage();
    const begin = performance.now();
    void run().then((count) => {
      const seconds = (performance.now() - begin) / 1000;
      const { user, system } = process.cpuUsage(cpu);
      tell({ kind: 'done', seconds, cpuSeconds: (user + system) / 1e6, count: count ?? 0 });
    });
    return;
  }
  run = prepare(command);
  tell({ kind: 'ready' });
});
process.send?.({ kind: 'connected' } satisfies Told);
