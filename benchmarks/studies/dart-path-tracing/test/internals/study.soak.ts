import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readResults, runStudy } from '@int/harness';
import { expect, test } from 'vitest';
import { dartPathTracing } from '../../src/study/definition.js';
import type { Results } from '../../src/study/results.js';

const nothing = (): void => {};

test('the study finds as many keys as theory says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'int-dart-'));
  const printed: string[] = [];
  try {
    const args = ['--keys', '100000', '--out', folder];
    expect(await runStudy(dartPathTracing, args, (text) => void printed.push(text), nothing)).toBe(0);
    expect(readdirSync(folder).sort()).toEqual([
      'report.md',
      'study.json',
      'success-by-age.svg',
      'success-by-load.svg',
      'wrong-by-memory.svg',
    ]);
    const { keys, paper } = readResults<Results>(join(folder, 'study.json'));
    expect(keys).toBe(100_000);
    for (const { success, theory } of paper.byAge) expect(Math.abs(success - theory)).toBeLessThan(0.005);
    for (const { success, theory } of paper.byLoad.points) expect(Math.abs(success - theory)).toBeLessThan(0.03);
    expect(printed.join('')).toContain('100000 keys');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the study refuses fewer keys than it can measure with', async () => {
  const said: string[] = [];
  expect(await runStudy(dartPathTracing, ['--keys', '999'], nothing, (text) => void said.push(text))).toBe(2);
  expect(said[0]).toContain('--keys');
});
