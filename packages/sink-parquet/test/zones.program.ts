/** Writes reports on both sides of the end of an hour, and tells where they are and what queries say of their times. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { History, ParquetSink } from '@int/sink-parquet';
import { HOUR_NS, Load } from './batches.js';

const [directory = ''] = process.argv.slice(2);
const sink = await ParquetSink.open({ directory, maintenanceMs: 0 });
for (const startNs of [HOUR_NS + 3_599_000_000_000n, HOUR_NS + 3_600_000_000_000n]) {
  const batch = new Load(10, { startNs }).next();
  await sink.write(batch);
}
await sink.close();
const history = await History.open({ directory });
const said = {
  offsetMinutes: new Date(Number(HOUR_NS / 1_000_000n)).getTimezoneOffset(),
  folders: (await readdir(join(directory, 'hops'), { recursive: true })).filter(
    (name) => name.endsWith('.parquet') === false,
  ),
  // As one asks for the last hour: the zone decides what the time without one is.
  rows: await history.rows(`SELECT min(time) AS "first", current_setting('TimeZone') AS zone,
    count(*) FILTER (time >= (TIMESTAMPTZ '2023-11-14 23:00:00+00')::TIMESTAMP) AS late FROM reports`),
};
history.close();
process.stdout.write(JSON.stringify(said));
