import { AddressError } from '@int/codec';
import {
  DEFAULT_METRICS,
  FlowCache,
  FlowCacheError,
  type FlowCacheOptions,
  FlowCacheView,
  type LayoutName,
} from '@int/flowcache';
import { HEADER, HEADER_WORDS, METRIC_WORDS } from '@int/flowcache/internals';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { ReportBatch, randomFlows, randomReport, recordOf } from '../cache/reports.js';
import { SEED } from '../seed.js';
import { PATTERN_METRICS, patternFlows, patternReport } from './pattern.js';

const SMALL = { rows: 3, buckets: 4, hops: 3 } as const;
const FLOWS = randomFlows(new Random(SEED), 20, 0);

function filled(options: FlowCacheOptions = {}): FlowCache {
  const cache = new FlowCache({ ...SMALL, accelerator: false, ...options });
  const random = new Random(SEED);
  const reports = new ReportBatch(200, 5);
  const shape = { flows: FLOWS, hops: 5, metrics: DEFAULT_METRICS };
  reports.fill(Array.from({ length: 200 }, (_, index) => randomReport(random, shape, BigInt(index))));
  cache.update(reports.batch, 0, 200);
  return cache;
}

/** What making a view and reading all with it throws, or `null`. */
function readAll(buffer: ArrayBufferLike, byteOffset?: number): unknown {
  try {
    const view = new FlowCacheView(buffer, byteOffset);
    for (const entry of view.entries()) expect(entry.hops.length).toBeLessThanOrEqual(127);
    for (const flow of FLOWS) view.get(flow);
    view.totals();
    return null;
  } catch (error) {
    return error;
  }
}

function expectCode(error: unknown, code: FlowCacheError['code']): void {
  expect(error).toBeInstanceOf(FlowCacheError);
  expect(FlowCacheError.is(error)).toBe(true);
  expect((error as FlowCacheError).code).toBe(code);
}

describe('a view', () => {
  test.each(['exact', 'compact'] as const)('shows what the cache itself does, %s', (layout) => {
    const cache = filled({ layout, seed: 0xfedcba98 });
    const view = new FlowCacheView(cache.buffer, cache.byteOffset);
    expect(view.geometry).toEqual(cache.geometry);
    expect([view.hash, view.seed]).toEqual(['xxh32', 0xfedcba98]);
    expect([...view.entries()]).toEqual([...cache]);
    expect(view.totals()).toEqual(cache.totals());
    for (const flow of FLOWS) expect(view.get(flow)).toEqual(cache.get(flow));
    expect(view.get({ ...FLOWS[0]!, protocol: 99 })).toBeUndefined();
  });

  test('follows the cache', () => {
    const cache = filled();
    const view = new FlowCacheView(cache.buffer);
    cache.drain();
    expect([...view.entries()]).toEqual([]);
    expect(view.totals()).toMatchObject({ live: 0 });
  });

  test('refuses flows that are none', () => {
    const view = new FlowCacheView(filled().buffer);
    expect(() => view.get({ ...FLOWS[0]!, source: '10.0.0' })).toThrow(AddressError);
    expect(() => view.get({ ...FLOWS[0]!, source: '::1' })).toThrow(RangeError);
  });

  test('refuses to read while the owner writes, and can when it has done', () => {
    const errors: unknown[] = [];
    const attempts: (() => unknown)[] = [];
    const push = (_words: Int32Array, _at: number, records: number): number => {
      for (const attempt of attempts) {
        try {
          attempt();
        } catch (error) {
          errors.push(error);
        }
      }
      return records;
    };
    const cache = new FlowCache({
      rows: 1,
      buckets: 1,
      hops: 3,
      metrics: PATTERN_METRICS,
      accelerator: false,
      entries: { push },
    });
    const view = new FlowCacheView(cache.buffer);
    const flows = patternFlows(2);
    attempts.push(
      () => view.get(flows[0]!),
      () => [...view.entries()],
      () => view.totals(),
    );
    for (const flow of flows) cache.observe(recordOf(patternReport(flow, 3)));
    cache.drain();
    expect(errors.length).toBe(6);
    for (const error of errors) expectCode(error, 'ERR_FLOW_CACHE_BUSY');
    expect(view.totals()).toMatchObject({ evictedEntries: 1, removedEntries: 1, live: 0 });
  });
});

/** Runs `interrupt` after each of the first copies from one array of words to another: when another thread may do so. */
function interrupted<T>(times: number, interrupt: () => void, run: () => T): { result: T; interruptions: number } {
  const { set } = Int32Array.prototype;
  let interruptions = 0;
  let isInside = false;
  Int32Array.prototype.set = function (this: Int32Array, ...copied: Parameters<typeof set>): void {
    set.apply(this, copied);
    if (isInside || interruptions === times) return;
    isInside = true;
    interruptions++;
    interrupt();
    isInside = false;
  };
  try {
    return { result: run(), interruptions };
  } finally {
    Int32Array.prototype.set = set;
  }
}

describe.each([false, true])('a view whose owner writes while it copies, accelerator %s', (accelerator) => {
  const flows = patternFlows(3);
  const makeCache = (): FlowCache =>
    new FlowCache({ rows: 1, buckets: 1, hops: 3, metrics: PATTERN_METRICS, accelerator, shared: true });

  test.each([1, 2, 3, 4, 5])('copies again, after %i interruptions', (times) => {
    const cache = makeCache();
    const view = new FlowCacheView(cache.buffer, cache.byteOffset);
    let next = 0;
    // Each report is of another flow and replaces all there is.
    const replace = (): void => cache.observe(recordOf(patternReport(flows[next++ % flows.length]!, 3)));
    replace();
    const { result, interruptions } = interrupted(times, replace, () => [...view.entries()]);
    expect(interruptions).toBe(times);
    expect(result).toEqual([...cache]);
    const last = result[0]!.flow;
    replace();
    const { result: found } = interrupted(times, replace, () => view.get(last));
    expect(found).toEqual(cache.get(last));
  });

  test('gives up where the owner never pauses for as long as a copy takes', () => {
    const cache = makeCache();
    const view = new FlowCacheView(cache.buffer, cache.byteOffset);
    const replace = (): void => cache.observe(recordOf(patternReport(flows[0]!, 3)));
    replace();
    let error: unknown = null;
    const { interruptions } = interrupted(
      Number.POSITIVE_INFINITY,
      () => {
        // What the owner's block does to the header, without the block: this is done 100,000 times and more.
        Atomics.add(cache.words, HEADER.GENERATION, 2);
      },
      () => {
        try {
          view.get(flows[0]!);
        } catch (thrown) {
          error = thrown;
        }
      },
    );
    expect(interruptions).toBeGreaterThan(1000);
    expectCode(error, 'ERR_FLOW_CACHE_BUSY');
    expect(view.get(flows[0]!)?.packets).toBe(1);
  });
});

describe('memory that holds no cache', () => {
  test.each([
    ['nothing', new ArrayBuffer(0), 0],
    ['a header less a word', filled().words.slice(0, HEADER_WORDS - 1).buffer, 0],
    ['zeros', new ArrayBuffer(1 << 16), 0],
    ['ones', new Uint8Array(1 << 16).fill(255).buffer, 0],
  ])('%s', (_, buffer, byteOffset) => {
    expectCode(readAll(buffer, byteOffset), 'ERR_FLOW_CACHE_HEADER');
  });

  test.each([-4, 1, 2, 4, 64, 1e9, Number.NaN, 0.5, Number.POSITIVE_INFINITY])('offset %s', (byteOffset) => {
    expectCode(readAll(filled().buffer, byteOffset), 'ERR_FLOW_CACHE_HEADER');
  });

  test('a cache cut off anywhere', () => {
    const cache = filled();
    const bytes = new Uint8Array(cache.buffer);
    for (let length = 0; length < bytes.length; length += 36) {
      expectCode(readAll(bytes.slice(0, length).buffer), 'ERR_FLOW_CACHE_HEADER');
    }
    expect(readAll(bytes.slice().buffer)).toBeNull();
  });

  test.each([
    ['MAGIC', 0x43464e4a],
    ['VERSION', 1],
    ['VERSION', 3],
    ['LAYOUT', 1],
    ['LAYOUT', 2],
    ['LAYOUT', -1],
    ['ROWS', 0],
    ['ROWS', 4],
    ['ROWS', 1 << 28],
    ['ROWS', -1],
    ['BUCKETS', 0],
    ['BUCKETS', 5],
    ['BUCKETS', 65],
    ['HOPS', 0],
    ['HOPS', 4],
    ['HOPS', -3],
    ['METRICS', 0],
    ['METRICS', 2],
    ['METRICS', 9],
    ['HASH', 2],
    ['HASH', -1],
    ['ROW_STRIDE', 16],
    ['BUCKET_STRIDE', 0],
    ['ROWS_AT', 0],
    ['BUCKETS_AT', 144],
  ] as const)('a header whose %s is %i', (name, value) => {
    const { buffer } = filled();
    const words = new Int32Array(buffer.slice(0));
    words[HEADER[name]] = value;
    expectCode(readAll(words.buffer), 'ERR_FLOW_CACHE_HEADER');
  });

  test('a header whose metrics are none, or named twice', () => {
    for (const [word, value] of [
      [0, 99],
      [1, 7],
    ] as const) {
      const words = new Int32Array(filled().buffer.slice(0));
      words[METRIC_WORDS + 2 + word] = value;
      expectCode(readAll(words.buffer), 'ERR_FLOW_CACHE_HEADER');
    }
    const words = new Int32Array(filled().buffer.slice(0));
    words.copyWithin(METRIC_WORDS + 2, METRIC_WORDS, METRIC_WORDS + 2);
    expectCode(readAll(words.buffer), 'ERR_FLOW_CACHE_HEADER');
  });
});

describe('damaged memory', () => {
  const layouts = fc.constantFrom<LayoutName>('exact', 'compact');
  /** Words that say nothing about where things are. */
  const FREE: readonly number[] = [HEADER.SEED, HEADER.GENERATION, HEADER.SWEEP_ROW, 15];
  const caches = { exact: filled({ layout: 'exact' }), compact: filled({ layout: 'compact' }) };
  const edit = fc.tuple(
    fc.oneof(fc.nat(31), fc.nat(HEADER_WORDS - 1)),
    fc.oneof(fc.integer(), fc.integer({ min: -2, max: 70 })),
  );

  test('in its header is found, or read without a crash', () => {
    fc.assert(
      fc.property(layouts, fc.array(edit, { minLength: 1, maxLength: 4 }), (layout, edits) => {
        const before = caches[layout].words;
        const words = before.slice();
        for (const [at, value] of edits) words[at] = value;
        const error = readAll(words.buffer);
        const isGeometry = (at: number): boolean =>
          at === HEADER.HASH ? words[at]! >>> 0 > 1 : at < METRIC_WORDS + 6 && !FREE.includes(at);
        if (edits.some(([at]) => isGeometry(at) && words[at] !== before[at]))
          expectCode(error, 'ERR_FLOW_CACHE_HEADER');
        else if ((words[HEADER.GENERATION]! & 1) !== 0) expectCode(error, 'ERR_FLOW_CACHE_BUSY');
        else expect(error).toBeNull();
      }),
      { seed: SEED, numRuns: runs(400) },
    );
  });

  test('behind its header is read without a crash', () => {
    fc.assert(
      fc.property(layouts, fc.integer(), fc.integer({ min: 1, max: 400 }), (layout, seed, count) => {
        const words = caches[layout].words.slice();
        const random = new Random(seed);
        for (let change = 0; change < count; change++) {
          words[HEADER_WORDS + random.integer(words.length - HEADER_WORDS)] = random.uint32();
        }
        expect(readAll(words.buffer)).toBeNull();
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });
});
