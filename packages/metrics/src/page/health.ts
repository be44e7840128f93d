import type { DegradedPart } from '@int/collector';

/** The health of the process. */
export interface Health {
  /** If false, a supervisor may restart the process. */
  readonly healthy: boolean;
  /** `ok`, `degraded` or `failing`, as `healthOf` of @int/collector has it. */
  readonly status?: string;
  /** The degraded states of the process's parts now. */
  readonly degraded?: readonly DegradedPart[];
  /** Details that explain the status, as JSON. */
  readonly detail?: unknown;
}
