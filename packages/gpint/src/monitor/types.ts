/** Options, events and results of a monitor. */
import type { Graph } from '../graph/graph.js';
import type { Paths } from '../plan/plan.js';
import type { RouteOptions } from '../probe/route.js';
import type {
  RecoveryAction,
  RecoveryConfig,
  RecoveryCounters,
  SessionResult,
  UncollectedSwitch,
} from '../recovery/model.js';

/** Carries probes to switches. Answers go to `Monitor.receive`. */
export interface ProbeTransport {
  /**
   * Sends a UDP payload to a switch with DSCP 0x17: to port 5017, or 5018 if `extended`. The payload does not change
   * afterwards. It may be lost, but this must not throw.
   */
  send(entrySwitch: number, payload: Uint8Array, extended: boolean): void;
}

/** Time, real or virtual, in integer nanoseconds that never decrease. */
export interface MonitorClock {
  nowNs(): number;
  /**
   * Calls `callback` at a time, or as soon as possible after returning if the time has passed. Returns a function that
   * cancels the call.
   */
  at(timeNs: number, callback: () => void): () => void;
}

/** The measurements of a probe: counters of forwarding rules, or packets received per port. */
export type RequestType = 'rule-hits' | 'port-packets';

export interface MonitorOptions extends Omit<RouteOptions, 'reserveHops'> {
  readonly graph: Graph;
  /** A plan, or its paths. */
  readonly plan: { readonly paths: Paths } | Paths;
  readonly transport: ProbeTransport;
  readonly clock: MonitorClock;
  /** Overrides of the defaults of reliable GPINT (t_f 1.5 s, r_a 10, 12 probes in flight). */
  readonly config?: Partial<Omit<RecoveryConfig, 'prefixTo' | 'maxPrefixHops'>>;
  /**
   * Seed of the first request id. Default: random, so that nobody can guess it, and answers to an earlier monitor are
   * not accepted.
   */
  readonly seed?: number | string;
  /** Requested counters. Default `rule-hits`. */
  readonly requestType?: RequestType;
  /** Switches that the monitor is attached to; default: all (out-of-band). */
  readonly entries?: readonly number[];
  /** Called with every event at once. Must not throw. */
  readonly onEvent?: (event: MonitorEvent) => void;
}

/** The place in the plan that an event is about. */
interface PlanPosition {
  readonly path: number;
  readonly position: number;
}

/** An event of a monitor. */
export type MonitorEvent = { readonly timeNs: number } & (
  | { readonly kind: 'session'; readonly session: number; readonly probes: number }
  | (PlanPosition & {
      readonly kind: 'sent';
      readonly requestId: number;
      readonly prefix: readonly number[];
      readonly recovery: boolean;
      readonly bytes: number;
    })
  | { readonly kind: 'feedback'; readonly requestId: number }
  /** Measurements of these switches, in the order of their visits, arrived with a probe or a notice. */
  | (PlanPosition & { readonly kind: 'home' | 'notice'; readonly requestId: number; readonly nodes: readonly number[] })
  | (PlanPosition & { readonly kind: 'done'; readonly outcome: 'finished' | 'abandoned' })
  | Extract<RecoveryAction, { readonly kind: 'link' | 'switch' | 'ignored' }>
  | { readonly kind: 'ignored'; readonly requestId: number; readonly reason: 'malformed' }
  | { readonly kind: 'end'; readonly report: SessionReport }
);

/** The measurements of one switch. */
export interface SwitchTelemetry {
  readonly node: number;
  readonly name: string;
  /** Packets waiting in the switch, 8 or 16 bits by layout. */
  readonly queueDepth: number;
  /** Requested counters, 32 bits each; a view, valid as long as the report. */
  readonly measurements: Uint32Array;
  /** Time of arrival at the monitor, nanoseconds. */
  readonly timeNs: number;
}

/** The collected measurements of a session, by switch. */
export interface SessionTelemetry {
  /** Number of switches with measurements. */
  readonly size: number;
  has(node: number): boolean;
  /** `undefined` if the switch was not collected. */
  get(node: number): SwitchTelemetry | undefined;
  /** In ascending order of nodes. */
  [Symbol.iterator](): Iterator<SwitchTelemetry>;
}

/** A switch that was not collected, with the reason. */
export interface UncollectedReport extends UncollectedSwitch {
  readonly name: string;
}

export interface SessionReport extends Omit<SessionResult, 'counters' | 'uncollected'> {
  /** Whether every switch of the graph was collected. */
  readonly complete: boolean;
  /** Switches that were not collected, in ascending order, including those that no path visits. */
  readonly uncollected: readonly UncollectedReport[];
  readonly telemetry: SessionTelemetry;
  readonly counters: MonitorCounters;
}

/** Counters of packets sent and received by a monitor. Every received packet counts once. */
export interface MonitorCounters extends RecoveryCounters {
  readonly sent: number;
  readonly sentBytes: number;
  readonly received: number;
  readonly receivedBytes: number;
  /** Packets that are neither probes nor feedback. */
  readonly malformed: number;
}

export interface PeriodicOptions {
  /** Number of sessions. Default: no limit. */
  readonly rounds?: number;
}
