/**
 * Frames in memory: a source hands them over, `decode` reads them, and a batch then refers to them.
 *
 * The memory is that of the source, which says how long it is valid: that of a capture for good, that of a receive ring
 * until the next call.
 */
export interface Frames {
  /** The memory that all frames lie in. */
  readonly bytes: Uint8Array;
  /** First byte of each frame in `bytes`. */
  readonly offsets: Uint32Array;
  /** Bytes of each frame. */
  readonly lengths: Uint32Array;
  /**
   * Capture or arrival time in nanoseconds since 1970-01-01 00:00:00 UTC, upper 32 bits. Without it the times are 0.
   */
  readonly timestampsHigh?: Uint32Array;
  /** Lower 32 bits. */
  readonly timestampsLow?: Uint32Array;
  /** Frames held. Default: as many as `offsets` and `lengths` have rows. */
  readonly count?: number;
}
