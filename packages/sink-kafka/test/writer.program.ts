/** A sink in a process of its own, until it is killed: brokers, topic, spool. Prints its totals and state again and again. */
import { writeSync } from 'node:fs';
import { KafkaSink } from '@int/sink-kafka';
import { batchOf } from './load.js';

const [brokers = '', reports = '', directory = ''] = process.argv.slice(2);
const sink = new KafkaSink({
  bootstrap: brokers.split(','),
  topics: { reports },
  format: 'json',
  whenFull: 'drop',
  batchBytes: 262_144,
  memoryBytes: 4 * 262_144,
  retry: { firstMs: 20, maxMs: 200 },
  spool: { directory },
});
const batch = batchOf(200);
setInterval(() => {
  void sink.write(batch);
  const { spooledRecords } = sink.state();
  writeSync(1, `${JSON.stringify({ ...sink.totals().reports, spooledRecords })}\n`);
}, 20);
