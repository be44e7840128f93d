import { DuckDBInstance } from '@duckdb/node-api';
import { DeviceProfile } from '@int/network';
import { expect, test } from 'vitest';
import { HOUR_NS, Load } from './batches.js';
import { folder, number, open } from './folder.js';

const AFTER_MS = Number(HOUR_NS / 1_000_000n) + 10 * 3_600_000;

/** The units that the metadata of the hops' files tell, each once. */
async function unitsIn(directory: string): Promise<unknown[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const files = `${directory}/hops/**/*.parquet`;
  const found = await connection.runAndReadAll(
    `SELECT DISTINCT decode(value) FROM parquet_kv_metadata('${files}') WHERE decode(key) = 'int_units' ORDER BY 1`,
  );
  const all = await connection.runAndReadAll(`SELECT count(DISTINCT file_name) FROM parquet_kv_metadata('${files}')`);
  connection.closeSync();
  return [Number(all.getRows()[0]![0]), ...found.getRows().map(([text]) => JSON.parse(String(text)) as unknown)];
}

test('files tell the units of their numbers, and only files in the same units are merged', async () => {
  const directory = await folder();
  const micro = new DeviceProfile({
    units: { hopLatency: 'us', queueOccupancy: { cell: '80B' } },
    switches: { 3: { units: { hopLatency: 'ns' } } },
  });
  const clock = new DeviceProfile({ units: { hopLatency: 'clock(200MHz)' } });
  for (const device of [micro, clock, micro, undefined, undefined]) {
    const sink = await open({ directory, now: () => AFTER_MS, ...(device !== undefined && { device }) });
    await sink.write(new Load(50, { startNs: HOUR_NS }).next());
    await sink.close();
  }
  const told = [clock.units(), micro.units()];
  const byText = (units: unknown[]): unknown[] =>
    [...units].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  expect(await unitsIn(directory)).toEqual([5, ...byText(told)]);
  const hops = await number(directory, 'SELECT count(*) FROM hops');
  const sink = await open({ directory, now: () => AFTER_MS, compaction: { graceMs: 0 } });
  const { merged, made } = await sink.maintain();
  expect(merged).toBe(2 * made);
  expect(await unitsIn(directory)).toEqual([3, ...byText(told)]);
  expect(await number(directory, 'SELECT count(*) FROM hops')).toBe(hops);
});
