import { type Bins, DistributionError, Distributions, Histogram } from '@int/flowcache';
import fc from 'fast-check';
import { build } from 'hdr-histogram-js';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import { anyBins, batchOf, reportsOf, sumOf, word } from './model.js';

/** The histogram of values. */
function histogramOf(values: readonly number[], bins?: Bins): Histogram {
  const distributions = new Distributions({
    metrics: ['l2IngressInterface'],
    bins: bins === undefined ? {} : { l2IngressInterface: bins },
    switches: 1,
  });
  distributions.record(batchOf(reportsOf(values)));
  return distributions.overall('l2IngressInterface');
}

/** Thousandths of a percent. */
const thousandths = fc.oneof(
  fc.nat(100_000),
  fc.constantFrom(0, 1, 50_000, 90_000, 95_000, 99_000, 99_900, 99_990, 99_999, 100_000),
);

/** The value of that rank, worked out without rounding. */
function exactPercentile(values: readonly number[], p: number): number {
  const rank = (BigInt(p) * BigInt(values.length) + 99_999n) / 100_000n;
  return [...values].sort((a, b) => a - b)[Math.max(0, Number(rank) - 1)]!;
}

/** Values as a metric has them: spread over octaves, or close together, or both. */
const data: fc.Arbitrary<number[]> = fc.oneof(
  fc.array(word, { minLength: 1, maxLength: 300 }),
  fc.array(fc.nat(2000), { minLength: 1, maxLength: 1000 }),
  fc
    .tuple(
      fc.integer({ min: 1, max: 1e7 }),
      fc.array(fc.double({ min: 1e-9, max: 1, noNaN: true }), { minLength: 100, maxLength: 2000 }),
    )
    .map(([scale, all]) => all.map((u) => Math.min(0xffffffff, Math.floor(-Math.log(u) * scale + 0)))),
);

describe('percentiles', () => {
  it('lie in the range of values that certainly holds the exact one: that of its bin', () => {
    fc.assert(
      fc.property(data, anyBins, thousandths, (values, bins, p) => {
        const histogram = histogramOf(values, bins);
        const exact = exactPercentile(values, p);
        const { least, most } = histogram.percentileRange(p / 1000)!;
        const edges = [0, ...histogram.edges, 2 ** 32];
        const bin = edges.findLastIndex((edge) => edge <= exact);
        expect([exact, least]).toEqual([exact, edges[bin]]);
        expect(most).toBe(edges[bin + 1]! - 1);
        const found = histogram.percentile(p / 1000)!;
        expect(found).toBeGreaterThanOrEqual(least);
        expect(found).toBeLessThanOrEqual(most);
        if (exact > histogram.edges.at(-1)!) expect(found).toBe(histogram.edges.at(-1));
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('are off by less than 1 / perOctave of the exact value, by nothing for small ones', () => {
    fc.assert(
      fc.property(data, fc.integer({ min: 0, max: 10 }), thousandths, (values, bits, p) => {
        const perOctave = 2 ** bits;
        const found = histogramOf(values, { kind: 'logarithmic', perOctave }).percentile(p / 1000)!;
        const exact = exactPercentile(values, p);
        if (exact < 2 * perOctave) expect(found).toBe(exact);
        else expect(Math.abs(found - exact)).toBeLessThan(exact / perOctave);
      }),
      { seed: SEED, numRuns: runs(250) },
    );
  });

  it('never fall as p rises', () => {
    fc.assert(
      fc.property(data, anyBins, (values, bins) => {
        const histogram = histogramOf(values, bins);
        let last = 0;
        for (let p = 0; p <= 100; p += 2.5) {
          const found = histogram.percentile(p)!;
          expect(found).toBeGreaterThanOrEqual(last);
          last = found;
        }
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('take the rank as written, not as a floating-point product rounds it', () => {
    const values = Array.from({ length: 1000 }, (_, k) => k);
    const histogram = histogramOf(values, { kind: 'linear', width: 1, count: 1000 });
    expect([0, 0.01, 99.91, 100].map((p) => histogram.percentile(p))).toEqual([0, 0, 999, 999]);
    // 1.1 * 1000 is a hair more than 1100.
    expect(values.map((k) => histogram.percentile((k + 1) / 10))).toEqual(values);
  });

  it('spread the values of a bin evenly, each in the middle of its share', () => {
    const histogram = histogramOf([3, 3, 3, 3, 3, 17], { kind: 'linear', width: 11, count: 1 });
    expect([1, 20, 50, 80].map((p) => histogram.percentile(p))).toEqual([1, 3, 5, 9]);
    // What lies above the bins is at least 11.
    expect([histogram.percentile(99), histogram.percentileRange(99)]).toEqual([11, { least: 11, most: 0xffffffff }]);
  });

  it('do not go beyond what the metric can be', () => {
    const distributions = new Distributions({
      metrics: ['queueId'],
      bins: { queueId: { kind: 'explicit', edges: [10, 100, 1000] } },
    });
    const hops = [5, 32, 254].map((queueId) => ({ nodeId: 1, queueId }));
    distributions.record(batchOf([{ code: 0, flags: 0, gap: 0, hops }]));
    const histogram = distributions.histogram(1, 'queueId')!;
    const ranges = [0, 50, 100].map((p) => histogram.percentileRange(p));
    expect(ranges).toEqual([
      { least: 0, most: 9 },
      { least: 10, most: 99 },
      { least: 100, most: 255 },
    ]);
  });

  it('of nothing are null, and p out of range is refused', () => {
    const empty = new Distributions().endToEnd();
    expect([empty.percentile(50), empty.percentileRange(50), empty.mean, empty.sum]).toEqual([null, null, null, 0n]);
    for (const p of [-1, 101, Number.NaN]) {
      expect(() => empty.percentile(p)).toThrow(RangeError);
      expect(() => empty.percentileRange(p)).toThrow(RangeError);
    }
  });
});

describe('beside hdr-histogram-js', () => {
  it('percentiles agree within both error bounds, and its mean within its own', () => {
    fc.assert(
      fc.property(data, fc.integer({ min: 3, max: 8 }), thousandths, (values, bits, p) => {
        // Of a whole number of values, so that both mean the same rank.
        const copies = values.length > 100 ? [values.slice(0, 100)] : Array.from({ length: 10 }, () => values);
        const all = copies.flat();
        const percent = all.length === 100 ? Math.round(p / 1000) : Math.round(p / 10_000) * 10;
        fc.pre(percent > 0);
        const hdr = build({ highestTrackableValue: 2 ** 33, numberOfSignificantValueDigits: 3 });
        for (const value of all) hdr.recordValue(value);
        const histogram = histogramOf(all, { kind: 'logarithmic', perOctave: 2 ** bits });
        const theirs = hdr.getValueAtPercentile(percent);
        const ours = histogram.percentile(percent)!;
        const exact = exactPercentile(all, percent * 1000);
        expect(Math.abs(theirs - exact)).toBeLessThanOrEqual(exact / 1000);
        expect(Math.abs(ours - theirs)).toBeLessThanOrEqual(exact / 1000 + exact / 2 ** bits);
        expect(histogram.mean).toBe(Number(sumOf(all)) / all.length);
        expect(Math.abs(histogram.mean! - hdr.mean)).toBeLessThanOrEqual(histogram.mean! / 1000);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('an export keeps the count, and percentiles and mean within both error bounds', () => {
    fc.assert(
      fc.property(data, fc.integer({ min: 3, max: 8 }), thousandths, (values, bits, p) => {
        const histogram = histogramOf(values, { kind: 'logarithmic', perOctave: 2 ** bits });
        const hdr = build({ highestTrackableValue: 2 ** 33, numberOfSignificantValueDigits: 3 });
        histogram.exportTo(hdr);
        expect(hdr.totalCount).toBe(values.length);
        const bound = 0.5 / 2 ** bits + 1 / 1000;
        expect(Math.abs(hdr.mean - histogram.mean!)).toBeLessThanOrEqual(histogram.mean! * bound + 0.5);
        const { least, most } = histogram.percentileRange(p / 1000)!;
        const middle = Math.floor((least + most) / 2);
        // The rank of a percentile that is no whole number is rounded another way there.
        const isWhole = (p * values.length) % 100_000 === 0 && p > 0;
        if (isWhole) expect(Math.abs(hdr.getValueAtPercentile(p / 1000) - middle)).toBeLessThanOrEqual(middle / 1000);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('an export records values outside the bins too', () => {
    const recorded: [number, number][] = [];
    const target = { recordValueWithCount: (value: number, count: number) => recorded.push([value, count]) };
    histogramOf([1, 2, 3, 25, 26, 90, 500], { kind: 'linear', from: 10, width: 20, count: 2 }).exportTo(target);
    expect(recorded).toEqual([
      [4, 3],
      [19, 2],
      [50, 2],
    ]);
  });
});

describe('a histogram', () => {
  it('in JSON has the bins that hold values, and says what lies outside', () => {
    const histogram = histogramOf([1, 12, 12, 0xffffffff], { kind: 'explicit', edges: [10, 20, 30] });
    expect(JSON.parse(JSON.stringify(histogram))).toEqual({
      metric: 'l2IngressInterface',
      bins: { kind: 'explicit', edges: [10, 20, 30] },
      total: 4,
      underflow: 1,
      overflow: 1,
      sum: '4294967320',
      mean: 4294967320 / 4,
      counts: [[10, 20, 2]],
    });
  });

  it('is the sum of others of equal bins, and refuses those with other bins or of another metric', () => {
    fc.assert(
      fc.property(data, data, anyBins, (a, b, bins) => {
        const sum = Histogram.merged([histogramOf(a, bins), histogramOf(b, bins)]);
        expect(sum.toJSON()).toEqual(histogramOf([...a, ...b], bins).toJSON());
      }),
      { seed: SEED, numRuns: runs(100) },
    );
    const one = histogramOf([1]);
    const others = [histogramOf([1], { kind: 'linear', width: 1, count: 5 }), new Distributions().endToEnd()];
    for (const other of others) expect(() => Histogram.merged([one, other])).toThrow(DistributionError);
    expect(() => Histogram.merged([])).toThrow(RangeError);
  });
});
