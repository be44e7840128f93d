import type { Incident } from '@int/knowledge';
import type { ImmediateEvent } from '@int/stream';
import type { Intent } from '../intents/intent.js';
import type { Rehearsal } from '../twin/rehearsal.js';
import type { Measurement } from './measurement.js';
import type { ControlPolicy } from './policy.js';
import type { Proposal, ProposalState } from './proposal.js';

/** What a person asks of the loop. */
export type Order =
  | {
      readonly kind: 'approve' | 'reject' | 'undo';
      readonly proposal: string;
      readonly by: string;
      /** Why, for the journal. */
      readonly reason?: string;
    }
  /** `stop`: nothing acts any more. `withdraw`: what the loop did is withdrawn. `resume`: it goes on. */
  | { readonly kind: 'stop' | 'withdraw' | 'resume'; readonly by: string; readonly reason?: string };

/** Undoes changes of the journal by the numbers of their entries, all or none, or makes what was undone wanted again. */
export interface EntryOrder {
  readonly kind: 'undo' | 'redo';
  readonly entries: readonly number[];
  readonly by: string;
  /** Why, for the journal. */
  readonly reason?: string;
}

/** What goes into {@link ControlLoop.step}. */
export type LoopInput =
  | { readonly kind: 'incident'; readonly incident: Incident }
  | { readonly kind: 'event'; readonly event: ImmediateEvent }
  | { readonly kind: 'measurement'; readonly measurement: Measurement }
  /** All intents of people, in place of those before. */
  | { readonly kind: 'intents'; readonly intents: readonly Intent[]; readonly by: string }
  | { readonly kind: 'policy'; readonly policy: ControlPolicy; readonly by: string }
  | { readonly kind: 'order'; readonly order: Order }
  /** A rehearsal has ended. `refused`: why there is nothing to rehearse, such as a conflict with another intent. */
  | {
      readonly kind: 'rehearsed';
      readonly proposal: string;
      readonly rehearsal: Rehearsal | null;
      /** Of its traffic; default 60. */
      readonly seconds?: number;
      readonly refused: string | null;
    }
  /** The switches have acknowledged what {@link LoopAction} `apply` asked for, or not. */
  | { readonly kind: 'applied'; readonly proposal: string | null; readonly error: string | null };

/** A change of state, as the journal keeps it. */
export interface LoopNote {
  readonly atMs: number;
  readonly what:
    | ProposalState
    | 'renewed'
    | 'held'
    | 'stopped'
    | 'resumed'
    | 'intents'
    | 'policy'
    | 'seen'
    | 'failed'
    /** What was known before a restart is known again. */
    | 'restored'
    /** Entries of a run before are removed: nothing that is known asks for them. */
    | 'forgotten'
    /** Of what is wanted, something cannot be had; or everything can be again. */
    | 'hindered'
    /** Telemetry cannot be relied on: nothing is done by itself. */
    | 'blind'
    | 'sighted'
    /** The threshold of a rule in a switch has moved. */
    | 'retuned'
    /** Entries of the journal. */
    | 'undone'
    | 'redone';
  readonly proposal: string | null;
  readonly by: string;
  readonly reason: string;
}

/** What {@link ControlLoop.step} wants done. */
export type LoopAction =
  /** Compile, plan and rehearse the intents in force with those of a proposal; answer with `rehearsed`. */
  | { readonly kind: 'rehearse'; readonly proposal: Proposal }
  /** Make the switches have {@link ControlLoop.intents}; answer with `applied`. */
  | { readonly kind: 'apply'; readonly proposal: string | null; readonly by: string; readonly reason: string }
  /** Compare the switches with what they shall have: something is wrong on a path. */
  | { readonly kind: 'audit'; readonly reason: string }
  | { readonly kind: 'note'; readonly note: LoopNote }
  /** The answer to an order. `error`: why nothing was done. */
  | { readonly kind: 'answer'; readonly order: Order; readonly error: string | null };
