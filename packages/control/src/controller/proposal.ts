import type { Incident } from '@int/knowledge';
import type { Intent, IntentKind } from '../intents/intent.js';
import type { ComparedEffect } from '../twin/compare-effect.js';
import type { LinkLoad, Rehearsal } from '../twin/rehearsal.js';
import type { Autonomy } from './policy.js';

/** A proposal goes from left to right; the last five end it. */
export const PROPOSAL_STATES = [
  'proposed',
  'approved',
  'installed',
  'verified',
  'rolled-back',
  'withdrawn',
  'expired',
  'refused',
] as const;
export type ProposalState = (typeof PROPOSAL_STATES)[number];

/** A proposal has come into a state. */
export interface Transition {
  readonly state: ProposalState;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** A person, `loop`, or `policy`. */
  readonly by: string;
  readonly reason: string;
}

/** A number that an action shall change. */
export interface Effect {
  /**
   * `link-load`: share of the capacity of the hottest link. `link-bps`: bits a second over a link. `flow-bps`: bits a second of
   * the flows that reach their destination.
   */
  readonly metric: 'link-load' | 'link-bps' | 'flow-bps';
  readonly subject: string;
  readonly before: number;
  readonly after: number;
}

/** Bits a second of a link before a change, as expected after it, and as measured then. */
export interface LinkEffect {
  /** `<switch id>:<port>`, in the direction in which the port sends. */
  readonly link: string;
  readonly beforeBps: number;
  readonly predictedBps: number;
  readonly measuredBps: number;
  /** `null`: the topology does not say. */
  readonly capacityBps: number | null;
}

/** The loads of links after a change beside those that were predicted from its rehearsal and the traffic just before it. */
export interface LinkEffects {
  readonly atMs: number;
  readonly verdict: ComparedEffect['verdict'];
  /** Share of the predicted shift of bits that is seen, from below 0 (the opposite) to 1; `null`: none was predicted. */
  readonly achieved: number | null;
  /** At most 64: those that differ most from what was predicted, then those that were to change most. */
  readonly links: readonly LinkEffect[];
}

/** What a rehearsal has said, with some of its flows. */
export interface RehearsalResult
  extends Pick<Rehearsal, 'isSafe' | 'violations' | 'steps' | 'tables' | 'unplaced' | 'astray'> {
  readonly atMs: number;
  readonly moved: number;
  readonly dropped: number;
  /** Of all links with a known capacity: the highest share, before and after. */
  readonly highest: { readonly before: number; readonly after: number } | null;
  /** Bits a second by link, at most 64: those that change most. */
  readonly loads: readonly (LinkLoad & { readonly link: string })[];
  /** Of those that are moved and dropped, at most 32 each: the largest. Their counts are of `seconds`. */
  readonly movedFlows: Rehearsal['moved'];
  readonly droppedFlows: Rehearsal['dropped'];
  readonly seconds: number;
}

/** What the loop wants, why, and what has become of it. */
export interface Proposal {
  /** Unique; intents of the proposal begin with it. */
  readonly id: string;
  readonly kind: IntentKind;
  readonly intents: readonly Intent[];
  readonly reason: string;
  /** What it answers, with its arithmetic; `null`: an event or a load, which `reason` tells. */
  readonly incident: Incident | null;
  /** Proposals with the same subject are one. */
  readonly subject: string;
  readonly autonomy: Autonomy;
  readonly state: ProposalState;
  readonly history: readonly Transition[];
  readonly rehearsal: RehearsalResult | null;
  readonly predicted: Effect | null;
  readonly measured: Effect | null;
  /** `null` before the effect is measured, and where no traffic was measured before. */
  readonly effects: LinkEffects | null;
  /** When it is withdrawn unless it is renewed; `null` before it is installed. */
  readonly expiresMs: number | null;
  readonly renewals: number;
  /** What it waits for an answer of: the twin, or the switches. */
  readonly pending: 'rehearse' | 'install' | null;
  /** The limit that holds it back. */
  readonly heldBy: string | null;
}

/** Whether nothing becomes of it any more. */
export function isEnded(state: ProposalState): boolean {
  return state === 'rolled-back' || state === 'withdrawn' || state === 'expired' || state === 'refused';
}
