import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BloomFilters } from '../../src/sketch/bloom-filters.js';
import { Entropy } from '../../src/sketch/entropy.js';
import { HyperLogLogs } from '../../src/sketch/hyper-log-logs.js';
import { SEED } from '../seed.js';

describe('HyperLogLogs', () => {
  it.each([5, 50, 500, 5000, 500_000])(
    'counts %i things within four standard errors, in each row for itself',
    (count) => {
      const counters = new HyperLogLogs(3);
      for (let k = 0; k < count; k++) {
        counters.add(1, k);
        counters.add(1, k);
      }
      expect(Math.abs(counters.estimate(1) / count - 1)).toBeLessThan(4 * 0.13);
      expect([counters.estimate(0), counters.estimate(2)]).toEqual([0, 0]);
      counters.clear(1);
      expect(counters.estimate(1)).toBe(0);
    },
  );

  it('has no bias over many sets', () => {
    const sets = 200;
    const counters = new HyperLogLogs(sets);
    for (let set = 0; set < sets; set++) for (let k = 0; k < 1000; k++) counters.add(set, set * 1000 + k);
    let sum = 0;
    for (let set = 0; set < sets; set++) sum += counters.estimate(set) / 1000;
    expect(sum / sets).toBeGreaterThan(0.97);
    expect(sum / sets).toBeLessThan(1.03);
  });
});

describe('Entropy', () => {
  it('is that of the definition', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 1, maxLength: 400 }), (values) => {
        const entropy = new Entropy();
        for (const value of values) entropy.add(value);
        const counts = new Map<number, number>();
        for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
        let bits = 0;
        for (const count of counts.values()) bits -= (count / values.length) * Math.log2(count / values.length);
        expect(entropy.bits).toBeCloseTo(bits, 9);
        entropy.clear();
        expect(entropy.bits).toBeNaN();
      }),
      { seed: SEED },
    );
  });
});

describe('BloomFilters', () => {
  it('finds every member, and few others', () => {
    const sets = new BloomFilters(2, 1 << 14);
    for (let k = 0; k < 1000; k++) sets.add(1, k);
    let found = 0;
    for (let k = 0; k < 1000; k++) expect(sets.has(1, k)).toBe(true);
    for (let k = 1000; k < 21_000; k++) if (sets.has(1, k)) found++;
    // (1 - exp(-4 * 1000 / 16384))^4 = 0.2 %.
    expect(found / 20_000).toBeLessThan(0.006);
    expect(sets.has(0, 5)).toBe(false);
    sets.clear(1);
    expect(sets.has(1, 5)).toBe(false);
  });
});
