import { cp, mkdir, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BatchDecoder, TelemetryBatch } from '@int/codec';
import { FrameSlab } from '@int/collector';
import { ParquetSink } from '@int/sink-parquet';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { reportFrame } from './captures.js';
import { ndjson, run, temporaryFolder } from './run.js';

const files = temporaryFolder();
const REPORTS = 5;
/** 2023-11-14 22:13:20 UTC. */
const TIME_NS = 1_700_000_000_000_000_000n;
let store = '';

/** Three hops each. */
beforeAll(async () => {
  store = files.path('store');
  const sink = await ParquetSink.open({ directory: store, instance: '00000000000000aa' });
  const frame = reportFrame();
  const slab = new FrameSlab({ frames: REPORTS, bytes: REPORTS * frame.length }, 'ethernet');
  for (let k = 0; k < REPORTS; k++) slab.append(frame, 0);
  slab.timestampsHigh.fill(Number(TIME_NS >> 32n));
  slab.timestampsLow.fill(Number(TIME_NS & 0xffffffffn));
  const batch = new TelemetryBatch({ frames: REPORTS });
  new BatchDecoder({ linkType: 'ethernet' }).decode(batch, slab);
  await sink.write(batch);
  await sink.close();
});

function query(sql: string, ...args: string[]): ReturnType<typeof run> {
  return run(['query', sql, '--store', store, ...args]);
}

describe('int query', () => {
  test('answers with one JSON object a row', async () => {
    const { code, stdout, stderr } = await query(
      'SELECT id, time, nodeId FROM hops WHERE hop = 0 ORDER BY id',
      '--json',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const rows = ndjson(stdout);
    expect(rows).toHaveLength(REPORTS);
    expect(rows[3]).toEqual({ id: '00000000000000aa-3', time: '2023-11-14 22:13:20', nodeId: rows[0]!.nodeId });
  });

  test('answers with comma-separated values, quoted where they must be', async () => {
    const { stdout } = await query(`SELECT 1 AS a, 'x,"y"' AS "b c", '' AS d, NULL AS e, [1, 2] AS f`, '--csv');
    expect(stdout).toBe('a,b c,d,e,f\n1,"x,""y""","",,"[1,2]"\n');
  });

  test('answers with a table for people, without control characters', async () => {
    const { stdout } = await query(`SELECT * FROM (VALUES (1, 'one'), (20, 'e' || chr(27) || 'c')) t(number, name)`);
    expect(stdout).toBe('number  name\n     1  one\n    20  e\ufffdc\n');
  });

  test('names the columns of an answer without rows', async () => {
    expect((await query('SELECT hop, nodeId FROM hops WHERE false')).stdout).toBe('hop  nodeId\n');
    expect((await query('SELECT hop, nodeId FROM hops WHERE false', '--csv')).stdout).toBe('hop,nodeId\n');
    expect((await query('SELECT hop, nodeId FROM hops WHERE false', '--json')).stdout).toBe('');
  });

  test('works on an empty store', async () => {
    const empty = files.path('empty');
    await mkdir(empty, { recursive: true });
    const { code, stdout } = await run(['query', 'SELECT count(*) AS n FROM paths', '--store', empty, '--json']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"n":0}\n' });
  });

  test.each([
    [
      'a mistake in the text',
      'SELECT latency FROM hops',
      2,
      /^int: Binder Error: .*"latency" not found.*, at character 8\n/,
    ],
    ['what does not only read', 'SET threads = 1', 2, /^int: only statements that read/],
    ['more than one statement', 'SELECT 1; SELECT 2', 2, /^int: one statement is expected, not 2/],
    ['other files', "FROM read_text('/etc/passwd')", 2, /^int: Permission Error/],
    ['what cannot be computed', "SELECT 'a'::INTEGER FROM hops", 1, /^int: Conversion Error/],
  ])('refuses %s', async (_, sql, exitCode, message) => {
    const { code, stderr, stdout } = await query(sql);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('tells that there is no such store', async () => {
    const { code, stderr } = await run(['query', 'FROM hops', '--store', files.path('nowhere')]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^int: cannot open .*nowhere: no such file or folder\n$/);
  });

  test('needs a store, and one form of output', async () => {
    expect((await run(['query', 'FROM hops'])).code).toBe(2);
    expect((await query('FROM hops', '--json', '--csv')).code).toBe(2);
  });

  describe('of a damaged history', () => {
    let damaged = '';
    let first = '';

    beforeAll(async () => {
      damaged = files.path('damaged');
      await cp(store, damaged, { recursive: true });
      const [name = ''] = (await readdir(damaged, { recursive: true })).filter((each) => each.endsWith('.parquet'));
      first = join(damaged, name);
      await cp(first, `${first.slice(0, -'00000000-00000000.parquet'.length)}00000001-${first.slice(-16)}`);
      const bytes = await readFile(first);
      bytes[100] = bytes[100]! ^ 16;
      await writeFile(first, bytes);
    });

    const ask = (...args: string[]): ReturnType<typeof run> =>
      run(['query', 'SELECT count(*) AS n FROM reports', '--json', '--store', damaged, ...args]);

    test('gives no answer by default, and names the file', async () => {
      expect(await ask()).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `int: ${first} is damaged: its bytes are not those that were written
int: nothing was answered: --salvage answers without damaged files
`,
      });
      expect((await ask('--verify')).code).toBe(1);
    });

    test('leaves the file out with --salvage, and says so', async () => {
      expect(await ask('--salvage')).toMatchObject({
        code: 1,
        stdout: `{"n":${REPORTS}}\n`,
        stderr: `int: left out ${first}: its bytes are not those that were written\n`,
      });
    });

    test('remembers from one command to the next which files are sound, as long as they stay the same', async () => {
      const env = { XDG_CACHE_HOME: files.path('cache') };
      const path = (await readdir(store, { recursive: true })).find((each) => each.endsWith('.parquet'))!;
      const sound = (): ReturnType<typeof run> =>
        run(['query', 'SELECT count(*) AS n FROM reports', '--json', '--store', store], { env });
      const cached = async (): Promise<string[]> => readdir(join(env.XDG_CACHE_HOME, 'int', 'checked')).catch(() => []);
      const now = new Date();
      await utimes(join(store, path), now, now);
      // Files that were changed a moment ago are not trusted yet.
      expect((await sound()).code).toBe(0);
      expect(await cached()).toEqual([]);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
      onTestFinished(() => void vi.useRealTimers());
      expect((await sound()).code).toBe(0);
      const [name = ''] = await cached();
      const cache = join(env.XDG_CACHE_HOME, 'int', 'checked', name);
      expect(Object.keys((JSON.parse(await readFile(cache, 'utf8')) as { files: object }).files)).toHaveLength(1);
      const whole = await readFile(join(store, path));
      const bytes = Buffer.from(whole);
      bytes[100] = bytes[100]! ^ 16;
      await writeFile(join(store, path), bytes);
      expect((await sound()).code).toBe(1);
      await writeFile(join(store, path), whole);
      // It is only a cache.
      await writeFile(cache, 'no JSON');
      expect((await sound()).code).toBe(0);
    });

    test('says what was set aside', async () => {
      await rename(first, `${first}.damaged`);
      expect(await ask()).toMatchObject({
        code: 1,
        stdout: `{"n":${REPORTS}}\n`,
        stderr: `int: left out ${first}.damaged: it was damaged, and set aside\n`,
      });
    });
  });

  test('can be interrupted', async () => {
    const endless = 'SELECT count(*) FROM range(10000000) a, range(10000000) b';
    const { code, stderr } = await run(['query', endless, '--store', store], { interruptAfterMs: 600 });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'int: interrupted after 0 rows\n' });
  });
});
