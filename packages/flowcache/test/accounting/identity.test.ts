import type { MetricName } from '@int/codec';
import {
  DEFAULT_METRICS,
  EVENT_WORDS,
  FlowCache,
  type FlowCacheOptions,
  geometryOf,
  type HashName,
  type LayoutName,
  SnapshotReader,
  writeSnapshot,
} from '@int/flowcache';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { ReportBatch, randomFlows, randomReport } from '../cache/reports.js';
import { SEED } from '../seed.js';
import { checkAccounts, checkSameFlows, HandedOn } from './accounts.js';
import { reusedMemory } from './memory.js';
import { type Outlet, RingOutlet, RoomOutlet } from './outlets.js';

const MOST_REPORTS = 300;
const MOST_HOPS = 7;
const METRICS: readonly MetricName[] = DEFAULT_METRICS;

type Step =
  | { readonly kind: 'update'; readonly reports: number; readonly seed: number }
  | { readonly kind: 'limits'; readonly level: number; readonly change: number; readonly pathChange: boolean }
  | { readonly kind: 'age'; readonly rows: number; readonly idleNs: bigint }
  | { readonly kind: 'drain'; readonly most: number }
  | { readonly kind: 'remove'; readonly flow: number }
  | { readonly kind: 'read'; readonly entries: number; readonly events: number };

const limit = fc.constantFrom(0, 500, 3000, 0xffffffff);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('update'),
      reports: fc.integer({ min: 1, max: MOST_REPORTS }),
      seed: fc.nat(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('limits'), level: limit, change: limit, pathChange: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('age'),
      rows: fc.integer({ min: 0, max: 9 }),
      idleNs: fc.bigInt({ min: 0n, max: 3_000_000n }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drain'), most: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), flow: fc.nat(59) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('read'), entries: fc.nat(30), events: fc.nat(600) }) },
);

/** A cache whose outlets are small, beside one in TypeScript whose outlets take all. */
class Pair {
  cache: FlowCache;
  readonly twin: FlowCache;
  readonly entries: Outlet;
  readonly events: Outlet;
  readonly #all: { readonly entries: RoomOutlet; readonly events: RoomOutlet };
  readonly #flows = randomFlows(new Random(SEED), 60, 0.3);
  readonly #reports = new ReportBatch(MOST_REPORTS, MOST_HOPS, 2);
  #handedOn: HandedOn;
  #takenEvents = 0;
  #restoredEntries = 0;
  #timeNs = 1_700_000_000_000_000_000n;

  constructor(options: FlowCacheOptions, makeOutlet: (recordWords: number, capacity: number) => Outlet) {
    const { bucketStride } = geometryOf(options);
    this.entries = makeOutlet(bucketStride, 4);
    this.events = makeOutlet(EVENT_WORDS, 64);
    this.#all = { entries: new RoomOutlet(bucketStride), events: new RoomOutlet(EVENT_WORDS) };
    const memory = options.accelerator === true ? { memory: reusedMemory() } : {};
    this.cache = new FlowCache({ ...options, ...memory, entries: this.entries.sink, events: this.events.sink });
    const { entries, events } = this.#all;
    const thresholds = this.cache.thresholds;
    this.twin = new FlowCache({
      ...options,
      accelerator: false,
      thresholds,
      entries: entries.sink,
      events: events.sink,
    });
    this.#handedOn = new HandedOn(this.cache);
  }

  do(step: Step): void {
    const { cache, twin } = this;
    switch (step.kind) {
      case 'update':
        this.#update(step.reports, step.seed);
        break;
      case 'limits': {
        const { thresholds } = cache;
        for (const metric of METRICS) thresholds.set(metric, step);
        thresholds.set('endToEnd', step);
        thresholds.pathChange = step.pathChange;
        break;
      }
      case 'age':
        this.#sweep((each) => each.age(this.#timeNs, step.idleNs, step.rows));
        break;
      case 'drain':
        this.#sweep((each) => each.drain(step.most));
        break;
      case 'remove': {
        const flow = this.#flows[step.flow]!;
        const removed = cache.remove(flow);
        expect(removed).toEqual(twin.remove(flow));
        expect(cache.get(flow)).toBeUndefined();
        if (removed !== undefined) this.#handedOn.addEntry(removed);
        break;
      }
      case 'read':
        this.#handedOn.add(this.entries.read(step.entries));
        this.#takenEvents += this.events.read(step.events).length;
    }
  }

  #update(count: number, seed: number): void {
    const random = new Random(seed);
    const shape = { flows: this.#flows, hops: MOST_HOPS, metrics: METRICS };
    const reports = Array.from({ length: count }, () => {
      this.#timeNs += BigInt(random.integer(20_000));
      return randomReport(random, shape, this.#timeNs);
    });
    const { batch } = this.#reports;
    this.#reports.fill(reports);
    this.cache.update(batch, 0, count);
    this.twin.update(batch, 0, count);
  }

  /** Ages or drains both: the twin hands on as many entries as there was room for at the other. */
  #sweep(sweep: (cache: FlowCache) => number): void {
    const before = this.cache.totals();
    const handedOn = sweep(this.cache);
    expect(this.cache.totals()).toMatchObject({
      lostEntries: before.lostEntries,
      lostPackets: before.lostPackets,
      live: before.live - handedOn,
    });
    this.#all.entries.room = handedOn;
    expect(sweep(this.twin)).toBe(handedOn);
    this.#all.entries.room = Number.POSITIVE_INFINITY;
  }

  /** Goes on with what a snapshot of the cache gives. */
  restore(options: FlowCacheOptions): void {
    const { thresholds } = this.cache;
    const reader = new SnapshotReader({ ...options, thresholds, entries: this.entries.sink, events: this.events.sink });
    for (const chunk of writeSnapshot(this.cache)) reader.push(chunk);
    this.#restoredEntries = this.cache.size;
    const restoredPackets = this.cache.livePackets();
    this.cache = reader.end();
    expect(this.cache.totals()).toMatchObject({
      live: this.#restoredEntries,
      restoredPackets,
      offered: 0,
      inserted: 0,
    });
    this.#readAll();
    this.#handedOn = new HandedOn(this.cache);
    this.#takenEvents = 0;
  }

  #readAll(): void {
    this.#handedOn.add(this.entries.read(Number.POSITIVE_INFINITY));
    this.#takenEvents += this.events.read(Number.POSITIVE_INFINITY).length;
  }

  /** After each step. */
  check(): void {
    checkAccounts(this.cache, this.#restoredEntries);
    checkSameFlows(this.cache, this.twin);
  }

  /** What has left the cache is what came out of the outlets, and the rest is counted as lost. */
  checkOutlets(): void {
    this.#readAll();
    this.#handedOn.check(this.cache);
    expect(this.cache.totals().events).toBe(this.#takenEvents);
  }

  /** What the twin has handed on was handed on here too, or counted as lost. Not after {@link restore}. */
  checkAgainstTwin(): void {
    const mine = this.cache.totals();
    const all = this.twin.totals();
    expect(all.lostEntries + all.lostEvents).toBe(0);
    expect(mine.events + mine.lostEvents).toBe(all.events);
    expect(mine.evictedEntries + mine.lostEntries).toBe(all.evictedEntries);
    expect(mine.evictedPackets + mine.lostPackets).toBe(all.evictedPackets);
    const events = mine.events;
    const { evictedEntries, evictedPackets, lostEntries, lostPackets, lostEvents } = mine;
    expect(mine).toEqual({ ...all, events, evictedEntries, evictedPackets, lostEntries, lostPackets, lostEvents });
  }
}

const RINGS = (recordWords: number, capacity: number): Outlet => new RingOutlet(recordWords, capacity);

const SETUPS: readonly { readonly layout: LayoutName; readonly hash: HashName; readonly accelerator: boolean }[] = [
  { layout: 'exact', hash: 'xxh32', accelerator: false },
  { layout: 'exact', hash: 'crc32', accelerator: true },
  { layout: 'compact', hash: 'crc32', accelerator: false },
  { layout: 'compact', hash: 'xxh32', accelerator: true },
];

describe.each(SETUPS)('accounts of a cache that is $layout, $hash, accelerator $accelerator', (setup) => {
  const options = { ...setup, rows: 5, buckets: 4, hops: 3 };

  test('agree after every step, whatever fits into tiny rings', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const pair = new Pair(options, RINGS);
        for (const each of steps) {
          pair.do(each);
          pair.check();
          pair.checkAgainstTwin();
        }
        pair.checkOutlets();
      }),
      { seed: SEED, numRuns: runs(60) },
    );
  });

  test('go on from a snapshot', () => {
    const pair = new Pair(options, RINGS);
    const run = (steps: readonly Step[]): void => {
      for (const each of steps) {
        pair.do(each);
        pair.check();
      }
      pair.checkOutlets();
    };
    for (const [index, steps] of fc
      .sample(fc.array(step, { minLength: 8, maxLength: 20 }), { seed: SEED, numRuns: 5 })
      .entries()) {
      if (index > 0) pair.restore({ accelerator: setup.accelerator });
      run([{ kind: 'update', reports: 200, seed: index }, ...steps]);
    }
    expect(pair.cache.totals().restoredPackets).toBeGreaterThan(0);
  });
});

test('rings that are too small lose entries and events, and all of them are counted', () => {
  const pair = new Pair({ rows: 5, buckets: 4, hops: 3 }, RINGS);
  pair.do({ kind: 'limits', level: 0, change: 0, pathChange: true });
  for (let seed = 0; seed < 10; seed++) pair.do({ kind: 'update', reports: MOST_REPORTS, seed });
  pair.checkAgainstTwin();
  const { events, lostEvents, evictedEntries, lostEntries, lostPackets } = pair.cache.totals();
  expect(events).toBe(64);
  expect(lostEvents).toBeGreaterThan(10_000);
  expect(evictedEntries).toBe(4);
  expect(lostEntries).toBeGreaterThan(1000);
  expect(lostPackets).toBeGreaterThan(lostEntries);
});
