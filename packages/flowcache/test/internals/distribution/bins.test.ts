import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { type Bins, edgesOf, logarithmicEdge, logarithmicIndex, resolveBins } from '../../../src/distribution/bins.js';
import { type DistributionOptions, Distributions } from '../../../src/distribution/distributions.js';
import { DISTRIBUTION_ERROR_CODES, DistributionError } from '../../../src/distribution/errors.js';
import { anyBins, batchOf, countsOf, reportsOf, word } from '../../distribution/model.js';
import { SEED } from '../../seed.js';

/** Counts of values in bins: below, in each, above. */
function counted(bins: Bins, values: readonly number[]): { counts: number[]; edges: readonly number[] } {
  const distributions = new Distributions({ metrics: ['l2IngressInterface'], bins: { l2IngressInterface: bins } });
  distributions.record(batchOf(reportsOf(values)));
  const { underflow, counts, overflow, edges } = distributions.histogram(1, 'l2IngressInterface')!;
  return { counts: [underflow, ...counts, overflow], edges };
}

function codeOf(options: DistributionOptions): unknown {
  try {
    new Distributions(options);
  } catch (error) {
    if (!DistributionError.is(error)) throw error;
    expect(error).toBeInstanceOf(RangeError);
    expect(error.offset).toBeNull();
    return error.code;
  }
  return null;
}

describe('bins', () => {
  it('hold their lower edge and what is below the upper one, at every edge', () => {
    fc.assert(
      fc.property(anyBins, fc.nat(), (bins, start) => {
        const edges = edgesOf(resolveBins('test', bins));
        const some = edges.slice(edges.length > 20 ? start % (edges.length - 19) : 0).slice(0, 20);
        const near = some.flatMap((edge) => [edge - 1, edge, edge + 1]);
        const values = near.filter((value) => value >= 0 && value < 2 ** 32);
        const found = counted(bins, values);
        expect(found.edges).toEqual(edges);
        expect(found.counts).toEqual(countsOf(values, edges));
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('of equal width are as exact as a division, for every width', () => {
    const widths = fc.oneof(
      fc.integer({ min: 1, max: 1000 }),
      word.map((width) => Math.max(1, width)),
    );
    fc.assert(
      fc.property(
        widths,
        fc.array(fc.nat(65535), { minLength: 150, maxLength: 250 }),
        word,
        (width, quotients, from) => {
          const count = Math.min(65536, Math.floor((2 ** 32 - from) / width));
          fc.pre(count > 0 && from + width * count <= 2 ** 32);
          const inside = quotients.map((quotient) => from + (quotient % count) * width);
          const values = inside.flatMap((value) => [value, value + width - 1]);
          const { counts } = counted({ kind: 'linear', from, width, count }, values);
          const expected = new Array<number>(count + 2).fill(0);
          for (const quotient of quotients) expected[1 + (quotient % count)]! += 2;
          expect(counts.every((one, bin) => one === expected[bin])).toBe(true);
        },
      ),
      { seed: SEED, numRuns: runs(60) },
    );
  });

  it('of growing width are no wider than 1 / perOctave of their least value, and neighbours', () => {
    for (const bits of [0, 1, 4, 10]) {
      const edges = edgesOf(resolveBins('test', { kind: 'logarithmic', perOctave: 2 ** bits }));
      expect([edges[0], edges.at(-1)]).toEqual([0, 2 ** 32]);
      for (let k = 1; k < edges.length; k++) {
        const width = edges[k]! - edges[k - 1]!;
        expect(width).toBeGreaterThan(0);
        if (width > 1) expect(width).toBeLessThanOrEqual(edges[k - 1]! / 2 ** bits);
      }
    }
  });

  it('of growing width are numbered without a gap', () => {
    fc.assert(
      fc.property(word, fc.integer({ min: 0, max: 12 }), (x, bits) => {
        const index = logarithmicIndex(x | 0, bits);
        expect(logarithmicEdge(index, bits)).toBeLessThanOrEqual(x);
        expect(logarithmicEdge(index + 1, bits)).toBeGreaterThan(x);
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });

  it('with given edges find their value also where many edges lie close together', () => {
    fc.assert(
      fc.property(word, fc.integer({ min: 1, max: 9 }), fc.array(word, { maxLength: 20 }), (start, step, far) => {
        const close = Array.from({ length: 300 }, (_, k) => start + k * step);
        const edges = [...new Set([...close, ...far])].filter((edge) => edge <= 2 ** 32).sort((a, b) => a - b);
        fc.pre(edges.length > 1);
        const values = [...close.map((value) => value + 1), ...far].filter((value) => value < 2 ** 32);
        expect(counted({ kind: 'explicit', edges }, values).counts).toEqual(countsOf(values, edges));
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('by default hold every value that a metric can have', () => {
    const distributions = new Distributions({ metrics: ['hopLatency', 'queueOccupancy', 'queueId'] });
    const hop = { nodeId: 1, hopLatency: 0xfffffffe, queueId: 0xfe, queueOccupancy: 0x7ffffffe };
    distributions.record(
      batchOf([
        { code: 0, flags: 0, gap: 0, hops: [hop, { nodeId: 1, hopLatency: 0, queueId: 0, queueOccupancy: 0 }] },
      ]),
    );
    expect(distributions.totals()).toMatchObject({ values: 6, underflow: 0, overflow: 0 });
    expect(distributions.histogram(1, 'queueOccupancy')!.edges.at(-1)).toBe(2 ** 31);
  });
});

describe('dimensions', () => {
  it('that make no sense are refused with a code', () => {
    const bins: unknown[] = [
      { kind: 'linear', width: 0, count: 1 },
      { kind: 'linear', width: 1, count: 0 },
      { kind: 'linear', width: 1.5, count: 1 },
      { kind: 'linear', width: 1, count: 65537 },
      { kind: 'linear', width: 2 ** 31, count: 3 },
      { kind: 'linear', from: -1, width: 1, count: 1 },
      { kind: 'linear', from: 2 ** 32, width: 1, count: 1 },
      { kind: 'linear', width: Number.NaN, count: 1 },
      { kind: 'linear', width: '5', count: 1 },
      { kind: 'linear' },
      { kind: 'logarithmic', perOctave: 3 },
      { kind: 'logarithmic', perOctave: 0 },
      { kind: 'logarithmic', perOctave: 8192 },
      { kind: 'logarithmic', perOctave: 4096 },
      { kind: 'logarithmic', from: 5, to: 5 },
      { kind: 'logarithmic', to: 2 ** 32 + 1 },
      { kind: 'explicit', edges: [] },
      { kind: 'explicit', edges: [1] },
      { kind: 'explicit', edges: [1, 1] },
      { kind: 'explicit', edges: [2, 1] },
      { kind: 'explicit', edges: [0, 0.5] },
      { kind: 'explicit', edges: [0, 2 ** 32 + 1] },
      { kind: 'explicit', edges: [-1, 1] },
      { kind: 'explicit', edges: Array.from({ length: 65538 }, (_, k) => k) },
      { kind: 'explicit', edges: 'none' },
      { kind: 'explicit' },
      { kind: 'other' },
      {},
    ];
    for (const one of bins)
      expect([one, codeOf({ bins: { endToEnd: one as Bins } })]).toEqual([one, 'ERR_DISTRIBUTION_BINS']);
    expect(codeOf({ bins: { queueId: { kind: 'logarithmic' } } })).toBe('ERR_DISTRIBUTION_BINS');
    expect(codeOf({ metrics: [] })).toBe('ERR_DISTRIBUTION_METRICS');
    expect(codeOf({ metrics: ['hopLatency', 'hopLatency'] })).toBe('ERR_DISTRIBUTION_METRICS');
    expect(codeOf({ metrics: ['nonsense' as 'hopLatency'] })).toBe('ERR_DISTRIBUTION_METRICS');
    for (const switches of [0, -1, 1.5, Number.NaN, 2 ** 24 + 1])
      expect(codeOf({ switches })).toBe('ERR_DISTRIBUTION_SIZE');
    for (const seed of [-1, 0.5, 2 ** 32]) expect(codeOf({ seed })).toBe('ERR_DISTRIBUTION_SIZE');
    expect(codeOf({ switches: 2 ** 24 })).toBe('ERR_DISTRIBUTION_SIZE');
    for (const byteOffset of [4, -8, 1.5, Number.NaN, 2 ** 40])
      expect(codeOf({ byteOffset })).toBe('ERR_DISTRIBUTION_BUFFER');
    expect(codeOf({ buffer: new ArrayBuffer(Distributions.byteLength() - 1) })).toBe('ERR_DISTRIBUTION_BUFFER');
    expect(codeOf({ buffer: new ArrayBuffer(Distributions.byteLength()), byteOffset: 8 })).toBe(
      'ERR_DISTRIBUTION_BUFFER',
    );
    expect(codeOf({ buffer: new ArrayBuffer(Distributions.byteLength()) })).toBeNull();
  });

  it('of the largest sizes are taken', () => {
    expect(resolveBins('test', { kind: 'linear', width: 65536, count: 65536 }).last).toBe(2 ** 32 - 1);
    expect(resolveBins('test', { kind: 'logarithmic', perOctave: 2048 }).count).toBe(45056);
    expect(resolveBins('test', { kind: 'logarithmic', from: 2 ** 31, perOctave: 4096 }).count).toBe(4096);
    expect(resolveBins('test', { kind: 'explicit', edges: [0, 2 ** 32] }).count).toBe(1);
    expect(Distributions.byteLength({ metrics: ['queueId'], switches: 2 ** 20 })).toBeLessThan(2 ** 31);
  });

  it('have error codes that are told apart, by the constructor or by attaching and merging', () => {
    expect(new Set(DISTRIBUTION_ERROR_CODES).size).toBe(DISTRIBUTION_ERROR_CODES.length);
    expect(DistributionError.is(new RangeError('another'))).toBe(false);
  });
});
