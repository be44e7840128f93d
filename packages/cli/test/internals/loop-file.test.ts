import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { LoopFile } from '../../src/control/loop-file.js';
import { temporaryFolder } from '../run.js';

const files = temporaryFolder();

it('puts a large file aside with all of its lines, and goes on with what was there', async () => {
  const path = files.path('loop.jsonl');
  await writeFile(path, 'old\n');
  const file = await LoopFile.open(path, 100);
  const lines = Array.from({ length: 15 }, (_, k) => `line ${String(k).padStart(4, '0')}`);
  for (const line of lines) file.write(line);
  await file.close();
  const [aside, now] = [await readFile(`${path}.1`, 'utf8'), await readFile(path, 'utf8')];
  expect(aside + now).toBe(`old\n${lines.join('\n')}\n`);
  expect([aside.length >= 100, now.length < 100, file.dropped, file.failure]).toEqual([true, true, 0, null]);
});

it('counts the lines that a slow disk has no time for, and those after a failure', async () => {
  const path = files.path('slow.jsonl');
  const file = await LoopFile.open(path);
  const line = 'x'.repeat(1 << 20);
  // Nothing is written before the next turn of the event loop.
  for (let k = 0; k < 20; k++) file.write(line);
  await file.close();
  const written = (await readFile(path, 'utf8')).split('\n').length - 1;
  expect([file.dropped > 0, written + file.dropped]).toEqual([true, 20]);
  await expect(LoopFile.open(files.path('none/loop.jsonl'))).rejects.toMatchObject({ code: 'ENOENT' });
});
