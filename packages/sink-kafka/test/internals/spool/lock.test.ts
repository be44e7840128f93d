import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { lockFolder } from '../../../src/spool/lock.js';
import { bundle } from '../../bundle.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'int-lock-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function lockFile(folder: string): string {
  return join(folder, readdirSync(folder).find((name) => name.startsWith('lock.'))!);
}

const IN_USE = expect.objectContaining({ code: 'ERR_KAFKA_SPOOL_IN_USE' }) as Error;

test('a folder belongs to one at a time, within a process, too', () => {
  const folder = newFolder();
  const unlock = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(IN_USE);
  expect(() => lockFolder(join(folder, '..', folder.split('/').at(-1)!))).toThrow(IN_USE);
  unlock();
  expect(readdirSync(folder)).toEqual([]);
  lockFolder(folder)();
});

test('of processes that want a folder at once, no two have it', async () => {
  const folder = newFolder();
  const program = await bundle(new URL('lock.program.ts', import.meta.url), newFolder());
  const outputs = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const child = spawn(process.execPath, [program, folder, 'race'], { stdio: ['ignore', 'pipe', 'inherit'] });
      ends.push(() => child.kill('SIGKILL'));
      return text(child.stdout);
    }),
  );
  const lines = outputs.join('').trimEnd().split('\n');
  expect(lines).toHaveLength(6 * 12);
  expect(lines.filter((line) => line === 'shared')).toEqual([]);
  expect(lines.filter((line) => line === 'held').length).toBeGreaterThan(0);
  lockFolder(folder)();
});

test('a process that was killed holds nothing, one that lives does', async () => {
  const folder = newFolder();
  const program = await bundle(new URL('lock.program.ts', import.meta.url), newFolder());
  const child = spawn(process.execPath, [program, folder, 'hold'], { stdio: ['ignore', 'pipe', 'inherit'] });
  ends.push(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  expect(() => lockFolder(folder)).toThrow(`process ${child.pid} uses ${folder}`);
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
  lockFolder(folder)();
  expect(readdirSync(folder)).toEqual([]);
});

test('a process that has the number of one that is gone holds nothing', () => {
  const folder = newFolder();
  const unlock = lockFolder(folder);
  const path = lockFile(folder);
  const holder = JSON.parse(readFileSync(path, 'utf8')) as { pid: number; started: string };
  unlock();
  // Process 1 is always there, though it began at another time.
  writeFileSync(path, JSON.stringify({ ...holder, pid: 1, started: '1' }));
  lockFolder(folder)();
  expect(readdirSync(folder)).toEqual([]);
});

test('a process of another container holds a folder as long as it says so', () => {
  const folder = newFolder();
  const unlock = lockFolder(folder);
  const path = lockFile(folder);
  const holder = JSON.parse(readFileSync(path, 'utf8')) as object;
  unlock();
  writeFileSync(path, JSON.stringify({ ...holder, where: 'elsewhere' }));
  expect(() => lockFolder(folder)).toThrow(/of another container or machine.* uses/);
  const before = new Date(Date.now() - 60_000);
  utimesSync(path, before, before);
  lockFolder(folder)();
  // What is no lock at all is none.
  writeFileSync(path, '');
  lockFolder(folder)();
});
