import { COUNTERS, EVENT_WORDS, FlowCache, type FlowEntry, readFlowEvent, Thresholds } from '@int/flowcache';
import type { ShardError, ShardedFlowCacheOptions } from '@int/flowcache/node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import {
  byFlow,
  code,
  dispatchAll,
  entriesOf,
  expectClosed,
  METRICS,
  manyReports,
  openCache,
  packetsOf,
  popEntries,
  popEvents,
  ROOMY,
  rowsOf,
  withCache,
} from './harness.js';
import { Random } from './reports.js';

describe('a sharded cache', () => {
  it('knows of each flow what a single cache knows', async () => {
    const cases = fc.record({
      random: fc.integer(),
      shards: fc.integer({ min: 1, max: 3 }),
      hash: fc.constantFrom('xxh32' as const, 'crc32' as const),
      layout: fc.constantFrom('exact' as const, 'compact' as const),
      accelerator: fc.boolean(),
      slotReports: fc.constantFrom(16, 1024),
      order: fc.constantFrom('packed', 'gaps', 'scattered'),
      hasTimes: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ random, shards, slotReports, order, hasTimes, ...rest }) => {
        const traffic = { scattered: order === 'scattered', packed: order === 'packed' };
        const reports = manyReports(new Random(random), 4, traffic);
        const limits = { metrics: { hopLatency: { level: 700, change: 300 } }, pathChange: true };
        const options = { ...ROOMY, ...rest, thresholds: limits };
        const single = new FlowCache(options);
        await withCache({ ...options, shards, slots: 2, slotReports }, async (cache) => {
          for (const batch of reports) {
            batch.isTimed = hasTimes;
            single.update(batch);
            // In two parts, the first of which may have to wait.
            await cache.dispatch(batch, 0, batch.reports >> 1);
            await cache.dispatch(batch, batch.reports >> 1);
          }
          const totals = await cache.totals();
          const expected = single.totals();
          const merged = Object.fromEntries(COUNTERS.map((name) => [name, totals[name]]));
          expect(merged).toEqual(expected);
          expect(totals.evictedEntries).toBe(0);
          expect(totals.shards).toHaveLength(shards);
          const entries = byFlow(await entriesOf(cache));
          expect(entries).toEqual(byFlow(single.entries()));
          for (const entry of [...entries.values()].slice(0, 20)) {
            expect(await cache.get(entry.flow)).toEqual(entry);
            const shard = cache.shards[cache.shardOf(entry.flow)]!;
            expect(shard.view().get(entry.flow)).toEqual(entry);
          }
          expect(popEvents(cache)).toBe(expected.events);
          expectClosed(totals, rowsOf(reports), single.livePackets());
        });
      }),
      { seed: SEED, numRuns: runs(8) },
    );
  });

  it('answers for what was dispatched before, though no slot is full', async () => {
    await withCache(ROOMY, async (cache) => {
      const [reports] = manyReports(new Random(SEED), 1);
      expect(cache.dispatch(reports!, 0, 1)).toBeUndefined();
      expect((await cache.totals()).offered).toBe(1);
    });
  });

  it('counts every report that it loses, and hands on or counts every entry and event, with rings far too small', async () => {
    const cases = fc.record({
      random: fc.integer(),
      whenFull: fc.constantFrom('wait' as const, 'lose' as const),
      slots: fc.integer({ min: 2, max: 3 }),
      slotReports: fc.constantFrom(1, 7, 50),
      rows: fc.constantFrom(1, 2, 8),
      buckets: fc.integer({ min: 1, max: 4 }),
      ring: fc.constantFrom(1, 4, 64),
      readsRings: fc.boolean(),
      idleNs: fc.constantFrom(undefined, 100_000n),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ random, rows, buckets, ring, readsRings, idleNs, ...rest }) => {
        const reports = manyReports(new Random(random), 6);
        const thresholds = { metrics: { hopLatency: { level: 0 } } };
        const ageing = idleNs === undefined ? {} : { idleNs };
        const options = { rows, buckets, entryRecords: ring, eventRecords: ring, thresholds, ...ageing, ...rest };
        await withCache(options, async (cache) => {
          const popped: FlowEntry[] = [];
          let events = 0;
          for (const part of reports) {
            await dispatchAll(cache, [part]);
            if (readsRings) popped.push(...popEntries(cache));
            if (readsRings) events += popEvents(cache);
          }
          const live = packetsOf(await entriesOf(cache));
          const totals = await cache.totals();
          expectClosed(totals, rowsOf(reports), live);
          if (rest.whenFull === 'wait') expect(totals.lostReports).toEqual({ full: 0, failed: 0 });
          popped.push(...popEntries(cache));
          events += popEvents(cache);
          expect(popped.length).toBe(totals.evictedEntries + totals.agedEntries);
          expect(packetsOf(popped)).toBe(totals.evictedPackets + totals.agedPackets);
          expect(events).toBe(totals.events);
          expect(totals.live).toBeLessThanOrEqual(2 * Math.ceil(rows / 2) * buckets);
          expect(await cache.stop()).toEqual(totals);
        });
      }),
      { seed: SEED, numRuns: runs(14) },
    );
  });

  it('loses reports rather than wait if it is told so, and says how many', async () => {
    const reports = manyReports(new Random(SEED), 20, { odd: 0 });
    await withCache({ ...ROOMY, slots: 2, slotReports: 1, whenFull: 'lose' }, async (cache) => {
      // All in one go: the workers come to nothing but the first few.
      for (const batch of reports) {
        expect(cache.dispatch(batch)).toBeUndefined();
      }
      const totals = await cache.totals();
      expect(totals.lostReports.full).toBeGreaterThan(0);
      expectClosed(totals, rowsOf(reports), packetsOf(await entriesOf(cache)));
    });
  });

  it('waits for its workers, one dispatch at a time', async () => {
    const reports = manyReports(new Random(SEED), 4, { odd: 0 });
    await withCache({ ...ROOMY, slots: 2, slotReports: 1 }, async (cache) => {
      const batch = reports[0]!;
      const waiting = cache.dispatch(batch);
      expect(waiting).toBeInstanceOf(Promise);
      expect(() => cache.dispatch(batch)).toThrow('has not finished');
      await waiting;
      await dispatchAll(cache, reports.slice(1));
      expect((await cache.totals()).offered).toBe(rowsOf(reports));
    });
  });

  it('answers many requests at once, and refuses a thousand', async () => {
    await withCache({ ...ROOMY, shards: 1, slots: 16, slotReports: 1 }, async (cache) => {
      const batch = manyReports(new Random(SEED), 1)[0]!;
      const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 1, destinationPort: 2 };
      const waiting = cache.dispatch(batch);
      const asked = Array.from({ length: 1200 }, () => cache.get(flow).catch((error: ShardError) => error.code));
      const answers = await Promise.all(asked);
      expect(answers.filter((answer) => answer === undefined)).toHaveLength(1023);
      expect(answers.filter((answer) => answer === 'ERR_SHARD_BUSY')).toHaveLength(1200 - 1023);
      await waiting;
      expect((await cache.totals()).dispatched).toBe(batch.reports);
    });
  });

  it('refuses rows that the batch does not have', async () => {
    await withCache(ROOMY, async (cache) => {
      const batch = manyReports(new Random(SEED), 1)[0]!;
      for (const [from, to] of [
        [-1, 1],
        [0, batch.reports + 1],
        [2, 1],
        [0, 1.5],
      ]) {
        expect(() => cache.dispatch(batch, from, to)).toThrow(RangeError);
      }
      expect((await cache.totals()).dispatched).toBe(0);
    });
  });

  it('follows thresholds that are changed while it runs, in all workers and without stopping one', async () => {
    const random = new Random(SEED);
    await withCache(ROOMY, async (cache) => {
      const first = manyReports(random, 2, { missing: 0, odd: 0, hops: 3 });
      await dispatchAll(cache, first);
      expect((await cache.totals()).events).toBe(0);
      // Another thread would do the same with a table over the same memory.
      const elsewhere = new Thresholds(METRICS, {}, cache.thresholds.words.buffer);
      elsewhere.set('hopLatency', { level: 0 });
      await dispatchAll(cache, manyReports(random, 2, { missing: 0, odd: 0, hops: 3 }));
      const totals = await cache.totals();
      for (const shard of totals.shards) expect(shard.events).toBeGreaterThan(0);
      const record = new Int32Array(EVENT_WORDS);
      cache.shards[0]!.events.pop(record, 0, 1);
      expect(readFlowEvent(record, 0, METRICS)).toMatchObject({ kinds: ['threshold'], metric: 'hopLatency' });
      cache.thresholds.set('hopLatency', { level: null });
      await dispatchAll(cache, manyReports(random, 2));
      expect((await cache.totals()).events).toBe(totals.events);
      expect(cache.failures).toEqual([]);
    });
  });

  it('costs nothing while it has nothing to do', async () => {
    await withCache(ROOMY, async (cache) => {
      await dispatchAll(cache, manyReports(new Random(SEED), 1));
      await cache.totals();
      // What the engine still compiles is none of ours.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const before = process.cpuUsage();
      await new Promise((resolve) => setTimeout(resolve, 400));
      const { user, system } = process.cpuUsage(before);
      // Of 800 ms that two workers could have used; processor time, not the clock's.
      expect((user + system) / 1000).toBeLessThan(100);
    });
  });
});

describe('options out of range', () => {
  it.each([
    ['shards', { shards: 0 }],
    ['shards', { shards: 257 }],
    ['rows', { rows: 0 }],
    ['buckets', { buckets: 65 }],
    ['slots', { slots: 1 }],
    ['slotReports', { slotReports: 0 }],
    ['slotHops', { slotHops: 255 }],
    ['entryRecords', { entryRecords: 0 }],
    ['eventRecords', { eventRecords: 1.5 }],
    ['idleNs', { idleNs: 0n }],
    ['seed', { seed: -1 }],
    ['SharedArrayBuffer', { thresholds: new Thresholds(METRICS, {}, new ArrayBuffer(128)) }],
    ['thresholds are for', { thresholds: new Thresholds(['hopLatency']) }],
    ['switches', { distributions: { switches: 0 } }],
  ] satisfies [string, ShardedFlowCacheOptions][])('%s is named', async (name, options) => {
    await expect(openCache(options)).rejects.toThrow(name);
  });

  it('are told before a worker starts', async () => {
    await expect(openCache({ worker: code.path('missing.mjs'), slots: 0 })).rejects.toThrow(RangeError);
  });
});
