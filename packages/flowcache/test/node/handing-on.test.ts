import { Distributions, type FlowEntry } from '@int/flowcache';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { SEED } from '../seed.js';
import {
  byFlow,
  dispatchAll,
  entriesOf,
  expectClosed,
  METRICS,
  manyReports,
  packetsOf,
  popEntries,
  ROOMY,
  rowsOf,
  withCache,
} from './harness.js';
import { Random, randomReports, START_NS } from './reports.js';

describe('what a sharded cache hands on', () => {
  it('drains all entries through a ring that is too small for them, while it goes on', async () => {
    const random = new Random(SEED);
    await withCache({ ...ROOMY, entryRecords: 4 }, async (cache) => {
      const reports = manyReports(random, 4);
      await dispatchAll(cache, reports);
      const held = byFlow(await entriesOf(cache));
      let isDone = false;
      const draining = cache.drain().then((drained) => {
        isDone = true;
        return drained;
      });
      // Answered although nobody reads the rings yet.
      const before = await cache.totals();
      expect(before.removedEntries).toBeLessThanOrEqual(2 * 4);
      expect(isDone).toBe(false);
      const popped: FlowEntry[] = [];
      await until('the end of the drain', () => {
        popped.push(...popEntries(cache));
        return isDone;
      });
      popped.push(...popEntries(cache));
      expect(await draining).toBe(held.size);
      const drained = [...byFlow(popped)].map(([key, entry]) => [key, { ...entry, reason: 'live' }] as const);
      expect(new Map(drained)).toEqual(held);
      const totals = await cache.totals();
      expect(totals).toMatchObject({ live: 0, lostEntries: 0, removedEntries: held.size });
      expectClosed(totals, rowsOf(reports), 0);
    });
  });

  it('has drained when no entry is left, whoever took them', async () => {
    await withCache({ ...ROOMY, entryRecords: 4 }, async (cache) => {
      const reports = manyReports(new Random(SEED), 2);
      await dispatchAll(cache, reports);
      const { live } = await cache.totals();
      let drained: number | null = null;
      const draining = cache.drain().then((entries) => {
        drained = entries;
      });
      let aged = 0;
      let popped = 0;
      for (let round = 0; drained === null && round < 10_000; round++) {
        aged += await cache.age(START_NS + 10n ** 12n, 1n);
        popped += popEntries(cache).length;
      }
      await draining;
      popped += popEntries(cache).length;
      expect(aged).toBeGreaterThan(0);
      expect([popped, drained! + aged]).toEqual([live, live]);
    });
  });

  it('gives up draining when the reader has closed the ring', async () => {
    await withCache({ ...ROOMY, entryRecords: 1 }, async (cache) => {
      await dispatchAll(cache, manyReports(new Random(SEED), 1));
      for (const { entries } of cache.shards) entries.close();
      await expect(cache.drain()).rejects.toMatchObject({ code: 'ERR_SHARD_REQUEST' });
      expect((await cache.totals()).lostEntries).toBe(0);
    });
  });

  it('ages by the clock of its reports, and when it is asked to', async () => {
    const random = new Random(SEED);
    await withCache({ ...ROOMY, idleNs: 1_000_000n }, async (cache) => {
      const early = randomReports(random, 200, { odd: 0 });
      await dispatchAll(cache, [early]);
      // Three times the limit later, in steps, one flow only.
      for (let at = 1; at <= 8; at++) {
        await dispatchAll(cache, [randomReports(random, 5, { odd: 0, flows: 1 }, 200 + at * 500)]);
        await cache.totals();
      }
      const totals = await cache.totals();
      expect(totals.agedEntries).toBeGreaterThan(0);
      // The last report's time at most: 4 frames in front, 3 for each report.
      const limit = START_NS + 4_219_000n;
      for (const entry of popEntries(cache)) {
        expect(entry.reason).toBe('aged');
        expect(entry.lastNs).toBeLessThan(limit - 1_000_000n);
      }
      const left = (await entriesOf(cache)).length;
      expect(await cache.age(START_NS + 10n ** 12n, 1n)).toBe(left);
      expect((await cache.totals()).live).toBe(0);
    });
  });

  it('counts distributions as one thread would', async () => {
    const dimensions = { metrics: ['hopLatency', 'bufferOccupancy'] as const, switches: 64 };
    const single = new Distributions(dimensions);
    const reports = manyReports(new Random(SEED), 3);
    for (const batch of reports) single.record(batch);
    await withCache({ ...ROOMY, distributions: dimensions }, async (cache) => {
      await dispatchAll(cache, reports);
      const merged = await cache.distributions();
      expect(merged.switches().sort()).toEqual(single.switches().sort());
      for (const node of single.switches()) {
        for (const metric of dimensions.metrics) {
          expect(merged.histogram(node, metric)).toEqual(single.histogram(node, metric));
        }
      }
      expect(merged.endToEnd()).toEqual(single.endToEnd());
      // Reports without a flow have values too.
      expect(merged.totals().reports).toBe(single.totals().reports);
      const totals = await cache.totals();
      expect(totals.noFlow).toBeGreaterThan(0);
      expectClosed(totals, rowsOf(reports), packetsOf(await entriesOf(cache)));
    });
  });

  it('counts distributions of metrics that its entries do not have', async () => {
    const reports = manyReports(new Random(SEED), 1, { missing: 0, odd: 0 });
    await withCache({ ...ROOMY, metrics: ['bufferOccupancy'], distributions: {} }, async (cache) => {
      await dispatchAll(cache, reports);
      const distributions = await cache.distributions();
      expect(distributions.metrics).toEqual(METRICS);
      const hops = reports[0]!.hopCount.subarray(0, reports[0]!.reports).reduce((sum, one) => sum + one, 0);
      const { values, unnamed } = distributions.totals();
      expect(values + unnamed.values).toBeGreaterThan(hops);
    });
  });

  it('has no distributions unless asked for', async () => {
    await withCache({ ...ROOMY, shards: 1 }, async (cache) => {
      await expect(cache.distributions()).rejects.toThrow('without distributions');
      expect(cache.shards[0]!.distributions).toBeNull();
    });
  });
});
