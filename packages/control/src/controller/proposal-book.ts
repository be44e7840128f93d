import type { Intent } from '../intents/intent.js';
import { type Draft, LiveProposal } from './live-proposal.js';
import type { LoopActions } from './loop-actions.js';
import type { LoopMemory } from './loop-memory.js';
import type { Observations } from './observations.js';
import { isEnded, type Proposal, type ProposalState } from './proposal.js';

/** Proposals under way; what comes beyond them is counted. */
const MOST_LIVE = 256;
/** Ended proposals that are remembered. */
const MOST_ENDED = 512;
/** Ended proposals that are remembered over a restart. */
const MOST_KEPT = 64;

/** The proposals under way, and the last ones that ended; each change of a state becomes a note. */
export class ProposalBook {
  /** Proposals for which there was no room. */
  untracked = 0;
  readonly #actions: LoopActions;
  readonly #observations: Observations;
  readonly #live = new Map<string, LiveProposal>();
  readonly #ended: Proposal[] = [];
  #sequence = 0;

  constructor(actions: LoopActions, observations: Observations) {
    this.#actions = actions;
    this.#observations = observations;
  }

  /** Those under way, in the order in which they were made. */
  get live(): readonly LiveProposal[] {
    return [...this.#live.values()];
  }

  /** Those under way, then those that ended, the newest first. */
  get all(): readonly Proposal[] {
    return [...this.live.map((each) => each.snapshot()), ...this.#ended];
  }

  /** Intents of those in force. */
  get intents(): readonly Intent[] {
    return this.live.flatMap((each) => (each.isInForce ? each.intents : []));
  }

  /** One under way. */
  get(id: string): LiveProposal | undefined {
    return this.#live.get(id);
  }

  /** Others that have moved loads since those before a proposal were measured. */
  beside(proposal: LiveProposal): readonly LiveProposal[] {
    const { expectedMs } = proposal;
    return expectedMs === null ? [] : this.live.filter((each) => each !== proposal && each.hasMovedSince(expectedMs));
  }

  get memory(): Pick<LoopMemory, 'sequence' | 'live' | 'ended'> {
    const live = this.live.map((each) => each.memory);
    return { sequence: this.#sequence, live, ended: this.#ended.slice(0, MOST_KEPT) };
  }

  restore({ sequence, ended }: LoopMemory, live: readonly LiveProposal[]): void {
    this.#sequence = sequence;
    this.#ended.push(...ended);
    for (const each of live) this.#live.set(each.id, each);
  }

  propose(draft: Draft, nowMs: number): void {
    if (this.#live.size >= MOST_LIVE) {
      this.untracked++;
      return;
    }
    const id = `${draft.kind}-${nowMs.toString(36)}-${++this.#sequence}`;
    const proposal = new LiveProposal(id, draft, nowMs);
    this.#live.set(id, proposal);
    this.enter(proposal, 'proposed', nowMs, 'loop', draft.reason);
  }

  enter(proposal: LiveProposal, state: ProposalState, nowMs: number, by: string, reason: string): void {
    proposal.enter(state, nowMs, by, reason);
    if (!isEnded(state)) proposal.heldBy = null;
    this.#actions.note(nowMs, state, proposal.id, by, reason);
  }

  end(proposal: LiveProposal, state: ProposalState, nowMs: number, by: string, reason: string): void {
    this.enter(proposal, state, nowMs, by, reason);
    this.#live.delete(proposal.id);
    if (state === 'rolled-back' || state === 'refused') this.#observations.failed(proposal.draft.subject);
    this.#ended.unshift(proposal.snapshot());
    this.#ended.length = Math.min(this.#ended.length, MOST_ENDED);
  }

  /** Ends one that is in force, or whose installation is not known to be done. */
  takeBack(proposal: LiveProposal, state: ProposalState, nowMs: number, by: string, reason: string): void {
    proposal.pending = null;
    this.end(proposal, state, nowMs, by, reason);
    // The switches have it, or may have it in part.
    this.#actions.apply(null, by, `${proposal.id} is ${state}: ${reason}`);
  }
}
