import type { Flow } from '@int/codec';
import {
  type CacheGeometry,
  COUNTERS,
  type CounterName,
  geometryOf,
  HASHES,
  type HashName,
  HEADER,
  HEADER_WORDS,
  headerOf,
  LAYOUT_VERSION,
  LAYOUTS,
  MAGIC,
  METRIC_WORDS,
  metricsOf,
} from '../layout.js';
import { EntryReader, type FlowEntry } from './entry.js';
import { FlowCacheError } from './errors.js';
import { FlowIndex, FlowKey } from './flow-index.js';
import { counter } from './region.js';

/** The counters of a cache, see COUNTERS. */
export type FlowCacheTotals = { readonly [K in CounterName]: number };

/** All counters. */
export function totalsOf(words: Int32Array): FlowCacheTotals {
  return Object.fromEntries(COUNTERS.map((name) => [name, counter(words, name)])) as FlowCacheTotals;
}

/** The dimensions and the hash in a header. */
export interface Header {
  readonly geometry: CacheGeometry;
  readonly hash: HashName;
  readonly seed: number;
}

/**
 * Reads a header.
 * @throws FlowCacheError `ERR_FLOW_CACHE_HEADER` if it is none, or not one of this version
 */
export function readHeader(words: Int32Array): Header {
  const fail = (message: string): never => {
    throw new FlowCacheError('ERR_FLOW_CACHE_HEADER', message);
  };
  if (words.length < HEADER_WORDS || words[HEADER.MAGIC] !== MAGIC) return fail('there is no flow cache here');
  if (words[HEADER.VERSION] !== LAYOUT_VERSION) {
    return fail(`the layout has version ${words[HEADER.VERSION]!}, not ${LAYOUT_VERSION}`);
  }
  const layout = LAYOUTS[words[HEADER.LAYOUT]!];
  const hash = HASHES[words[HEADER.HASH]!];
  const metrics = metricsOf(words.subarray(METRIC_WORDS), words[HEADER.METRICS]!);
  if (layout === undefined || hash === undefined || metrics === null) return fail('the header is damaged');
  const seed = words[HEADER.SEED]! >>> 0;
  let geometry: CacheGeometry;
  try {
    geometry = geometryOf({
      layout,
      metrics,
      rows: words[HEADER.ROWS]! >>> 0,
      buckets: words[HEADER.BUCKETS]!,
      hops: words[HEADER.HOPS]!,
    });
  } catch {
    return fail('the header is damaged');
  }
  const expected = headerOf(geometry, hash, seed).subarray(0, HEADER.GENERATION);
  if (expected.some((word, at) => word !== words[at])) return fail('the header is damaged');
  return { geometry, hash, seed };
}

/** So often a view tries to read a row between two blocks of updates, before it gives up. */
const ATTEMPTS = 100_000;

/**
 * A look into a cache that another thread updates.
 *
 * It reads every entry whole: it copies rows, and copies them again if the owner wrote meanwhile. The owner writes in
 * blocks of at most 256 reports, and pauses for readers in between.
 */
export class FlowCacheView {
  readonly geometry: CacheGeometry;
  readonly hash: HashName;
  readonly seed: number;
  readonly #words: Int32Array;
  /** One row: its tags and ranks, then its buckets. */
  readonly #row: Int32Array;
  readonly #reader: EntryReader;
  readonly #key = new FlowKey();
  readonly #rowIndex: FlowIndex;

  /**
   * @param buffer the memory of a cache: its `buffer`
   * @param byteOffset where in it the cache is: its `byteOffset`
   * @throws FlowCacheError `ERR_FLOW_CACHE_HEADER` if there is no cache of this version, or not all of it
   */
  constructor(buffer: ArrayBufferLike, byteOffset = 0) {
    const left = Math.floor((buffer.byteLength - byteOffset) / 4);
    if (!(byteOffset >= 0 && byteOffset % 4 === 0 && left >= HEADER_WORDS)) {
      throw new FlowCacheError('ERR_FLOW_CACHE_HEADER', 'there is no flow cache here');
    }
    const { geometry, hash, seed } = readHeader(new Int32Array(buffer, byteOffset, HEADER_WORDS));
    if (left < geometry.words) {
      throw new FlowCacheError('ERR_FLOW_CACHE_HEADER', `the cache has ${geometry.words} words, not ${left}`);
    }
    this.geometry = geometry;
    this.hash = hash;
    this.seed = seed;
    this.#words = new Int32Array(buffer, byteOffset, geometry.words);
    this.#reader = new EntryReader(geometry);
    // A cache of one row, as far as finding flows goes.
    const rowGeometry = { ...geometry, rows: 1, rowsAt: 0, bucketsAt: geometry.rowStride };
    this.#row = new Int32Array(geometry.rowStride + geometry.buckets * geometry.bucketStride);
    this.#rowIndex = new FlowIndex(this.#row, rowGeometry);
  }

  /**
   * The entry of a flow, or `undefined`.
   * @throws AddressError if an address of the flow is none; RangeError if they are of different versions
   * @throws FlowCacheError `ERR_FLOW_CACHE_BUSY` if the owner did not pause
   */
  get(flow: Flow): FlowEntry | undefined {
    this.#key.set(flow);
    const hash = this.#key.hash(this.hash, this.seed);
    this.#copyRow(hash % this.geometry.rows);
    const bucket = this.#rowIndex.find(0, FlowIndex.tag(hash), this.#key);
    return bucket < 0 ? undefined : this.#reader.read(this.#row, this.#rowIndex.bucketAt(0, bucket));
  }

  /**
   * All entries, row by row, each row as it is when it is reached.
   * @throws FlowCacheError `ERR_FLOW_CACHE_BUSY` if the owner did not pause
   */
  *entries(): IterableIterator<FlowEntry> {
    for (let row = 0; row < this.geometry.rows; row++) {
      this.#copyRow(row);
      const found: FlowEntry[] = [];
      for (let bucket = 0; bucket < this.geometry.buckets; bucket++) {
        if (this.#row[bucket] !== 0) found.push(this.#reader.read(this.#row, this.#rowIndex.bucketAt(0, bucket)));
      }
      yield* found;
    }
  }

  /** The counters, as they are between two blocks of updates. */
  totals(): FlowCacheTotals {
    let totals: FlowCacheTotals | null = null;
    this.#whenStill(() => {
      totals = totalsOf(this.#words);
    });
    return totals!;
  }

  #copyRow(row: number): void {
    const { rowsAt, rowStride, bucketsAt, buckets, bucketStride } = this.geometry;
    const words = this.#words;
    const tags = rowsAt + row * rowStride;
    const first = bucketsAt + row * buckets * bucketStride;
    this.#whenStill(() => {
      this.#row.set(words.subarray(tags, tags + rowStride), 0);
      this.#row.set(words.subarray(first, first + buckets * bucketStride), rowStride);
    });
  }

  /** Runs `read` until nothing was written meanwhile. */
  #whenStill(read: () => void): void {
    if (this.#isStillFor(read)) return;
    // The owner is busy, and pauses if somebody waits.
    Atomics.add(this.#words, HEADER.READERS, 1);
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) if (this.#isStillFor(read)) return;
    } finally {
      Atomics.sub(this.#words, HEADER.READERS, 1);
    }
    throw new FlowCacheError('ERR_FLOW_CACHE_BUSY', 'the owner of the cache does not pause');
  }

  #isStillFor(read: () => void): boolean {
    const before = Atomics.load(this.#words, HEADER.GENERATION);
    if ((before & 1) !== 0) return false;
    read();
    // An addition orders the reads before it; a load would only order those behind it.
    return Atomics.add(this.#words, HEADER.GENERATION, 0) === before;
  }
}
