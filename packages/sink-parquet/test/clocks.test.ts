import { spawnSync } from 'node:child_process';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ParquetSink } from '@int/sink-parquet';
import { expect, test } from 'vitest';
import { HOUR_NS, Load } from './batches.js';
import { bundle } from './bundle.js';
import { folder, number, open } from './folder.js';

const HOUR_MS = 3_600_000;
const START_MS = Number(HOUR_NS / 1_000_000n);

async function fill(sink: ParquetSink, hour: number, reports: number): Promise<void> {
  const batch = new Load(reports, { startNs: HOUR_NS + BigInt(hour) * 3_600_000_000_000n }).next();
  await sink.write(batch);
  await sink.flush();
}

test('hours are UTC, and so are times in queries, whatever the zone of the process is', async () => {
  const program = await bundle(new URL('zones.program.ts', import.meta.url));
  const said = new Set<string>();
  const offsets = new Set<number>();
  for (const TZ of ['America/St_Johns', 'Asia/Kathmandu']) {
    const directory = await folder();
    const { stdout, stderr } = spawnSync(process.execPath, [program, directory], {
      env: { ...process.env, TZ },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    const { offsetMinutes, ...rest } = JSON.parse(stdout) as { offsetMinutes: number };
    offsets.add(offsetMinutes);
    said.add(JSON.stringify(rest));
  }
  // The zones are known here, and make no difference.
  expect([...offsets]).toEqual([210, -345]);
  expect(said.size).toBe(1);
  expect(JSON.parse([...said][0]!)).toMatchObject({
    folders: ['date=2023-11-14', 'date=2023-11-14/hour=22', 'date=2023-11-14/hour=23'],
    rows: [{ first: expect.stringMatching(/^2023-11-14 22:59:59/), late: 10, zone: 'UTC' }],
  });
});

test('a clock that was set back does not leave the store to a process that is gone', async () => {
  const directory = await folder();
  const ahead = new Date(Date.now() + 1000 * HOUR_MS);
  // A process with our id, as every container has one, from before its clock was set.
  const claim = `${process.pid}.1-00000000000000bb`;
  await writeFile(join(directory, '.maintainer'), claim);
  await utimes(join(directory, '.maintainer'), ahead, ahead);
  await mkdir(join(directory, '.writing', claim), { recursive: true });
  const sink = await open({ directory, now: () => START_MS + 10 * HOUR_MS, compaction: { graceMs: 0 } });
  expect(await readdir(join(directory, '.writing'))).toHaveLength(1);
  await fill(sink, 0, 5);
  await fill(sink, 0, 6);
  expect(await sink.maintain()).toMatchObject({ merged: 2, made: 1 });
});

test('a clock that was set back does not keep files that were merged until it is there again', async () => {
  const directory = await folder();
  const sink = await open({ directory, now: () => START_MS + 10 * HOUR_MS, compaction: { graceMs: 60_000 } });
  await fill(sink, 0, 5);
  await fill(sink, 0, 6);
  expect(await sink.maintain()).toMatchObject({ merged: 2, made: 1 });
  const names = await readdir(directory, { recursive: true });
  const list = join(directory, names.find((name) => name.endsWith('.replaces'))!);
  const ahead = new Date(Date.now() + 1000 * HOUR_MS);
  await utimes(list, ahead, ahead);
  await sink.maintain();
  expect((await stat(list)).mtimeMs).toBeLessThan(Date.now() + 60_000);
  expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(11);
});

test('a clock that was set back does not make what is written now the oldest there is', async () => {
  const directory = await folder();
  const sink = await open({ directory, now: () => START_MS, compaction: false, retention: { bytes: 1 } });
  await fill(sink, 5, 5);
  await fill(sink, 6, 6);
  // From here on, the clock is behind.
  await fill(sink, 0, 7);
  expect(await sink.maintain()).toMatchObject({ expired: 1 });
  expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(13);
});
