import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readResults, runStudy } from '@int/harness';
import { ATTACK_KINDS } from '@int/netsim';
import { expect, test } from 'vitest';
import { incidentDetection } from '../../src/study/definition.js';
import type { StudyResult } from '../../src/study/measure.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
const HARMLESS = ['flash-crowd', 'backup', 'calm'];

test('the study finds every attack with the usual thresholds, and nothing where they are too high', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'int-study-'));
  try {
    const args = ['--short', '--seed', String(SEED), '--out', folder];
    const code = await runStudy(
      incidentDetection,
      args,
      () => {},
      () => {},
    );
    expect(code).toBe(0);
    const { scenarios, curves } = readResults<StudyResult>(join(folder, 'study.json'));
    expect(scenarios.map(({ scenario }) => scenario)).toEqual(ATTACK_KINDS);
    for (const { scenario, attacks, recall, falseAlarms } of scenarios) {
      expect({ scenario, recall, falseAlarms, isHarmless: attacks === 0 }).toEqual({
        scenario,
        recall: HARMLESS.includes(scenario) ? null : 1,
        falseAlarms: 0,
        isHarmless: HARMLESS.includes(scenario),
      });
    }
    for (const { name, points } of curves) {
      expect(
        points.find(({ times }) => times === 1),
        name,
      ).toMatchObject({ recall: 1, precision: 1 });
      expect(points.at(-1)!.recall, name).toBeLessThan(1);
    }
    for (const chart of ['thresholds.svg', 'delays.svg']) {
      expect(readFileSync(join(folder, chart), 'utf8')).toContain('<svg');
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 240_000);
