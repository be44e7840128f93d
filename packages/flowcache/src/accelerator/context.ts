/** The context block of the accelerator: words, in the order of `assembly/context.ts`. */
import { type CacheGeometry, COMPACT, EXACT, LATENCY_COLUMN, metricWords } from '../layout.js';

export const CONTEXT = {
  REGION: 0,
  ROWS: 1,
  ROW_MASK: 2,
  ROWS_AT: 3,
  ROW_STRIDE: 4,
  BUCKETS: 5,
  BUCKETS_AT: 6,
  BUCKET_STRIDE: 7,
  HOPS: 8,
  HOPS_AT: 9,
  HOP_STRIDE: 10,
  METRICS: 11,
  SEED: 12,
  IS_EXACT: 13,
  LANES: 14,
  WIDE: 15,
  THRESHOLDS: 16,
  ENTRIES: 17,
  ENTRY_CAPACITY: 18,
  EVENTS: 19,
  EVENT_LIMIT: 20,
  ENTRY_COUNT: 21,
  EVENT_COUNT: 22,
  IS_LATENCY_FIRST: 23,
  CODE: 24,
  HOP_COUNT: 25,
  PROTOCOL: 26,
  FLAGS: 27,
  NODE: 28,
  HOP_START: 29,
  PORTS: 30,
  SOURCE: 31,
  DESTINATION: 32,
  REPORT_STRIDE: 33,
  HOP_BASE: 34,
  HOP_ROWS: 35,
  HOP_NODE: 36,
  HOP_LATENCY: 37,
  TIME_INDEX: 38,
  TIME_BASE: 39,
  TIME_COUNT: 40,
  TIMES_LOW: 41,
  TIMES_HIGH: 42,
  HASHES: 43,
  PLACES: 44,
  /** Two words a metric: addresses of its column and of the other half's. */
  METRIC: 48,
  LANE_ONES: 84,
  RANK_ONES: 88,
  BYTES: 92,
  NOWHERE: 108,
} as const;
/** Ends with the last values of 64 hops with 8 metrics. */
export const CONTEXT_WORDS = 128 + 64 * 8;

/** The accelerator keeps so many words of a report on its way. */
export const PLACE_WORDS = 8;

/** Most reports that the accelerator takes at once. */
export const BLOCK = 256;

/** Metrics in one vector: one to four, if none is half of a pair; else 0. */
function lanesOf(metrics: readonly number[]): number {
  const count = metrics.length / 2;
  if (count > 4) return 0;
  for (let at = 0; at < metrics.length; at += 2) {
    if (metrics[at + 1] !== metrics[at]) return 0;
  }
  return count;
}

/** Writes the part that never changes. Addresses are bytes. */
export function writeDimensions(context: Uint32Array, geometry: CacheGeometry, region: number, seed: number): void {
  const { rows, buckets, hops, rowStride, bucketStride, hopStride, rowsAt, bucketsAt, layout } = geometry;
  const metrics = metricWords(geometry.metrics);
  const lanes = lanesOf(metrics);
  context[CONTEXT.REGION] = region;
  context[CONTEXT.ROWS] = rows;
  context[CONTEXT.ROW_MASK] = (rows & (rows - 1)) === 0 ? rows - 1 : 0;
  context[CONTEXT.ROWS_AT] = region + rowsAt * 4;
  context[CONTEXT.ROW_STRIDE] = rowStride * 4;
  context[CONTEXT.BUCKETS] = buckets;
  context[CONTEXT.BUCKETS_AT] = region + bucketsAt * 4;
  context[CONTEXT.BUCKET_STRIDE] = bucketStride * 4;
  context[CONTEXT.HOPS] = hops;
  context[CONTEXT.HOPS_AT] = (layout === 'exact' ? EXACT.HOPS : COMPACT.HOPS) * 4;
  context[CONTEXT.HOP_STRIDE] = hopStride * 4;
  context[CONTEXT.METRICS] = geometry.metrics.length;
  context[CONTEXT.SEED] = seed;
  context[CONTEXT.IS_EXACT] = layout === 'exact' ? 1 : 0;
  context[CONTEXT.LANES] = lanes;
  context[CONTEXT.IS_LATENCY_FIRST] = metrics[0] === LATENCY_COLUMN ? 1 : 0;
  // The ranks begin behind the tags; reading and writing must end with the row.
  const hasWideRanks = buckets <= 16 && buckets + 4 <= rowStride;
  const hasWideRow = buckets <= 16 && rowStride >= 16;
  context[CONTEXT.WIDE] = (hasWideRanks ? 1 : 0) | (hasWideRow ? 2 : 0);
  const bytes = new Uint8Array(context.buffer, context.byteOffset);
  for (let byte = 0; byte < 16; byte++) {
    bytes[CONTEXT.RANK_ONES * 4 + byte] = byte < Math.ceil(buckets / 4) * 4 ? 0xff : 0;
    bytes[CONTEXT.BYTES * 4 + byte] = byte;
  }
  context.fill(0xffffffff, CONTEXT.NOWHERE, CONTEXT.NOWHERE + 16);
  context.fill(0xffffffff, CONTEXT.LANE_ONES, CONTEXT.LANE_ONES + lanes);
}
