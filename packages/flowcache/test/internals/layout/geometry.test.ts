import { METRIC_NAMES, type MetricName } from '@int/codec';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import {
  type CacheGeometry,
  DEFAULT_METRICS,
  type Dimensions,
  FlowCache,
  type FlowCacheOptions,
  FlowCacheView,
  geometryOf,
  type LayoutName,
} from '../../../src/index.js';
import { HEADER, HEADER_WORDS } from '../../../src/internals.js';
import { EMPTY_RANK } from '../../../src/layout.js';
import { ReportBatch, randomFlows, randomReport } from '../../cache/reports.js';
import { SEED } from '../../seed.js';

const dimensions: fc.Arbitrary<Required<Dimensions>> = fc.record({
  rows: fc.integer({ min: 1, max: 1 << 20 }),
  buckets: fc.integer({ min: 1, max: 64 }),
  hops: fc.integer({ min: 1, max: 64 }),
  metrics: fc.uniqueArray(fc.constantFrom(...METRIC_NAMES), { minLength: 1, maxLength: 8 }),
  layout: fc.constantFrom<LayoutName>('exact', 'compact'),
});

/** Words that an entry needs, from the description of the layouts. */
function entryWords({ layout, hops, metrics }: Required<Dimensions>): number {
  return layout === 'exact' ? 22 + hops * (1 + 4 * metrics.length) : 10 + hops * (2 + 2 * metrics.length);
}

/** Offsets are signed 32-bit words. */
const MOST_WORDS = 2 ** 31 - 1;

/** Bytes of a bucket and its part of the row. */
function bytesPerFlow({ bucketStride, rowStride, buckets }: CacheGeometry): number {
  return 4 * (bucketStride + rowStride / buckets);
}

describe('the geometry of a cache', () => {
  test('with the defaults is one line per row and 5.5 or 3.125 lines per bucket', () => {
    const exact = geometryOf();
    expect(exact).toEqual({
      layout: 'exact',
      rows: 524_288,
      buckets: 12,
      hops: 5,
      metrics: ['hopLatency', 'queueOccupancy', 'egressUtilization'],
      rowStride: 16,
      bucketStride: 88,
      hopStride: 13,
      hopsAt: 22,
      rowsAt: 128,
      bucketsAt: 128 + 524_288 * 16,
      words: 128 + 524_288 * (16 + 12 * 88),
      byteLength: 4 * (128 + 524_288 * (16 + 12 * 88)),
    });
    const compact = geometryOf({ layout: 'compact' });
    expect(compact).toMatchObject({ rowStride: 16, bucketStride: 50, hopStride: 8, hopsAt: 10 });
    expect([exact.bucketStride * 4, compact.bucketStride * 4]).toEqual([352, 200]);
    expect(bytesPerFlow(exact)).toBeLessThanOrEqual(384);
    expect(bytesPerFlow(compact)).toBeLessThanOrEqual(208);
  });

  test.each([
    // layout, hops, metrics, bytes of a bucket
    ['exact', 1, 1, 128],
    ['exact', 1, 3, 160],
    ['exact', 3, 3, 256],
    ['exact', 4, 3, 320],
    ['exact', 5, 1, 192],
    ['exact', 5, 2, 288],
    ['exact', 5, 4, 448],
    ['exact', 5, 8, 768],
    ['exact', 64, 8, 8544],
    ['compact', 1, 1, 56],
    ['compact', 1, 3, 72],
    ['compact', 3, 3, 136],
    ['compact', 5, 1, 120],
    ['compact', 5, 4, 240],
    ['compact', 64, 8, 4648],
  ] as const)('%s, %i hops, %i metrics: %i bytes', (layout, hops, count, bytes) => {
    expect(geometryOf({ rows: 1, layout, hops, metrics: METRIC_NAMES.slice(0, count) }).bucketStride * 4).toBe(bytes);
  });

  test.each([
    [1, 8],
    [2, 16],
    [3, 16],
    [4, 32],
    [6, 32],
    [7, 64],
    [12, 64],
    [13, 128],
    [24, 128],
    [25, 128],
    [26, 192],
    [64, 320],
  ])('a row of %i buckets has %i bytes', (buckets, bytes) => {
    expect(geometryOf({ rows: 1, buckets }).rowStride * 4).toBe(bytes);
  });

  test('has room for everything, aligned, and wastes less than the unit it aligns to', () => {
    fc.assert(
      fc.property(dimensions, (drawn) => {
        // No more than what a cache may have.
        const asked = {
          ...drawn,
          rows: Math.min(drawn.rows, Math.floor(MOST_WORDS / geometryOf({ ...drawn, rows: 1 }).words)),
        };
        const geometry = geometryOf(asked);
        const { rowStride, bucketStride, rowsAt, bucketsAt, words, byteLength } = geometry;
        expect(geometry).toMatchObject(asked);
        expect(rowsAt).toBe(HEADER_WORDS);
        const rowWords = asked.buckets + Math.ceil(asked.buckets / 4);
        expect(rowStride).toBeGreaterThanOrEqual(rowWords);
        expect(rowStride < 16 ? 16 % rowStride : rowStride % 16).toBe(0);
        expect(rowStride).toBeLessThan(rowWords < 16 ? 2 * rowWords : rowWords + 16);
        const unit = asked.layout === 'exact' ? 8 : 2;
        expect(bucketStride % unit).toBe(0);
        expect(bucketStride - entryWords(asked)).toBeGreaterThanOrEqual(0);
        expect(bucketStride - entryWords(asked)).toBeLessThan(unit);
        expect(bucketsAt % 16).toBe(0);
        expect(bucketsAt - (rowsAt + asked.rows * rowStride)).toBeGreaterThanOrEqual(0);
        expect(bucketsAt - (rowsAt + asked.rows * rowStride)).toBeLessThan(16);
        expect(words).toBe(bucketsAt + asked.rows * asked.buckets * bucketStride);
        expect(byteLength).toBe(4 * words);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  test('has at most 2^31 - 1 words, and says so before anything is allocated', () => {
    fc.assert(
      fc.property(dimensions, (drawn) => {
        const { rowStride, bucketStride, buckets } = geometryOf({ ...drawn, rows: 1 });
        const wordsOf = (rows: number): number =>
          Math.ceil((HEADER_WORDS + rows * rowStride) / 16) * 16 + rows * buckets * bucketStride;
        let rows = Math.floor(MOST_WORDS / (rowStride + buckets * bucketStride)) + 1;
        while (wordsOf(rows) > MOST_WORDS) rows--;
        expect(geometryOf({ ...drawn, rows }).words).toBe(wordsOf(rows));
        expect(() => geometryOf({ ...drawn, rows: rows + 1 })).toThrow(RangeError);
        expect(() => new FlowCache({ ...drawn, rows: rows + 1 })).toThrow(RangeError);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  const wrong: readonly (readonly [string, object])[] = [
    ['no rows', { rows: 0 }],
    ['too many rows', { rows: 2 ** 28 + 1 }],
    ['half a row', { rows: 1.5 }],
    ['rows that are no number', { rows: Number.NaN }],
    ['no buckets', { buckets: 0 }],
    ['65 buckets', { buckets: 65 }],
    ['no hops', { hops: 0 }],
    ['65 hops', { hops: 65 }],
    ['no metrics', { metrics: [] }],
    ['nine metrics', { metrics: METRIC_NAMES.slice(0, 9) }],
    ['an unknown metric', { metrics: ['latency'] }],
    ['a metric twice', { metrics: ['hopLatency', 'queueOccupancy', 'hopLatency'] }],
    ['an unknown layout', { layout: 'small' }],
    ['an unknown hash', { hash: 'crc16' }],
    ['a negative seed', { seed: -1 }],
    ['a seed of 33 bits', { seed: 2 ** 32 }],
    ['a limit that is no number', { thresholds: { endToEnd: { level: -1 } } }],
    ['a limit of an unknown metric', { thresholds: { metrics: { bufferOccupancy: { level: 1 } } } }],
  ];
  test.each(wrong)('%s: a RangeError', (_, options) => {
    expect(() => new FlowCache({ rows: 4, ...options } as FlowCacheOptions)).toThrow(RangeError);
  });
});

/** Checks what every row of a cache says, whatever was done with it. */
function checkRows({ words, geometry }: FlowCache): number {
  const { rows, buckets, rowStride, rowsAt, bucketsAt, bucketStride } = geometry;
  const used = geometry.hopsAt + geometry.hops * geometry.hopStride;
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  let live = 0;
  for (let row = 0; row < rows; row++) {
    const tagsAt = rowsAt + row * rowStride;
    const tags = words.subarray(tagsAt, tagsAt + buckets);
    const ranksAt = (tagsAt + buckets) * 4;
    const ranks = [...bytes.subarray(ranksAt, ranksAt + buckets)];
    const taken = ranks.filter((_, bucket) => tags[bucket] !== 0);
    live += taken.length;
    expect(taken.toSorted((a, b) => a - b)).toEqual(taken.map((_, index) => index));
    expect(ranks.filter((_, bucket) => tags[bucket] === 0).every((rank) => rank === EMPTY_RANK)).toBe(true);
    const wholeWords = Math.ceil(buckets / 4) * 4;
    expect(bytes.subarray(ranksAt + buckets, ranksAt + wholeWords).every((rank) => rank === EMPTY_RANK)).toBe(true);
    expect(bytes.subarray(ranksAt + wholeWords, (tagsAt + rowStride) * 4).every((byte) => byte === 0)).toBe(true);
    for (let bucket = 0; bucket < buckets; bucket++) {
      const at = bucketsAt + (row * buckets + bucket) * bucketStride;
      expect(words.subarray(at + used, at + bucketStride).every((word) => word === 0)).toBe(true);
    }
  }
  expect(words.subarray(rowsAt + rows * rowStride, bucketsAt).every((word) => word === 0)).toBe(true);
  expect(words[HEADER.GENERATION]! & 1).toBe(0);
  return live;
}

describe.each([false, true])('the memory of a cache, accelerator %s', (accelerator) => {
  const METRICS: readonly MetricName[] = [...DEFAULT_METRICS, 'bufferOccupancy', 'queueId'];
  const sizes = [1, 2, 3, 4, 5, 7, 12, 13, 16, 17, 33, 64];

  test.each(sizes)('holds whole rows of %i buckets after updates, removals and ageing', (buckets) => {
    const random = new Random(SEED).derive('rows', buckets);
    const rows = 1 + random.integer(5);
    const metrics = METRICS.slice(0, 1 + random.integer(METRICS.length));
    const layout = random.integer(2) === 0 ? 'exact' : 'compact';
    const cache = new FlowCache({ rows, buckets, hops: 1 + random.integer(4), metrics, layout, accelerator });
    expect(checkRows(cache)).toBe(0);
    const flows = randomFlows(random, Math.ceil(1.3 * rows * buckets), layout === 'exact' ? 0.3 : 0);
    const reports = new ReportBatch(300, 6);
    let timeNs = 1_000_000n;
    for (let round = 0; round < 6; round++) {
      reports.fill(
        Array.from({ length: 300 }, () => {
          timeNs += 1000n;
          return randomReport(random, { flows, hops: 6, metrics }, timeNs);
        }),
      );
      cache.update(reports.batch, 0, 300);
      expect(checkRows(cache)).toBe(cache.size);
      for (let removal = 0; removal < 5; removal++) cache.remove(flows[random.integer(flows.length)]!);
      expect(checkRows(cache)).toBe(cache.size);
      cache.age(timeNs, 150_000n, rows);
      expect(checkRows(cache)).toBe(cache.size);
    }
    cache.drain();
    expect(checkRows(cache)).toBe(0);
  });

  test.each([false, true])('is where byteOffset says, shared %s', (shared) => {
    const cache = new FlowCache({ rows: 7, buckets: 3, accelerator, shared });
    expect(cache.usesAccelerator).toBe(accelerator);
    expect(cache.buffer instanceof SharedArrayBuffer).toBe(shared);
    expect(cache.words.buffer).toBe(cache.buffer);
    expect(cache.words.byteOffset).toBe(cache.byteOffset);
    expect(cache.words.byteLength).toBe(cache.geometry.byteLength);
    // So that no row lies in two lines.
    expect(cache.byteOffset % 64).toBe(0);
    const random = new Random(SEED);
    const flows = randomFlows(random, 30, 0.5);
    const reports = new ReportBatch(100, 6);
    reports.fill(Array.from({ length: 100 }, () => randomReport(random, { flows, hops: 6, metrics: METRICS }, 5n)));
    cache.update(reports.batch, 0, 100);
    const entries = [...cache];
    expect(entries.length).toBeGreaterThan(10);
    expect([...new FlowCacheView(cache.buffer, cache.byteOffset).entries()]).toEqual(entries);
    // The same bytes anywhere else, with others around them.
    const { byteLength } = cache.geometry;
    for (const offset of [4, 60, 4096]) {
      const elsewhere = new Uint8Array(new SharedArrayBuffer(offset + byteLength + 12)).fill(0xee);
      elsewhere.set(new Uint8Array(cache.buffer, cache.byteOffset, byteLength), offset);
      const view = new FlowCacheView(elsewhere.buffer, offset);
      expect(view.geometry).toEqual(cache.geometry);
      expect([view.hash, view.seed]).toEqual([cache.hash, cache.seed]);
      expect([...view.entries()]).toEqual(entries);
      for (const flow of flows) expect(view.get(flow)).toEqual(cache.get(flow));
      expect(view.totals()).toEqual(cache.totals());
    }
  });
});
