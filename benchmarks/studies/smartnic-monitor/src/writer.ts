// The thread that reads the rings of all shards and writes to Redis, so that neither decoding nor the caches wait for it.
import { parentPort, workerData } from 'node:worker_threads';
import type { WriterMessage, WriterOrder, WriterSetup } from './writer/protocol.js';
import { RingWriter } from './writer/ring-writer.js';

const say = (message: WriterMessage): void => parentPort!.postMessage(message);
const writer = new RingWriter(
  workerData as WriterSetup,
  (text) => say({ kind: 'problem', text }),
  (text) => say({ kind: 'recovered', text }),
);
parentPort!.on('message', (order: WriterOrder) => {
  if (order.kind === 'hurry') writer.hurry(order.patienceMs);
  else say({ kind: 'totals', totals: writer.totals() });
});
say({ kind: 'end', totals: await writer.run() });
parentPort!.close();
