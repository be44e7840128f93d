/** Who has stopped the loop, and why. */
export interface EmergencyStop {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  readonly by: string;
  readonly reason: string;
}
