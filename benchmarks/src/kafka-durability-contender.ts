/**
 * A pipeline that hands batches to a KafkaSink and waits for each: `kafka-durability-contender.js BOOTSTRAP TOPIC DURABILITY SYNC
 * DIRECTORY BATCH BATCHES`. Prints processor time and time per record, and what a batch waits, as JSON.
 */
import { type Durability, KafkaSink, type SpoolSync } from '@int/sink-kafka';
import { batchOf } from './kafka/reports.js';

const [bootstrap = '', topic = '', durability = '', sync = '', directory = '', size = '', count = ''] =
  process.argv.slice(2);
const records = Number(size);
const batches = Number(count);
/** Different batches, so that no cache has seen all of it. */
const KINDS = 8;
/** Batches before anything is timed: the engine compiles what is used often. */
const WARM_UP = 20;

let tellAway = (): void => {};
const away = new Promise<void>((resolve) => {
  tellAway = resolve;
});
const sink = new KafkaSink({
  bootstrap: bootstrap.split(','),
  topics: { reports: topic },
  records: ['reports'],
  durability: durability as Durability,
  spool: { directory, sync: sync as SpoolSync },
  onProblem: () => tellAway(),
});
const kinds = Array.from({ length: KINDS }, (_, index) => batchOf(records, index + 1));
const waits: number[] = [];

async function write(round: number): Promise<void> {
  const batch = kinds[round % KINDS]!;
  await sink.write(batch);
}

for (let round = 0; round < WARM_UP; round++) await write(round);
const cpu = process.cpuUsage();
const started = performance.now();
for (let round = 0; round < batches; round++) {
  const before = performance.now();
  await write(round);
  waits.push(performance.now() - before);
}
const takenMs = performance.now() - started;
// Without brokers, nothing is ever delivered; a short run is over before that shows.
await Promise.race([sink.flush(), away]);
const used = process.cpuUsage(cpu);
waits.sort((a, b) => a - b);
const at = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(share * waits.length))]!;
const figures = {
  cpuNs: ((used.user + used.system) * 1000) / (records * batches),
  takenNs: (takenMs * 1e6) / (records * batches),
  wallNs: ((performance.now() - started) * 1e6) / (records * batches),
  waitMs: at(0.5),
  longWaitMs: at(0.99),
};
await sink.close(0);
process.stdout.write(`${JSON.stringify(figures)}\n`);
process.exit(0);
