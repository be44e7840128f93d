/** Writes reports until it is killed, and tells how many are delivered: `D <reports>`. */
import { setImmediate as turn } from 'node:timers/promises';
import { ParquetSink } from '@int/sink-parquet';
import { until } from '../../../.ci/test/until.js';
import { Load } from './batches.js';

const [directory = ''] = process.argv.slice(2);
const sink = await ParquetSink.open({
  directory,
  rotate: { rows: 2048 },
  // Merges small files all the time: the hour of the load has long passed.
  maintenanceMs: 30,
  compaction: { afterMs: 0, graceMs: 0, targetBytes: 2 ** 20 },
});
const load = new Load(200);
let told = 0;
for (;;) {
  const batch = load.next();
  await sink.write(batch);
  // The load runs far ahead of the disk else.
  await until('the disk', () => sink.totals().reports!.pending <= 4000, { everyMs: 5 });
  const { delivered } = sink.totals().reports!;
  if (delivered > told) {
    process.stdout.write(`D ${delivered} ${sink.figures().made}\n`);
    told = delivered;
  }
  await turn();
}
