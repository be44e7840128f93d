/**
 * A piece of a side's state. All pieces, each in its latest form, make up the side: what was written last under a key
 * counts, and `null` says that there is nothing under it any more.
 */
export interface StateChange {
  /** 1 to 64 bytes; belongs to the taker. */
  readonly key: Uint8Array;
  readonly value: Uint8Array | null;
}
