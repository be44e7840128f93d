import type { TelemetryBatch } from '@int/codec';
import { DistributionError, type DistributionErrorCode, type DistributionOptions, Distributions } from '@int/flowcache';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import { anyBins, batchOf, contentsOf, metricNames, type Report, reports, reportsOf } from './model.js';

const FEW: DistributionOptions = {
  metrics: ['l2IngressInterface', 'queueOccupancy'],
  bins: { l2IngressInterface: { kind: 'logarithmic', perOctave: 1 } },
};

function recorded(all: readonly Report[], options: DistributionOptions): Distributions {
  const distributions = new Distributions(options);
  distributions.record(batchOf(all));
  return distributions;
}

function codeOf(run: () => unknown): DistributionErrorCode | null {
  try {
    run();
  } catch (error) {
    if (DistributionError.is(error)) return error.code;
    throw error;
  }
  return null;
}

describe('merging', () => {
  it('gives what one has counted that saw all reports, however they were split up', () => {
    fc.assert(
      fc.property(
        reports(60, 30),
        fc.integer({ min: 1, max: 5 }),
        fc.infiniteStream(fc.nat()),
        metricNames,
        anyBins,
        (all, shards, rule, metrics, bins) => {
          const options = { metrics, bins: { [metrics[0]!]: bins, endToEnd: bins }, switches: 40 };
          const parts = Array.from({ length: shards }, (): Report[] => []);
          for (const report of all) parts[rule.next().value! % shards]!.push(report);
          const whole = recorded(all, options);
          const some = parts.map((part, k) => recorded(part, { ...options, seed: k }));
          expect(contentsOf(Distributions.merged(some))).toEqual(contentsOf(whole));
          const [first, ...others] = some;
          for (const other of others) first!.merge(other);
          expect(contentsOf(first!)).toEqual(contentsOf(whole));
        },
      ),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  it('leaves the other as it was, and can be counted on', () => {
    const all = reportsOf([1, 2, 3]);
    const one = recorded(all, FEW);
    const other = recorded(reportsOf([500]), FEW);
    const before = contentsOf(other);
    one.merge(other);
    expect(contentsOf(other)).toEqual(before);
    one.record(batchOf(all));
    expect(contentsOf(one)).toEqual(contentsOf(recorded([...all, ...reportsOf([500]), ...all], FEW)));
  });

  it('makes room for all switches where it makes new ones, and refuses what it has no room for', () => {
    const hop = (nodeId: number): Report => ({ code: 0, flags: 0, gap: 0, hops: [{ nodeId, hopLatency: 1 }] });
    const parts = [
      recorded([hop(1), hop(2)], { switches: 2 }),
      recorded([hop(2), hop(3)], { switches: 2 }),
      recorded([hop(5), hop(6), hop(7)], { switches: 2 }),
    ];
    const sum = Distributions.merged(parts);
    expect([sum.capacity, sum.switches()]).toEqual([5, [1, 2, 3, 5, 6]]);
    // What a part had no room for stays nameless.
    expect(sum.totals().lost.tooManySwitches).toEqual({ hops: 1, values: 1 });
    expect(sum.histogram('others', 'hopLatency')!.total).toBe(1);
    const [one, other] = parts;
    const before = contentsOf(one!);
    expect(codeOf(() => one!.merge(other!))).toBe('ERR_DISTRIBUTION_SWITCHES');
    expect(contentsOf(one!)).toEqual(before);
    expect(codeOf(() => Distributions.merged(parts, { switches: 4 }))).toBe('ERR_DISTRIBUTION_SWITCHES');
    expect(Distributions.merged(parts, { switches: 9 }).capacity).toBe(9);
  });

  it('puts the sum where it is told to', () => {
    const parts = [recorded(reportsOf([1]), FEW), recorded(reportsOf([2]), FEW)];
    const buffer = new SharedArrayBuffer(Distributions.byteLength({ ...FEW, switches: 3 }) + 64);
    const sum = Distributions.merged(parts, { switches: 3, buffer, byteOffset: 64 });
    expect([sum.buffer, sum.byteOffset]).toEqual([buffer, 64]);
    expect(Distributions.attach(buffer, 64).overall('l2IngressInterface').sum).toBe(3n);
  });

  it('refuses other metrics, another order of them, and other bins, with nothing changed', () => {
    const one = recorded(reportsOf([1]), FEW);
    const before = contentsOf(one);
    const others: DistributionOptions[] = [
      {},
      { ...FEW, metrics: ['l2IngressInterface'] },
      { ...FEW, metrics: ['queueOccupancy', 'l2IngressInterface'] },
      { ...FEW, bins: {} },
      { ...FEW, bins: { ...FEW.bins, endToEnd: { kind: 'linear', width: 5, count: 5 } } },
      { ...FEW, bins: { ...FEW.bins, queueOccupancy: { kind: 'explicit', edges: [0, 5] } } },
    ];
    for (const options of others) {
      expect(codeOf(() => one.merge(new Distributions(options)))).toBe('ERR_DISTRIBUTION_OTHER_BINS');
      expect(codeOf(() => new Distributions(options).merge(one))).toBe('ERR_DISTRIBUTION_OTHER_BINS');
    }
    const edges = (...some: number[]): DistributionOptions => ({
      bins: { endToEnd: { kind: 'explicit', edges: some } },
    });
    expect(codeOf(() => new Distributions(edges(1, 2, 9)).merge(new Distributions(edges(1, 3, 9))))).toBe(
      'ERR_DISTRIBUTION_OTHER_BINS',
    );
    expect(codeOf(() => new Distributions(edges(1, 2, 9)).merge(new Distributions(edges(1, 2, 9))))).toBeNull();
    expect(contentsOf(one)).toEqual(before);
    expect(() => Distributions.merged([])).toThrow(RangeError);
  });
});

describe('large numbers', () => {
  it('of values leave their sum exact, beyond what a double can hold, also where it is merged', () => {
    const values = (value: number, count: number): TelemetryBatch =>
      batchOf(Array.from({ length: count / 101 }, () => reportsOf(new Array<number>(101).fill(value))).flat());
    const odd = values(0xffff_fffd, 101 * 999);
    const other = new Distributions(FEW);
    for (let k = 0; k < 6; k++) other.record(values(0xffff_fffe, 101 * 1000));
    const distributions = new Distributions(FEW);
    for (let k = 1; k <= 45; k++) {
      distributions.record(odd);
      const sum = BigInt(k) * 101n * 999n * 0xffff_fffdn;
      expect(distributions.histogram(1, 'l2IngressInterface')!.sum).toBe(sum);
      const copy = Distributions.attach(distributions.buffer.slice(0));
      copy.merge(other);
      expect(copy.histogram(1, 'l2IngressInterface')!.sum).toBe(sum + 6n * 101n * 1000n * 0xffff_fffen);
    }
    expect(distributions.histogram(1, 'l2IngressInterface')!.sum).toBeGreaterThan(2n ** 53n);
    expect(distributions.histogram(1, 'l2IngressInterface')!.mean).toBe(0xffff_fffd);
  });

  it('of end-to-end latencies leave their sum exact too', () => {
    const hops = [{ hopLatency: 0xffff_fff0 }, { hopLatency: 12 }];
    const batch = batchOf(Array.from({ length: 50_000 }, () => ({ code: 0, flags: 0, gap: 0, hops })));
    const distributions = new Distributions(FEW);
    for (let k = 0; k < 45; k++) distributions.record(batch);
    expect(distributions.endToEnd().sum).toBe(45n * 50_000n * 0xffff_fffcn);
  });

  it('are counted exactly up to 2^53, and never wrap around', () => {
    const distributions = recorded(reportsOf([3, 0xffffffff]), FEW);
    for (let k = 0; k < 50; k++) distributions.merge(distributions);
    const found = distributions.histogram(1, 'l2IngressInterface')!;
    expect(found.total).toBe(2 ** 51);
    expect(found.sum).toBe(2n ** 50n * (3n + 0xffffffffn));
    expect(found.mean).toBe(2 ** 31 + 1);
    expect(distributions.totals().reports).toBe(2 ** 50);
    for (let k = 0; k < 10; k++) distributions.merge(distributions);
    distributions.record(batchOf(reportsOf([3])));
    expect(distributions.totals().reports).toBe(2 ** 53);
    expect(distributions.histogram(1, 'l2IngressInterface')!.counts.filter((count) => count > 0)).toEqual([
      2 ** 53,
      2 ** 53,
    ]);
    expect(Distributions.attach(distributions.buffer).totals().reports).toBe(2 ** 53);
  });
});
