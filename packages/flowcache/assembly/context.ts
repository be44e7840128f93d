/**
 * The context block: where everything lies. Filled by ../src/accelerator/context.ts in this order; addresses are bytes in
 * the one memory, strides are bytes.
 */

// The cache.
export const REGION: usize = 0;
export const ROWS: usize = 4;
/** Rows minus one if that is a mask, else 0. */
export const ROW_MASK: usize = 8;
export const ROWS_AT: usize = 12;
export const ROW_STRIDE: usize = 16;
export const BUCKETS: usize = 20;
export const BUCKETS_AT: usize = 24;
export const BUCKET_STRIDE: usize = 28;
export const HOPS: usize = 32;
export const HOPS_AT: usize = 36;
export const HOP_STRIDE: usize = 40;
export const METRICS: usize = 44;
export const SEED: usize = 48;
export const IS_EXACT: usize = 52;
/** Metrics if those are one to four, each the lower bits of its column: they go through one vector. Else 0. */
export const LANES: usize = 56;
/** Bit 0: ranks can be read and written 16 bytes at a time. Bit 1: a row has at most 16 buckets, and 64 bytes or more. */
export const WIDE: usize = 60;
export const THRESHOLDS: usize = 64;

// What is handed on.
export const ENTRIES: usize = 68;
export const ENTRY_CAPACITY: usize = 72;
export const EVENTS: usize = 76;
/** Events that may be in the outbox before a report. */
export const EVENT_LIMIT: usize = 80;
/** In and out: records in the outboxes. */
export const ENTRY_COUNT: usize = 84;
export const EVENT_COUNT: usize = 88;
/** Not 0 if the first metric is the hop latency. */
export const IS_LATENCY_FIRST: usize = 92;

// The batch: row r of a column is 4 r bytes behind the address.
export const CODE: usize = 96;
export const HOP_COUNT: usize = 100;
export const PROTOCOL: usize = 104;
export const FLAGS: usize = 108;
export const NODE: usize = 112;
export const HOP_START: usize = 116;
export const PORTS: usize = 120;
/** Word 0 of the addresses; words 1 to 3 are REPORT_STRIDE apart. */
export const SOURCE: usize = 124;
export const DESTINATION: usize = 128;
export const REPORT_STRIDE: usize = 132;
/** The first hop row that the hop columns hold, and how many they do. */
export const HOP_BASE: usize = 136;
export const HOP_ROWS: usize = 140;
export const HOP_NODE: usize = 144;
export const HOP_LATENCY: usize = 148;
/** A column that says where in the times a row's is, less TIME_BASE. */
export const TIME_INDEX: usize = 152;
export const TIME_BASE: usize = 156;
export const TIME_COUNT: usize = 160;
export const TIMES_LOW: usize = 164;
export const TIMES_HIGH: usize = 168;

// Room to work in.
/** Hash of each row, from the first one on. */
export const HASHES: usize = 172;
/** What is known of each report that concerns the cache: see PLACE. */
export const PLACES: usize = 176;

/** Two words a metric: hop column, column of the other half. */
export const METRIC: usize = 192;
// Vectors: kept here because the engine builds a vector constant anew, in several instructions, each time.
/** Ones in the lanes that hold a metric. */
export const LANE_ONES: usize = 336;
/** Ones in the bytes of the rank words. */
export const RANK_ONES: usize = 352;
/** 0, 1, 2 ... 15. */
export const BYTES: usize = 368;
// Filled by the accelerator.
export const LANE_LEVELS: usize = 384;
export const LANE_CHANGES: usize = 400;
/** Whether any metric has a threshold. */
export const IS_WATCHING: usize = 416;
/** Whether a report of the block is about an IPv6 flow. */
export const HAS_IPV6: usize = 420;
/** 64 bytes of ones, filled like the vectors: a bucket that is never the right one. */
export const NOWHERE: usize = 432;
/** What the report at hand found: for each hop, 8 words of last values. */
export const PREVIOUS: usize = 512;
export const PREVIOUS_BYTES: usize = 32;

/** A report on its way: row of the batch; tag; address of the cache's row; first bucket there. */
export const PLACE_BYTES: usize = 32;
export const PLACE_TAG: usize = 4;
export const PLACE_TAGS: usize = 8;
export const PLACE_FIRST: usize = 12;
/** The bucket it is probably in, and its address; for an empty bucket, NOWHERE. */
export const PLACE_BUCKET: usize = 16;
export const PLACE_FLOW: usize = 20;

export const FLAG_FLOW: u32 = 1 << 18;
export const FLAG_IPV6: u32 = 1 << 19;

export const NONE: u32 = 0xffffffff;
/** Returned where a batch says something that cannot be: nothing has been done then. */
export const BAD_HOPS: u32 = 0xffffffff;
export const BAD_TIMES: u32 = 0xfffffffe;

export let context: usize = 0;

/** Takes the address of the context block. */
export function attach(at: usize): void {
  context = at;
}

@inline
export function field(offset: usize): u32 {
  return load<u32>(context + offset);
}

@inline
export function address(offset: usize): usize {
  return <usize>load<u32>(context + offset);
}

/** Address of a row's cell in a column of words. */
@inline
export function cell(column: usize, row: u32): usize {
  return column + (<usize>row << 2);
}
