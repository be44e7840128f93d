import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bucketOf, bucketValue, HISTOGRAM_BUCKETS, SlidingHistograms } from '../../src/statistics/histogram.js';
import { SEED } from '../seed.js';

const word = fc.oneof(fc.integer({ min: 0, max: 0xffffffff }), fc.integer({ min: 0, max: 300 }));

/** The value at a rank of sorted values, by the definition that the histogram approximates. */
function exactQuantile(values: readonly number[], quantile: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(quantile * sorted.length)) - 1]!;
}

describe('buckets', () => {
  test('cover all 32-bit values in order', () => {
    fc.assert(
      fc.property(word, (value) => {
        const bucket = bucketOf(value);
        expect(bucket).toBeGreaterThanOrEqual(0);
        expect(bucket).toBeLessThan(HISTOGRAM_BUCKETS);
        if (value > 0) expect(bucketOf(value - 1)).toBeLessThanOrEqual(bucket);
        expect(Math.abs(bucketValue(bucket) - value)).toBeLessThanOrEqual(value / 64);
      }),
      { seed: SEED },
    );
  });

  test('reach from the first to the last', () => {
    expect(bucketOf(0)).toBe(0);
    expect(bucketOf(63)).toBe(63);
    expect(bucketOf(64)).toBe(64);
    expect(bucketOf(0xffffffff)).toBe(HISTOGRAM_BUCKETS - 1);
  });
});

describe('SlidingHistograms', () => {
  test('agree with exact quantiles of the values in the window', () => {
    const slices = 3;
    fc.assert(
      fc.property(
        fc.array(fc.array(word, { maxLength: 40 }), { minLength: 1, maxLength: 8 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (perSlice, quantile) => {
          const histograms = new SlidingHistograms(2, slices);
          perSlice.forEach((values, index) => {
            if (index > 0) histograms.rotate();
            for (const value of values) histograms.record(1, value);
          });
          const window = perSlice.slice(-slices).flat();
          expect(histograms.count(1)).toBe(window.length);
          expect(histograms.count(0)).toBe(0);
          expect(histograms.quantile(0, quantile)).toBeNull();
          const found = histograms.quantile(1, quantile);
          if (window.length === 0) expect(found).toBeNull();
          else {
            const exact = exactQuantile(window, quantile);
            expect(Math.abs(found! - exact)).toBeLessThanOrEqual(exact / 64);
          }
          const last = perSlice.at(-1)!;
          const inSlice = histograms.sliceQuantile(1, quantile);
          if (last.length === 0) expect(inSlice).toBeNull();
          else
            expect(Math.abs(inSlice! - exactQuantile(last, quantile))).toBeLessThanOrEqual(
              exactQuantile(last, quantile) / 64,
            );
        },
      ),
      { seed: SEED },
    );
  });

  test('move the values of a row to another one, slice by slice', () => {
    const histograms = new SlidingHistograms(2, 4);
    histograms.record(0, 10);
    histograms.rotate();
    histograms.record(0, 20);
    histograms.record(1, 30);
    histograms.move(0, 1);
    expect(histograms.count(0)).toBe(0);
    expect(histograms.quantile(0, 0.5)).toBeNull();
    expect([histograms.count(1), histograms.quantile(1, 0.3), histograms.quantile(1, 1)]).toEqual([3, 10, 30]);
    expect([histograms.sliceQuantile(0, 1), histograms.sliceQuantile(1, 0)]).toEqual([null, 20]);
    for (let slice = 0; slice < 3; slice++) histograms.rotate();
    expect([histograms.count(0), histograms.count(1), histograms.quantile(1, 0)]).toEqual([0, 2, 20]);
  });

  test('refuse sizes that make no sense', () => {
    expect(() => new SlidingHistograms(0, 1)).toThrow(RangeError);
    expect(() => new SlidingHistograms(1, 1.5)).toThrow(RangeError);
  });
});
