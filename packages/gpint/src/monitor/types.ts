/** What a monitor is made of, and what it tells. */
import type { Graph } from '../graph/graph.js';
import type { Paths } from '../plan/plan.js';
import type { Measurements, PortOf } from '../probe/route.js';
import type {
  IgnoredReason,
  LinkStatus,
  RecoveryConfig,
  RecoveryCounters,
  SessionResult,
  SwitchReason,
  UncollectedReason,
} from '../recovery/model.js';

/** Carries probes to switches; what comes back goes to `Monitor.receive`. */
export interface ProbeTransport {
  /**
   * Sends a UDP payload to a switch with DSCP 0x17: to port 5017, or 5018 if `extended`. The payload is not changed
   * afterwards. Losing it is allowed; throwing is not.
   */
  send(entrySwitch: number, payload: Uint8Array, extended: boolean): void;
}

/** Time, real or virtual, in integer nanoseconds that never decrease. */
export interface MonitorClock {
  nowNs(): number;
  /** Calls back at a time (at once, but not before returning, if it has passed). Returns what cancels that. */
  at(timeNs: number, callback: () => void): () => void;
}

/** What a probe asks for: the counters of forwarding rules, or the packets received per port. */
export type RequestType = 'rule-hits' | 'port-packets';

export interface MonitorOptions {
  readonly graph: Graph;
  /** What to walk: a plan, or its paths. */
  readonly plan: { readonly paths: Paths } | Paths;
  readonly transport: ProbeTransport;
  readonly clock: MonitorClock;
  /** Overrides of the defaults of reliable GPINT (t_f 1.5 s, r_a 10, 12 probes in flight). */
  readonly config?: Partial<Omit<RecoveryConfig, 'prefixTo' | 'maxPrefixHops'>>;
  /**
   * Decides at which request id it begins. Default: drawn at random, so that nobody can tell, and what a monitor before it was
   * sent is not taken for answers.
   */
  readonly seed?: number | string;
  /** Default `rule-hits`. */
  readonly requestType?: RequestType;
  /** Default: counters 0 to 7 of every switch. */
  readonly measurements?: Measurements;
  /** Switches at which the monitor is attached; default: all of them (out-of-band). */
  readonly entries?: readonly number[];
  /** Probe layout; default `auto`: plain where ids and ports fit into 8 bits. */
  readonly layout?: 'auto' | 'plain' | 'extended';
  /** Default: the position of the neighbour among the neighbours of the switch, plus 1. Port 0 leads to the monitor. */
  readonly portOf?: PortOf;
  /** Told everything that happens, as it happens. Must not throw. */
  readonly onEvent?: (event: MonitorEvent) => void;
}

/** What happens in a monitor. `path` and `position` are those of the plan. */
export type MonitorEvent =
  | { readonly kind: 'session'; readonly session: number; readonly probes: number; readonly timeNs: number }
  | {
      readonly kind: 'sent';
      readonly path: number;
      readonly position: number;
      readonly requestId: number;
      readonly prefix: readonly number[];
      readonly recovery: boolean;
      readonly bytes: number;
      readonly timeNs: number;
    }
  | { readonly kind: 'feedback'; readonly requestId: number; readonly timeNs: number }
  /** Measurements of these switches, in the order of their visits, came home or with a notice. */
  | {
      readonly kind: 'home' | 'notice';
      readonly path: number;
      readonly position: number;
      readonly requestId: number;
      readonly nodes: readonly number[];
      readonly timeNs: number;
    }
  | {
      readonly kind: 'link';
      readonly from: number;
      readonly to: number;
      readonly status: LinkStatus;
      readonly timeNs: number;
    }
  | { readonly kind: 'switch'; readonly node: number; readonly reason: SwitchReason; readonly timeNs: number }
  | {
      readonly kind: 'done';
      readonly path: number;
      readonly position: number;
      readonly outcome: 'finished' | 'abandoned';
      readonly timeNs: number;
    }
  | {
      readonly kind: 'ignored';
      readonly requestId: number;
      readonly reason: IgnoredReason | 'malformed';
      readonly timeNs: number;
    }
  | { readonly kind: 'end'; readonly report: SessionReport; readonly timeNs: number };

/** What one switch measured. */
export interface SwitchTelemetry {
  readonly node: number;
  readonly name: string;
  /** Packets waiting in the switch, 8 or 16 bits by layout. */
  readonly queueDepth: number;
  /** Counters asked for, 32 bits each; a view, valid as long as the report is. */
  readonly measurements: Uint32Array;
  /** When they arrived at the monitor. */
  readonly timeNs: number;
}

/** What was collected in a session, by switch. */
export interface SessionTelemetry {
  /** Switches with measurements. */
  readonly size: number;
  has(node: number): boolean;
  /** `undefined` if the switch was not collected. */
  get(node: number): SwitchTelemetry | undefined;
  /** In ascending order of nodes. */
  [Symbol.iterator](): Iterator<SwitchTelemetry>;
}

/** A switch that was not collected, and why. */
export interface UncollectedReport {
  readonly node: number;
  readonly name: string;
  readonly reason: UncollectedReason;
}

export interface SessionReport extends Omit<SessionResult, 'counters' | 'uncollected'> {
  /** Whether every switch of the graph was collected. */
  readonly complete: boolean;
  /** Switches that were not collected, in ascending order, those that no path visits included. */
  readonly uncollected: readonly UncollectedReport[];
  readonly telemetry: SessionTelemetry;
  readonly counters: MonitorCounters;
}

/** What a monitor has sent and received. Every packet that it receives is counted once. */
export interface MonitorCounters extends RecoveryCounters {
  readonly sent: number;
  readonly sentBytes: number;
  readonly received: number;
  readonly receivedBytes: number;
  /** Neither a probe nor feedback. */
  readonly malformed: number;
}

export interface PeriodicOptions {
  /** End after this many sessions. Default: go on until stopped. */
  readonly rounds?: number;
}
