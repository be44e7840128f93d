import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { MetricName } from '@int/codec';
import {
  COUNTERS,
  EntryReader,
  EVENT_WORDS,
  FlowCache,
  type FlowEntry,
  readFlowEvent,
  Thresholds,
} from '@int/flowcache';
import { ShardError, ShardedFlowCache, type ShardedFlowCacheOptions, type ShardedTotals } from '@int/flowcache/node';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LENGTH, SEED } from '../seed.js';
import { Random, type Reports, randomReports, START_NS } from './reports.js';
import { NODE_INDEX, SHARD_WORKER, WorkerCode } from './worker-code.js';

/** Its second shard throws at its tenth slot. */
const FAILING_WORKER = new URL('./failing-worker.ts', import.meta.url);

const code = new WorkerCode();
let worker: string;
beforeAll(async () => {
  worker = await code.build(SHARD_WORKER, 'shard-worker.js');
});
afterAll(() => code.remove());

const METRICS: readonly MetricName[] = ['hopLatency', 'queueOccupancy', 'egressUtilization'];
/** Small, and with room for all flows of the traffic: none is evicted. */
const ROOMY = { rows: 512, buckets: 12, metrics: METRICS } as const;

async function withCache<T>(
  options: ShardedFlowCacheOptions,
  use: (cache: ShardedFlowCache) => Promise<T>,
): Promise<T> {
  const cache = await ShardedFlowCache.open({ shards: 2, worker, ...options });
  try {
    return await use(cache);
  } finally {
    await cache.stop().catch(() => null);
  }
}

async function dispatchAll(cache: ShardedFlowCache, reports: readonly Reports[]): Promise<number> {
  let rows = 0;
  let waits = 0;
  for (const { batch, input } of reports) {
    const promise = cache.dispatch(batch, 0, batch.reports, input);
    if (promise !== undefined) waits++;
    await promise;
    rows += batch.reports;
  }
  cache.flush();
  expect(waits).toBeLessThanOrEqual(reports.length);
  return rows;
}

const rowsOf = (reports: readonly Reports[]): number => reports.reduce((sum, { batch }) => sum + batch.reports, 0);

function manyReports(random: Random, batches: number, traffic: Parameters<typeof randomReports>[2] = {}): Reports[] {
  return Array.from({ length: batches }, (_, index) => randomReports(random, 200, traffic, index * 600));
}

const keyOf = ({ flow }: FlowEntry): string => JSON.stringify(Object.values(flow));

/** By flow, since order means nothing. */
function byFlow(entries: Iterable<FlowEntry>): Map<string, FlowEntry> {
  const map = new Map<string, FlowEntry>();
  for (const entry of entries) {
    expect(map.has(keyOf(entry)), 'a flow twice').toBe(false);
    map.set(keyOf(entry), entry);
  }
  return map;
}

async function entriesOf(cache: ShardedFlowCache): Promise<FlowEntry[]> {
  const entries: FlowEntry[] = [];
  for await (const entry of cache) entries.push(entry);
  return entries;
}

/** Takes all entries that are in the rings. */
function popEntries(cache: ShardedFlowCache): FlowEntry[] {
  const reader = new EntryReader(cache.geometry);
  const record = new Int32Array(cache.geometry.bucketStride);
  return cache.shards.flatMap(({ entries }) => {
    const popped: FlowEntry[] = [];
    while (entries.pop(record, 0, 1) === 1) popped.push(reader.read(record, 0));
    return popped;
  });
}

function popEvents(cache: ShardedFlowCache): number {
  const record = new Int32Array(EVENT_WORDS);
  let events = 0;
  for (const shard of cache.shards) while (shard.events.pop(record, 0, 1) === 1) events++;
  return events;
}

const packetsOf = (entries: readonly FlowEntry[]): number => entries.reduce((sum, { packets }) => sum + packets, 0);

/** Every report dispatched is where the counters say. */
function expectClosed(totals: ShardedTotals, dispatched: number, live: number): void {
  const { lostReports, offered } = totals;
  expect(totals.dispatched).toBe(dispatched);
  expect(dispatched).toBe(offered + lostReports.full + lostReports.failed);
  const handedOn = totals.evictedPackets + totals.agedPackets + totals.retiredPackets + totals.removedPackets;
  const uncached = totals.notOk + totals.noFlow + totals.unsupportedIpv6;
  expect(offered).toBe(live + handedOn + totals.lostPackets + uncached - totals.restoredPackets);
}

describe('a sharded cache', () => {
  it('knows of each flow what a single cache knows', async () => {
    const cases = fc.record({
      random: fc.integer(),
      shards: fc.integer({ min: 1, max: 3 }),
      hash: fc.constantFrom('xxh32' as const, 'crc32' as const),
      layout: fc.constantFrom('exact' as const, 'compact' as const),
      kernel: fc.boolean(),
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
          for (const { batch, input } of reports) {
            const times = hasTimes ? input : undefined;
            single.update(batch, 0, batch.reports, times);
            // In two parts, the first of which may have to wait.
            await cache.dispatch(batch, 0, batch.reports >> 1, times);
            await cache.dispatch(batch, batch.reports >> 1, batch.reports, times);
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
      { seed: SEED, numRuns: 8 * LENGTH },
    );
  });

  it('answers for what was dispatched before, though no slot is full', async () => {
    await withCache(ROOMY, async (cache) => {
      const [reports] = manyReports(new Random(SEED), 1);
      expect(cache.dispatch(reports!.batch, 0, 1, reports!.input)).toBeUndefined();
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
      { seed: SEED, numRuns: 14 * LENGTH },
    );
  });

  it('loses reports rather than wait if it is told so, and says how many', async () => {
    const reports = manyReports(new Random(SEED), 20, { odd: 0 });
    await withCache({ ...ROOMY, slots: 2, slotReports: 1, whenFull: 'lose' }, async (cache) => {
      // All in one go: the workers come to nothing but the first few.
      for (const { batch, input } of reports) {
        expect(cache.dispatch(batch, 0, batch.reports, input)).toBeUndefined();
      }
      const totals = await cache.totals();
      expect(totals.lostReports.full).toBeGreaterThan(0);
      expectClosed(totals, rowsOf(reports), packetsOf(await entriesOf(cache)));
    });
  });

  it('waits for its workers, one dispatch at a time', async () => {
    const reports = manyReports(new Random(SEED), 4, { odd: 0 });
    await withCache({ ...ROOMY, slots: 2, slotReports: 1 }, async (cache) => {
      const { batch, input } = reports[0]!;
      const waiting = cache.dispatch(batch, 0, batch.reports, input);
      expect(waiting).toBeInstanceOf(Promise);
      expect(() => cache.dispatch(batch, 0, batch.reports, input)).toThrow('has not finished');
      await waiting;
      await dispatchAll(cache, reports.slice(1));
      expect((await cache.totals()).offered).toBe(rowsOf(reports));
    });
  });

  it('answers many requests at once, and refuses a thousand', async () => {
    await withCache({ ...ROOMY, shards: 1, slots: 16, slotReports: 1 }, async (cache) => {
      const { batch, input } = manyReports(new Random(SEED), 1)[0]!;
      const flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 17, sourcePort: 1, destinationPort: 2 };
      const waiting = cache.dispatch(batch, 0, batch.reports, input);
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
      const { batch } = manyReports(new Random(SEED), 1)[0]!;
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
      while (!isDone) {
        popped.push(...popEntries(cache));
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
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
      const limit = START_NS + 4_000_000n;
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
    const { Distributions } = await import('../../src/distribution/distributions.js');
    const dimensions = { metrics: ['hopLatency', 'bufferOccupancy'] as const, switches: 64 };
    const single = new Distributions(dimensions);
    const reports = manyReports(new Random(SEED), 3);
    for (const { batch } of reports) single.record(batch);
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
      const hops = reports[0]!.batch.hopCount.subarray(0, reports[0]!.batch.reports).reduce((sum, one) => sum + one, 0);
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

describe('stopping a sharded cache', () => {
  it('looks at all that was dispatched, closes the rings and can be asked for again', async () => {
    const reports = manyReports(new Random(SEED), 6);
    const cache = await ShardedFlowCache.open({
      ...ROOMY,
      shards: 2,
      worker,
      slots: 2,
      slotReports: 4,
      thresholds: { metrics: { hopLatency: { level: 0 } } },
    });
    for (const { batch, input } of reports.slice(0, -1)) await cache.dispatch(batch, 0, batch.reports, input);
    const { batch, input } = reports.at(-1)!;
    // Not waited for.
    void cache.dispatch(batch, 0, batch.reports, input);
    const stopping = cache.stop();
    expect(cache.stop()).toBe(stopping);
    const totals = await stopping;
    expect(totals.dispatched).toBe(rowsOf(reports));
    expect(await cache.totals()).toEqual(totals);
    expect(popEvents(cache)).toBe(totals.events);
    for (const shard of cache.shards) {
      expect(shard.entries.drained).toBe(true);
      expect(shard.events.drained).toBe(true);
    }
    expect(() => cache.dispatch(batch)).toThrow('stopped');
    await expect(cache.drain()).rejects.toMatchObject({ code: 'ERR_SHARD_STOPPED' });
    const left = cache.shards.flatMap((shard) => [...shard.view().entries()]);
    expectClosed(totals, rowsOf(reports), packetsOf(left));
  });

  it('does not wait for a drain that nobody reads', async () => {
    const reports = manyReports(new Random(SEED), 1);
    await withCache({ ...ROOMY, entryRecords: 1 }, async (cache) => {
      await dispatchAll(cache, reports);
      const drained = cache.drain().catch((error: unknown) => error);
      const totals = await cache.stop();
      const error = await drained;
      expect(ShardError.is(error) && error.code).toBe('ERR_SHARD_STOPPED');
      expectClosed(totals, rowsOf(reports), packetsOf(cache.shards.flatMap((shard) => [...shard.view().entries()])));
    });
  });
});

describe('a worker that fails', () => {
  it('is reported, and all it had is counted as lost', async () => {
    const failing = await code.build(FAILING_WORKER, 'failing-worker.js');
    const failures: ShardError[] = [];
    const random = new Random(SEED);
    const options = { ...ROOMY, rows: 2, buckets: 2, slots: 3, slotReports: 8, worker: failing };
    await withCache({ ...options, onFailure: (error) => failures.push(error) }, async (cache) => {
      const reports = manyReports(random, 8, { odd: 0.05 });
      await dispatchAll(cache, reports);
      while (failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      const more = manyReports(random, 2);
      await dispatchAll(cache, more);
      expect(failures).toEqual(cache.failures);
      expect(failures[0]).toMatchObject({ name: 'ShardError', code: 'ERR_SHARD_FAILED', shard: 1 });
      expect((failures[0]!.cause as Error).message).toBe('the tenth slot');
      const totals = await cache.totals();
      const live = packetsOf([...cache.shards[0]!.view().entries()]);
      expect(totals.lostReports.failed).toBeGreaterThan(0);
      expectClosed(totals, rowsOf([...reports, ...more]), live);
      // What it had handed on is there, and no one waits for more.
      expect(packetsOf(popEntries(cache))).toBe(totals.evictedPackets);
      expect(cache.shards[1]!.entries.drained).toBe(true);
      await expect(entriesOf(cache)).rejects.toBe(failures[0]);
      expect(await cache.stop()).toEqual(totals);
    });
  });

  it('is what stop throws if nobody else was told', async () => {
    const failing = await code.build(FAILING_WORKER, 'failing-worker.js');
    const random = new Random(SEED);
    const name = code.path('before');
    await withCache(ROOMY, async (cache) => {
      await dispatchAll(cache, manyReports(random, 1));
      await cache.snapshot(name);
    });
    const cache = await ShardedFlowCache.open({ ...ROOMY, shards: 2, slotReports: 8, worker: failing, restore: name });
    const rows = await dispatchAll(cache, manyReports(random, 8));
    await expect(cache.stop()).rejects.toMatchObject({ code: 'ERR_SHARD_FAILED' });
    const totals = await cache.totals();
    expectClosed(totals, rows, packetsOf([...cache.shards[0]!.view().entries()]));
  });

  it('cannot start without its code', async () => {
    const missing = code.path('missing.mjs');
    await expect(ShardedFlowCache.open({ ...ROOMY, shards: 2, worker: missing })).rejects.toMatchObject({
      code: 'ERR_SHARD_START',
    });
  });
});

describe('the code of the workers', () => {
  const program = `ShardedFlowCache.open({ shards: 2, rows: 64 })
    .then((cache) => cache.stop())
    .then(({ shards }) => console.log(shards.length))`;

  it.each(['esm', 'cjs'] as const)('is found beside the module that starts them: %s', async (format) => {
    const file = await code.build(NODE_INDEX, format === 'esm' ? 'node.js' : 'node.cjs', format);
    const [type, load] =
      format === 'esm'
        ? ['module', `import { ShardedFlowCache } from ${JSON.stringify(pathToFileURL(file))};`]
        : ['commonjs', `const { ShardedFlowCache } = require(${JSON.stringify(file)});`];
    // As a program on the command line, whose own options workers cannot take over.
    const args = [`--input-type=${type}`, '--eval', `${load}\n${program}`];
    const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stdout, stderr).toBe('2\n');
  });
});

describe('snapshots of a sharded cache', () => {
  it('are written by each worker and restored to the same entries', async () => {
    const name = code.path('flows');
    const reports = manyReports(new Random(SEED), 4);
    const held = await withCache(ROOMY, async (cache) => {
      await dispatchAll(cache, reports);
      expect(await cache.snapshot(name)).toEqual([`${name}.0-of-2`, `${name}.1-of-2`]);
      return byFlow(await entriesOf(cache));
    });
    expect(statSync(`${name}.1-of-2`).size).toBeGreaterThan(0);
    expect(existsSync(`${name}.1-of-2.part`)).toBe(false);
    const more = manyReports(new Random(SEED + 1), 1);
    await withCache({ ...ROOMY, restore: name }, async (cache) => {
      expect(byFlow(await entriesOf(cache))).toEqual(held);
      await dispatchAll(cache, more);
      const totals = await cache.totals();
      expect(totals.restoredPackets).toBe(packetsOf([...held.values()]));
      expectClosed(totals, rowsOf(more), packetsOf(await entriesOf(cache)));
    });
  });

  it('are refused by a cache that is not the same', async () => {
    const name = code.path('others');
    await withCache(ROOMY, (cache) => cache.snapshot(name));
    for (const other of [{ hops: 4 }, { seed: 1 }, { rows: 1024 }, { restore: code.path('none') }, { shards: 3 }]) {
      const options = { ...ROOMY, shards: 2, worker, restore: name, ...other };
      await expect(ShardedFlowCache.open(options)).rejects.toMatchObject({ code: 'ERR_SHARD_START' });
    }
  });

  it('that cannot be written are an error, and the workers go on', async () => {
    await withCache(ROOMY, async (cache) => {
      await expect(cache.snapshot(code.path('no/such/folder'))).rejects.toMatchObject({ code: 'ERR_SHARD_REQUEST' });
      const taken = code.path('taken');
      mkdirSync(`${taken}.0-of-2`);
      await expect(cache.snapshot(taken)).rejects.toMatchObject({ code: 'ERR_SHARD_REQUEST', shard: 0 });
      expect(existsSync(`${taken}.0-of-2.part`)).toBe(false);
      const reports = manyReports(new Random(SEED), 1);
      await dispatchAll(cache, reports);
      expect((await cache.totals()).offered).toBe(rowsOf(reports));
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
    await expect(ShardedFlowCache.open({ worker, ...options })).rejects.toThrow(name);
  });

  it('are told before a worker starts', async () => {
    await expect(ShardedFlowCache.open({ worker: code.path('missing.mjs'), slots: 0 })).rejects.toThrow(RangeError);
  });
});
