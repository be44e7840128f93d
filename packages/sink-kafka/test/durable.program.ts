/**
 * A sink in a process of its own, until it is killed, whose records have to be on disk: spool, and what to do when it is full.
 * Says after each batch how many records are safe.
 */
import { writeSync } from 'node:fs';
import { KafkaSink } from '@int/sink-kafka';
import { batchOf } from './load.js';

const [directory = '', whenFull = '', brokers = '127.0.0.1:1', reports = 'int.reports'] = process.argv.slice(2);
const sink = new KafkaSink({
  bootstrap: brokers.split(','),
  topics: { reports },
  format: 'json',
  durability: 'spool',
  whenFull: whenFull === 'drop' ? 'drop' : 'wait',
  batchBytes: 262_144,
  memoryBytes: 4 * 262_144,
  retry: { firstMs: 20, maxMs: 200 },
  spool: { directory },
});
const batches = [batchOf(7), batchOf(150), batchOf(40)];
for (let round = 0; ; round++) {
  await sink.write(batches[round % batches.length]!);
  const { offered, delivered } = sink.totals().reports!;
  writeSync(1, `${JSON.stringify({ safe: offered, delivered })}\n`);
}
