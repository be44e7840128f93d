import type { Flow } from '@int/codec';
import { describe, expect, test } from 'vitest';
import {
  COMPACT,
  type CounterName,
  EntryReader,
  EVENT_WORDS,
  EXACT,
  FlowCache,
  type FlowCacheOptions,
  type FlowEvent,
  readFlowEvent,
} from '../../../src/index.js';
import { COUNTER, COUNTER_WORDS } from '../../../src/layout.js';
import { checkAccounts } from '../../accounting/accounts.js';
import { RoomOutlet } from '../../accounting/outlets.js';
import { type Report, recordOf } from '../../cache/reports.js';

const FULL = 0xffffffff;
const FLOW: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 1, destinationPort: 2 };
const OTHER: Flow = { ...FLOW, sourcePort: 9 };
const SIZE = { rows: 1, buckets: 4, hops: 2, metrics: ['hopLatency', 'queueOccupancy'] } as const;

function report(flow: Flow, latency: number, path: readonly number[] = [1, 2]): Report {
  const hops = path.map((nodeId) => ({ nodeId, values: { hopLatency: latency, queueOccupancy: 7 } }));
  return { isOk: true, flow, nodeId: path.at(-1) ?? null, hops, timeNs: 1000n + BigInt(latency) };
}

class Subject {
  readonly cache: FlowCache;
  readonly #entries: RoomOutlet;
  readonly #events = new RoomOutlet(EVENT_WORDS);

  constructor(options: FlowCacheOptions) {
    const { bucketStride } = new FlowCache({ ...options, ...SIZE, accelerator: false }).geometry;
    this.#entries = new RoomOutlet(bucketStride);
    this.cache = new FlowCache({
      ...options,
      ...SIZE,
      thresholds: {
        metrics: { hopLatency: { level: 5000, change: 100 } },
        endToEnd: { level: 10_000, change: 100 },
        pathChange: true,
      },
      entries: this.#entries.sink,
      events: this.#events.sink,
    });
  }

  observe(flow: Flow, latency: number, path?: readonly number[]): void {
    const each = report(flow, latency, path);
    this.cache.observe(recordOf(each), each.timeNs);
  }

  entries(): ReturnType<EntryReader['read']>[] {
    const reader = new EntryReader(this.cache.geometry);
    return this.#entries.read(Number.POSITIVE_INFINITY).map((words) => reader.read(words, 0));
  }

  events(): FlowEvent[] {
    const records = this.#events.read(Number.POSITIVE_INFINITY);
    return records.map((words) => readFlowEvent(words, 0, this.cache.geometry.metrics));
  }

  /** As if so many more reports had come of the flow in bucket 0. */
  addPackets(packets: number): void {
    const { words, geometry } = this.cache;
    const at = geometry.bucketsAt + (geometry.layout === 'exact' ? EXACT.PACKETS : COMPACT.PACKETS);
    words[at] = (words[at]! >>> 0) + packets;
    for (const name of ['offered', 'hits'] as const) this.addTo(name, packets);
  }

  addTo(name: CounterName, number: number): void {
    const { words } = this.cache;
    const at = COUNTER_WORDS + 2 * COUNTER[name];
    const sum = BigInt.asUintN(64, (BigInt(words[at + 1]! >>> 0) << 32n) + BigInt(words[at]! >>> 0) + BigInt(number));
    words[at] = Number(BigInt.asIntN(32, sum));
    words[at + 1] = Number(sum >> 32n);
  }
}

describe.each([
  { layout: 'exact', accelerator: false },
  { layout: 'exact', accelerator: true },
  { layout: 'compact', accelerator: false },
  { layout: 'compact', accelerator: true },
] as const)('a $layout cache, accelerator $accelerator', ({ layout, accelerator }) => {
  test('hands an entry on whose packet count is full, and starts anew', () => {
    const subject = new Subject({ layout, accelerator });
    const { cache } = subject;
    subject.observe(FLOW, 300);
    subject.observe(OTHER, 300);
    subject.observe(FLOW, 310);
    subject.addPackets(FULL - 3);
    subject.observe(FLOW, 320);
    expect(subject.entries()).toEqual([]);
    const before = cache.get(FLOW)!;
    expect(before.packets).toBe(FULL);
    subject.observe(FLOW, 9000, [1, 3]);
    expect(subject.entries()).toEqual([{ ...before, reason: 'retired' }]);
    const after = cache.get(FLOW)!;
    expect(after).toMatchObject({
      reason: 'live',
      packets: 1,
      firstNs: 10_000n,
      lastNs: 10_000n,
      pathChanges: 0,
      path: [1, 3],
    });
    expect(after.hops.map(({ metrics }) => metrics.hopLatency)).toMatchObject([
      { last: 9000, count: 1, mean: 9000 },
      { last: 9000, count: 1, mean: 9000 },
    ]);
    expect(cache.totals()).toMatchObject({
      live: 2,
      inserted: 3,
      retiredEntries: 1,
      retiredPackets: FULL,
      evictedEntries: 0,
      pathChanges: 0,
    });
    checkAccounts(cache);
  });

  test('compares nothing with what a full entry knew', () => {
    const subject = new Subject({ layout, accelerator });
    subject.observe(FLOW, 300);
    subject.addPackets(FULL - 1);
    subject.events();
    subject.observe(FLOW, 4000, [1, 3, 4]);
    // 300 before: far enough away for a change, and another path.
    expect(subject.events().map(({ kinds, previous }) => [kinds, previous])).toEqual([[['threshold'], null]]);
    subject.observe(FLOW, 4200, [1, 3, 4]);
    expect(
      subject
        .events()
        .filter(({ scope }) => scope === 'hop')
        .map(({ kinds, previous }) => [kinds, previous]),
    ).toEqual([
      [['change'], 4000],
      [['change'], 4000],
    ]);
  });

  test('keeps a retired flow in its place in the order of its row', () => {
    const subject = new Subject({ layout, accelerator });
    const { cache } = subject;
    const flows = [FLOW, OTHER, { ...FLOW, sourcePort: 10 }, { ...FLOW, sourcePort: 11 }];
    for (const flow of flows) subject.observe(flow, 10);
    subject.addPackets(FULL - 1);
    subject.observe(FLOW, 10);
    subject.observe({ ...FLOW, sourcePort: 12 }, 10);
    expect(subject.entries().map(({ flow, reason }) => [flow.sourcePort, reason])).toEqual([
      [1, 'retired'],
      [9, 'evicted'],
    ]);
    expect(cache.get(FLOW)?.packets).toBe(1);
  });

  test('retires a flow as often as its count gets full', () => {
    const subject = new Subject({ layout, accelerator });
    const { cache } = subject;
    subject.observe(FLOW, 10);
    for (let round = 0; round < 3; round++) {
      subject.addPackets(FULL - 1);
      subject.observe(FLOW, 10);
    }
    expect(cache.totals()).toMatchObject({ retiredEntries: 3, retiredPackets: 3 * FULL, live: 1, inserted: 4 });
    checkAccounts(cache);
  });

  test('counts retired entries that nobody takes as lost', () => {
    const subject = new Subject({ layout, accelerator });
    const lossy = new FlowCache({ ...SIZE, layout, accelerator, entries: { push: () => 0 } });
    const { words, geometry } = lossy;
    lossy.observe(recordOf(report(FLOW, 10)));
    words[geometry.bucketsAt + (layout === 'exact' ? EXACT.PACKETS : COMPACT.PACKETS)] = FULL;
    lossy.observe(recordOf(report(FLOW, 10)));
    expect(lossy.totals()).toMatchObject({ retiredEntries: 0, lostEntries: 1, lostPackets: FULL });
    expect(subject.cache.totals().lostEntries).toBe(0);
  });

  test('counts beyond 2^32', () => {
    const subject = new Subject({ layout, accelerator });
    const { cache } = subject;
    const names = ['offered', 'hits', 'hopsBeyond', 'pathChanges', 'events'] as const;
    subject.observe(FLOW, 10);
    for (const name of names) subject.addTo(name, FULL - 1);
    const before = cache.totals();
    subject.observe(FLOW, 9000, [1, 2, 3, 4]);
    subject.observe(FLOW, 9000, [1, 2, 3]);
    const after = cache.totals();
    // Six at hops, two end to end, two of the path; the last report changes nothing else.
    const added = { offered: 2, hits: 2, hopsBeyond: 3, pathChanges: 2, events: subject.events().length };
    for (const name of names) expect(after[name] - before[name]).toBe(added[name]);
    expect(added.events).toBe(8);
    for (const name of names) expect(after[name]).toBeGreaterThan(FULL);
  });
});

test.each([false, true])('sums carry into their upper word, accelerator %s', (accelerator) => {
  const subject = new Subject({ accelerator });
  const { cache } = subject;
  subject.observe(FLOW, 0xfffffff0);
  subject.observe(FLOW, 0xfffffff0);
  subject.observe(FLOW, 0x20);
  const { hops, endToEnd } = cache.get(FLOW)!;
  const sum = 0xfffffff0n + 0xfffffff0n + 0x20n;
  expect(hops[0]!.metrics.hopLatency).toEqual({ last: 0x20, count: 3, sum, mean: Number(sum) / 3 });
  // The sum over two hops does not fit and is taken for 2^32 - 1.
  expect(endToEnd).toMatchObject({ last: 0x40, count: 3, sum: 0xffffffffn + 0xffffffffn + 0x40n });
});

test.each([false, true])(
  'hops beyond those of a cache are counted until the word of an entry is full, accelerator %s',
  (accelerator) => {
    const subject = new Subject({ accelerator });
    const { cache } = subject;
    subject.observe(FLOW, 10);
    const { geometry, words } = cache;
    words[geometry.bucketsAt + EXACT.BEYOND] = FULL - 2;
    subject.observe(FLOW, 10, [1, 2, 3]);
    expect(cache.get(FLOW)?.hopsBeyond).toBe(FULL - 1);
    subject.observe(FLOW, 10, [1, 2, 3, 4, 5]);
    expect(cache.get(FLOW)?.hopsBeyond).toBe(FULL);
    expect(cache.totals().hopsBeyond).toBe(4);
  },
);
