/** Where the reports of a batch came from, as a collector hands it on; who needs none of it does without. */
export interface BatchInput {
  /** Time of each frame in nanoseconds since the epoch, upper and lower word. */
  readonly timestampsHigh: Uint32Array;
  readonly timestampsLow: Uint32Array;
  /** Row of the batch's frame 0 in the timestamps. */
  readonly first: number;
  /** The bytes that the batch was decoded from, for those who look at MAC addresses. */
  readonly bytes?: Uint8Array;
}
