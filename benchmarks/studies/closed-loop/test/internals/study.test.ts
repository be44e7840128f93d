import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readResults, runStudy } from '@int/harness';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dividedOptimum, undividedOptimum } from '../../src/scenarios/optimum.js';
import { closedLoop } from '../../src/study/definition.js';
import type { StudyResult } from '../../src/study/measure.js';
import { MEASURES, SCENARIO_NAMES } from '../../src/study/measures.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-study-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (...args: string[]): Promise<number> =>
  runStudy(
    closedLoop,
    args,
    () => {},
    () => {},
  );

describe('the study', () => {
  it('takes what was played, and tells which seeds miss a bar', async () => {
    const played = join(folder, 'played.jsonl');
    const line = (seed: number, values: object): string => `${JSON.stringify({ scenario: 'scan', seed, values })}\n`;
    const good = { convicted: 900, blocked: 3, passed: 0 };
    const lines = [good, { ...good, blocked: null }, { ...good, passed: 2 }, { ...good, blocked: 40 }];
    // The last line was cut off when the run was interrupted.
    writeFileSync(played, `${lines.map((values, k) => line(7 + k, values)).join('')}{"scenario":"sc`);
    expect(await run('--scenario', 'scan', '--seed', '7', '--seeds', '4', '--played', played, '--out', folder)).toBe(0);
    const { measures, seeds, firstSeed } = readResults<StudyResult>(join(folder, 'study.json'));
    expect({ seeds, firstSeed }).toEqual({ seeds: 4, firstSeed: 7 });
    expect(measures).toMatchObject([
      { name: 'convicted', missed: [], median: 900, worst: 900, worstSeed: 7 },
      { name: 'blocked', missed: [8], values: [3, null, 3, 40], median: 3, worst: null, worstSeed: 8 },
      { name: 'passed', missed: [9], worst: 2, worstSeed: 9 },
    ]);
    const marks = readFileSync(join(folder, 'times.svg'), 'utf8').match(/aria-roledescription="circle"/g);
    expect(marks).toHaveLength(4 + 3);
  });

  it('refuses what it does not know', async () => {
    expect(await run('--scenario', 'war')).toBe(2);
    expect(await run('--seeds', '0')).toBe(2);
  });

  it('measures each scenario, by names of its own', () => {
    expect(new Set(MEASURES.map(({ scenario }) => scenario))).toEqual(new Set(SCENARIO_NAMES));
    const names = MEASURES.map(({ scenario, name }) => `${scenario} ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('the oracles', () => {
  it('agree with what one can work out by hand', async () => {
    const paths = [
      ['a1', 'b1'],
      ['a2', 'b2'],
    ];
    const rest = new Map([
      ['a1', 0.1],
      ['b1', 0],
      ['a2', 0],
      ['b2', 0.3],
    ]);
    const choice = { paths, rest, flows: [0.5, 0.3, 0.2] };
    // 1.0 together, beside 0.1 on one side and 0.3 on the other: 0.7 each.
    expect(await dividedOptimum(choice)).toBeCloseTo(0.7, 6);
    // Whole: 0.5 and 0.2 beside 0.1, and 0.3 beside 0.3.
    expect(undividedOptimum(choice)).toBeCloseTo(0.8, 6);
    expect(undividedOptimum({ ...choice, flows: [] })).toBeCloseTo(0.3, 6);
  });
});
