import { crc32 } from 'node:zlib';
import { EVENT_WORDS, FlowCache, type FlowCacheOptions, REASON, writeSnapshot } from '@int/flowcache';
import { HEADER, HEADER_WORDS } from '@int/flowcache/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { checkAccounts, checkSameFlows } from '../accounting/accounts.js';
import { RoomOutlet } from '../accounting/outlets.js';
import { SEED } from '../seed.js';
import { busyCache, restore, Traffic } from './caches.js';
import { HEADER_BYTES, joined, snapshotOf, takeApart, wordOf } from './pieces.js';

const SETUPS: readonly FlowCacheOptions[] = [
  { rows: 6, buckets: 4, hops: 3, layout: 'exact' },
  { rows: 5, buckets: 7, hops: 2, layout: 'compact', hash: 'crc32' },
  { rows: 1, buckets: 1, hops: 1, layout: 'exact', metrics: ['queueId'], seed: 0xffffffff },
  { rows: 3, buckets: 64, hops: 5, layout: 'exact', metrics: ['hopLatency', 'queueOccupancy', 'bufferOccupancy'] },
];

describe.each(SETUPS)('a snapshot of $rows rows, $layout', (options) => {
  const cache = busyCache({ ...options, accelerator: false }, 150, 700);
  const bytes = snapshotOf(cache);

  test('gives the same cache, however its bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 60 }), (cuts) => {
        const ends = [...cuts, bytes.length].sort((a, b) => a - b);
        const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        const restored = restore(parts, { accelerator: false });
        checkSameFlows(restored, cache);
        expect([...restored]).toEqual([...cache]);
      }),
      { seed: SEED, numRuns: runs(40) },
    );
  });

  test('gives the same cache from single bytes', () => {
    checkSameFlows(restore(Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))), cache);
  });

  test('gives the same cache from the middle of a larger buffer', () => {
    const larger = new Uint8Array(bytes.length + 99).fill(0x5a);
    larger.set(bytes, 33);
    checkSameFlows(restore([larger.subarray(33, 33 + bytes.length)]), cache);
  });

  test('has dimensions, hash, seed and the row of the sweep, and counts from 0', () => {
    const restored = restore([bytes]);
    expect(restored.geometry).toEqual(cache.geometry);
    expect([restored.hash, restored.seed]).toEqual([cache.hash, cache.seed]);
    expect(restored.words[HEADER.SWEEP_ROW]).toBe(cache.words[HEADER.SWEEP_ROW]);
    const { live, restoredPackets, ...others } = restored.totals();
    expect(live).toBe(cache.size);
    expect(restoredPackets).toBe(cache.livePackets());
    expect(Object.values(others).every((count) => count === 0)).toBe(true);
    checkAccounts(restored, live);
  });

  test('of a restored cache is the same snapshot', () => {
    expect(Buffer.compare(snapshotOf(restore([bytes])), bytes)).toBe(0);
  });

  test('has the bytes that the description says', () => {
    const { geometry, words } = cache;
    const { rows, buckets, bucketStride, rowsAt, rowStride, bucketsAt } = geometry;
    expect(new TextDecoder().decode(bytes.subarray(0, 8))).toBe('INTFLOWS');
    expect(wordOf(bytes, HEADER_BYTES / 4)).toBe(crc32(bytes.subarray(0, HEADER_BYTES)));
    expect(wordOf(bytes, bytes.length / 4 - 1)).toBe(crc32(bytes.subarray(0, -4)));
    const { header, rows: found, end } = takeApart(bytes, geometry);
    for (let word = 0; word < HEADER_WORDS; word++) {
      const isCounter = word >= 64;
      const expected = isCounter || word === HEADER.GENERATION ? 0 : words[word]! >>> 0;
      expect(wordOf(header, 2 + word)).toBe(expected);
    }
    const expected = Array.from({ length: rows }, (_, row) => {
      const tags = rowsAt + row * rowStride;
      const ranks = new Uint8Array(words.buffer, words.byteOffset + (tags + buckets) * 4, buckets);
      const entries = Array.from({ length: buckets }, (__, bucket) => {
        const at = bucketsAt + (row * buckets + bucket) * bucketStride;
        return [bucket | (ranks[bucket]! << 16), words[tags + bucket]!, ...words.subarray(at, at + bucketStride)];
      }).filter(([, tag]) => tag !== 0);
      return { row, entries: entries.map((entry) => entry.map((word) => word >>> 0)) };
    }).filter(({ entries }) => entries.length > 0);
    const read = (entry: Uint8Array): number[] =>
      Array.from({ length: entry.length / 4 }, (_, word) => wordOf(entry, word));
    expect(found.map(({ row, entries }) => ({ row, entries: entries.map(read) }))).toEqual(expected);
    expect(end).toEqual([0xffffffff, 0]);
  });

  test.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])('goes on as the cache would have, from accelerator %s to accelerator %s', (before, after) => {
    const entries = [0, 1].map(() => new RoomOutlet(cache.geometry.bucketStride));
    const events = [0, 1].map(() => new RoomOutlet(EVENT_WORDS));
    const traffic = new Traffic(150);
    const thresholds = {
      metrics: { [cache.geometry.metrics[0]!]: { level: 3000, change: 100 } },
      endToEnd: { change: 2000 },
      pathChange: true,
    };
    const old = new FlowCache({
      ...options,
      accelerator: before,
      thresholds,
      entries: entries[0]!.sink,
      events: events[0]!.sink,
    });
    traffic.send([old], 700);
    old.age(traffic.timeNs, 300_000n, 1);
    const restored = restore(writeSnapshot(old), {
      accelerator: after,
      shared: true,
      thresholds,
      entries: entries[1]!.sink,
      events: events[1]!.sink,
    });
    expect(restored.usesAccelerator).toBe(after);
    expect(restored.buffer).toBeInstanceOf(SharedArrayBuffer);
    entries[0]!.read(Number.POSITIVE_INFINITY);
    events[0]!.read(Number.POSITIVE_INFINITY);
    const baseline = old.totals();
    const held = restored.size;
    for (let round = 0; round < 3; round++) {
      traffic.send([old, restored], 300);
      for (const each of [old, restored]) each.age(traffic.timeNs, 200_000n, 2);
      checkSameFlows(restored, old);
      checkAccounts(restored, held);
    }
    for (const each of [old, restored]) each.drain();
    const [oldEntries, newEntries] = entries.map((outlet) => outlet.read(Number.POSITIVE_INFINITY));
    expect(newEntries).toEqual(oldEntries);
    expect(newEntries!.length).toBeGreaterThan(0);
    const [oldEvents, newEvents] = events.map((outlet) => outlet.read(Number.POSITIVE_INFINITY));
    expect(newEvents).toEqual(oldEvents);
    expect(newEvents!.length).toBeGreaterThan(cache.geometry.rows === 1 ? 1 : 10);
    const totals = restored.totals();
    for (const name of [
      'offered',
      'hits',
      'inserted',
      'agedPackets',
      'removedEntries',
      'events',
      'pathChanges',
    ] as const) {
      expect(totals[name]).toBe(old.totals()[name] - baseline[name]);
    }
  });
});

test('an empty cache is 536 bytes, and comes back empty', () => {
  const cache = new FlowCache({ rows: 100 });
  const bytes = snapshotOf(cache);
  expect(bytes.length).toBe(8 + 512 + 4 + 8 + 4);
  const restored = restore([bytes]);
  expect(restored.totals()).toEqual(cache.totals());
  expect([...restored]).toEqual([]);
  checkSameFlows(restored, cache);
});

test.each(['exact', 'compact'] as const)('twelve full buckets, %s', (layout) => {
  const cache = busyCache({ rows: 1, buckets: 12, layout }, 40, 600);
  expect(cache.size).toBe(12);
  const bytes = snapshotOf(cache);
  expect(bytes.length).toBe(8 + 512 + 4 + 8 + 12 * (8 + (layout === 'exact' ? 352 : 200)) + 8 + 4);
  const restored = restore([bytes]);
  checkSameFlows(restored, cache);
  // The order is there: the same flow gives way.
  const traffic = new Traffic(60, 0, 'others');
  traffic.send([cache, restored], 50);
  checkSameFlows(restored, cache);
});

test('larger snapshots come in chunks of at most 1 MiB, to keep', () => {
  const cache = busyCache({ rows: 1000, buckets: 4 }, 20_000, 8000);
  const parts = [...writeSnapshot(cache)];
  const lengths = parts.map(({ length }) => length);
  expect(lengths.length).toBeGreaterThan(2);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(1 << 20);
  expect(Math.min(...lengths.slice(0, -2))).toBeGreaterThan((1 << 20) - 4 * 360 - 8);
  checkSameFlows(restore(parts), cache);
  checkSameFlows(restore([joined(parts)]), cache);
});

test('a row that is larger than a chunk is written all the same', () => {
  const cache = busyCache(
    {
      rows: 1,
      buckets: 64,
      hops: 64,
      metrics: [
        'hopLatency',
        'queueOccupancy',
        'egressUtilization',
        'bufferOccupancy',
        'queueCongestion',
        'nodeId',
        'queueId',
        'bufferId',
      ],
    },
    100,
    300,
  );
  expect(cache.size).toBe(64);
  checkSameFlows(restore(writeSnapshot(cache)), cache);
});

test('entries handed on by a restored cache bear their own reason', () => {
  const entries = new RoomOutlet(new FlowCache({ rows: 2, buckets: 2 }).geometry.bucketStride);
  const cache = busyCache({ rows: 2, buckets: 2 }, 10, 50);
  const restored = restore(writeSnapshot(cache), { entries: entries.sink });
  expect(restored.drain()).toBe(4);
  const meta = entries.read(4).map((record) => record[9]! >>> 24);
  expect(meta).toEqual(new Array(4).fill(REASON.REMOVED));
});
