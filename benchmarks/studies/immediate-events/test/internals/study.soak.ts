import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readResults, runStudy } from '@int/harness';
import { LABEL_KINDS, SCENARIO_KINDS } from '@int/netsim';
import { describe, expect, test } from 'vitest';
import { immediateEvents } from '../../src/study/definition.js';
import type { KindResult, StudyResult } from '../../src/study/measure.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);
/** The long form has as many seeds as the study, and all flows. */
const IS_LONG = process.env.INT_LONG === '1';
const SEEDS = IS_LONG ? 10 : 1;
const FLOWS = IS_LONG ? [] : ['--flows', '64'];

/** Longest time an event may take, seconds: its rule's, and what windows and the reordering window add. */
const MOST_DELAY_S = {
  // Silence of 1 s, and slices.
  linkFailure: 2,
  // 1 s or ten gaps of a flow with 10 packets a second.
  blackHole: 3,
  loop: 1,
  pathChange: 2,
  // Three windows of 1 s, the first of which begins up to 1 s later.
  persistentCongestion: 4.5,
  // The reordering window of 1 s, and slices.
  reportLoss: 2,
} as const;

describe('the study', () => {
  // It plays scenarios of minutes, a second for each.
  test(`finds what is labelled in scenarios of every kind (${SEEDS} of each), and next to nothing else`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'int-study-'));
    const printed: string[] = [];
    try {
      const code = await runStudy(
        immediateEvents,
        ['--seeds', String(SEEDS), '--seed', String(SEED), ...FLOWS, '--out', folder],
        (text) => void printed.push(text),
        () => {},
      );
      expect(code).toBe(0);
      const result = readResults<StudyResult>(join(folder, 'study.json'));
      expect(result.scenarios).toBe(7 * SEEDS);
      expect(result.scenarioKinds.map(({ scenario }) => scenario)).toEqual(SCENARIO_KINDS);
      expect(result.kinds.map(({ kind }) => kind)).toEqual(LABEL_KINDS);
      expect(result.reports).toBeGreaterThan((IS_LONG ? 50_000 : 10_000) * SEEDS);
      const marks = readFileSync(join(folder, 'delays.svg'), 'utf8').match(/aria-roledescription="circle"/g);
      expect(marks).toHaveLength(result.kinds.reduce((sum, { found }) => sum + found, 0));
      for (const { kind, found, delayMaxMs } of result.kinds) {
        expect({ kind, isFound: found > 0 }).toEqual({ kind, isFound: true });
        expect({ kind, isSlow: delayMaxMs! > 1000 * MOST_DELAY_S[kind] }).toEqual({ kind, isSlow: false });
      }
      const sum = (of: (each: KindResult) => number): number =>
        result.kinds.reduce((total, each) => total + of(each), 0);
      const labels = sum((each) => each.labels);
      // Postcards are drawn: now and then a black hole is over before enough of them have been seen.
      expect(sum(({ found }) => found)).toBeGreaterThanOrEqual(0.95 * labels);
      // Silent links that nothing is wrong with cannot be told from failed ones. Others: less than one for twenty labels.
      expect(sum(({ falseAlarms, drained }) => falseAlarms - drained)).toBeLessThan(0.05 * labels);
      const calm = result.scenarioKinds.find(({ scenario }) => scenario === 'calm');
      expect(calm).toMatchObject({ labels: 0, falseAlarms: {} });
      expect(printed[0]).toContain('persistentCongestion');
    } finally {
      rmSync(folder, { recursive: true });
    }
  }, 180_000);

  test('refuses options that it does not know or cannot use', async () => {
    const said: string[] = [];
    const codes = [['--frob'], ['--seeds', '0'], ['--seed', 'x'], ['--flows', '3']].map((args) =>
      runStudy(
        immediateEvents,
        args,
        () => {},
        (text) => said.push(text),
      ),
    );
    expect(await Promise.all(codes)).toEqual([2, 2, 2, 2]);
    for (const [at, name] of ['--frob', '--seeds', '--seed', '--flows'].entries()) expect(said[at]).toContain(name);
  });
});
