/** What the compact layout gives up: the precision of means, a count per metric, sums, IPv6. */

import type { Flow, MetricName } from '@int/codec';
import { COMPACT, FlowCache } from '@int/flowcache';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { type Report, ReportBatch, recordOf } from '../cache/reports.js';
import { SEED } from '../seed.js';

const FLOW: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 1, destinationPort: 2 };
const UNIT_ROUNDOFF = 2 ** -24;

const reportOf = (values: Partial<Record<MetricName, number>>, flow = FLOW): Report => ({
  isOk: true,
  flow,
  nodeId: 1,
  hops: [{ nodeId: 1, values }],
  timeNs: 0n,
});

function makeCache(accelerator: boolean): FlowCache {
  return new FlowCache({
    rows: 1,
    buckets: 2,
    hops: 1,
    metrics: ['hopLatency', 'queueOccupancy'],
    layout: 'compact',
    accelerator,
  });
}

/**
 * The error bound of README.md. With u = 2^-24, values from 0 to X and n <= 2^24 reports, every step
 * `mean + (x - mean) / n` has five roundings: of x (at most u X), of the difference and the quotient (together
 * 2 u X / n and terms in u^2), and of the new mean (u X). With e the error after n reports,
 * n |e'| <= (n - 1) |e| + (3 + n) u X (1 + 2u), the sum of which is n |e| <= (3 n + n (n + 1) / 2) u X (1 + 2u).
 */
function bound(reports: number, most: number): number {
  return (reports / 2 + 4) * UNIT_ROUNDOFF * most;
}

/** The mean of the sequence in a cache, and by numbers that are exact. */
function means(values: readonly number[], accelerator: boolean): { mean: number; exact: number } {
  const cache = makeCache(accelerator);
  const reports = new ReportBatch(512, 1);
  for (let from = 0; from < values.length; from += 512) {
    reports.fill(values.slice(from, from + 512).map((hopLatency) => reportOf({ hopLatency })));
    cache.update(reports.batch);
  }
  const statistics = cache.get(FLOW)!.hops[0]!.metrics.hopLatency!;
  expect(statistics).toMatchObject({ count: values.length, sum: null, last: values.at(-1) });
  const sum = values.reduce((total, value) => total + BigInt(value), 0n);
  return { mean: statistics.mean, exact: Number(sum) / values.length };
}

/** Sequences in which roundings add up. */
const sequences: fc.Arbitrary<number[]> = fc.oneof(
  fc.array(fc.nat(0xfffffffe), { minLength: 1, maxLength: 300 }),
  fc.array(fc.constantFrom(0, 1, 0xffffff, 0x1000001, 0xfffffffe), { minLength: 1, maxLength: 300 }),
  fc
    .tuple(fc.nat(0xfffffffe), fc.nat(0xfffffffe), fc.integer({ min: 1, max: 1500 }))
    .map(([first, others, count]) => [first, ...new Array<number>(count).fill(others)]),
  fc
    .tuple(fc.nat(0xffffff00), fc.nat(255), fc.integer({ min: 2, max: 1500 }), fc.integer())
    .map(([base, spread, count, seed]) => {
      const random = new Random(seed);
      return Array.from({ length: count }, () => base + random.integer(spread + 1));
    }),
);

describe.each([false, true])('a compact cache, accelerator %s', (accelerator) => {
  test('has means whose error is at most (n / 2 + 4) 2^-24 times the largest value', () => {
    fc.assert(
      fc.property(sequences, (values) => {
        const { mean, exact } = means(values, false);
        const most = Math.max(...values);
        expect(Math.abs(mean - exact)).toBeLessThanOrEqual(bound(values.length, most));
        expect(mean).toBeGreaterThanOrEqual(0);
        expect(mean).toBeLessThanOrEqual(Math.fround(most));
      }),
      { seed: SEED, numRuns: runs(60) },
    );
  });

  test('is far closer than that for values in no order', () => {
    const random = new Random(SEED);
    const values = Array.from({ length: 20_000 }, () => Math.floor(random.exponential(10_000)));
    const { mean, exact } = means(values, accelerator);
    expect(Math.abs(mean - exact) / exact).toBeLessThan(1e-5);
    expect(mean).not.toBe(exact);
  });

  test('has means that stop moving when a flow has had 2^25 reports', () => {
    const cache = makeCache(accelerator);
    cache.observe(recordOf(reportOf({ hopLatency: 1000 })));
    const { words, geometry } = cache;
    const hop = geometry.bucketsAt + COMPACT.HOPS;
    words[hop + 1] = 2 ** 25;
    cache.observe(recordOf(reportOf({ hopLatency: 1900 })));
    // An ulp of 1000 is 2^-14: 900 / 2^25 is less than half of it.
    expect(cache.get(FLOW)!.hops[0]!.metrics.hopLatency).toMatchObject({ mean: 1000, last: 1900, count: 2 ** 25 + 1 });
  });

  test('takes a report that lacks a metric for one with the mean so far, which begins at 0', () => {
    const cache = makeCache(accelerator);
    const observe = (values: Partial<Record<MetricName, number>>): void => cache.observe(recordOf(reportOf(values)));
    const mean = (metric: MetricName): number => cache.get(FLOW)!.hops[0]!.metrics[metric]!.mean;
    observe({ hopLatency: 100 });
    observe({ hopLatency: 100, queueOccupancy: 60 });
    expect(mean('queueOccupancy')).toBe(30);
    observe({ queueOccupancy: 60 });
    observe({ hopLatency: 200, queueOccupancy: 60 });
    // (100 + 100 + 100 + 200) / 4, and (0 + 60 + 60 + 60) / 4.
    expect(mean('hopLatency')).toBe(125);
    expect(mean('queueOccupancy')).toBe(45);
    expect(cache.get(FLOW)!.hops[0]!.metrics.queueOccupancy).toEqual({ last: 60, mean: 45, count: 4, sum: null });
  });

  test('has no end-to-end statistics and no hops beyond, and raises no change of the whole path', () => {
    const raised: number[] = [];
    const cache = new FlowCache({
      rows: 1,
      hops: 1,
      layout: 'compact',
      accelerator,
      thresholds: { endToEnd: { level: 500, change: 10 } },
      events: {
        push: (words, at, records) => {
          for (let record = 0; record < records; record++) raised.push(words[at + 16 * record + 2]!);
          return records;
        },
      },
    });
    for (const hopLatency of [100, 400, 600]) cache.observe(recordOf(reportOf({ hopLatency })));
    expect(raised).toEqual([600]);
    expect(cache.get(FLOW)).toMatchObject({ endToEnd: null, hopsBeyond: null });
  });

  test('counts IPv6 flows that it cannot hold', () => {
    const cache = makeCache(accelerator);
    const ipv6 = { ...FLOW, source: '2001:db8::1', destination: '2001:db8::2' };
    cache.observe(recordOf(reportOf({ hopLatency: 1 }, ipv6)));
    expect(cache.get(ipv6)).toBeUndefined();
    expect(cache.remove(ipv6)).toBeUndefined();
    expect(cache.totals()).toMatchObject({ offered: 1, unsupportedIpv6: 1, live: 0, inserted: 0 });
  });
});
