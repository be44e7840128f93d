import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inTime } from '../../../../.ci/test/until.js';
import { VIEW_NAMES } from '../../src/history/views.js';
import { History, HistoryError, type HistoryErrorCode } from '../../src/index.js';
import { Load } from '../batches.js';
import { folder, open, rows } from '../folder.js';

async function failure(directory: string, sql: string): Promise<HistoryError> {
  try {
    await rows(directory, sql);
  } catch (error) {
    if (HistoryError.is(error)) return error;
    throw error;
  }
  throw new Error(`should have failed: ${sql}`);
}

describe('an empty store', () => {
  test.each(VIEW_NAMES)('has the view %s, with the columns of one that is not', async (view) => {
    const empty = await folder();
    expect(await rows(empty, `FROM ${view}`)).toEqual([]);
    const full = await folder();
    const sink = await open({ directory: full });
    const batch = new Load(3).next();
    sink.write(batch);
    await sink.close();
    const columns = `SELECT column_name, column_type FROM (DESCRIBE ${view})`;
    expect(await rows(empty, columns)).toEqual(await rows(full, columns));
  });
});

describe('a query', () => {
  test.each<[string, HistoryErrorCode, number | null]>([
    ['selec 1', 'ERR_HISTORY_SQL', 0],
    ['SELECT latency FROM hops', 'ERR_HISTORY_SQL', 7],
    ['SELECT * FROM packets', 'ERR_HISTORY_SQL', 14],
    ['', 'ERR_HISTORY_READ_ONLY', null],
    ['SELECT 1; SELECT 2', 'ERR_HISTORY_READ_ONLY', null],
    ['CREATE TABLE t (a INT)', 'ERR_HISTORY_READ_ONLY', null],
    ['DROP VIEW hops', 'ERR_HISTORY_READ_ONLY', null],
    ['INSTALL httpfs', 'ERR_HISTORY_READ_ONLY', null],
    ['SET threads = 1', 'ERR_HISTORY_READ_ONLY', null],
    ["ATTACH 'x.db'", 'ERR_HISTORY_READ_ONLY', null],
    ["SELECT 'a'::INTEGER", 'ERR_HISTORY_FAILED', 10],
    ["SELECT error('x')", 'ERR_HISTORY_FAILED', null],
    ['-- nothing', 'ERR_HISTORY_READ_ONLY', null],
  ])('that is wrong says why: %s', async (sql, code, offset) => {
    const error = await failure(await folder(), sql);
    expect([error.code, error.offset]).toEqual([code, offset]);
  });

  test('neither reads nor writes what is not in the store, and writes nothing in it', async () => {
    const store = join(await folder(), 'store');
    await mkdir(store);
    const outside = join(store, '..', 'secret.csv');
    await writeFile(outside, 'a,b\n1,2\n');
    for (const path of [outside, '/etc/passwd', '/proc/self/environ', join(store, '..', 'store', '..', 'secret.csv')]) {
      for (const sql of [
        `FROM '${path}'`,
        `FROM read_csv('${path}')`,
        `FROM read_text('${path}')`,
        `FROM glob('${path}')`,
      ]) {
        expect((await failure(store, sql)).code).toBe('ERR_HISTORY_SQL');
      }
    }
    for (const path of [outside, join(store, 'x.csv')]) {
      expect((await failure(store, `COPY (SELECT 1) TO '${path}'`)).code).toMatch(/ERR_HISTORY_(SQL|READ_ONLY)/);
    }
  });

  test('can be interrupted once, wherever it is, and the history goes on', async () => {
    const history = await History.open({ directory: await folder() });
    // While files are listed, while the statement is prepared, while it starts and while it runs.
    for (const delayMs of [null, 0, 1, 2, 3, 4, 6, 8, 12, 100]) {
      const running = history.rows('SELECT count(*) FROM range(10000000) a, range(10000000) b');
      if (delayMs === null) history.interrupt();
      else setTimeout(() => history.interrupt(), delayMs);
      const outcome = running.catch((error: unknown) => HistoryError.is(error) && error.code);
      expect(await inTime(`the end of a query interrupted after ${delayMs} ms`, outcome)).toBe(
        'ERR_HISTORY_INTERRUPTED',
      );
      expect(await history.rows('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    }
    const begun = await history.query('FROM range(1000000)');
    history.interrupt();
    await expect(begun.chunks().next()).rejects.toMatchObject({ code: 'ERR_HISTORY_INTERRUPTED' });
    history.close();
    await expect(history.query('SELECT 1')).rejects.toThrow(/closed/);
  });

  test('gives numbers that are exact, and the rest as JSON has it', async () => {
    const sql = `SELECT 9007199254740991 AS a, 9007199254740993 AS b, 5::UBIGINT AS c, -7::BIGINT AS d, 0.5 AS e,
      [1, NULL] AS f, {'x': 1, 'y': 'z'} AS g, MAP {'k': {'last': 3::UINTEGER}} AS h, NULL AS i, true AS j,
      sum(x) AS k, 'nan'::DOUBLE AS l, DATE '2024-02-29' AS m FROM range(3) t(x)`;
    expect(await rows(await folder(), sql)).toEqual([
      {
        a: 9007199254740991,
        b: '9007199254740993',
        c: '5',
        d: -7,
        e: '0.5',
        f: [1, null],
        g: { x: 1, y: 'z' },
        h: { k: { last: 3 } },
        i: null,
        j: true,
        k: 3,
        l: 'NaN',
        m: '2024-02-29',
      },
    ]);
  });

  test('comes in parts with the types of its columns', async () => {
    const history = await History.open({ directory: await folder() });
    const result = await history.query('SELECT range AS n, [range] AS list FROM range(5000)');
    expect(result.columns).toEqual([
      { name: 'n', type: 'BIGINT' },
      { name: 'list', type: 'BIGINT[]' },
    ]);
    let count = 0;
    let parts = 0;
    for await (const part of result.chunks()) {
      for (const row of part) expect(row).toEqual([count, [count++]]);
      parts++;
    }
    expect(count).toBe(5000);
    expect(parts).toBeGreaterThan(1);
    history.close();
  });

  test('fails, and says so, where a file of the store is no Parquet', async () => {
    const store = await folder();
    const hour = join(store, 'hops', 'date=2024-01-01', 'hour=00');
    await mkdir(hour, { recursive: true });
    await writeFile(join(hour, 'part-x.parquet'), 'not Parquet at all');
    const error = await failure(store, 'FROM hops');
    expect(error.code).toBe('ERR_HISTORY_FAILED');
    expect(error.message).toMatch(/part-x\.parquet/);
  });
});

test('a store that is not there is told of', async () => {
  for (const directory of ['/nowhere/at/all', '/etc/hostname']) {
    await expect(History.open({ directory })).rejects.toSatisfy(
      (error) => HistoryError.is(error) && error.code === 'ERR_HISTORY_STORE' && error.message.includes(directory),
    );
  }
});
