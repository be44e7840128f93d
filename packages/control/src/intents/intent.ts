import type { FlowMatch } from './flow-match.js';
import type { WatchField } from './watch-fields.js';

/** What every intent has. Words as in RFC 9315. */
export interface IntentTerms {
  /** Unique among the intents of a controller. */
  readonly id: string;
  /** Who wants it: a person, a policy, or `incident:<id>`. */
  readonly owner: string;
  /** 1 to 1000; of two intents for one packet the larger wins. Two of one kind with one priority may not overlap. */
  readonly priority: number;
  /** Milliseconds since the epoch. */
  readonly fromMs: number;
  /** It is withdrawn after so long, unless it is renewed; `null`: it stays until somebody withdraws it. */
  readonly ttlMs: number | null;
  readonly reason: string;
}

/** Collects telemetry of flows. */
export interface WatchIntent extends IntentTerms {
  readonly kind: 'watch';
  readonly match: FlowMatch;
  /** Instruction bitmap of INT 2.1: what each hop writes. */
  readonly instructions: number;
  /**
   * The fields, where they were named: a switch that writes IntMon writes exactly these. Without them it writes what it has of the
   * instructions.
   */
  readonly fields?: readonly WatchField[];
  /** One packet of so many is watched; 1: all. */
  readonly oneIn: number;
}

/** Drops flows where they enter the network. */
export interface BlockIntent extends IntentTerms {
  readonly kind: 'block';
  readonly match: FlowMatch;
  /** One dropped packet of so many is reported, so that it is seen whether they still come; 0: none. */
  readonly reportOneIn: number;
}

/** Bounds the rate of flows together where they enter the network; what is above is dropped. */
export interface LimitIntent extends IntentTerms {
  readonly kind: 'limit';
  readonly match: FlowMatch;
  readonly bitsPerSecond: number;
}

/** Keeps traffic away from a link, in both directions, where another path exists. */
export interface AvoidIntent extends IntentTerms {
  readonly kind: 'avoid';
  readonly link: { readonly switchId: number; readonly port: number };
}

/** Sends flows over given switches. */
export interface PathIntent extends IntentTerms {
  readonly kind: 'path';
  readonly match: FlowMatch;
  /** Ids of switches, from the first to the last. */
  readonly via: readonly number[];
}

/** Watches what goes to a destination, and lets the policies act for it at once. */
export interface ProtectIntent extends IntentTerms {
  readonly kind: 'protect';
  readonly destination: string;
  /** Weight of the destination; hosts have 1. */
  readonly level: number;
}

/** A goal: the controller may move flows to reach it. */
export interface KeepIntent extends IntentTerms {
  readonly kind: 'keep';
  readonly metric: 'link-load';
  /** Share of the capacity, above 0 and at most 1. */
  readonly below: number;
}

/** Items of INT 2.1 that rules in switches can look at. */
export const DETECT_METRICS = ['hopLatency', 'queueOccupancy', 'egressUtilization'] as const;
/**
 * What is an event: a value above the threshold; a hop whose value differs by more from the one that was an event last; a flow whose
 * sum does.
 */
export const DETECT_ALGORITHMS = ['threshold', 'perHop', 'perFlow'] as const;

/** Has the INT sinks report events of flows, with a threshold that raises so many. */
export interface DetectIntent extends IntentTerms {
  readonly kind: 'detect';
  readonly match: FlowMatch;
  /** Ids of the switches with the rule; `null`: all where the flows leave the network. */
  readonly switches: readonly number[] | null;
  readonly metric: (typeof DETECT_METRICS)[number];
  readonly algorithm: (typeof DETECT_ALGORITHMS)[number];
  /** Of `threshold`: the value of any hop, or the sum over the path. */
  readonly scope: 'hop' | 'endToEnd';
  /** Events a second that each switch shall raise; above 0. */
  readonly target: number;
  /** Where the threshold may move, in units of the metric; `null`: the host learns it from what is usual. */
  readonly band: { readonly minimum: number; readonly maximum: number } | null;
}

export type Intent =
  | WatchIntent
  | BlockIntent
  | LimitIntent
  | AvoidIntent
  | PathIntent
  | ProtectIntent
  | KeepIntent
  | DetectIntent;

export type IntentKind = Intent['kind'];
