import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { BUCKETS, bucketOf, Sketches } from '../../src/sketches.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);

test('each value has a bucket, larger values no smaller one', () => {
  let last = -1;
  for (const value of [0, 1, 7, 8, 9, 15, 16, 17, 18, 31, 32, 1000, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]) {
    const bucket = bucketOf(value);
    expect(bucket).toBeGreaterThanOrEqual(last);
    expect(bucket).toBeLessThan(BUCKETS);
    last = bucket;
  }
  expect(bucketOf(2 ** 32 - 1)).toBe(BUCKETS - 1);
});

test('quantiles lie within an eighth of those of the sorted values', () => {
  const sketches = new Sketches(2);
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.nat(20), fc.nat(100_000), fc.integer({ min: 0, max: 2 ** 32 - 1 })), {
        minLength: 1,
        maxLength: 60,
      }),
      fc.constantFrom(0.25, 0.5, 0.75, 1),
      (values, share) => {
        sketches.clear(1);
        for (const value of values) sketches.add(1, value, 1);
        const sorted = [...values].sort((a, b) => a - b);
        const exact = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!;
        expect(Math.abs(sketches.quantile(1, share) - exact)).toBeLessThanOrEqual(exact / 8 + 1);
      },
    ),
    { seed: SEED, numRuns: runs(2000) },
  );
  expect(sketches.quantile(0, 0.5)).toBeNaN();
});
