import type { MetricName } from '@int/codec';
import type { Severity, WatchKey } from '../watch/config.js';

/**
 * Rules as people write them: the shape of `rules.yaml`, and of objects in a program.
 *
 * A quantity is a number in the unit of the device, or text with a unit, such as `10us`, `80%` or `64KiB`. Text needs
 * the metric's scale in `units`.
 */
export interface RulesSpec {
  readonly version: 1 | 2;
  /**
   * Version 2. `first`, the default: the matching rule of highest priority decides alone. `all`: every rule that matches
   * looks.
   */
  readonly decide?: 'first' | 'all';
  /** Where an editor finds the JSON Schema of this file; not read. */
  readonly $schema?: string;
  /** What happens to reports that no rule matches. Default `report`. */
  readonly default?: 'report' | 'drop';
  readonly units?: UnitsSpec;
  /** Events a second of all rules together, held by moving the thresholds of the rules that have `adapt`. */
  readonly adapt?: { readonly target: QuantitySpec };
  readonly rules: readonly RuleSpec[];
}

/** A number of device units, or text with a unit. */
export type QuantitySpec = number | string;

/** What one device unit of a metric is. */
export type ScaleSpec =
  /** A unit: `ns`, `us`, `10ns`, `B`, `cells`, `%`. */
  | string
  /** A queue or buffer that counts cells of so many bytes: `80B`. */
  | { readonly cell: QuantitySpec }
  /** The value that stands for 100 %. */
  | { readonly full: number };

export type UnitsSpec = {
  readonly [M in MetricName]?:
    | ScaleSpec
    /** Another scale for some switches, by switch id. */
    | { readonly default: ScaleSpec; readonly switches: { readonly [switchId: string]: ScaleSpec } };
};

export interface RuleSpec {
  readonly name: string;
  /** With `decide: all` it may be missing; it is 0 then. */
  readonly priority?: number;
  readonly match: 'any' | MatchSpec;
  readonly detect: DetectSpec;
  /** One report in n of each flow, or at most one per interval: text with a unit of time, as `1ms`. */
  readonly sample?: { readonly oneIn: number } | { readonly every: string };
  readonly adapt?: { readonly target: QuantitySpec; readonly min: QuantitySpec; readonly max: QuantitySpec };
  /** Version 2: how findings become events with a beginning and an end. Durations are text, as `10s`. */
  readonly for?: string;
  readonly clear?: QuantitySpec;
  readonly every?: string;
  /** Default `warning`. */
  readonly severity?: Severity;
  readonly key?: WatchKey;
}

/** A number, text (a range, a name), or a list of both. */
type IdsSpec = number | string | readonly (number | string)[];

export interface MatchSpec {
  /** `tcp`, `udp`, `icmp`, `icmpv6`, `sctp`, another name or number, or `any`. */
  readonly protocol?: string | number;
  /** Address or prefix, IPv4 or IPv6, or `any`. */
  readonly source?: string;
  readonly destination?: string;
  /** Port, range `80-443`, or `any`. */
  readonly sourcePort?: string | number;
  readonly destinationPort?: string | number;
  /** `02:00:00:00:00:01`, or `any`. */
  readonly sourceMac?: string;
  readonly destinationMac?: string;
  /** Version 2. Ids, ranges `3-5` and names of the topology: only hops that fit are looked at. */
  readonly switch?: IdsSpec;
  readonly queue?: IdsSpec;
  readonly egressInterface?: IdsSpec;
  /** Version 2. 0 to 63, ranges, names as `ef`. */
  readonly dscp?: IdsSpec;
  /** Version 2. Hosts of the topology, as source or destination. */
  readonly group?: string;
}

/** One threshold, or another one at some switches, by switch id. */
export type HopThresholdSpec =
  | QuantitySpec
  | { readonly default: QuantitySpec; readonly switches: { readonly [switchId: string]: QuantitySpec } };

interface MetricThreshold {
  readonly metric: MetricName;
  readonly threshold: QuantitySpec;
}
interface HopThreshold {
  readonly metric: MetricName;
  readonly threshold: HopThresholdSpec;
}
type ScopedThreshold = (HopThreshold & { readonly scope?: 'hop' }) | (MetricThreshold & { readonly scope: 'endToEnd' });

/** Exactly one detector. */
export type DetectSpec =
  | { readonly noop: Record<string, never> }
  | { readonly perHop: HopThreshold }
  | { readonly perFlow: MetricThreshold }
  | { readonly movingAverage: MetricThreshold & ({ readonly weight: number } | { readonly alpha: number }) }
  /** Scope: default `hop`. */
  | { readonly threshold: ScopedThreshold }
  | { readonly change: ScopedThreshold }
  | { readonly pathChange: Record<string, never> }
  | { readonly complex: string }
  /** Version 2, as all that follow. Multiples of the usual, as `2x`. */
  | {
      readonly baseline: {
        readonly metric: MetricName;
        readonly above?: number | string;
        readonly below?: number | string;
        readonly key?: Exclude<WatchKey, 'all'>;
        /** Default `10min`. */
        readonly learn?: string;
        readonly season?: 'none' | 'day' | 'week';
      };
    }
  | {
      readonly rate: {
        readonly above: number | string;
        readonly of?: 'reports' | 'events' | 'drops';
        readonly key?: WatchKey;
      };
    }
  | { readonly absent: { readonly key?: 'switch' | 'flow'; readonly for: string } }
  | {
      readonly burst: {
        readonly metric: MetricName;
        readonly above: QuantitySpec;
        readonly within: string;
        readonly key?: 'switch' | 'queue' | 'link';
      };
    };
