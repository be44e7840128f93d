/** Why a frame was not forwarded. */
export const DROP_REASONS = [
  /** The packet ends here, as its INT header says: the D bit, or the mark of a copy. */
  'discard',
  /** The interface it was to leave by had no room, also after waiting. */
  'tx-full',
  /** The interface it was to leave by is down, away, or failed. */
  'failed',
] as const;
export type BridgeDrop = (typeof DROP_REASONS)[number];

/**
 * The counters of one direction. `received` is `forwarded` and the sum of `dropped`, at all times but while a batch is
 * under way; `forwarded` is `plain`, `stripped` and `unstripped`.
 */
export class ForwarderTotals {
  received = 0;
  forwarded = 0;
  /** Forwarded as they came, without INT. */
  plain = 0;
  /** Forwarded without the INT that they carried. */
  stripped = 0;
  /** Forwarded as they came, though something in them was wrong, or INT stood in a fragment. */
  unstripped = 0;
  readonly dropped: Record<BridgeDrop, number> = { discard: 0, 'tx-full': 0, failed: 0 };

  /** Sum of `dropped`. */
  get droppedCount(): number {
    return DROP_REASONS.reduce((sum, reason) => sum + this.dropped[reason], 0);
  }

  /** Frames that were counted as forwarded have not left. Which of them is not known: those without INT now come first. */
  takeBack(unsent: number): void {
    // Of a batch that is under way some may not be counted yet.
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

/** Both directions. */
export interface BridgeTotals {
  /** IN to OUT. */
  readonly inbound: ForwarderTotals;
  /** OUT to IN. */
  readonly returning: ForwarderTotals;
  /** Frames the kernel dropped at IN before they were received; on top of `received`. */
  readonly kernelDropped: number;
  /** The same at OUT. */
  readonly returnKernelDropped: number;
  /** Times that each interface was down or away, one that lasts included. */
  readonly outages: { readonly in: number; readonly out: number };
}
