import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordCounts } from '@int/collector';
import { ParquetSink, ParquetSinkError, type ParquetSinkOptions } from '@int/sink-parquet';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { until } from '../../../.ci/test/until.js';
import { HOUR_NS, Load } from './batches.js';
import { folder, number, open, rows } from './folder.js';
import { SEED } from './seed.js';

const MIB = 2 ** 20;

function reports(sink: ParquetSink): RecordCounts {
  const counts = sink.totals().reports!;
  const dropped = Object.values(counts.dropped).reduce((sum, each) => sum + each, 0);
  expect(counts.offered).toBe(counts.delivered + counts.pending + dropped);
  return counts;
}

/** Files of the store, below its folder. */
async function files(directory: string): Promise<string[]> {
  return (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.parquet')).sort();
}

describe('the memory of a sink', () => {
  test('when it is full, makes the pipeline wait with whenFull wait, and nothing is lost', async () => {
    const directory = await folder();
    const sink = await open({ directory, memoryBytes: 8 * MIB });
    const load = new Load(2000);
    let waited = 0;
    for (let k = 0; k < 15; k++) {
      const batch = load.next();
      const busy = sink.write(batch);
      if (busy !== undefined) waited++;
      await busy;
      expect(sink.figures().memoryBytes).toBeLessThanOrEqual(8 * MIB);
      reports(sink);
    }
    expect(waited).toBeGreaterThan(0);
    await sink.flush();
    expect(reports(sink)).toMatchObject({ offered: 30_000, delivered: 30_000 });
    expect(await number(directory, 'SELECT count(DISTINCT id) FROM reports')).toBe(30_000);
  });

  test('when it is full, costs new records with whenFull drop, which are counted and never make it wait', async () => {
    const directory = await folder();
    const sink = await open({ directory, memoryBytes: 8 * MIB, whenFull: 'drop' });
    const load = new Load(2000);
    for (let k = 0; k < 15; k++) {
      const batch = load.next();
      expect(sink.write(batch)).toBeUndefined();
    }
    expect(reports(sink).dropped.overflow).toBeGreaterThan(0);
    await sink.close();
    const { offered, delivered, pending, dropped } = reports(sink);
    expect({ offered, pending, closed: dropped.closed }).toEqual({ offered: 30_000, pending: 0, closed: 0 });
    expect(await number(directory, 'SELECT count(DISTINCT id) FROM reports')).toBe(delivered);
  });

  test('is waited for in turn by batches of several sources', async () => {
    const directory = await folder();
    const sink = await open({ directory, memoryBytes: 8 * MIB });
    const load = new Load(2000);
    const busy = Array.from({ length: 12 }, () => {
      const batch = load.next();
      return sink.write(batch);
    });
    expect(busy.some((each) => each !== undefined)).toBe(true);
    await Promise.all(busy);
    await sink.close();
    expect(reports(sink)).toMatchObject({ offered: 24_000, delivered: 24_000 });
    // In the order in which they were given.
    const sequence = `SELECT count(*) FROM (SELECT time, lag(time) OVER (ORDER BY split_part(id, '-', 2)::BIGINT) AS before FROM reports) WHERE time < before`;
    expect(await number(directory, sequence)).toBe(0);
  });
});

describe('rows become a file', () => {
  test('when they have waited for long enough', async () => {
    const directory = await folder();
    const sink = await open({ directory, rotate: { ageMs: 50 } });
    const batch = new Load(10).next();
    sink.write(batch);
    expect(reports(sink)).toMatchObject({ pending: 10, delivered: 0 });
    await until('a file', () => reports(sink).pending === 0, { everyMs: 10 });
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(10);
  });

  test('in the folder of their hour, with those of other hours open beside it', async () => {
    const directory = await folder();
    const sink = await open({ directory });
    for (const hour of [0n, 1n, 0n, 2n, 1n, 3n, 0n]) {
      const startNs = HOUR_NS + hour * 3_600_000_000_000n;
      const batch = new Load(5, { startNs }).next();
      sink.write(batch);
    }
    await sink.close();
    expect((await files(directory)).map((file) => file.replace(/part-.*/, 'FILE'))).toEqual([
      'hops/date=2023-11-14/hour=22/FILE',
      'hops/date=2023-11-14/hour=23/FILE',
      'hops/date=2023-11-15/hour=00/FILE',
      'hops/date=2023-11-15/hour=01/FILE',
    ]);
  });

  test('that other readers of Parquet find by date and hour', async () => {
    const directory = await folder();
    const sink = await open({ directory });
    const batch = new Load(5).next();
    sink.write(batch);
    await sink.close();
    const pattern = join(directory, 'hops', '*', '*', '*.parquet').replaceAll("'", "''");
    const found = await rows(
      directory,
      `SELECT DISTINCT date, hour FROM read_parquet('${pattern}', hive_partitioning = true)`,
    );
    expect(found).toEqual([{ date: '2023-11-14', hour: 22 }]);
  });
});

describe('closing', () => {
  test('writes what is held, and what comes later is counted as closed', async () => {
    const directory = await folder();
    const sink = await open({ directory });
    const load = new Load(10);
    const early = load.next();
    sink.write(early);
    const closing = sink.close();
    const late = load.next();
    expect(sink.write(late)).toBeUndefined();
    await closing;
    expect(reports(sink)).toMatchObject({ offered: 20, delivered: 10, pending: 0, dropped: { closed: 10 } });
    expect(await readdir(directory)).toEqual(['hops']);
  });

  test('does not take longer than it may: the rest is dropped and counted', async () => {
    const directory = await folder();
    const sink = await open({ directory });
    const batch = new Load(2000).next();
    sink.write(batch);
    await sink.close(0);
    const { offered, pending, delivered, dropped } = reports(sink);
    expect({ offered, pending }).toEqual({ offered: 2000, pending: 0 });
    expect(delivered + dropped.closed!).toBe(2000);
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(delivered);
  });

  test('ends a wait for room', async () => {
    const sink = await open({ directory: await folder(), memoryBytes: 8 * MIB });
    const load = new Load(2000);
    let busy: Promise<void> | undefined;
    for (let batches = 0; busy === undefined && batches < 1000; batches++) {
      const batch = load.next();
      busy = sink.write(batch);
    }
    expect(busy).toBeDefined();
    await sink.close(0);
    await busy;
    expect(reports(sink).pending).toBe(0);
  });
});

test('accounts close after each step of any course', async () => {
  const step = fc.oneof(
    fc.constantFrom('flush', 'turn').map((kind) => ({ kind, reports: 0 })),
    fc.integer({ min: 1, max: 900 }).map((count) => ({ kind: 'write', reports: count })),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.constantFrom('wait' as const, 'drop' as const),
      fc.boolean(),
      async (steps, whenFull, isHurried) => {
        const directory = await folder();
        const sink = await open({ directory, whenFull, memoryBytes: 8 * MIB, rotate: { rows: 2048 } });
        const load = new Map<number, Load>();
        let given = 0;
        for (const { kind, reports: count } of steps) {
          if (kind === 'flush') await sink.flush();
          else if (kind === 'turn') await sleep(1);
          else {
            const source = load.get(count) ?? new Load(count);
            load.set(count, source);
            const batch = source.next();
            const busy = sink.write(batch);
            if (whenFull === 'drop') expect(busy).toBeUndefined();
            await busy;
            given += count;
          }
          expect(reports(sink).offered).toBe(given);
        }
        await sink.close(isHurried ? 0 : 60_000);
        const { offered, delivered, pending, dropped } = reports(sink);
        expect({ offered, pending }).toEqual({ offered: given, pending: 0 });
        if (!isHurried) expect(dropped.closed).toBe(0);
        expect(await number(directory, 'SELECT count(DISTINCT id) FROM reports')).toBe(delivered);
      },
    ),
    { seed: SEED, numRuns: Number(process.env.INT_RUNS ?? 6) },
  );
});

describe('a sink that cannot be', () => {
  test.each<[string, Partial<ParquetSinkOptions>]>([
    ['directory', { directory: '' }],
    ['memoryBytes', { memoryBytes: 1000 }],
    ['rotate.rows', { rotate: { rows: 0 } }],
    ['rotate.ageMs', { rotate: { ageMs: 0.5 } }],
    ['compression', { compression: 'rar' as 'zstd' }],
    ['whenFull', { whenFull: 'panic' as 'wait' }],
    ['records', { records: ['letters' as 'reports'] }],
    ['instance', { instance: 'FEDCBA9876543210' }],
    ['retention.bytes', { retention: { bytes: -1 } }],
  ])('tells which option is wrong: %s', async (name, options) => {
    const opened = ParquetSink.open({ directory: '/nowhere', ...options });
    await expect(opened).rejects.toThrow(new RegExp(`^${name} must be`));
  });

  test('tells that its folder cannot be made', async () => {
    const opened = ParquetSink.open({ directory: '/dev/null/store' });
    await expect(opened).rejects.toSatisfy(
      (error) =>
        ParquetSinkError.is(error) &&
        error.code === 'ERR_PARQUET_DIRECTORY' &&
        /\/dev\/null\/store/.test(error.message),
    );
  });
});
