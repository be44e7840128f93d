/** The layout of what the pipeline's thread and the dashboard's share. */
import { BUCKET_MS } from '../protocol/entities.js';

/** How much is retained. */
export interface RetentionOptions {
  /** Seconds to look back, 10 to 86,400. Default 600. */
  readonly seconds?: number;
  /**
   * Bytes for series, flows, whole reports and events together, 16 MiB to 64 GiB. Memory is taken as it is needed: a small
   * network needs a small part. Default 384 MiB, enough for 1,300 switches, queues and links over ten minutes.
   */
  readonly memoryBytes?: number;
  /** Flows with counts of their own, 16 to 2^20. Default 16,384. */
  readonly flows?: number;
}

/** Words of a cell: an entity in a bucket. A number that may be missing is stored plus one; 0 is none. */
export const CELL = {
  /** Generation << 24 | bucket modulo 2^24: the cell is of another time if it differs. */
  EPOCH: 0,
  REPORTS: 1,
  /** Bins of the quantiles, plus one: p50 | p99 << 16. */
  QUANTILES: 2,
  LATENCY_MAX: 3,
  OCCUPANCY: 4,
  UTILIZATION: 5,
  DROPS: 6,
  EVENTS: 7,
  WORDS: 8,
} as const;

/** Rows that are always there. */
export const ROW = { ALL: 0, OTHER_SWITCH: 1, OTHER_QUEUE: 2, OTHER_LINK: 3, FIRST: 4 } as const;

/** Kinds of rows. */
export const KIND = { FREE: 0, SWITCH: 1, QUEUE: 2, LINK: 3, FIXED: 4 } as const;

/** Words of the header that are read and written as 32-bit integers. */
export const SIGNAL = {
  /** Counts changes of {@link NUMBER}s at the end of a bucket. */
  BUCKETS: 0,
  /** Odd while the keys of rows change. */
  ROWS: 1,
  /** Not 0: all reports are wanted, not a sample only. */
  TAP: 2,
  /** Changes of the keys of flows, as {@link SIGNAL.ROWS}. */
  FLOWS: 3,
  WORDS: 16,
} as const;

/** 64-bit floats of the header: the pipeline's thread writes them. */
export const NUMBER = {
  /** The last bucket that is complete. */
  CLOSED: 0,
  /** The first bucket retained since the start, or since time was set back. */
  FIRST: 1,
  /** Time of the newest report, in milliseconds. */
  TIME: 2,
  GENERATION: 3,
  REPORTS: 4,
  HOPS: 5,
  EVENTS: 6,
  DROPS: 7,
  /** Reports of a bucket that was complete: counted, but not part of its quantiles. */
  LATE: 8,
  /** Times that time was set back further than is retained. */
  RESTARTS: 9,
  /** Passages of entities without a row. */
  OTHER_SWITCHES: 10,
  OTHER_QUEUES: 11,
  OTHER_LINKS: 12,
  /** Reports of flows beyond the table. */
  UNTRACKED_FLOWS: 13,
  /** Reports that were to be kept, and events, while the dashboard's thread was behind. */
  BUSY_REPORTS: 14,
  BUSY_EVENTS: 15,
  /** Reports not handed to packet-level subscriptions for the same reason. */
  TAP_MISSED: 16,
  /** Reports that were restarted away: of earlier time lines. */
  FORGOTTEN: 17,
  /** Events apart that are in no series: too many waited for their bucket to come, or it is no longer retained. */
  EVENTS_AHEAD: 18,
  EVENTS_BEFORE: 19,
  WORDS: 32,
} as const;

/** Columns of the flow table. */
export const FLOW_WORDS = [
  'source0',
  'source1',
  'source2',
  'source3',
  'destination0',
  'destination1',
  'destination2',
  'destination3',
  'ports',
  'protocol',
  'reports',
  'events',
  'generation',
] as const;
export type FlowWord = (typeof FLOW_WORDS)[number];

export const FLOW_KIND = { IPV4: 1, IPV6: 2 } as const;

export interface Geometry {
  readonly seconds: number;
  readonly memoryBytes: number;
  /** Buckets of the ring: some more than are read, so that none is written while it is read. */
  readonly buckets: number;
  /** Buckets that may be read. */
  readonly readable: number;
  readonly rows: number;
  readonly flows: number;
  /** Bytes for whole reports, and for those with events. */
  readonly sampleBytes: number;
  readonly eventBytes: number;
}

/** Buckets between the oldest that is read and the one that is written. */
const SLACK = 16;
const MIB = 1 << 20;
const MOST_ROWS = 1 << 16;

/** @throws RangeError for an option out of range */
export function geometryOf({
  seconds = 600,
  memoryBytes = 384 * MIB,
  flows = 1 << 14,
}: RetentionOptions = {}): Geometry {
  check('seconds', seconds, 10, 86_400);
  check('memoryBytes', memoryBytes, 16 * MIB, 64 * 1024 * MIB);
  check('flows', flows, 16, 1 << 20);
  const readable = (seconds * 1000) / BUCKET_MS;
  let buckets = readable + SLACK;
  // A number of buckets that does not divide 2^24: a cell of long ago cannot pass for one of now.
  if (2 ** 24 % buckets === 0) buckets++;
  const bytesOfRow = buckets * CELL.WORDS * 4;
  const left = memoryBytes - flows * (FLOW_WORDS.length * 4 + 16);
  const rows = Math.min(MOST_ROWS, Math.floor((left * 2) / 3 / bytesOfRow));
  if (left <= 0 || rows < ROW.FIRST + 12) {
    throw new RangeError(`memoryBytes of ${memoryBytes} are too few for ${seconds} seconds and ${flows} flows`);
  }
  const rest = left - rows * bytesOfRow;
  return {
    seconds,
    memoryBytes,
    buckets,
    readable,
    rows,
    flows,
    sampleBytes: Math.floor(rest / 2),
    eventBytes: Math.floor(rest / 2),
  };
}

function check(name: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be a whole number from ${least} to ${most}, not ${value}`);
  }
}

/** What is shared, for `postMessage`. */
export interface SharedRetention {
  readonly geometry: Geometry;
  readonly header: SharedArrayBuffer;
  readonly cells: SharedArrayBuffer;
  readonly keys: SharedArrayBuffer;
  readonly flows: SharedArrayBuffer;
}

export function shareRetention(geometry: Geometry): SharedRetention {
  const { rows, buckets, flows } = geometry;
  return {
    geometry,
    header: new SharedArrayBuffer(SIGNAL.WORDS * 4 + NUMBER.WORDS * 8),
    cells: new SharedArrayBuffer(rows * buckets * CELL.WORDS * 4),
    keys: new SharedArrayBuffer(rows * (5 * 4 + 8) + 8),
    flows: new SharedArrayBuffer(flows * (FLOW_WORDS.length * 4 + 16) + 8),
  };
}

/** Views of the header. */
export function headerOf({ header }: SharedRetention): {
  readonly signals: Int32Array;
  readonly numbers: Float64Array;
} {
  return {
    signals: new Int32Array(header, 0, SIGNAL.WORDS),
    numbers: new Float64Array(header, SIGNAL.WORDS * 4, NUMBER.WORDS),
  };
}

/** Keys of rows: `kind`, four words, and the first bucket that the row is of this key. */
export interface KeyColumns {
  readonly kind: Uint32Array;
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly c: Uint32Array;
  readonly d: Uint32Array;
  readonly since: Float64Array;
}

export function keysOf({ keys, geometry: { rows } }: SharedRetention): KeyColumns {
  const column = (index: number): Uint32Array => new Uint32Array(keys, index * rows * 4, rows);
  return {
    kind: column(0),
    a: column(1),
    b: column(2),
    c: column(3),
    d: column(4),
    since: new Float64Array(keys, Math.ceil((5 * rows * 4) / 8) * 8, rows),
  };
}

export interface FlowTableColumns {
  readonly words: Readonly<Record<FlowWord, Uint32Array>>;
  /** Times in milliseconds. */
  readonly firstMs: Float64Array;
  readonly lastMs: Float64Array;
}

export function flowColumnsOf({ flows: buffer, geometry: { flows } }: SharedRetention): FlowTableColumns {
  const words = Object.fromEntries(
    FLOW_WORDS.map((name, index) => [name, new Uint32Array(buffer, index * flows * 4, flows)]),
  ) as Record<FlowWord, Uint32Array>;
  const at = Math.ceil((FLOW_WORDS.length * flows * 4) / 8) * 8;
  return {
    words,
    firstMs: new Float64Array(buffer, at, flows),
    lastMs: new Float64Array(buffer, at + flows * 8, flows),
  };
}

/** The first word of a cell. */
export function epochOf(generation: number, bucket: number): number {
  return (((generation & 0xff) << 24) | (bucket % 0x100_0000)) >>> 0;
}
