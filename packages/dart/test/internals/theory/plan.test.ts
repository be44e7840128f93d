import { describe, expect, it } from 'vitest';
import { AdaptiveCopies } from '../../../src/theory/adaptive-copies.js';
import { averageOverAges, oldest } from '../../../src/theory/ages.js';
import { bestCopies, outcomesAtLoad, planMemory } from '../../../src/theory/plan.js';

describe('averages over ages', () => {
  it('are integrals, also of functions that are steep near 0', () => {
    expect(averageOverAges((age) => age ** 3)).toBeCloseTo(1 / 4, 12);
    expect(averageOverAges((age) => Math.exp(-1e6 * age))).toBeCloseTo(1e-6, 14);
    expect(averageOverAges((age) => 1e-30 * age) / 5e-31).toBeCloseTo(1, 10);
    expect(averageOverAges((age) => age, oldest(0.01))).toBeCloseTo(0.995, 12);
    expect(averageOverAges((age) => age, { from: 1, to: 1 })).toBe(1);
  });

  it('refuse ages outside 0 to 1', () => {
    expect(() => averageOverAges((age) => age, { from: 0, to: 2 })).toThrow(RangeError);
    expect(() => oldest(0)).toThrow(RangeError);
  });
});

describe('the figures of the paper', () => {
  const at = (bytesPerFlow: number, copies: number, age?: number): number =>
    outcomesAtLoad({
      load: 24 / bytesPerFlow,
      copies,
      policy: 'single',
      ...(age === undefined ? {} : { ages: { from: age, to: age } }),
    }).success;

  it('come out: 300 and 30 bytes per flow, on average and for the oldest', () => {
    expect(at(300, 4)).toBeCloseTo(0.9987, 4);
    expect(at(300, 2)).toBeCloseTo(0.9924, 4);
    expect(at(30, 2)).toBeCloseTo(0.698, 3);
    expect(at(30, 2, 1)).toBeCloseTo(0.363, 3);
  });

  it('come out by the closed form of the mean, for any number of copies', () => {
    for (const [copies, load] of [
      [1, 0.3],
      [3, 0.8],
      [8, 2],
    ] as const) {
      // The integral of 1 - (1 - exp(-N L u))^N, expanded.
      let lost = 0;
      for (let j = 0, ways = 1; j <= copies; ways = (ways * (copies - j)) / (j + 1), j++) {
        const rate = j * copies * load;
        lost += (j % 2 === 0 ? 1 : -1) * ways * (j === 0 ? 1 : -Math.expm1(-rate) / rate);
      }
      expect(outcomesAtLoad({ load, copies }).success).toBeCloseTo(1 - lost, 8);
    }
  });

  it('give the best number of copies', () => {
    expect([bestCopies(0.2), bestCopies(0.2, 'oldest')]).toEqual([5, 3]);
    expect([bestCopies(0.8), bestCopies(0.8, 'oldest')]).toEqual([2, 1]);
    expect([bestCopies(0), bestCopies(0, 'mean', { mostCopies: 4 }), bestCopies(50)]).toEqual([8, 4, 1]);
  });
});

describe('the memory for a number of flows', () => {
  it('is the least that gives the wanted success, with the best number of copies', () => {
    for (const [success, measure] of [
      [0.9, 'mean'],
      [0.999, 'mean'],
      [0.99, 'oldest'],
    ] as const) {
      const { load, copies, bytesPerFlow } = planMemory({ flows: 1e15, success, measure });
      const ages = measure === 'mean' ? oldest(1) : { from: 1, to: 1 };
      expect(bytesPerFlow).toBeCloseTo(24 / load, 9);
      expect(outcomesAtLoad({ load, copies, ages }).success).toBeCloseTo(success, 9);
      for (let other = 1; other <= 8; other++) {
        expect(outcomesAtLoad({ load: load * 1.0001, copies: other, ages }).success).toBeLessThan(success);
      }
    }
  });

  it('can be asked for a number of copies', () => {
    expect(planMemory({ flows: 1e9, success: 0.9987, copies: 4 }).bytesPerFlow).toBeGreaterThan(290);
    expect(planMemory({ flows: 1e9, success: 0.9987, copies: 4 }).bytesPerFlow).toBeLessThan(300);
  });

  it('is planned in whole slots', () => {
    const plan = planMemory({ flows: 1_000_000, success: 0.999 });
    expect(plan.bytes).toBe(plan.slots * 24);
    expect(plan.success).toBeGreaterThanOrEqual(0.999);
    expect(planMemory({ flows: 1_000_000, success: 0.999, copies: plan.copies }).slots).toBe(plan.slots);
    expect(plan.success + plan.empty + plan.wrong).toBeCloseTo(1, 12);
    expect(plan.oldest.success).toBeLessThan(plan.success);
    expect(plan.collectors).toBe(1);
    expect(planMemory({ flows: 1e9, success: 0.9999 }).collectors).toBeGreaterThan(1);
    expect(planMemory({ flows: 1, success: 0.5 }).slots).toBeGreaterThanOrEqual(1);
  });

  it('is refused for what cannot be', () => {
    expect(() => planMemory({ flows: 0, success: 0.9 })).toThrow(RangeError);
    expect(() => planMemory({ flows: 1.5, success: 0.9 })).toThrow(RangeError);
    expect(() => planMemory({ flows: 1, success: 1 })).toThrow(RangeError);
    expect(() => planMemory({ flows: 1, success: 0.9, valueBytes: 0 })).toThrow(RangeError);
  });
});

describe('adaptive copies', () => {
  const adaptive = new AdaptiveCopies();

  it('are the best number for the oldest key at the load so far', () => {
    for (let load = 0.005; load < 1.5; load += 0.01) expect(adaptive.copiesAt(load)).toBe(bestCopies(load, 'oldest'));
    expect(new AdaptiveCopies({ mostCopies: 3 }).copiesAt(0)).toBe(3);
    expect(new AdaptiveCopies({ mostCopies: 1 }).copiesAt(0)).toBe(1);
    expect(() => new AdaptiveCopies({ mostCopies: 9 })).toThrow(RangeError);
  });
});
