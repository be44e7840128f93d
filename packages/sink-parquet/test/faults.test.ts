import { spawn } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { limit, requires } from '../../../.ci/test/requires.js';
import { inTime } from '../../../.ci/test/until.js';
import { bundle } from './bundle.js';
import { folder, number, open, rows } from './folder.js';
import { SEED } from './seed.js';

const KILLS = Number(process.env.INT_KILLS ?? (process.env.INT_LONG === '1' ? 40 : 3));

/** Runs a program until a line is to kill it, or to its end. @returns its lines, whole ones only */
async function linesOf(command: string, args: string[], killAt: (line: string, index: number) => number | null) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<string | number | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? code)),
  );
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const read = new Promise((resolve) => reader.once('close', resolve));
  reader.on('line', (line) => {
    const delay = killAt(line, lines.push(line) - 1);
    if (delay !== null) setTimeout(() => child.kill('SIGKILL'), delay);
  });
  const patience = { withinMs: 50_000, found: () => lines.slice(-3), inVain: () => child.kill('SIGKILL') };
  const end = await inTime(`the end of ${command}`, gone, patience);
  await inTime('the end of its lines', read);
  return { lines, end };
}

describe('a process that is killed', () => {
  // Processes one after the other, each killed in the middle of its work.
  test('leaves only whole files, with every report that was delivered once, also while files are merged', async () => {
    const program = await bundle(new URL('writer.program.ts', import.meta.url));
    const directory = join(await folder(), 'store');
    let random = SEED;
    let delivered = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
      const nth = 2 + ((random >>> 16) % 6);
      const { lines, end } = await linesOf(process.execPath, [program, directory], (_, index) =>
        index === nth ? (random >>> 8) % 60 : null,
      );
      expect(end).toBe('SIGKILL');
      delivered += Number(lines.at(-1)!.split(' ')[1]);
      // The killed process may have published more than it could still tell, but nothing twice.
      const [found = {}] = await rows(directory, 'SELECT count(*) AS n, count(DISTINCT id) AS ids FROM reports');
      expect(Number(found.n)).toBeGreaterThanOrEqual(delivered);
      expect(found.ids).toBe(found.n);
      const hops = `SELECT id, count(*) AS n, any_value(hopCount) AS expected FROM hops GROUP BY id`;
      expect(await number(directory, `SELECT count(*) FROM (${hops}) WHERE n <> expected`)).toBe(0);
      delivered = Number(found.n);
    }
    // The next sink clears what the killed ones were writing, takes maintenance over, and finishes what they had begun.
    const sink = await open({ directory, compaction: { afterMs: 0, graceMs: 0, targetBytes: 2 ** 20 } });
    expect(await readdir(join(directory, '.writing'))).toHaveLength(1);
    await sink.maintain();
    expect(await number(directory, 'SELECT count(*) FROM reports')).toBe(delivered);
    await sink.close();
    const left = await readdir(directory, { recursive: true });
    expect(left.filter((name) => /(^|\/)\./.test(name))).toEqual([]);
  }, 180_000);
});

/** Runs a program whose disk it may fill, or make read-only. @returns its lines by their first letter */
async function onOwnDisk(program: string): Promise<(kind: string) => unknown[]> {
  const unshare = requires('unshare', 'util-linux');
  const disk = join(await folder(), 'disk');
  await mkdir(disk);
  const script = `mount -t tmpfs -o size=3m none "$1" && exec "$2" "$3" "$1"`;
  const args = ['-rm', 'sh', '-c', script, 'sh', disk, process.execPath, program];
  const { lines, end } = await linesOf(unshare, args, () => null);
  if (lines.length === 0) limit('no mount namespaces for users here');
  expect(end).toBe(0);
  return (kind) =>
    lines.filter((line) => line.startsWith(`${kind} `)).map((line) => JSON.parse(line.slice(2)) as unknown);
}

describe('a folder that becomes read-only', () => {
  test('costs nothing: it is told, health is bad, and what is held is written when it may be', async () => {
    const said = await onOwnDisk(await bundle(new URL('read-only.program.ts', import.meta.url)));
    // To a sink that writes, to its maintenance, and to one that is opened.
    expect(said('P')).toEqual(['ERR_PARQUET_DIRECTORY', 'ERR_PARQUET_DIRECTORY']);
    expect(said('O')).toEqual(['ERR_PARQUET_DIRECTORY']);
    expect(said('H')).toEqual([null, expect.stringMatching(/Read-only|read-only/), null]);
    const totals = said('T') as { offered: number; delivered: number; pending: number }[];
    expect(totals.map(({ offered, delivered, pending }) => [offered, delivered, pending])).toEqual([
      [500, 500, 0],
      [1500, 500, 1000],
      [1500, 1500, 0],
    ]);
    // Reading goes on meanwhile.
    expect(said('N')).toEqual([500, 1500]);
  });
});

describe('a disk that is full', () => {
  test('costs only what memory has no room for, is told once, and is forgotten when there is room', async () => {
    const said = await onOwnDisk(await bundle(new URL('full.program.ts', import.meta.url)));
    expect(said('P')).toEqual(['ERR_PARQUET_FULL']);
    expect(said('R')).toEqual([null]);
    const [ill, well] = said('H');
    expect(ill).toMatch(/cannot write to .*/);
    expect(well).toBeNull();
    const totals = said('T') as {
      offered: number;
      delivered: number;
      pending: number;
      dropped: { overflow: number };
    }[];
    for (const { offered, delivered, pending, dropped } of totals) {
      expect(offered).toBe(delivered + pending + dropped.overflow);
    }
    expect(totals[0]!.pending).toBeGreaterThan(0);
    expect(totals[1]!.pending).toBe(0);
    expect(totals[1]!.dropped.overflow).toBe(totals[0]!.dropped.overflow);
  });
});
