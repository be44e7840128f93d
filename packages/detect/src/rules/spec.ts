import type { MetricName } from '@int/codec';

/**
 * Rules as people write them: the shape of `rules.yaml`, and of objects in a program.
 *
 * A quantity is a number in the unit of the device, or text with a unit, such as `10us`, `80%` or `64KiB`. Text needs
 * the
 * metric's scale in `units`.
 */
export interface RulesSpec {
  readonly version: 1;
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
  readonly priority: number;
  readonly match: 'any' | MatchSpec;
  readonly detect: DetectSpec;
  /** One report in n of each flow, or at most one per interval: text with a unit of time, as `1ms`. */
  readonly sample?: { readonly oneIn: number } | { readonly every: string };
  readonly adapt?: { readonly target: QuantitySpec; readonly min: QuantitySpec; readonly max: QuantitySpec };
}

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
  | { readonly complex: string };
