import { type Flow, TelemetryBatch, type TelemetryRecord } from '@int/codec';
import { writeRecord } from '@int/codec/internals';
import { makeAcceleratorEngine } from '../accelerator/accelerator-engine.js';
import {
  type CacheGeometry,
  type CounterName,
  fieldsOf,
  type HashName,
  HEADER,
  META,
  REASON,
  THRESHOLDS,
} from '../layout.js';
import type { Comparison, Engine, Outbox } from './engine.js';
import { EntryReader, type FlowEntry } from './entry.js';
import { FlowIndex, FlowKey } from './flow-index.js';
import { type FlowCacheOptions, type RecordConsumer, type ResolvedOptions, resolveOptions } from './options.js';
import { PlainEngine } from './plain-engine.js';
import { rankOf, toEmpty } from './ranks.js';
import { type FlowCacheTotals, totalsOf } from './reader.js';
import { count, initialize } from './region.js';
import { Thresholds } from './thresholds.js';

/** How often the owner looks, in a pause, whether a reader still waits: some microseconds. */
const PAUSE = 1000;

/** After so many reports the thresholds are read again, and other threads can read. */
const BLOCK = 256;

const TAKES_ALL: RecordConsumer = { push: (_words, _at, records) => records };

/** The counters of entries that leave the cache, by reason. */
const COUNTED: readonly (readonly [entries: CounterName, packets: CounterName])[] = [
  ['removedEntries', 'removedPackets'],
  ['evictedEntries', 'evictedPackets'],
  ['agedEntries', 'agedPackets'],
  ['retiredEntries', 'retiredPackets'],
  ['removedEntries', 'removedPackets'],
];

/** Rows and hops of {@link FlowCache.observe}. */
const SINGLE = { frames: 1, reports: 1, hops: 256 } as const;

/**
 * A cache of flows with per-hop statistics, in one block of memory. layout.ts describes its layout.
 *
 * The hash of a flow chooses its row; in a full row, the flow updated least recently gives way. Keys are exact: two
 * flows never share an entry. {@link update} and {@link age} allocate nothing.
 *
 * In every state, `offered` plus the packets restored from a snapshot is the sum of: the packets in live entries, in
 * entries handed on (evicted, aged, retired, removed), in entries lost because nobody took them; and the reports that
 * could not be cached, by reason.
 *
 * @example
 * const cache = new FlowCache({ rows: 4096, thresholds: { metrics: { hopLatency: { level: 10_000 } } }, events: ring });
 * cache.update(batch);
 * for (const entry of cache.entries()) console.log(entry.flow, entry.hops);
 */
export class FlowCache {
  readonly geometry: CacheGeometry;
  readonly hash: HashName;
  readonly seed: number;
  /** What is an event. May change at any time. */
  readonly thresholds: Thresholds;
  /** Whether updates run in WebAssembly. */
  readonly usesAccelerator: boolean;
  /** The cache, from its header on: see layout.ts. */
  readonly words: Int32Array;
  readonly #engine: Engine;
  readonly #index: FlowIndex;
  readonly #reader: EntryReader;
  readonly #entries: RecordConsumer;
  readonly #events: RecordConsumer;
  readonly #key = new FlowKey();
  readonly #packets: number;
  readonly #meta: number;
  readonly #last: number;
  #single: TelemetryBatch | null = null;

  /**
   * @throws RangeError for an option out of range, or thresholds that were made for other metrics
   * @throws RangeError or TypeError of the platform if there is not enough memory, or no SharedArrayBuffer
   */
  constructor(options: FlowCacheOptions = {}) {
    const resolved = resolveOptions(options);
    const { geometry, hash, seed } = resolved;
    this.geometry = geometry;
    this.hash = hash;
    this.seed = seed;
    const { thresholds } = options;
    this.thresholds = thresholds instanceof Thresholds ? thresholds : new Thresholds(geometry.metrics, thresholds);
    if (this.thresholds.metrics.join() !== geometry.metrics.join()) {
      throw new RangeError(`the thresholds are for ${this.thresholds.metrics.join(', ')}`);
    }
    this.#engine = makeEngine(resolved, options.comparison);
    this.usesAccelerator = this.#engine.isAccelerator;
    this.words = this.#engine.words;
    initialize(this.words, geometry, hash, seed);
    this.#index = new FlowIndex(this.words, geometry);
    this.#reader = new EntryReader(geometry);
    this.#entries = options.entries ?? TAKES_ALL;
    this.#events = options.events ?? TAKES_ALL;
    const fields = fieldsOf(geometry.layout);
    this.#packets = fields.PACKETS;
    this.#meta = fields.META;
    this.#last = fields.LAST;
  }

  /** The memory that holds the cache; a SharedArrayBuffer if `shared` was asked for. */
  get buffer(): ArrayBufferLike {
    return this.#engine.buffer;
  }

  /** Where the cache begins in {@link buffer}: a FlowCacheView needs it. */
  get byteOffset(): number {
    return this.words.byteOffset;
  }

  /** Flows held. */
  get size(): number {
    return this.totals().live;
  }

  /**
   * Adds the reports of a batch: the hot path.
   *
   * @param batch decoded reports, of any decoder; without times of its frames, entries have no times and never age
   * @param from first row
   * @param to the row behind the last one
   * @throws RangeError for rows that the batch does not have, or a sink that says it took more than it was given
   * @throws what a sink throws. The reports up to there are in the cache and count as `offered`; those behind are not.
   *   What the sink was given counts as lost
   */
  update(batch: TelemetryBatch, from = 0, to: number = batch.reports): void {
    if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to <= batch.reports)) {
      throw new RangeError(`rows ${from} to ${to}: the batch has ${batch.reports}`);
    }
    const engine = this.#engine;
    const limits = this.thresholds.words;
    let row = from;
    while (row < to) {
      for (let word = 0; word < THRESHOLDS.WORDS; word++) engine.thresholds[word] = Atomics.load(limits, word);
      this.#beginWriting();
      try {
        row = engine.run(batch, row, Math.min(to, row + BLOCK));
        this.#handOn();
      } finally {
        this.#endWriting();
      }
    }
  }

  /**
   * Adds one report: the comfort path, with the same result.
   *
   * @param record as FrameDecoder gives it
   * @param timeNs nanoseconds since the epoch. Default 0
   * @throws RangeError if the record has more than 255 hops, or addresses of different versions; AddressError if an
   *   address of it is none; else as {@link update}
   */
  observe(record: TelemetryRecord, timeNs = 0n): void {
    this.#single ??= new TelemetryBatch(SINGLE);
    writeRecord(this.#single, record, timeNs);
    this.update(this.#single);
  }

  /**
   * The hash of a flow; its row is `hash mod rows`. The upper bits are free to spread flows over several caches.
   * @throws AddressError if an address is none; RangeError if they are of different versions
   */
  hashOf(flow: Flow): number {
    this.#key.set(flow);
    return this.#key.hash(this.hash, this.seed);
  }

  /**
   * The entry of a flow, or `undefined`.
   * @throws AddressError if an address is none; RangeError if they are of different versions
   */
  get(flow: Flow): FlowEntry | undefined {
    const place = this.#find(flow);
    return place === null ? undefined : this.#reader.read(this.words, place.at);
  }

  /**
   * Takes a flow out and returns its entry, which is not handed on.
   * @throws AddressError if an address is none; RangeError if they are of different versions
   */
  remove(flow: Flow): FlowEntry | undefined {
    const place = this.#find(flow);
    if (place === null) return undefined;
    const entry = this.#reader.read(this.words, place.at);
    this.#beginWriting();
    this.#countOut(REASON.REMOVED, place.at);
    this.#clear(place.row, place.bucket);
    this.#endWriting();
    return { ...entry, reason: 'removed' };
  }

  /**
   * All entries, in no particular order. The cache may be updated meanwhile: a flow that stays is given exactly once,
   * as it is when it is reached; one that comes or goes may be given or not.
   */
  *entries(): IterableIterator<FlowEntry> {
    for (const { at } of this.#index.flows(0, this.geometry.rows)) yield this.#reader.read(this.words, at);
  }

  [Symbol.iterator](): IterableIterator<FlowEntry> {
    return this.entries();
  }

  /**
   * Hands on entries that were not updated for too long, going round the cache from call to call. An entry that is not
   * taken stays, and the next call tries it again: ageing loses nothing.
   *
   * @param nowNs nanoseconds since the epoch
   * @param idleNs an entry goes if its last report is older than this
   * @param maxRows rows to look at
   * @returns entries handed on
   */
  age(nowNs: bigint, idleNs: bigint, maxRows: number): number {
    // The latest time at which an entry is too old, as two words: these compare without BigInt.
    const limit = nowNs - idleNs - 1n;
    if (limit < 0n) return 0;
    const high = Number(limit >> 32n);
    const low = Number(limit & 0xffffffffn);
    const { words } = this;
    const isIdle = (at: number): boolean => {
      const lastLow = words[at + this.#last]! >>> 0;
      const lastHigh = words[at + this.#last + 1]! >>> 0;
      // Without a time, nobody can say.
      if (lastHigh === 0 && lastLow === 0) return false;
      return lastHigh < high || (lastHigh === high && lastLow <= low);
    };
    return this.#sweep(maxRows, Number.POSITIVE_INFINITY, REASON.AGED, isIdle);
  }

  /**
   * Hands on entries of any age, as reason `removed`: to empty a cache at the end without loss. Stops when none is
   * left, `maxEntries` are handed on, or no more are taken.
   * @returns entries handed on
   */
  drain(maxEntries = Number.POSITIVE_INFINITY): number {
    return this.#sweep(this.geometry.rows, maxEntries, REASON.REMOVED, () => true);
  }

  /** The counters, exact up to 2^53. */
  totals(): FlowCacheTotals {
    return totalsOf(this.words);
  }

  /** Packets in the entries of the cache. Reads all of them. */
  livePackets(): number {
    let packets = 0;
    for (const { at } of this.#index.flows(0, this.geometry.rows)) packets += this.words[at + this.#packets]! >>> 0;
    return packets;
  }

  #find(flow: Flow): { row: number; bucket: number; at: number } | null {
    const hash = this.hashOf(flow);
    const row = hash % this.geometry.rows;
    const bucket = this.#index.find(row, FlowIndex.tag(hash), this.#key);
    return bucket < 0 ? null : { row, bucket, at: this.#index.bucketAt(row, bucket) };
  }

  /**
   * Hands on entries that are to leave, from the row at which the last sweep stopped.
   * @returns entries handed on
   */
  #sweep(maxRows: number, maxEntries: number, reason: number, leaves: (at: number) => boolean): number {
    const { words } = this;
    const { rows, buckets } = this.geometry;
    let row = words[HEADER.SWEEP_ROW]!;
    let handedOn = 0;
    this.#beginWriting();
    try {
      sweep: for (let left = Math.min(maxRows, rows); left > 0; left--) {
        const tags = this.#index.rowAt(row);
        for (let bucket = 0; bucket < buckets; bucket++) {
          if (words[tags + bucket] === 0) continue;
          if (!leaves(this.#index.bucketAt(row, bucket))) continue;
          if (handedOn >= maxEntries || !this.#release(row, bucket, reason)) break sweep;
          handedOn++;
        }
        row = row + 1 === rows ? 0 : row + 1;
      }
    } finally {
      words[HEADER.SWEEP_ROW] = row;
      this.#endWriting();
    }
    return handedOn;
  }

  /** Hands an entry on and empties its bucket. @returns false, with nothing changed, if it is not taken */
  #release(row: number, bucket: number, reason: number): boolean {
    const { words } = this;
    const at = this.#index.bucketAt(row, bucket);
    const meta = words[at + this.#meta]!;
    words[at + this.#meta] = meta | (reason << META.REASON_SHIFT);
    let isTaken: boolean;
    try {
      isTaken = this.#entries.push(words, at, 1) > 0;
    } finally {
      words[at + this.#meta] = meta;
    }
    if (!isTaken) return false;
    this.#countOut(reason, at);
    this.#clear(row, bucket);
    return true;
  }

  #countOut(reason: number, at: number): void {
    const [entries, packets] = COUNTED[reason]!;
    count(this.words, entries, 1);
    count(this.words, packets, this.words[at + this.#packets]! >>> 0);
  }

  #clear(row: number, bucket: number): void {
    const { words } = this;
    const { buckets } = this.geometry;
    const tags = this.#index.rowAt(row);
    words[tags + bucket] = 0;
    toEmpty(words, tags + buckets, buckets, bucket, rankOf(words, tags + buckets, bucket));
    count(words, 'live', -1);
  }

  /** Hands on what the engine has made. If a sink throws, it has taken nothing; the other sink still gets its part. */
  #handOn(): void {
    const { entries, events } = this.#engine;
    try {
      this.#handOnEntries(entries);
    } finally {
      this.#handOnEvents(events);
    }
  }

  #handOnEntries(outbox: Outbox): void {
    if (outbox.count === 0) return;
    let taken = 0;
    try {
      taken = push(this.#entries, outbox);
    } finally {
      const { words, recordWords } = outbox;
      for (let record = 0; record < outbox.count; record++) {
        const at = record * recordWords;
        const packets = words[at + this.#packets]! >>> 0;
        const reason = words[at + this.#meta]! >>> META.REASON_SHIFT;
        const isTaken = record < taken;
        count(this.words, isTaken ? COUNTED[reason]![0] : 'lostEntries', 1);
        count(this.words, isTaken ? COUNTED[reason]![1] : 'lostPackets', packets);
      }
      outbox.count = 0;
    }
  }

  #handOnEvents(outbox: Outbox): void {
    if (outbox.count === 0) return;
    let taken = 0;
    try {
      taken = push(this.#events, outbox);
    } finally {
      count(this.words, 'events', taken);
      count(this.words, 'lostEvents', outbox.count - taken);
      outbox.count = 0;
    }
  }

  /** Other threads that read see an odd number, and wait. */
  #beginWriting(): void {
    Atomics.add(this.words, HEADER.GENERATION, 1);
  }

  #endWriting(): void {
    const { words } = this;
    Atomics.add(words, HEADER.GENERATION, 1);
    for (let look = 0; look < PAUSE && Atomics.load(words, HEADER.READERS) !== 0; look++);
  }
}

/** WebAssembly where it is wanted and can run, else TypeScript. */
function makeEngine(options: ResolvedOptions, comparison: Comparison | undefined): Engine {
  const { geometry, hash, seed, shared } = options;
  const accelerator = options.accelerator ? makeAcceleratorEngine(options) : undefined;
  if (accelerator !== undefined) return accelerator;
  const buffer = shared ? new SharedArrayBuffer(geometry.byteLength) : new ArrayBuffer(geometry.byteLength);
  return new PlainEngine(new Int32Array(buffer), geometry, hash, seed, comparison);
}

/** Gives a sink all records of an outbox. @returns how many it took */
function push(sink: RecordConsumer, { words, count }: Outbox): number {
  const taken = sink.push(words, 0, count);
  if (!(taken >= 0 && taken <= count)) throw new RangeError(`a sink was given ${count} records and took ${taken}`);
  return taken;
}
