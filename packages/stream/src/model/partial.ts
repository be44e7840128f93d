/**
 * A message from a flow side to the network side: what the side saw in one slice of time, or a part of it, and the
 * side's progress. Plain data. Every list is in ascending order of its ids, so equal contents give equal bytes. Times
 * are whole microseconds since the epoch.
 */
export interface NetworkPartial extends SliceContents {
  /** Number of the flow side: 0 to 2^32 - 1. */
  readonly side: number;
  /** Number of the partial. It increases with each partial of the side. A number that does not is a repeat. */
  readonly number: number;
  /** Length of a slice in microseconds. */
  readonly sliceUs: number;
  /**
   * The first slice that is still open. The side has sent everything it received for earlier slices. Late reports may
   * add to them.
   */
  readonly closed: number;
  /**
   * Whether nothing is known to be missing in the slices that this partial closes: those from `closed` of the previous
   * partial on.
   */
  readonly whole: boolean;
  /**
   * Whether the side receives nothing any more. The network side does not wait for it until it sends another partial.
   */
  readonly ended: boolean;
  /**
   * Slices that were reported as whole and are not: the first one, and the one after the last. `null` if there are
   * none.
   */
  readonly broken: readonly [number, number] | null;
}

/** The observations of one slice of time. */
export interface SliceContents {
  /** Number of the slice: its start time divided by the length of a slice. */
  readonly slice: number;
  readonly switches: readonly PartialSwitch[];
  readonly links: readonly PartialLink[];
  readonly queues: readonly PartialQueue[];
  readonly reporters: readonly PartialReporter[];
  /** Counts of what was left out, for lack of room or because it came late. */
  readonly refused: PartialRefusals;
}

export interface PartialRefusals {
  readonly switches: number;
  readonly links: number;
  readonly queues: number;
  /** Sequence numbers. If this is not 0, gaps in this slice are no evidence of loss. */
  readonly sequences: number;
  /** Reports that came too late for their slice. Only a side with `clock: 'reports'` counts them here. */
  readonly late: number;
}

export function noRefusals(): { -readonly [What in keyof PartialRefusals]: number } {
  return { switches: 0, links: 0, queues: 0, sequences: 0, late: 0 };
}

export function isNone(refused: PartialRefusals): boolean {
  return Object.values(refused).every((count) => count === 0);
}

export interface PartialSwitch {
  readonly nodeId: number;
  readonly reports: number;
  readonly lastSeenUs: number;
  /** Hop latencies: count, sum, minimum, maximum. The last two are 0 if there are none. */
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** Pairs of a bucket number and its count. Buckets ascend; counts of 0 are left out. */
  readonly buckets: readonly number[];
}

export interface PartialLink {
  readonly from: number;
  readonly to: number;
  readonly packets: number;
  readonly lastSeenUs: number;
  /**
   * The 8 flows seen last, as pairs of the flow's hash and its time. The latest comes first; equal times are ordered by
   * hash.
   */
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
  /**
   * Pairs of a block number and a 32-bit mask. Bit k of block b is set if sequence number 32 b + k was seen. Blocks
   * ascend.
   */
  readonly blocks: readonly number[];
}
