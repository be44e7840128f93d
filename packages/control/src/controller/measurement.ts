import type { ObservedFlow } from '../twin/rehearsal.js';

/** What telemetry says of the traffic in a window of time. */
export interface Measurement {
  /** End of the window, milliseconds since the epoch. */
  readonly timeMs: number;
  readonly seconds: number;
  /** Flows that came to the INT sinks; counts are of all packets, also of those that were not watched. */
  readonly flows: readonly ObservedFlow[];
  /** Flows of which packets were reported as dropped; counts are of reports. */
  readonly dropped: readonly ObservedFlow[];
  /** Age of the newest report at `timeMs`, in milliseconds; infinite: there was none. */
  readonly ageMs: number;
  /** Share of reports that were lost. */
  readonly loss: number;
}
