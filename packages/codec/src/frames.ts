/**
 * Frames as they lie in memory: what a source hands over, what `decode` reads and what a batch then refers to.
 *
 * The memory is the source's, and the source says how long it stays valid: a capture's for good, a receive ring's until the next
 * call.
 */
export interface Frames {
  /** The memory that all frames lie in. */
  readonly bytes: Uint8Array;
  /** First byte of each frame in `bytes`. */
  readonly offsets: Uint32Array;
  /** Bytes of each frame. */
  readonly lengths: Uint32Array;
  /** Capture or arrival time in nanoseconds since 1970-01-01 00:00:00 UTC, upper 32 bits. Without it the times are 0. */
  readonly timestampsHigh?: Uint32Array;
  /** Lower 32 bits. */
  readonly timestampsLow?: Uint32Array;
  /** Frames held. Default: as many as `offsets` and `lengths` have rows. */
  readonly count?: number;
}
