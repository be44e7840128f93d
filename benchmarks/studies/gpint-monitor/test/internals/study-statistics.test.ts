import { Random } from '@int/random';
import { describe, expect, test } from 'vitest';
import { estimate, studentQuantile } from '../../src/study/statistics.js';
import { SEED } from '../seed.js';

describe('Student quantiles', () => {
  // Two-sided values of printed tables.
  test.each([
    [1, 0.95, 12.7062],
    [2, 0.95, 4.30265],
    [4, 0.95, 2.77645],
    [9, 0.95, 2.26216],
    [19, 0.95, 2.09302],
    [30, 0.95, 2.04227],
    [120, 0.95, 1.97993],
    [1e6, 0.95, 1.95997],
    [1, 0.5, 1],
    [10, 0.99, 3.16927],
    [19, 0.9, 1.72913],
  ])('of %d degrees of freedom at %d is %d', (freedom, confidence, value) => {
    expect(studentQuantile(freedom, confidence)).toBeCloseTo(value, 4);
  });

  test('refuse what has none', () => {
    expect(() => studentQuantile(0, 0.95)).toThrow(RangeError);
    expect(() => studentQuantile(5, 1)).toThrow(RangeError);
    expect(() => estimate([])).toThrow(RangeError);
  });
});

describe('estimates', () => {
  test('of a known sample agree with the textbook', () => {
    const { mean, halfWidth, count } = estimate([2, 4, 4, 4, 5, 5, 7, 9]);
    expect(mean).toBe(5);
    expect(count).toBe(8);
    // Standard deviation sqrt(32 / 7), t = 2.36462 for 7 degrees of freedom.
    expect(halfWidth).toBeCloseTo((2.36462 * Math.sqrt(32 / 7)) / Math.sqrt(8), 4);
  });

  test('of one value or of equal values have no width', () => {
    expect(estimate([3])).toEqual({ mean: 3, halfWidth: 0, count: 1 });
    expect(estimate([3, 3, 3])).toEqual({ mean: 3, halfWidth: 0, count: 3 });
  });

  test('hold the true mean in 95 of 100 samples', () => {
    const random = new Random(SEED).derive('coverage');
    const samples = 4000;
    let held = 0;
    for (let sample = 0; sample < samples; sample++) {
      // Sums of twelve uniform numbers are nearly normal.
      const values = Array.from({ length: 6 }, () => {
        let sum = -6;
        for (let i = 0; i < 12; i++) sum += random.uniform();
        return sum;
      });
      const { mean, halfWidth } = estimate(values);
      if (Math.abs(mean) <= halfWidth) held++;
    }
    expect(Math.abs(held / samples - 0.95)).toBeLessThan(5 * Math.sqrt((0.95 * 0.05) / samples));
  });
});
