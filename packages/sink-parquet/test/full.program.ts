/** Writes to a disk that is full, then makes room: tells problems (`P`), recoveries (`R`) and the totals (`T`). */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ParquetSink } from '@int/sink-parquet';
import { until } from '../../../.ci/test/until.js';
import { Load } from './batches.js';

const [disk = ''] = process.argv.slice(2);
const say = (kind: string, what: unknown): void => void process.stdout.write(`${kind} ${JSON.stringify(what)}\n`);
const ballast = join(disk, 'ballast');
let hasFailed = false;
let hasRecovered = false;
const sink = await ParquetSink.open({
  directory: join(disk, 'store'),
  rotate: { rows: 2048 },
  memoryBytes: 8 * 2 ** 20,
  whenFull: 'drop',
  retry: { firstMs: 20, maxMs: 50 },
  maintenanceMs: 0,
  onProblem: ({ code }) => {
    hasFailed = true;
    say('P', code);
  },
  onRecovered: () => {
    hasRecovered = true;
    say('R', null);
  },
});

try {
  for (;;) writeFileSync(ballast, Buffer.alloc(4096), { flag: 'a' });
} catch {
  // As intended: the disk is full.
}
const load = new Load(500);
const write = (): void => {
  const batch = load.next();
  sink.write(batch);
};
await until('a full disk and full memory', () => {
  write();
  return hasFailed && sink.totals().reports!.dropped.overflow! > 0;
});
say('H', sink.health());
say('T', sink.totals().reports);
rmSync(ballast);
await until('recovery', () => hasRecovered);
write();
await sink.flush();
say('H', sink.health());
say('T', sink.totals().reports);
await sink.close();
process.exit(0);
