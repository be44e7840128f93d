import type { DeviceProfile } from '@int/network';
import type { EventThresholds } from '../adaptation/event-thresholds.js';
import type { ChangePlan } from '../change/change.js';
import type { DesiredState } from '../change/desired-state.js';
import type { CompileOptions } from '../compile/options.js';
import type { Journal } from '../journal/journal.js';
import type { NetworkModel } from '../model/network-model.js';
import type { Clock } from '../reconcile/clock.js';
import type { ReconcilerOptions } from '../reconcile/reconciler-state.js';
import type { SwitchConnection } from '../reconcile/switch-connection.js';
import type { Minute, Rehearsal, Rehearse } from '../twin/rehearsal.js';
import type { ControllerMemory, MemoryKeeper } from './controller-memory.js';
import type { LoopNote } from './loop-io.js';
import type { Measurement } from './measurement.js';
import type { ControlPolicy } from './policy.js';
import type { Proposal } from './proposal.js';
import type { Problem } from './told-problems.js';

export interface ControllerOptions {
  readonly policy: ControlPolicy;
  readonly network: NetworkModel;
  /** Says what one of a switch's numbers is, for reasons that people read. */
  readonly device?: DeviceProfile;
  /** The ways to the switches. They are the caller's to close. */
  readonly connections: readonly SwitchConnection[];
  /** Rehearses changes, such as a `Twin`. */
  readonly twin: { rehearse(...given: Parameters<Rehearse>): Rehearsal | Promise<Rehearsal> };
  /** What telemetry says: since the last call, and of the last minute. */
  readonly traffic: { measure(nowMs: number): Measurement; minute(nowMs: number): Minute };
  /** Highest load of a link that a change may cause, as a share of its capacity. Default 1. */
  readonly linkLoad?: number;
  /** Thresholds of `detect` intents, which then follow the events; it is a stage of the collector, too. */
  readonly thresholds?: EventThresholds;
  readonly compile?: CompileOptions;
  readonly reconcile?: Omit<ReconcilerOptions, 'connections' | 'clock' | 'leadsTo' | 'onPlan' | 'onRound'>;
  readonly clock?: Clock;
  /** Time between measurements; default 1000. */
  readonly measureMs?: number;
  /** What was known before a restart. */
  readonly memory?: ControllerMemory | null;
  /** Keeps what is to be known after a restart. */
  readonly keeper?: MemoryKeeper;
  /** The journal that `reconcile.onWritten` writes to; without it no entry can be undone. */
  readonly journal?: Pick<Journal, 'entries' | 'undo'>;
  /** Hears of everything that happens, with the proposal as it is then. */
  readonly onNote?: (note: LoopNote, proposal: Proposal | null) => void;
}

/** Changes that intents would take. */
export interface Preview {
  readonly desired: DesiredState;
  /** By what is known of the switches that were read. */
  readonly plan: ChangePlan;
  /** Why intents cannot be had, or something cannot be placed. */
  readonly problems: readonly Problem[];
}
