/** Detectors that look at time as well as at reports, as rules give them. */
import type { Season } from '@int/baseline';
import type { MetricName } from '@int/codec';

/** What a watch keeps apart: each switch, each queue of one, each link (switch and egress interface), each flow; `all`: nothing. */
export type WatchKey = 'switch' | 'queue' | 'link' | 'flow' | 'all';

/** A detector that keeps state over time, by key. */
export type WatchConfig =
  | {
      /** The median of a window of a second is a multiple of what is usual for its key; see `@int/baseline`. */
      readonly kind: 'baseline';
      readonly metric: MetricName;
      /** Multiples of the usual: above 1, and from 0 to 1. At least one of them is a number. */
      readonly above: number | null;
      readonly below: number | null;
      readonly key: Exclude<WatchKey, 'all'>;
      readonly learnMs: number;
      readonly season: Season;
    }
  | {
      /** So many reports, events or drop reports a second. */
      readonly kind: 'rate';
      readonly above: number;
      readonly of: 'reports' | 'events' | 'drops';
      readonly key: WatchKey;
    }
  | {
      /** A key that has been seen, and then is not seen for a time. */
      readonly kind: 'absent';
      readonly key: 'switch' | 'flow';
      readonly forMs: number;
    }
  | {
      /** A metric goes above a threshold and falls below it again within a time: a microburst. */
      readonly kind: 'burst';
      readonly metric: MetricName;
      /** In device units. */
      readonly above: number;
      readonly withinNs: number;
      readonly key: 'switch' | 'queue' | 'link';
    };

export type Severity = 'info' | 'warning' | 'critical';

/** How the findings of a rule become events with a beginning and an end. */
export interface Lifecycle {
  readonly severity: Severity;
  /** What has a beginning and an end; `null`: what the detector keeps apart (hop: switch, flow: flow). */
  readonly key: WatchKey | null;
  /** Findings have to go on for so long before the event begins; 0: at once. */
  readonly forMs: number;
  /** The event ends when the value is at or below this, in device units (hysteresis); `null`: when findings stop. */
  readonly clear: number | null;
  /** An event that goes on is told again after so long; `null`: only its beginning and its end. */
  readonly everyMs: number | null;
}
