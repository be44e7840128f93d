import type { DegradedPart } from '@int/collector';

/** How the process is. */
export interface Health {
  /** False: whoever restarts processes may restart this one. */
  readonly healthy: boolean;
  /** `ok`, `degraded` or `failing`, as `healthOf` of @int/collector has it. */
  readonly status?: string;
  /** What the parts of the process suffer from now. */
  readonly degraded?: readonly DegradedPart[];
  /** Whatever helps to see why, as JSON. */
  readonly detail?: unknown;
}
