/** Writes to a folder that is read-only for a while: tells problems (`P`, `O`), health (`H`), totals (`T`), rows (`N`). */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { History, ParquetSink, type ParquetSinkError } from '@int/sink-parquet';
import { until } from '../../../.ci/test/until.js';
import { Load } from './batches.js';

const [disk = ''] = process.argv.slice(2);
const directory = join(disk, 'store');
const say = (kind: string, what: unknown): void => void process.stdout.write(`${kind} ${JSON.stringify(what)}\n`);
let hasFailed = false;
let hasRecovered = false;
const sink = await ParquetSink.open({
  directory,
  rotate: { rows: 2048 },
  retry: { firstMs: 20, maxMs: 50 },
  maintenanceMs: 0,
  onProblem: ({ code }) => {
    hasFailed = true;
    say('P', code);
  },
  onRecovered: () => {
    hasRecovered = true;
  },
});
const load = new Load(500);
const write = async (): Promise<void> => {
  const batch = load.next();
  await sink.write(batch);
};
const tell = async (isRead: boolean): Promise<void> => {
  say('H', sink.health());
  say('T', sink.totals().reports);
  if (!isRead) return;
  const history = await History.open({ directory });
  const [row] = await history.rows('SELECT count(*) AS n FROM reports');
  say('N', row?.n);
  history.close();
};
const mount = (how: string): void => void execFileSync('mount', ['-o', `remount,${how}`, disk]);

await write();
await sink.flush();
await tell(false);
mount('ro');
await write();
await write();
void sink.flush();
await until('a failure', () => hasFailed);
await sink.maintain().catch(() => undefined);
await ParquetSink.open({ directory }).catch(({ code }: ParquetSinkError) => say('O', code));
await tell(true);
mount('rw');
await until('a recovery', () => hasRecovered);
await sink.flush();
await sink.maintain();
await tell(true);
await sink.close();
process.exit(0);
