/**
 * The layout of a flow cache in memory, to the word. Other threads, files, the WebAssembly accelerator and the C twin read
 * it; whoever changes it raises {@link LAYOUT_VERSION}.
 *
 * All words are 32 bits, little-endian. A 64-bit number is two words, the lower one first. Offsets count words.
 *
 * | Part | Words |
 * |---|---|
 * | header | {@link HEADER}, metrics from {@link METRIC_WORDS} on, counters from {@link COUNTER_WORDS} on; {@link HEADER_WORDS} in all |
 * | rows | `rows` x `rowStride`: what is needed to find a flow, and the order in which the row's flows were updated |
 * | buckets | `rows` x `buckets` x `bucketStride`: the flows |
 *
 * A flow of hash h is in row `h mod rows` and nowhere else.
 *
 * A row begins with a tag per bucket: the flow's hash, 1 for a hash of 0; 0 marks an empty bucket. Then it has a byte per
 * bucket, its rank: 0 for the flow updated last, 1 for the one before, and so on; {@link EMPTY_RANK} for an empty bucket.
 * The flow of the highest rank gives way. Bytes up to the next word are {@link EMPTY_RANK} too, words behind that are 0.
 * With 12 buckets this is 60 bytes: one cache line.
 */
import { HOP_COLUMNS, METRICS, type Metric, type MetricName, metricOf } from '@int/codec';

/** Number of this layout. */
export const LAYOUT_VERSION = 2;
/** "INFC" in memory. */
export const MAGIC = 0x43464e49;

/** Words of the header. */
export const HEADER = {
  MAGIC: 0,
  VERSION: 1,
  /** See {@link LAYOUTS}. */
  LAYOUT: 2,
  ROWS: 3,
  BUCKETS: 4,
  HOPS: 5,
  METRICS: 6,
  /** Which hash: 0 xxh32, 1 crc32. */
  HASH: 7,
  SEED: 8,
  ROW_STRIDE: 9,
  BUCKET_STRIDE: 10,
  /** Offset of row 0 from the start of the header. */
  ROWS_AT: 11,
  /** Offset of the first bucket of row 0. */
  BUCKETS_AT: 12,
  /** Odd while the owner writes; see `FlowCacheView`. */
  GENERATION: 13,
  /** The row at which ageing goes on. */
  SWEEP_ROW: 14,
  /** Views that wait for a pause: the owner makes one. */
  READERS: 15,
} as const;

/** Two words a metric: index of its hop column; index of the other column of a pair, or the same. */
export const METRIC_WORDS = 16;
export const MAX_METRICS = 8;
/** Counters of 64 bits, in the order of {@link COUNTERS}. */
export const COUNTER_WORDS = 64;
export const HEADER_WORDS = 128;

/**
 * Counters. In every state, `offered` plus `restoredPackets` is the sum of
 * - the packets in live entries, `evictedPackets`, `agedPackets`, `retiredPackets`, `removedPackets` and `lostPackets`;
 * - the reports that are not cached: `notOk`, `noFlow` and `unsupportedIpv6`.
 */
export const COUNTERS = [
  /** Reports looked at. */
  'offered',
  /** Reports of a flow that was there. */
  'hits',
  /** Entries made. */
  'inserted',
  /** Flows held now. */
  'live',
  /** Entries handed on because they gave way to another flow, and the packets in them. */
  'evictedEntries',
  'evictedPackets',
  /** Entries handed on because they were idle for too long. */
  'agedEntries',
  'agedPackets',
  /** Entries handed on because their packet count was full (2^32 - 1); the flow goes on with a new one. */
  'retiredEntries',
  'retiredPackets',
  /** Entries that the owner took out: `remove`, `drain`. */
  'removedEntries',
  'removedPackets',
  /** Entries of these kinds that their consumer had no room for. */
  'lostEntries',
  'lostPackets',
  /** Rows of the batch that are no report: their code is not 0. */
  'notOk',
  /** Reports that do not name their flow. */
  'noFlow',
  /** Reports about IPv6 flows offered to a compact cache. */
  'unsupportedIpv6',
  /** Hop rows that lay beyond the hops an entry follows. */
  'hopsBeyond',
  /** Reports whose path differed from the flow's previous one. */
  'pathChanges',
  /** Event records handed on. */
  'events',
  /** Event records that their consumer had no room for. */
  'lostEvents',
  /** Packets in entries that came from a snapshot. */
  'restoredPackets',
] as const;
export type CounterName = (typeof COUNTERS)[number];

/** Index of each counter. */
export const COUNTER: { readonly [K in CounterName]: number } = /* @__PURE__ */ Object.fromEntries(
  COUNTERS.map((name, index) => [name, index]),
) as { [K in CounterName]: number };

/** Rank of an empty bucket. */
export const EMPTY_RANK = 0x7f;
/** Offsets are signed 32-bit numbers of words. */
const MOST_WORDS = 2 ** 31 - 1;
const MAX_BUCKETS = 64;
const MAX_HOPS = 64;

/** `exact`: 64-bit sums, a count per hop and metric, IPv4 and IPv6. `compact`: float means, a count per hop, IPv4. */
export const LAYOUTS = ['exact', 'compact'] as const;
export type LayoutName = (typeof LAYOUTS)[number];

/** Hashes that choose the row: xxh32 of the 13 or 37 bytes of the flow key, or CRC-32 of them as a P4 target computes it. */
export const HASHES = ['xxh32', 'crc32'] as const;
export type HashName = (typeof HASHES)[number];

/** Words of a bucket in the `exact` layout; from `HOPS` on, one group of words per hop: see `hopWords`. */
export const EXACT = {
  /** Four words; an IPv4 address is in the first and the others are 0. */
  SOURCE: 0,
  DESTINATION: 4,
  /** Source port << 16 | destination port. */
  PORTS: 8,
  /** See {@link META}. */
  META: 9,
  PACKETS: 10,
  PATH_CHANGES: 11,
  /** Nanoseconds since the epoch, 64 bits. */
  FIRST: 12,
  LAST: 14,
  /** Hash of the rest of the path: ids beyond the hops, and a reporting node that is no hop. */
  PATH_TAIL: 16,
  /** Hop rows beyond the hops, saturating. */
  BEYOND: 17,
  /** The sum of the hop latency over the path: last value, count, and sum in 64 bits. */
  END_TO_END: 18,
  END_TO_END_COUNT: 19,
  END_TO_END_SUM: 20,
  HOPS: 22,
} as const;

/** Words of a bucket in the `compact` layout; then the hops. */
export const COMPACT = {
  SOURCE: 0,
  DESTINATION: 1,
  PORTS: 2,
  META: 3,
  PACKETS: 4,
  PATH_CHANGES: 5,
  FIRST: 6,
  LAST: 8,
  HOPS: 10,
} as const;

/** Where a layout has the words of a bucket that both have. */
export function fieldsOf(layout: LayoutName): typeof EXACT | typeof COMPACT {
  return layout === 'exact' ? EXACT : COMPACT;
}

/** Fields of the META word. */
export const META = {
  /** IP protocol, bits 0-7. */
  PROTOCOL_MASK: 0xff,
  IPV6: 1 << 8,
  /** Bits 9-15: the most hops that the entry has seen, up to those of the cache. */
  SEEN_SHIFT: 9,
  SEEN_MASK: 0x7f,
  /** Bits 16-23: hop rows of the last report. */
  LENGTH_SHIFT: 16,
  LENGTH_MASK: 0xff,
  /** Bits 24-31: why an entry was handed on, see {@link REASONS}; 0 in the cache. */
  REASON_SHIFT: 24,
} as const;

/** Why an entry left the cache. */
export const REASONS = ['live', 'evicted', 'aged', 'retired', 'removed'] as const;
export type Reason = (typeof REASONS)[number];
export const REASON = { LIVE: 0, EVICTED: 1, AGED: 2, RETIRED: 3, REMOVED: 4 } as const;

/**
 * Words of one hop with `metrics` metrics.
 *
 * - `exact`: node id; for each metric the last value; for each its count; for each its 64-bit sum.
 * - `compact`: node id; reports that had this hop; for each metric the last value; for each its mean, a 32-bit float.
 *
 * Node id and last value are all ones where they are not known.
 */
export function hopWords(layout: LayoutName, metrics: number): number {
  return layout === 'exact' ? 1 + 4 * metrics : 2 + 2 * metrics;
}

/** Words of an event record, see {@link EVENT_WORD}: one cache line. */
export const EVENT_WORDS = 16;

/** Words of an event record. */
export const EVENT_WORD = {
  /** See {@link EVENT_KIND}. */
  KIND: 0,
  /** The switch; all ones if it did not name itself, or for events of the whole path. */
  NODE: 1,
  VALUE: 2,
  /** The flow's previous value there; all ones if there was none, or for a saturated sum. */
  PREVIOUS: 3,
  /** Time of the report, nanoseconds since the epoch, lower word first. */
  TIME: 4,
  PORTS: 6,
  /** The threshold exceeded: that of the level if it was, else that of the change. */
  THRESHOLD: 7,
  SOURCE: 8,
  DESTINATION: 12,
} as const;

/** Fields of the KIND word of an event. */
export const EVENT_KIND = {
  /** T: value > threshold. */
  THRESHOLD: 1 << 0,
  /** C: absdiff(value, previous) > threshold. */
  CHANGE: 1 << 1,
  /** The path differs from the flow's previous one. Value and previous are the path lengths. */
  PATH: 1 << 2,
  /** Set for an event of the whole path: end-to-end latency, path change. */
  END_TO_END: 1 << 4,
  IPV6: 1 << 5,
  /** Bits 8-15: index of the metric in the cache's list; for END_TO_END 0. */
  METRIC_SHIFT: 8,
  METRIC_MASK: 0xff,
  /** Bits 16-23: position on the path, 0 = INT source. */
  HOP_SHIFT: 16,
  HOP_MASK: 0xff,
  /** Bits 24-31. */
  PROTOCOL_SHIFT: 24,
} as const;

/**
 * Words of a threshold table: for each metric the thresholds of T and of C; those of the end-to-end latency; then a
 * word that is not 0 if path changes are events. All ones means never: no value is above it.
 */
export const THRESHOLDS = {
  METRICS: 0,
  END_TO_END: 2 * MAX_METRICS,
  PATH: 2 * MAX_METRICS + 2,
  WORDS: 32,
} as const;

/** A cache's dimensions, and what follows from them. Strides and offsets count words. */
export interface CacheGeometry {
  readonly layout: LayoutName;
  readonly rows: number;
  readonly buckets: number;
  readonly hops: number;
  readonly metrics: readonly MetricName[];
  readonly rowStride: number;
  readonly bucketStride: number;
  readonly hopStride: number;
  /** Offset of hop 0 in a bucket. */
  readonly hopsAt: number;
  readonly rowsAt: number;
  readonly bucketsAt: number;
  /** Words of the cache in all. */
  readonly words: number;
  readonly byteLength: number;
}

/** What {@link geometryOf} takes. */
export interface Dimensions {
  /** Rows, 1 to 2^28. Default 2^19. */
  readonly rows?: number;
  /** Buckets in a row, 1 to 64. Default 12. */
  readonly buckets?: number;
  /** Hops an entry follows, 1 to 64. Default 5. */
  readonly hops?: number;
  /** Metrics an entry follows, 1 to 8. Default: hop latency, queue occupancy and egress utilization. */
  readonly metrics?: readonly MetricName[];
  /** Default `exact`. */
  readonly layout?: LayoutName;
}

export const DEFAULT_METRICS = ['hopLatency', 'queueOccupancy', 'egressUtilization'] as const satisfies MetricName[];

/** @throws RangeError if an option is no integer of its range */
export function checkedInteger(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
  return value;
}

/** Words of a row: a power of two up to a cache line, whole lines above. */
function rowStrideOf(buckets: number): number {
  const words = buckets + Math.ceil(buckets / 4);
  return words > 16 ? Math.ceil(words / 16) * 16 : 2 ** Math.ceil(Math.log2(words));
}

/**
 * The layout of a cache.
 *
 * A bucket of the exact layout is rounded up to half a cache line, so that its entry touches no more lines than it
 * must; one of the compact layout to 8 bytes. With 5 hops and the default metrics that is 352 and 200 bytes.
 *
 * @throws RangeError for a dimension out of range, an unknown metric or one named twice, or a cache of more than 8 GiB
 */
export function geometryOf(dimensions: Dimensions = {}): CacheGeometry {
  const { layout = 'exact', metrics = DEFAULT_METRICS } = dimensions;
  if (!LAYOUTS.includes(layout)) throw new RangeError(`layout must be one of ${LAYOUTS.join(', ')}, not ${layout}`);
  const rows = checkedInteger('rows', dimensions.rows ?? 1 << 19, 1, 2 ** 28);
  const buckets = checkedInteger('buckets', dimensions.buckets ?? 12, 1, MAX_BUCKETS);
  const hops = checkedInteger('hops', dimensions.hops ?? 5, 1, MAX_HOPS);
  checkedInteger('the number of metrics', metrics.length, 1, MAX_METRICS);
  metrics.forEach((name, index) => {
    metricOf(name);
    if (metrics.indexOf(name) !== index) throw new RangeError(`metric '${name}' is named twice`);
  });
  const hopStride = hopWords(layout, metrics.length);
  const hopsAt = fieldsOf(layout).HOPS;
  const unit = layout === 'exact' ? 8 : 2;
  const bucketStride = Math.ceil((hopsAt + hops * hopStride) / unit) * unit;
  const rowStride = rowStrideOf(buckets);
  const bucketsAt = Math.ceil((HEADER_WORDS + rows * rowStride) / 16) * 16;
  const words = bucketsAt + rows * buckets * bucketStride;
  if (words > MOST_WORDS) {
    throw new RangeError(`a cache of these dimensions has ${words * 4} bytes, more than ${MOST_WORDS * 4}`);
  }
  return {
    layout,
    rows,
    buckets,
    hops,
    metrics: [...metrics],
    rowStride,
    bucketStride,
    hopStride,
    hopsAt,
    rowsAt: HEADER_WORDS,
    bucketsAt,
    words,
    byteLength: words * 4,
  };
}

/** The words of a header, up to its counters, as they are in an empty cache. */
export function headerOf(geometry: CacheGeometry, hash: HashName, seed: number): Int32Array {
  const { layout, rows, buckets, hops, metrics, rowStride, bucketStride, rowsAt, bucketsAt } = geometry;
  const header = new Int32Array(COUNTER_WORDS);
  header.set([MAGIC, LAYOUT_VERSION, LAYOUTS.indexOf(layout), rows, buckets, hops, metrics.length]);
  header.set([HASHES.indexOf(hash), seed, rowStride, bucketStride, rowsAt, bucketsAt], HEADER.HASH);
  header.set(metricWords(metrics), METRIC_WORDS);
  return header;
}

/** The two words of a metric. */
function wordsOf({ columnIndex, pairIndex }: Metric): readonly [number, number] {
  return [columnIndex, pairIndex < 0 ? columnIndex : pairIndex];
}

/** The two words of each metric, as {@link METRIC_WORDS} says. */
export function metricWords(metrics: readonly MetricName[]): number[] {
  return metrics.flatMap((name) => wordsOf(metricOf(name)));
}

/** The metrics of words that {@link metricWords} wrote, or `null`. */
export function metricsOf(words: Int32Array, count: number): MetricName[] | null {
  if (!(count >= 1 && count <= MAX_METRICS)) return null;
  const names: MetricName[] = [];
  for (let at = 0; at < 2 * count; at += 2) {
    const found = METRICS.find((metric) => {
      const [column, pair] = wordsOf(metric);
      return column === words[at] && pair === words[at + 1];
    });
    if (found === undefined) return null;
    names.push(found.name);
  }
  return names;
}

/** Index of the hop columns that every cache reads. */
export const NODE_COLUMN: number = /* @__PURE__ */ HOP_COLUMNS.indexOf('nodeId');
export const LATENCY_COLUMN: number = /* @__PURE__ */ HOP_COLUMNS.indexOf('hopLatency');
