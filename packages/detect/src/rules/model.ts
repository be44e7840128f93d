import type { MetricName } from '@int/codec';
import type { RuleProblem } from '../errors.js';
import type { Cnf } from '../expression/model.js';
import type { Lifecycle, WatchConfig } from '../watch/config.js';

/**
 * A rule as the detectors run it: numbers in the unit of the device, addresses as words. {@link compileRules} makes it
 * from what people write ({@link RulesSpec}), and checks it.
 */
export interface Rule {
  /** Unique within its set. */
  readonly name: string;
  /** Higher wins. Integer, -2^31 to 2^31 - 1. Rules of equal priority never match the same packet. */
  readonly priority: number;
  readonly match: Match;
  readonly detector: DetectorConfig;
  readonly sample: Sample | null;
  readonly adapt: Adapt | null;
  /** How its findings become events with a beginning and an end; `null` or missing: each finding is an event. */
  readonly lifecycle?: Lifecycle | null;
}

/** What a rule matches; `null`: any. A report whose flow is unknown matches only if all fields are `null`. */
export interface Match {
  /** IP protocol number, 0 to 255. */
  readonly protocol: number | null;
  readonly source: Prefix | null;
  readonly destination: Prefix | null;
  readonly sourcePort: PortRange | null;
  readonly destinationPort: PortRange | null;
  /** MAC addresses of the monitored packet's Ethernet header, 48 bits. */
  readonly sourceMac: number | null;
  readonly destinationMac: number | null;
  /** Groups of hosts: the address is in one of the prefixes. `null` or missing: any. */
  readonly sourceGroup?: readonly Prefix[] | null;
  readonly destinationGroup?: readonly Prefix[] | null;
  /** Source or destination is in one of the prefixes. `null` or missing: any. */
  readonly group?: readonly Prefix[] | null;
  /**
   * DSCP values, 0 to 63, in the IP header of the monitored packet, which lies behind its Ethernet header. `null` or
   * missing: any.
   */
  readonly dscp?: readonly IdRange[] | null;
  /** The hops that the detector looks at. `null` or missing: all, and a report needs none to match. */
  readonly hops?: HopMatch | null;
}

/** Hops of a report. A report matches if a hop fits; its detector then sees those hops only. `null`: any. */
export interface HopMatch {
  readonly switches: readonly IdRange[] | null;
  readonly queues: readonly IdRange[] | null;
  /** Of the egress interface, level 1. */
  readonly egressInterfaces: readonly IdRange[] | null;
}

/** Numbers `from` to `to`, both included; 0 to 2^32 - 1. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

/** Matches every report, also those without a known flow. */
export const MATCH_ANY: Match = {
  protocol: null,
  source: null,
  destination: null,
  sourcePort: null,
  destinationPort: null,
  sourceMac: null,
  destinationMac: null,
};

/** Whether two matches are the same in all fields. */
export function isSameMatch(a: Match, b: Match): boolean {
  const fields = Object.keys({ ...a, ...b }) as (keyof Match)[];
  return fields.every((field) => JSON.stringify(a[field] ?? null) === JSON.stringify(b[field] ?? null));
}

/** Whether a match matches every report. */
export const isAny = (match: Match): boolean => Object.values(match).every((value) => (value ?? null) === null);

/** An address prefix. An exact address has length 32 (IPv4) or 128 (IPv6). */
export interface Prefix {
  readonly version: 4 | 6;
  /** Big-endian 32-bit words, unsigned: one for IPv4, four for IPv6. Bits beyond `length` are 0. */
  readonly words: readonly number[];
  /** Bits that count: 0 to 32, or 0 to 128. Length 0 still asks for the IP version. */
  readonly length: number;
}

/** Ports `from` to `to`, both included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** How many of a flow's reports a rule's detector looks at; the others raise no event and change no state. */
export type Sample =
  /** The first report of a flow, then every n-th; 1 to 2^32 - 1. */
  | { readonly oneIn: number }
  /** A report, then none of the flow for so many nanoseconds; 1 to 2^53 - 1. */
  | { readonly everyNs: number };

/** A rule that raises `target` events a second, because its threshold moves. */
export interface Adapt {
  /** Events a second. */
  readonly target: number;
  /** Limits of the threshold, in the unit of the device. */
  readonly minimum: number;
  readonly maximum: number;
}

/** Where a threshold or change detector looks. */
export type Scope = 'hop' | 'endToEnd';

/** A detector and its parameters. Thresholds are 0 to 2^32 - 1. They are strict: an event is above its threshold. */
export type DetectorConfig =
  | { readonly kind: 'noop' }
  | {
      readonly kind: 'perHop';
      readonly metric: MetricName;
      readonly threshold: number;
      /** Thresholds of the switches whose device unit differs, by switch id. */
      readonly switchThresholds?: ReadonlyMap<number, number>;
    }
  | { readonly kind: 'perFlow'; readonly metric: MetricName; readonly threshold: number }
  | {
      readonly kind: 'movingAverage';
      readonly metric: MetricName;
      readonly threshold: number;
      /** Integer form: w, 0 to 15; a new value has a weight of 2^-w. */
      readonly weight: number;
    }
  | {
      readonly kind: 'movingAverage';
      readonly metric: MetricName;
      readonly threshold: number;
      /** Float form, for hosts: weight of a new value, above 0, at most 1. */
      readonly alpha: number;
    }
  | {
      readonly kind: 'threshold' | 'change';
      readonly metric: MetricName;
      readonly threshold: number;
      readonly scope: Scope;
      /** As for perHop; scope `hop` only. */
      readonly switchThresholds?: ReadonlyMap<number, number>;
    }
  | { readonly kind: 'pathChange' }
  | { readonly kind: 'complex'; readonly expression: Cnf }
  | WatchConfig;

/** Kinds of detectors, by number. Part of the data plane's tables; append, never reorder. */
export const DETECTOR_KINDS = [
  'noop',
  'perHop',
  'perFlow',
  'movingAverage',
  'threshold',
  'change',
  'pathChange',
  'complex',
  'baseline',
  'rate',
  'absent',
  'burst',
] as const;
export type DetectorKind = (typeof DETECTOR_KINDS)[number];

/** Whether a detector looks at time. */
export function isWatch(detector: DetectorConfig): detector is WatchConfig {
  return DETECTOR_KINDS.indexOf(detector.kind) >= DETECTOR_KINDS.indexOf('baseline');
}

/** A whole rule set. */
export interface RuleSet {
  readonly rules: readonly Rule[];
  /** What becomes of reports that no rule matches. */
  readonly default: 'report' | 'drop';
  /** Target of all rules together, in events a second; `null`: none. */
  readonly adapt: { readonly target: number } | null;
  /** `first` or missing: the matching rule of highest priority decides alone. `all`: every rule that matches looks. */
  readonly decide?: 'first' | 'all';
  /** What is odd, and no reason to refuse the rules: a rule that is never reached. */
  readonly warnings?: readonly RuleProblem[];
}
