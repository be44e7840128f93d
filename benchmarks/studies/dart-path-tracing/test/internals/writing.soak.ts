import { AdaptiveCopies, type SimulationResult } from '@int/dart';
import { expect, it } from 'vitest';
import { simulateAdaptive, simulateInsertion, simulateLoss, simulateRandomCopies } from '../../src/study/writing.js';

const SEED = Number(process.env.INT_SEED ?? 20210801);
const IS_LONG = process.env.INT_LONG === '1';

/** Standard errors. */
const Z = 4.5;

/** How many standard errors a share of keys is away from a probability; of small numbers, from a Poisson distribution. */
function deviation(share: number, keys: number, probability: number): number {
  if (probability > 0.5) return deviation(1 - share, keys, 1 - probability);
  const count = Math.round(share * keys);
  const mean = keys * probability;
  if (mean >= 60) return Math.abs(count - mean) / Math.sqrt(mean * (1 - probability));
  let term = Math.exp(-mean);
  let below = 0;
  for (let k = 0; k < count; k++) {
    below += term;
    term *= mean / (k + 1);
  }
  // 3.4e-6 is the normal tail beyond 4.5.
  return Math.min(1 - below, below + term) < 3.4e-6 ? Number.POSITIVE_INFINITY : 0;
}

it('agrees with theory where copies are random, packets are lost, numbers adapt or keys are inserted', () => {
  const keys = IS_LONG ? 400_000 : 40_000;
  const far: string[] = [];
  for (const bytesPerFlow of [30, 80]) {
    const base = { keys, bytesPerFlow, checksumBits: 8, seed: SEED };
    const ways: Record<string, () => SimulationResult> = {
      'one report': () => simulateRandomCopies({ ...base, copies: 4 }, 1),
      'three reports': () => simulateRandomCopies({ ...base, copies: 4 }, 3),
      'five reports, some lost': () => simulateRandomCopies({ ...base, copies: 3, policy: { consensus: 2 } }, 5, 0.05),
      'copies lost': () => simulateLoss({ ...base, copies: 2 }, 0.05),
      'keys lost': () => simulateLoss({ ...base, copies: 3 }, 0.2, 'key'),
      adaptive: () => simulateAdaptive(base, new AdaptiveCopies()),
    };
    for (const [way, simulated] of Object.entries(ways)) {
      const result = simulated();
      for (const name of ['success', 'absent', 'conflict', 'wrong'] as const) {
        const expected = result.theory[name];
        // Theory leaves out terms of order N^2 / M, so that its 0 is no impossibility.
        const isNear = expected === 0 && result[name] < result.copies ** 2 / result.slots;
        const away = isNear ? 0 : deviation(result[name], keys, expected);
        if (away > Z) far.push(`${way}, ${bytesPerFlow} bytes, ${name}: ${result[name]} and ${expected}`);
      }
    }
    const inserted = simulateInsertion({ keys, bytesPerFlow, valueBytes: 4, seed: SEED });
    const away = deviation(inserted.success, keys, inserted.theory.success);
    if (away > Z) far.push(`insert ${bytesPerFlow}: ${inserted.success} and ${inserted.theory.success}`);
  }
  expect(far).toEqual([]);
});
