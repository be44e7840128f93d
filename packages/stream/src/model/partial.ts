/**
 * What one flow side tells the network side of one slice of time. Plain data; every list is in ascending order of its ids, so
 * that equal contents are equal bytes. Times are whole microseconds since the epoch.
 */
export interface NetworkPartial {
  /** Which flow side; 0 to 2^32 - 1. */
  readonly side: number;
  /** Number of the slice: its time divided by the length of a slice. Each side tells of a slice once, in ascending order. */
  readonly slice: number;
  /** Length of a slice in microseconds. */
  readonly sliceUs: number;
  readonly switches: readonly PartialSwitch[];
  readonly links: readonly PartialLink[];
  readonly queues: readonly PartialQueue[];
  readonly reporters: readonly PartialReporter[];
  /** What there was no room for. */
  readonly refused: PartialRefusals;
}

export interface PartialRefusals {
  readonly switches: number;
  readonly links: number;
  readonly queues: number;
  /** Sequence numbers; if not 0, gaps of this slice mean nothing. */
  readonly sequences: number;
  /** Reports too late for the slice they belong to. */
  readonly late: number;
}

export interface PartialSwitch {
  readonly nodeId: number;
  readonly reports: number;
  readonly lastSeenUs: number;
  /** Hop latencies: count, sum, smallest, largest; the last two are 0 if there are none. */
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** Pairs of a bucket's number and its count, buckets ascending, no count 0. */
  readonly buckets: readonly number[];
}

export interface PartialLink {
  readonly from: number;
  readonly to: number;
  readonly packets: number;
  readonly lastSeenUs: number;
  /** The 8 flows seen last: pairs of a flow's hash and its time, latest first, then by hash. */
  readonly flows: readonly number[];
}

export interface PartialQueue {
  readonly nodeId: number;
  readonly queueId: number;
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly congested: number;
}

export interface PartialReporter {
  readonly nodeId: number;
  readonly hwId: number;
  /** Bits of a sequence number: 22 or 32. */
  readonly bits: number;
  /** Pairs of a block's number and 32 bits: bit k of block b says that sequence number 32 b + k was seen. Blocks ascend. */
  readonly blocks: readonly number[];
}
