/**
 * The update loop in TypeScript. It defines the correct result; the WebAssembly accelerator and the C twin do the same to
 * the last bit.
 */

import { FLAG, type TelemetryBatch } from '@int/codec';
import { REPORT_COLUMN, SignedColumns } from '@int/codec/internals';
import { flowCrc32Columns, flowXxh32Columns } from '@int/hash';
import {
  type CacheGeometry,
  EVENT_KIND,
  EVENT_WORD,
  EVENT_WORDS,
  EXACT,
  fieldsOf,
  type HashName,
  LATENCY_COLUMN,
  META,
  metricWords,
  NODE_COLUMN,
  REASON,
  THRESHOLDS,
} from '../layout.js';
import { COMPARISON, type Comparison, type Engine, eventsPerReport, Outbox, outboxWords } from './engine.js';
import { FlowIndex, FlowKey } from './flow-index.js';
import { finishTail, mixTail, TAIL_SEED } from './path-tail.js';
import { bucketOfRank, rankOf, toFront } from './ranks.js';
import { count } from './region.js';

/**
 * Whether the usual comparison may find an event. Works on signed words that stand for unsigned numbers, without a
 * call: most values are no events.
 */
function isBeyond(value: number, previous: number, level: number, change: number): boolean {
  if ((value ^ -0x80000000) > (level ^ -0x80000000)) return true;
  const difference = (value - previous) | 0;
  // All ones where value < previous.
  const less = ((~value & previous) | ((~value | previous) & difference)) >> 31;
  return ((((difference ^ less) - less) | 0) ^ -0x80000000) > (change ^ -0x80000000);
}

/** Not available, as a signed word. */
const NONE = -1;
const FULL = -1; // 2^32 - 1
const MOST_SUM = 0xffffffff;

export class PlainEngine implements Engine {
  readonly isAccelerator = false;
  readonly buffer: ArrayBufferLike;
  readonly words: Int32Array;
  readonly entries: Outbox;
  readonly events: Outbox;
  readonly thresholds = new Int32Array(THRESHOLDS.WORDS).fill(NONE);
  readonly #floats: Float32Array;
  readonly #geometry: CacheGeometry;
  readonly #isExact: boolean;
  readonly #hash: HashName;
  readonly #seed: number;
  readonly #comparison: Comparison;
  readonly #isUsual: boolean;
  readonly #index: FlowIndex;
  readonly #metrics: Int32Array;
  readonly #metricCount: number;
  readonly #hopsAt: number;
  /** Offset of the word in a bucket. */
  readonly #meta: number;
  readonly #packets: number;
  readonly #pathChanges: number;
  readonly #last: number;
  readonly #key = new FlowKey();
  #hashes = new Uint32Array(0);
  #columns: SignedColumns | null = null;
  /** To be added to the counters at the end of a run. */
  #hits = 0;
  #inserted = 0;
  #live = 0;
  /** Of the report at hand: its time, and where it is in the cache and in the batch. */
  #timeLow = 0;
  #timeHigh = 0;
  #at = 0;
  #row = 0;
  /** Whether the flow of the report at hand was in the cache before. */
  #isKnown = false;
  /** Whether a switch of its path has another id than before. */
  #isMoved = false;

  /** @param outboxes those of another engine, to share them. Default: outboxes of its own */
  constructor(
    words: Int32Array,
    geometry: CacheGeometry,
    hash: HashName,
    seed: number,
    comparison = COMPARISON,
    outboxes?: Pick<Engine, 'entries' | 'events'>,
  ) {
    this.buffer = words.buffer;
    this.words = words;
    this.#floats = new Float32Array(words.buffer, words.byteOffset, words.length);
    this.#geometry = geometry;
    this.#hash = hash;
    this.#seed = seed;
    this.#comparison = comparison;
    this.#isUsual = comparison === COMPARISON;
    this.#index = new FlowIndex(words, geometry);
    this.#metrics = Int32Array.from(metricWords(geometry.metrics));
    this.#metricCount = geometry.metrics.length;
    this.#hopsAt = geometry.hopsAt;
    this.#isExact = geometry.layout === 'exact';
    const fields = fieldsOf(geometry.layout);
    this.#meta = fields.META;
    this.#packets = fields.PACKETS;
    this.#pathChanges = fields.PATH_CHANGES;
    this.#last = fields.LAST;
    const room = outboxWords(geometry);
    this.entries = outboxes?.entries ?? new Outbox(geometry.bucketStride, new Int32Array(room.entries));
    this.events = outboxes?.events ?? new Outbox(EVENT_WORDS, new Int32Array(room.events));
  }

  run(batch: TelemetryBatch, from: number, to: number): number {
    if (this.#columns?.batch !== batch) this.#columns = new SignedColumns(batch);
    const columns = this.#columns;
    this.#hashRows(batch, from, to);
    const { flags, isTimed, frameTimeHigh, frameTimeLow } = batch;
    const { entries, events, words } = this;
    const perReport = eventsPerReport(this.#geometry);
    const { report, reportStride } = columns;
    let row = from;
    let notOk = 0;
    let noFlow = 0;
    let unsupported = 0;
    for (; row < to; row++) {
      if (columns.code[row] !== 0) {
        notOk++;
        continue;
      }
      const bits = flags[row]!;
      if ((bits & FLAG.FLOW) === 0) {
        noFlow++;
        continue;
      }
      if (!this.#isExact && (bits & FLAG.IPV6) !== 0) {
        unsupported++;
        continue;
      }
      if (entries.count === entries.capacity || events.count + perReport > events.capacity) break;
      this.#timeLow = 0;
      this.#timeHigh = 0;
      if (isTimed) {
        const frame = report[REPORT_COLUMN.FRAME * reportStride + row]! >>> 0;
        this.#timeLow = frameTimeLow[frame]! | 0;
        this.#timeHigh = frameTimeHigh[frame]! | 0;
      }
      this.#row = row;
      this.#locate(columns, this.#hashes[row]!);
      this.#update(columns);
    }
    count(words, 'offered', row - from);
    count(words, 'hits', this.#hits);
    count(words, 'inserted', this.#inserted);
    count(words, 'live', this.#live);
    this.#hits = this.#inserted = this.#live = 0;
    count(words, 'notOk', notOk);
    count(words, 'noFlow', noFlow);
    count(words, 'unsupportedIpv6', unsupported);
    return row;
  }

  #hashRows(batch: TelemetryBatch, from: number, to: number): void {
    if (this.#hashes.length < to) this.#hashes = new Uint32Array(batch.capacity.reports);
    if (this.#hash === 'crc32') flowCrc32Columns(batch, from, to, this.#hashes);
    else flowXxh32Columns(batch, from, to, this.#hashes, this.#seed);
  }

  /** Finds the bucket of the flow at hand, or makes one. */
  #locate(columns: SignedColumns, hash: number): void {
    const { words } = this;
    const index = this.#index;
    const { buckets, rows } = this.#geometry;
    const key = this.#key;
    key.read(columns, this.#row);
    const tag = FlowIndex.tag(hash);
    const row = (hash >>> 0) % rows;
    const tags = index.rowAt(row);
    const ranks = tags + buckets;
    let bucket = index.find(row, tag, key);
    const wasThere = bucket >= 0;
    if (!wasThere) bucket = index.findEmpty(row);
    const isEvicting = bucket < 0;
    if (isEvicting) bucket = bucketOfRank(words, ranks, buckets, buckets - 1);
    const at = index.bucketAt(row, bucket);
    this.#at = at;
    this.#isKnown = wasThere && words[at + this.#packets] !== FULL;
    toFront(words, ranks, (buckets + 3) >> 2, bucket, rankOf(words, ranks, bucket));
    if (this.#isKnown) {
      this.#hits++;
      return;
    }
    if (wasThere) this.#handOn(at, REASON.RETIRED);
    else if (isEvicting) this.#handOn(at, REASON.EVICTED);
    else this.#live++;
    this.#inserted++;
    words[tags + bucket] = tag;
    index.reset(at, key, this.#timeLow, this.#timeHigh);
  }

  /** Copies an entry into the outbox. */
  #handOn(at: number, reason: number): void {
    const { entries, words } = this;
    const to = entries.count * entries.recordWords;
    for (let word = 0; word < entries.recordWords; word++) entries.words[to + word] = words[at + word]!;
    entries.words[to + this.#meta] = entries.words[to + this.#meta]! | (reason << META.REASON_SHIFT);
    entries.count++;
  }

  /** Adds the report at hand to its bucket. */
  #update(columns: SignedColumns): void {
    const { words } = this;
    const at = this.#at;
    const length = columns.hopCount[this.#row]!;
    const kept = Math.min(length, this.#geometry.hops);
    words[at + this.#packets] = words[at + this.#packets]! + 1;
    words[at + this.#last] = this.#timeLow;
    words[at + this.#last + 1] = this.#timeHigh;
    if (length > kept) {
      count(words, 'hopsBeyond', length - kept);
      if (this.#isExact) {
        words[at + EXACT.BEYOND] = Math.min((words[at + EXACT.BEYOND]! >>> 0) + length - kept, MOST_SUM);
      }
    }
    const meta = words[at + this.#meta]!;
    const previousLength = (meta >>> META.LENGTH_SHIFT) & META.LENGTH_MASK;
    this.#isMoved = false;
    this.#updateHops(columns, kept, previousLength);
    this.#updateEndToEnd(columns, length);
    const pathLength = this.#updatePath(columns, kept, length, previousLength);
    const seen = Math.max((meta >>> META.SEEN_SHIFT) & META.SEEN_MASK, kept);
    words[at + this.#meta] =
      (meta & (META.PROTOCOL_MASK | META.IPV6)) | (seen << META.SEEN_SHIFT) | (pathLength << META.LENGTH_SHIFT);
  }

  #updateHops(columns: SignedColumns, kept: number, previousLength: number): void {
    const { words } = this;
    const { hops, report } = columns;
    const first = report[REPORT_COLUMN.HOP_START * columns.reportStride + this.#row]!;
    const ids = (NODE_COLUMN * columns.hopStride + first) | 0;
    const isExact = this.#isExact;
    const { hopStride } = this.#geometry;
    const lasts = isExact ? 1 : 2;
    const size = this.#metricCount;
    let node = (this.#at + this.#hopsAt) | 0;
    for (let hop = 0; hop < kept; hop = (hop + 1) | 0, node = (node + hopStride) | 0) {
      const id = hops[(ids + hop) | 0]!;
      const stored = words[node]!;
      // A hop that does not name itself is taken for the switch known there.
      if (id !== NONE && id !== stored) {
        if (stored !== NONE) {
          for (let metric = 0; metric < size; metric++) words[node + lasts + metric] = NONE;
          if (hop < previousLength) this.#isMoved = true;
        }
        words[node] = id;
      }
      if (!isExact) words[node + 1] = words[node + 1]! + 1;
      this.#updateMetrics(columns, hop, node, (first + hop) | 0);
    }
  }

  #updateMetrics(columns: SignedColumns, hop: number, node: number, hopRow: number): void {
    const { words, thresholds } = this;
    const { hops, hopStride } = columns;
    const metrics = this.#metrics;
    const size = this.#metricCount;
    const isExact = this.#isExact;
    const isUsual = this.#isUsual;
    const lasts = (node + (isExact ? 1 : 2)) | 0;
    for (let metric = 0; metric < size; metric = (metric + 1) | 0) {
      const of = metric << 1;
      const value = hops[(Math.imul(metrics[of]!, hopStride) + hopRow) | 0]!;
      if (value === NONE && hops[(Math.imul(metrics[of + 1]!, hopStride) + hopRow) | 0] === NONE) continue;
      const previous = words[(lasts + metric) | 0]!;
      words[(lasts + metric) | 0] = value;
      if (isExact) this.#addExact(lasts, size, metric, value);
      else this.#addCompact(lasts, size, metric, value >>> 0, words[node + 1]! >>> 0);
      const limits = metric << 1;
      if (isUsual && !isBeyond(value, previous, thresholds[limits]!, thresholds[limits + 1]!)) continue;
      const hasPrevious = this.#isKnown && previous !== NONE;
      this.#compare(value >>> 0, previous, hasPrevious, limits, (metric << 8) | (hop << 16), words[node]!);
    }
  }

  /** `value` is a signed word. */
  #addExact(lasts: number, size: number, metric: number, value: number): void {
    const { words } = this;
    const counts = (lasts + size + metric) | 0;
    words[counts] = words[counts]! + 1;
    const sum = (lasts + (size << 1) + (metric << 1)) | 0;
    const before = words[sum]!;
    const after = (before + value) | 0;
    words[sum] = after;
    // Unsigned: it has become less.
    if ((after ^ -0x80000000) < (before ^ -0x80000000)) words[(sum + 1) | 0] = words[(sum + 1) | 0]! + 1;
  }

  #add64(at: number, value: number): void {
    const { words } = this;
    const sum = (words[at]! >>> 0) + value;
    words[at] = sum | 0;
    if (sum > MOST_SUM) words[at + 1] = words[at + 1]! + 1;
  }

  #addCompact(lasts: number, size: number, metric: number, value: number, reports: number): void {
    const floats = this.#floats;
    const mean = floats[lasts + size + metric]!;
    const step = Math.fround(Math.fround(Math.fround(value) - mean) / Math.fround(reports));
    floats[lasts + size + metric] = Math.fround(mean + step);
  }

  /** Raises an event if the value is one. `previous` and `id`, that of the switch, are signed words. */
  #compare(value: number, previous: number, hasPrevious: boolean, limits: number, place: number, id: number): void {
    const { thresholds } = this;
    const level = thresholds[limits]! >>> 0;
    const change = thresholds[limits + 1]! >>> 0;
    const comparison = this.#comparison;
    let kind = comparison.exceeds(value, level) ? EVENT_KIND.THRESHOLD : 0;
    if (hasPrevious && comparison.differs(value, previous >>> 0, change)) kind |= EVENT_KIND.CHANGE;
    if (kind === 0) return;
    this.#raise(kind | place, id, value, previous, (kind & EVENT_KIND.THRESHOLD) !== 0 ? level : change);
  }

  #raise(kind: number, node: number, value: number, previous: number, threshold: number): void {
    const { words } = this.events;
    const to = this.events.count * EVENT_WORDS;
    const key = this.#key;
    words[to + EVENT_WORD.KIND] =
      kind | (key.isIpv6 ? EVENT_KIND.IPV6 : 0) | ((key.meta & META.PROTOCOL_MASK) << EVENT_KIND.PROTOCOL_SHIFT);
    words[to + EVENT_WORD.NODE] = node;
    words[to + EVENT_WORD.VALUE] = value;
    words[to + EVENT_WORD.PREVIOUS] = previous;
    words[to + EVENT_WORD.TIME] = this.#timeLow;
    words[to + EVENT_WORD.TIME + 1] = this.#timeHigh;
    words[to + EVENT_WORD.PORTS] = key.ports;
    words[to + EVENT_WORD.THRESHOLD] = threshold;
    for (let word = 0; word < 8; word++) words[to + EVENT_WORD.SOURCE + word] = key.addresses[word]!;
    this.events.count++;
  }

  /** The sum of the hop latency over the path. */
  #updateEndToEnd(columns: SignedColumns, length: number): void {
    const { hops, hopStride, report, reportStride } = columns;
    const latencies = LATENCY_COLUMN * hopStride + report[REPORT_COLUMN.HOP_START * reportStride + this.#row]!;
    let sum = 0;
    let carried = 0;
    for (let hop = 0; hop < length; hop++) {
      const latency = hops[latencies + hop]!;
      if (latency === NONE) continue;
      sum += latency >>> 0;
      carried++;
    }
    if (carried === 0) return;
    sum = Math.min(sum, MOST_SUM);
    let previous = NONE;
    let hasPrevious = false;
    if (this.#isExact) {
      const { words } = this;
      const at = this.#at;
      hasPrevious = words[at + EXACT.END_TO_END_COUNT] !== 0;
      previous = words[at + EXACT.END_TO_END]!;
      words[at + EXACT.END_TO_END] = sum;
      words[at + EXACT.END_TO_END_COUNT] = words[at + EXACT.END_TO_END_COUNT]! + 1;
      this.#add64(at + EXACT.END_TO_END_SUM, sum);
    }
    this.#compare(sum, previous, hasPrevious, THRESHOLDS.END_TO_END, EVENT_KIND.END_TO_END, NONE);
  }

  /** Compares the path with the flow's previous one. @returns the path length to remember */
  #updatePath(columns: SignedColumns, kept: number, length: number, previousLength: number): number {
    const { words } = this;
    const at = this.#at;
    const { report, reportStride } = columns;
    const ids = NODE_COLUMN * columns.hopStride + report[REPORT_COLUMN.HOP_START * reportStride + this.#row]!;
    let last = NONE;
    let tail = TAIL_SEED;
    let isMixed = false;
    for (let hop = 0; hop < length; hop++) {
      const id = columns.hops[ids + hop]!;
      if (id === NONE) continue;
      last = id;
      if (hop < kept) continue;
      tail = mixTail(tail, id);
      isMixed = true;
    }
    const own = report[REPORT_COLUMN.NODE * reportStride + this.#row]!;
    // A report that names no switch says nothing of the path.
    if (last === NONE && own === NONE) return previousLength;
    if (own !== NONE && own !== last) {
      tail = mixTail(tail, own);
      isMixed = true;
    }
    const now = isMixed && this.#isExact ? finishTail(tail) : 0;
    let previousTail = 0;
    if (this.#isExact) {
      previousTail = words[at + EXACT.PATH_TAIL]!;
      words[at + EXACT.PATH_TAIL] = now;
    }
    const wasNamed = previousLength > 0 || previousTail !== 0;
    if (this.#isKnown && wasNamed && (length !== previousLength || this.#isMoved || now !== previousTail)) {
      words[at + this.#pathChanges] = words[at + this.#pathChanges]! + 1;
      count(words, 'pathChanges', 1);
      if (this.thresholds[THRESHOLDS.PATH] !== 0) {
        this.#raise(EVENT_KIND.PATH | EVENT_KIND.END_TO_END, NONE, length, previousLength, 0);
      }
    }
    return length;
  }
}
