import { execFileSync } from 'node:child_process';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { History, HistoryError, type HistoryOptions, type ParquetSinkError } from '../../src/index.js';
import { checksumOf, sumInName } from '../../src/store/checksum.js';
import { HOUR_NS, Load } from '../batches.js';
import { folder, number, open, rows } from '../folder.js';
import { SEED } from '../seed.js';

const HOUR_MS = 3_600_000;
const LATER = { now: () => Number(HOUR_NS / 1_000_000n) + 10 * HOUR_MS, compaction: { graceMs: 0 } };
const SUMS = 'SELECT sum(hopLatency) AS a, sum(queueOccupancy) AS b, count(*) AS n FROM hops';

async function filesOf(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => name.includes('.parquet')).map((name) => join(directory, name));
}

/** A store of some files, and what their sums are. */
async function prepare(counts: readonly number[]): Promise<{ directory: string; files: string[] }> {
  const directory = await folder();
  const sink = await open({ directory });
  const load = new Load(500);
  for (const _ of counts) {
    const batch = load.next();
    await sink.write(batch);
    await sink.flush();
  }
  await sink.close();
  return { directory, files: (await filesOf(directory)).sort() };
}

/** Flips a bit of a file. @returns what puts it back */
async function flip(path: string, place: number): Promise<() => Promise<void>> {
  const whole = await readFile(path);
  const bytes = Buffer.from(whole);
  bytes[place] = bytes[place]! ^ (1 << (place % 8));
  await writeFile(path, bytes);
  return () => writeFile(path, whole);
}

async function failure(directory: string, sql: string, options: Partial<HistoryOptions> = {}): Promise<HistoryError> {
  const error = await rows(directory, sql, options).then(
    (found) => new Error(`should have failed, and gave ${JSON.stringify(found)}`),
    (reason: unknown) => reason,
  );
  if (HistoryError.is(error)) return error;
  throw error;
}

describe('a damaged file', () => {
  test('with a bit flipped, wherever that is, never gives an answer: the error names it', async () => {
    const { directory, files } = await prepare([1]);
    const path = files[0]!;
    const { size } = await stat(path);
    let random = SEED;
    for (let tries = runs(100); tries > 0; tries--) {
      random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
      const back = await flip(path, random % size);
      const error = await failure(directory, SUMS);
      expect([error.code, error.damaged.map((file) => file.path)]).toEqual(['ERR_HISTORY_DAMAGED', [path]]);
      await back();
    }
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(500);
  });

  test('that was cut, that has more bytes, or that is none is one', async () => {
    const { directory, files } = await prepare([1]);
    const path = files[0]!;
    const whole = await readFile(path);
    for (const bytes of [whole.subarray(0, -1), Buffer.concat([whole, Buffer.alloc(1)]), Buffer.alloc(0)]) {
      await writeFile(path, bytes);
      expect((await failure(directory, SUMS)).code).toBe('ERR_HISTORY_DAMAGED');
    }
    await rm(path);
    // Nobody waits for somebody who writes into it.
    execFileSync('mkfifo', [path]);
    expect((await failure(directory, SUMS)).damaged).toEqual([{ path, reason: 'it is no regular file' }]);
  });

  test('is left out if that is asked for, which is told', async () => {
    const { directory, files } = await prepare([1, 2, 3]);
    const back = await flip(files[1]!, 1000);
    const history = await History.open({ directory, salvage: true });
    expect(await history.rows('SELECT count(*) AS n FROM reports')).toEqual([{ n: 1000 }]);
    expect(history.leftOut).toEqual([{ path: files[1], reason: 'its bytes are not those that were written' }]);
    await back();
    expect(await history.rows('SELECT count(*) AS n FROM reports')).toEqual([{ n: 1500 }]);
    expect(history.leftOut).toEqual([]);
    history.close();
  });

  test('does not matter to a query of other tables', async () => {
    const { directory, files } = await prepare([1]);
    await writeFile(files[0]!, 'nothing of the sort');
    expect(await rows(directory, 'SELECT count(*) AS n FROM events')).toEqual([{ n: 0 }]);
    expect(await rows(directory, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await failure(directory, `FROM query_table('ho' || 'ps')`)).code).toBe('ERR_HISTORY_DAMAGED');
  });

  test('is not merged with others but set aside, which is told, and stays to be seen', async () => {
    const { directory, files } = await prepare([1, 2, 3]);
    await flip(files[1]!, 1000);
    const bytes = await readFile(files[1]!);
    const problems: ParquetSinkError[] = [];
    const sink = await open({ directory, ...LATER, onProblem: (error) => problems.push(error) });
    expect(await sink.maintain()).toEqual({ merged: 2, made: 1, expired: 0, damaged: 1 });
    await new Promise(setImmediate);
    expect(problems.map(({ code }) => code)).toEqual(['ERR_PARQUET_DAMAGED']);
    expect(sink.figures().damaged).toBe(1);
    expect(await readFile(`${files[1]!}.damaged`)).toEqual(bytes);
    const history = await History.open({ directory });
    expect(await history.rows('SELECT count(*) AS n FROM reports')).toEqual([{ n: 1000 }]);
    expect(history.leftOut).toEqual([{ path: `${files[1]!}.damaged`, reason: 'it was damaged, and set aside' }]);
    history.close();
    // With its hour, it goes.
    await sink.close();
    const old = new Load(5, { startNs: HOUR_NS + 7_200_000_000_000n }).next();
    const next = await open({ directory, ...LATER, retention: { ageMs: HOUR_MS } });
    await next.write(old);
    await next.flush();
    expect(await next.maintain()).toMatchObject({ expired: 2 });
    expect(await filesOf(directory)).toHaveLength(1);
  });
});

describe('the checksum of a file', () => {
  afterEach(() => void vi.useRealTimers());

  test('is in its name, also of one that was merged, and is that of its bytes', async () => {
    const { directory, files } = await prepare([1, 2]);
    const sink = await open({ directory, ...LATER });
    for (const path of files) expect(sumInName(basename(path))).toBe(await checksumOf(path));
    await sink.maintain();
    const [merged = '', ...others] = await filesOf(directory);
    expect(others).toEqual([]);
    expect(basename(merged)).toMatch(/^pack-[0-9a-f]{16}-\d{8}-[0-9a-f]{8}\.parquet$/);
    expect(sumInName(basename(merged))).toBe(await checksumOf(merged));
  });

  test('is looked at once for each content of a file, or always, or never', async () => {
    const { directory, files } = await prepare([1]);
    const path = files[0]!;
    const read: number[] = [];
    const checked = new Map<string, string>();
    const ask = async (verify: 'changed' | 'all' | 'none'): Promise<unknown> => {
      const onVerify = (done: number): number => read.push(done);
      return rows(directory, 'SELECT count(*) AS n FROM reports', { verify, checked, onVerify });
    };
    // What has only just been written may change once more within a tick of the clock of the file system.
    await ask('changed');
    expect(checked.size).toBe(0);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
    await ask('changed');
    expect([...checked.keys()]).toEqual([path]);
    read.length = 0;
    await ask('changed');
    expect(read).toEqual([]);
    await ask('all');
    expect(read.at(-1)).toBe((await stat(path)).size);
    await flip(path, 500);
    expect((await failure(directory, SUMS, { checked })).code).toBe('ERR_HISTORY_DAMAGED');
    // A disk that turns bits does not tell.
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    checked.set(path, `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`);
    expect((await failure(directory, SUMS, { checked, verify: 'all' })).code).toBe('ERR_HISTORY_DAMAGED');
    read.length = 0;
    await ask('none').catch(() => undefined);
    expect(read).toEqual([]);
  });

  test('is missing in files of others, which is told', async () => {
    const { directory, files } = await prepare([1]);
    await rename(files[0]!, join(files[0]!, '..', 'mine.parquet'));
    const history = await History.open({ directory });
    expect(await history.rows('SELECT count(*) AS n FROM reports')).toEqual([{ n: 500 }]);
    expect([history.unchecked, history.leftOut]).toEqual([1, []]);
    history.close();
  });
});
