/**
 * What one flow side tells the network side of one slice of time, or a part of it, and how far it is. Plain data; every list
 * is in ascending order of its ids, so that equal contents are equal bytes. Times are whole microseconds since the epoch.
 */
export interface NetworkPartial extends SliceContents {
  /** Which flow side; 0 to 2^32 - 1. */
  readonly side: number;
  /** Larger than that of the side's partial before: what comes with a number that is not is a repeat. */
  readonly number: number;
  /** Length of a slice in microseconds. */
  readonly sliceUs: number;
  /** The first slice that is still open: of those before it everything was told that has come. More may come late. */
  readonly closed: number;
  /** Nothing is known to be missing of the slices that this partial closes: those from `closed` of the one before on. */
  readonly whole: boolean;
  /** The side sees nothing any more, and nobody needs to wait for it until it tells of something again. */
  readonly ended: boolean;
  /** Slices that were told of as whole before and are not, the first and the one behind the last; `null`: none. */
  readonly broken: readonly [number, number] | null;
}

/** What was seen in one slice of time. */
export interface SliceContents {
  /** Number of the slice: its time divided by the length of a slice. */
  readonly slice: number;
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
  /** Reports too late for the slice they belong to, which a side whose clock goes by reports does not tell of. */
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
