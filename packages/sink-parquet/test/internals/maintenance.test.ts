import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { History, type ParquetSink } from '../../src/index.js';
import { groupsToMerge } from '../../src/store/maintenance.js';
import { HOUR_NS, Load } from '../batches.js';
import { folder, number, open, rows } from '../folder.js';

const HOUR_MS = 3_600_000;
const START_MS = Number(HOUR_NS / 1_000_000n);

async function files(directory: string): Promise<string[]> {
  return (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.parquet')).sort();
}

/** Writes files of so many reports each into an hour after {@link HOUR_NS}. */
async function fill(sink: ParquetSink, hour: number, counts: readonly number[]): Promise<void> {
  for (const count of counts) {
    const batch = new Load(count, { startNs: HOUR_NS + BigInt(hour) * 3_600_000_000_000n }).next();
    await sink.write(batch);
    await sink.flush();
  }
}

const EVERYTHING = `SELECT * EXCLUDE (id), split_part(id, '-', 2)::BIGINT AS n FROM hops ORDER BY n, hop`;

describe('merging', () => {
  test('makes one file of the small ones of an hour that is over, with the same rows', async () => {
    const directory = await folder();
    let now = START_MS + HOUR_MS;
    const sink = await open({ directory, now: () => now, compaction: { afterMs: 1000, graceMs: 0 } });
    await fill(sink, 0, [5, 6, 7]);
    await fill(sink, 1, [3, 4]);
    const before = await rows(directory, EVERYTHING);
    expect(await sink.maintain()).toEqual({ merged: 0, made: 0, expired: 0, damaged: 0 });
    now += 999;
    expect(await sink.maintain()).toEqual({ merged: 0, made: 0, expired: 0, damaged: 0 });
    now += 1;
    expect(await sink.maintain()).toEqual({ merged: 3, made: 1, expired: 0, damaged: 0 });
    expect(await files(directory)).toEqual([
      expect.stringMatching(/hour=22\/pack-.*/),
      expect.stringMatching(/hour=23\/part-.*/),
      expect.stringMatching(/hour=23\/part-.*/),
    ]);
    expect(await rows(directory, EVERYTHING)).toEqual(before);
    // One file alone is left as it is; a late one joins it.
    expect(await sink.maintain()).toEqual({ merged: 0, made: 0, expired: 0, damaged: 0 });
    await fill(sink, 0, [2]);
    expect(await sink.maintain()).toEqual({ merged: 2, made: 1, expired: 0, damaged: 0 });
    expect(sink.figures()).toMatchObject({ merged: 5, made: 2 });
  });

  test('leaves the old files for queries that have begun, which nobody reads twice', async () => {
    const directory = await folder();
    const settings = { directory, now: () => START_MS + 10 * HOUR_MS };
    const sink = await open({ ...settings, compaction: { graceMs: 60_000 } });
    await fill(sink, 0, [5, 6]);
    expect(await sink.maintain()).toMatchObject({ merged: 2, made: 1 });
    expect(await files(directory)).toHaveLength(3);
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(11);
    // Not merged again, nor removed before the time is over.
    expect(await sink.maintain()).toMatchObject({ merged: 0, made: 0 });
    expect(await files(directory)).toHaveLength(3);
    // Late files are merged with each other, not with one whose predecessors are still there.
    await fill(sink, 0, [1, 2]);
    expect(await sink.maintain()).toMatchObject({ merged: 2, made: 1 });
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(14);
    await sink.close();
    const next = await open({ ...settings, compaction: { graceMs: 0 } });
    // First the old ones go; then what is left can be merged once more.
    expect(await next.maintain()).toMatchObject({ made: 0 });
    expect(await files(directory)).toEqual([expect.stringMatching(/pack-/), expect.stringMatching(/pack-/)]);
    expect(await next.maintain()).toMatchObject({ merged: 2, made: 1 });
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(14);
  });

  test('that was ended between its two steps is forgotten', async () => {
    const directory = await folder();
    const sink = await open({ directory, now: () => START_MS, compaction: { graceMs: 0 } });
    await fill(sink, 0, [5, 6]);
    const [one = ''] = await files(directory);
    const partition = join(directory, one, '..');
    const listed = (await readdir(partition)).join('\n');
    // The list of a file that never came: what it lists counts.
    await writeFile(join(partition, '.pack-gone.parquet.replaces'), listed);
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(11);
    await sink.maintain();
    expect(await readdir(partition)).toHaveLength(2);
  });

  test('takes neighbours up to the size that is wanted, and leaves large files alone', () => {
    const sized = [10, 20, 60, 30, 45, 10, 5, 90].map((bytes, index) => ({ name: String(index), bytes }));
    const groups = groupsToMerge(sized, 100).map((group) => group.map(({ bytes }) => bytes));
    expect(groups).toEqual([
      [10, 20, 30],
      [45, 10, 5],
    ]);
  });

  test('is done by one sink of a store at a time', async () => {
    const directory = await folder();
    const settings = { directory, now: () => START_MS + 10 * HOUR_MS, compaction: { graceMs: 0 } };
    const first = await open(settings);
    const second = await open(settings);
    await fill(first, 0, [5]);
    await fill(second, 0, [6]);
    await fill(second, 1, [7, 8]);
    expect(await first.maintain()).toMatchObject({ merged: 4, made: 2 });
    await fill(second, 0, [7]);
    expect(await second.maintain()).toMatchObject({ merged: 0 });
    await first.close();
    expect(await second.maintain()).toMatchObject({ merged: 2, made: 1 });
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(33);
  });

  test('does not disturb queries', async () => {
    const directory = await folder();
    const sink = await open({ directory, now: () => START_MS + 10 * HOUR_MS, compaction: { graceMs: 2000 } });
    const history = await History.open({ directory });
    let given = 0;
    let asked = 0;
    let last = 0;
    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });
    const asking = (async () => {
      while (!isOver) {
        const [row] = await history.rows('SELECT count(*) AS n, count(DISTINCT id) AS ids FROM reports');
        expect(row!.n).toBe(row!.ids);
        expect(Number(row!.n)).toBeGreaterThanOrEqual(last);
        expect(Number(row!.n)).toBeLessThanOrEqual(given);
        last = Number(row!.n);
        asked++;
      }
    })();
    for (let k = 0; k < 8; k++) {
      given += 50;
      await fill(sink, k % 2, [50]);
      await sink.maintain();
    }
    isOver = true;
    await asking;
    expect(asked).toBeGreaterThan(1);
    expect(await history.rows('SELECT count(*) AS n FROM reports')).toEqual([{ n: given }]);
    history.close();
  });
});

describe('retention', () => {
  test('removes hours that ended too long ago, but never the newest', async () => {
    const directory = await folder();
    let now = START_MS + 3 * HOUR_MS;
    const sink = await open({ directory, now: () => now, compaction: false, retention: { ageMs: HOUR_MS } });
    await fill(sink, 0, [5, 6]);
    await fill(sink, 1, [7]);
    await fill(sink, 2, [8]);
    now += HOUR_MS - 1;
    expect(await sink.maintain()).toMatchObject({ expired: 3 });
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(8);
    now += 1000 * HOUR_MS;
    expect(await sink.maintain()).toMatchObject({ expired: 0 });
    expect(await readdir(join(directory, 'hops'))).toEqual(['date=2023-11-15']);
  });

  test('removes the oldest hours until the rest is small enough', async () => {
    const directory = await folder();
    const sink = await open({ directory, now: () => START_MS, compaction: false });
    for (let hour = 0; hour < 4; hour++) await fill(sink, hour, [20]);
    const sizes = await Promise.all(
      (await files(directory)).map(async (file) => (await stat(join(directory, file))).size),
    );
    await sink.close();
    const limit = sizes[2]! + sizes[3]!;
    const next = await open({ directory, now: () => START_MS, retention: { bytes: limit } });
    expect(await next.maintain()).toMatchObject({ expired: 2 });
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(40);
    expect(await next.maintain()).toMatchObject({ expired: 0 });
  });
});
