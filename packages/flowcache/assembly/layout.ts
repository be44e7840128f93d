/** The words of a bucket and of an event as byte offsets: see ../src/layout.ts. */

export const EXACT_DESTINATION: usize = 16;
/** The word behind the ports is META. */
export const EXACT_PORTS: usize = 32;
export const EXACT_META: usize = 36;
export const EXACT_PACKETS: usize = 40;
export const EXACT_FIRST: usize = 48;
export const EXACT_TAIL: usize = 64;
export const EXACT_BEYOND: usize = 68;
export const EXACT_END_TO_END: usize = 72;
export const EXACT_END_TO_END_COUNT: usize = 76;
export const EXACT_END_TO_END_SUM: usize = 80;
export const EXACT_HOPS: usize = 88;

export const COMPACT_PORTS: usize = 8;
export const COMPACT_META: usize = 12;
export const COMPACT_PACKETS: usize = 16;
export const COMPACT_FIRST: usize = 24;
export const COMPACT_HOPS: usize = 40;

// From PACKETS on, both layouts are alike.
export const PATH_CHANGES: usize = 4;
export const FIRST: usize = 8;
export const LAST: usize = 16;

export const META_KEY: u32 = 0x1ff;
export const META_IPV6: u32 = 0x100;
export const META_SEEN_SHIFT: u32 = 9;
export const META_SEEN: u32 = 0x7f;
export const META_LENGTH_SHIFT: u32 = 16;
export const META_LENGTH: u32 = 0xff;
export const META_REASON_SHIFT: u32 = 24;

export const EVICTED: u32 = 1;
export const RETIRED: u32 = 3;

export const EVENT_BYTES: usize = 64;
export const EVENT_NODE: usize = 4;
export const EVENT_VALUE: usize = 8;
export const EVENT_PREVIOUS: usize = 12;
export const EVENT_TIME: usize = 16;
export const EVENT_PORTS: usize = 24;
export const EVENT_THRESHOLD: usize = 28;
export const EVENT_SOURCE: usize = 32;
export const EVENT_DESTINATION: usize = 48;

export const KIND_LEVEL: u32 = 1;
export const KIND_CHANGE: u32 = 2;
export const KIND_PATH: u32 = 4;
export const KIND_END_TO_END: u32 = 16;
export const KIND_IPV6: u32 = 32;
export const KIND_METRIC_SHIFT: u32 = 8;
export const KIND_HOP_SHIFT: u32 = 16;
export const KIND_PROTOCOL_SHIFT: u32 = 24;

/** Two words for each metric, then those of the end-to-end latency, then that of path changes. */
export const LIMITS_END_TO_END: usize = 64;
export const LIMITS_PATH: usize = 72;

/** Counters of 64 bits, from the start of the header. */
export const OFFERED: usize = 256;
export const HITS: usize = 264;
export const INSERTED: usize = 272;
export const LIVE: usize = 280;
export const NOT_OK: usize = 368;
export const NO_FLOW: usize = 376;
export const UNSUPPORTED_IPV6: usize = 384;
export const HOPS_BEYOND: usize = 392;
export const PATH_CHANGED: usize = 400;
