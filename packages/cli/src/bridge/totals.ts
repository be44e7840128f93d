/** Reasons for not forwarding a frame. */
export const DROP_REASONS = [
  /** The INT header ends the packet here: the D bit, or the mark of a copy. */
  'discard',
  /** The outgoing interface had no room, even after a wait. */
  'tx-full',
  /** The outgoing interface is down or away, or has failed. */
  'failed',
] as const;
export type BridgeDrop = (typeof DROP_REASONS)[number];

/**
 * The counters of one direction. Between batches, `received` = `forwarded` + the sum of `dropped`. Always, `forwarded`
 * = `plain` + `stripped` + `unstripped`.
 */
export class ForwarderTotals {
  received = 0;
  forwarded = 0;
  /** Frames without INT, forwarded unchanged. */
  plain = 0;
  /** Frames forwarded after their INT was removed. */
  stripped = 0;
  /** Frames with errors, or with INT in a fragment, forwarded unchanged. */
  unstripped = 0;
  readonly dropped: Record<BridgeDrop, number> = { discard: 0, 'tx-full': 0, failed: 0 };

  get droppedCount(): number {
    return DROP_REASONS.reduce((sum, reason) => sum + this.dropped[reason], 0);
  }

  /**
   * Counts forwarded frames as failed that did not leave. Their kinds are unknown; frames without INT are taken first.
   */
  takeBack(unsent: number): void {
    // Some frames of the current batch may not be counted yet.
    const frames = Math.min(unsent, this.forwarded);
    this.forwarded -= frames;
    this.dropped.failed += frames;
    const stripped = Math.min(frames, this.stripped);
    const plain = Math.min(frames - stripped, this.plain);
    this.stripped -= stripped;
    this.plain -= plain;
    this.unstripped -= frames - stripped - plain;
  }

  add(other: ForwarderTotals): void {
    this.received += other.received;
    this.forwarded += other.forwarded;
    this.plain += other.plain;
    this.stripped += other.stripped;
    this.unstripped += other.unstripped;
    for (const reason of DROP_REASONS) this.dropped[reason] += other.dropped[reason];
  }
}

export interface BridgeTotals {
  /** IN to OUT. */
  readonly inbound: ForwarderTotals;
  /** OUT to IN. */
  readonly returning: ForwarderTotals;
  /** Frames that the kernel dropped at IN before they were received; not part of `received`. */
  readonly kernelDropped: number;
  /** Frames that the kernel dropped at OUT before they were received. */
  readonly returnKernelDropped: number;
  readonly outages: { readonly in: number; readonly out: number };
}
