import type { Change, ChangePlan } from '../change/change.js';
import type { Clock } from './clock.js';
import type { Obstacle } from './differences.js';
import type { Ownership } from './ownership.js';
import type { Refusal } from './refusals.js';
import type { LeadsTo } from './removal-order.js';
import type { SwitchConnection } from './switch-connection.js';

/** Why the network is changed. */
export interface Cause {
  /** A person, a policy, or `incident:<id>`. */
  readonly owner: string;
  readonly reason: string;
  readonly incident?: string;
}

/** What became of changes that were sent to a switch in one request. */
export interface WrittenChanges {
  readonly switchId: number;
  readonly atMs: number;
  readonly cause: Cause;
  readonly results: readonly {
    readonly change: Change;
    /** What identifies the entity on its switch: the same for all changes of it. */
    readonly place: string;
    /** `unknown`: there was no answer; what is there is read before anything else. */
    readonly result: 'done' | 'refused' | 'unknown';
    /** The switch's words; '' if done. */
    readonly message: string;
  }[];
}

export interface ReconcilerOptions {
  readonly connections?: readonly SwitchConnection[];
  readonly ownership?: Ownership;
  /** Time between the last new entry and the removal of old ones, longer than packets are on their way. 100 ms by default. */
  readonly graceMs?: number;
  /** Wait before something that was refused or failed is tried again: it doubles. By default 200 ms to 30 s. */
  readonly retry?: { readonly firstMs: number; readonly maxMs: number };
  /** Time between readings of a switch that has what it shall have: entries may get lost. 30 s by default. */
  readonly checkMs?: number;
  /** Longest wait for an answer; a switch that is later is left alone until it answers. 10 s by default. */
  readonly answerMs?: number;
  /** Requests on their way at once, at most one to each switch. 16 by default. */
  readonly requests?: number;
  readonly clock?: Clock;
  /** Hears of every request that wrote, after its answer. */
  readonly onWritten?: (written: WrittenChanges) => void;
  /** Where entries send packets to: what is removed goes in an order that follows them. Without it, in that of the stages. */
  readonly leadsTo?: LeadsTo;
  /** Hears of what is about to be done, before anything of it is. */
  readonly onPlan?: (plan: ChangePlan) => void;
  /** Called after every round of work. */
  readonly onRound?: () => void;
}

/** What a switch is to a reconciler. */
export interface SwitchStatus {
  readonly switchId: number;
  /**
   * `absent`: no session, or another controller is the primary. `late`: it owes an answer. `failing`: see `error`. `behind`: it
   * lacks something. `settled`: it has what it shall have.
   */
  readonly phase: 'absent' | 'late' | 'failing' | 'behind' | 'settled';
  readonly error: string | undefined;
}

export interface ReconcilerState {
  /** Whether all switches were read, and have what they shall have. */
  readonly isSettled: boolean;
  readonly switches: readonly SwitchStatus[];
  readonly refusals: readonly Refusal[];
  readonly obstacles: readonly Obstacle[];
  /** Changes that wait for others: names of their intents and routes, at most 100. */
  readonly waiting: readonly string[];
}
