import {
  DEFAULT_METRICS,
  EVENT_WORDS,
  FlowCache,
  type FlowCacheOptions,
  FlowCacheView,
  geometryOf,
  type RecordConsumer,
} from '@int/flowcache';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { ReportBatch, randomFlows, randomReport } from '../cache/reports.js';
import { SEED } from '../seed.js';
import { checkAccounts, checkSameFlows, HandedOn } from './accounts.js';
import { reusedMemory } from './memory.js';
import { RoomOutlet } from './outlets.js';

const FLOWS = randomFlows(new Random(SEED), 60, 0.3);
const MOST_HOPS = 7;
const LIMITS = { metrics: { hopLatency: { level: 2000, change: 500 } }, pathChange: true } as const;
/** One row is evicted from at nearly each report. */
const SMALL = { rows: 2, buckets: 3, hops: 3 } as const;

function fill(reports: ReportBatch, count: number, seed: number): void {
  const random = new Random(seed);
  const shape = { flows: FLOWS, hops: MOST_HOPS, metrics: DEFAULT_METRICS };
  reports.fill(Array.from({ length: count }, (_, index) => randomReport(random, shape, BigInt(index + 1))));
}

/** Updates until all reports are in, whatever the sinks throw. @returns how often they threw */
function updateAll(cache: FlowCache, { batch }: ReportBatch, failures: readonly Error[]): number {
  let thrown = 0;
  for (let row = 0; row < batch.reports; ) {
    const before = cache.totals().offered;
    try {
      cache.update(batch, row, batch.reports);
    } catch (error) {
      expect(failures).toContain(error);
      thrown++;
    }
    const done = cache.totals().offered - before;
    expect(done).toBeGreaterThan(0);
    row += done;
  }
  return thrown;
}

/** Fails now and then, else takes now and then not all. */
function makeUnreliable(outlet: RoomOutlet, failure: Error, random: Random): RecordConsumer {
  return {
    push: (words, at, records) => {
      outlet.failure = random.integer(3) === 0 ? failure : null;
      outlet.room = random.integer(2) === 0 ? random.integer(records + 1) : Number.POSITIVE_INFINITY;
      return outlet.sink.push(words, at, records);
    },
  };
}

describe.each([
  { layout: 'exact', accelerator: false },
  { layout: 'exact', accelerator: true },
  { layout: 'compact', accelerator: false },
  { layout: 'compact', accelerator: true },
] as const)('sinks that throw, a $layout cache, accelerator $accelerator', ({ layout, accelerator }) => {
  test('leave all reports counted and all entries whole, after each update', () => {
    const noEntries = new Error('no entries');
    const noEvents = new Error('no events');
    let thrown = 0;
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 6 }), (seed, updates) => {
        const random = new Random(seed);
        const options: FlowCacheOptions = {
          ...SMALL,
          layout,
          accelerator,
          ...(accelerator ? { memory: reusedMemory() } : {}),
        };
        const entries = new RoomOutlet(geometryOf(options).bucketStride);
        const events = new RoomOutlet(EVENT_WORDS);
        const cache = new FlowCache({
          ...options,
          thresholds: LIMITS,
          entries: makeUnreliable(entries, noEntries, random),
          events: makeUnreliable(events, noEvents, random),
        });
        const twin = new FlowCache({ ...SMALL, layout, accelerator: false, thresholds: LIMITS });
        const reports = new ReportBatch(600, MOST_HOPS);
        const handedOn = new HandedOn(cache);
        for (let update = 0; update < updates; update++) {
          fill(reports, 1 + random.integer(600), random.uint32());
          thrown += updateAll(cache, reports, [noEntries, noEvents]);
          twin.update(reports.batch, 0, reports.batch.reports);
          checkAccounts(cache);
          checkSameFlows(cache, twin);
        }
        const { evictedEntries, events: raised } = twin.totals();
        const totals = cache.totals();
        expect(totals.evictedEntries + totals.lostEntries).toBe(evictedEntries);
        expect(totals.events + totals.lostEvents).toBe(raised);
        handedOn.add(entries.read(Number.POSITIVE_INFINITY));
        handedOn.check(cache);
        expect(events.read(Number.POSITIVE_INFINITY).length).toBe(totals.events);
      }),
      { seed: SEED, numRuns: runs(50) },
    );
    expect(thrown).toBeGreaterThan(12 * LENGTH);
  });

  test('leave entries in their places when they are to age or to be drained', () => {
    const failure = new Error('the writer is gone');
    const options = { ...SMALL, layout, accelerator };
    const entries = new RoomOutlet(geometryOf(options).bucketStride);
    const cache = new FlowCache({ ...options, shared: true, entries: entries.sink });
    const reports = new ReportBatch(600, MOST_HOPS);
    fill(reports, 600, 1);
    cache.update(reports.batch, 0, 600);
    const before = [...cache];
    const totals = cache.totals();
    entries.failure = failure;
    expect(() => cache.age(1_000_000n, 0n, SMALL.rows)).toThrow(failure);
    expect(() => cache.drain()).toThrow(failure);
    expect([...cache]).toEqual(before);
    expect(cache.totals()).toEqual(totals);
    // Others that look at it are let in.
    expect([...new FlowCacheView(cache.buffer, cache.byteOffset).entries()]).toEqual(before);
    entries.failure = null;
    expect(cache.drain()).toBe(before.length);
    checkAccounts(cache);
  });

  test('do not keep others from being given their part', () => {
    const failure = new Error('the writer is gone');
    const options = { ...SMALL, layout, accelerator, thresholds: LIMITS };
    const entries = new RoomOutlet(geometryOf(options).bucketStride);
    const events = new RoomOutlet(EVENT_WORDS);
    const cache = new FlowCache({ ...options, entries: entries.sink, events: events.sink });
    const reports = new ReportBatch(200, MOST_HOPS);
    fill(reports, 200, 2);
    entries.failure = failure;
    expect(updateAll(cache, reports, [failure])).toBeGreaterThan(0);
    const { lostEntries, lostEvents, evictedEntries, events: taken } = cache.totals();
    expect([evictedEntries, lostEvents]).toEqual([0, 0]);
    expect(lostEntries).toBe(entries.given);
    expect(taken).toBe(events.given);
    expect(taken).toBeGreaterThan(0);
  });
});

test.each([-1, 4, Number.NaN, Number.POSITIVE_INFINITY])(
  'a sink that says it took %s of fewer records is wrong',
  (taken) => {
    const wrong = { push: () => taken };
    const cache = new FlowCache({ rows: 1, buckets: 1, hops: 1, entries: wrong, events: wrong, thresholds: LIMITS });
    const reports = new ReportBatch(3, MOST_HOPS);
    const flows = FLOWS.slice(0, 3);
    const hops = [{ nodeId: 1, values: { hopLatency: 5000 } }];
    reports.fill(flows.map((flow) => ({ isOk: true, flow, nodeId: null, hops, timeNs: 1n })));
    expect(() => cache.update(reports.batch)).toThrow(RangeError);
    expect(cache.totals()).toMatchObject({ offered: 3, lostEntries: 2, lostEvents: 3, events: 0, evictedEntries: 0 });
    checkAccounts(cache);
  },
);
