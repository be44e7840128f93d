import type { BackOff } from './back-off.js';
import type { EmergencyStop } from './emergency-stop.js';
import type { LoopActions } from './loop-actions.js';
import type { Order } from './loop-io.js';
import type { ControlPolicy } from './policy.js';
import type { ProposalBook } from './proposal-book.js';

/** Does what people ask of the loop. */
export class Orders {
  /** The emergency stop: nothing acts. */
  stopped: EmergencyStop | null = null;
  readonly #book: ProposalBook;
  readonly #backOff: BackOff;
  readonly #actions: LoopActions;

  constructor(book: ProposalBook, backOff: BackOff, actions: LoopActions) {
    this.#book = book;
    this.#backOff = backOff;
    this.#actions = actions;
  }

  /** @returns why nothing is done; `null`: it is */
  do(order: Order, nowMs: number, policy: ControlPolicy): string | null {
    if (!('proposal' in order)) return this.#all(order, nowMs);
    const proposal = this.#book.get(order.proposal);
    if (proposal === undefined) return `there is no proposal ${order.proposal} under way`;
    if (order.kind === 'undo') {
      if (!proposal.isInForce) return `${order.proposal} is ${proposal.state}: there is nothing to undo`;
      this.#backOff.failed(proposal.draft.subject, nowMs, policy.backOff);
      this.#book.takeBack(proposal, 'withdrawn', nowMs, order.by, order.reason ?? 'undone');
      return null;
    }
    if (proposal.state !== 'proposed') return `${order.proposal} is ${proposal.state}: it waits for nobody`;
    if (order.kind === 'reject') {
      this.#backOff.failed(proposal.draft.subject, nowMs, policy.backOff);
      this.#book.end(proposal, 'refused', nowMs, order.by, order.reason ?? 'rejected');
      return null;
    }
    if (this.stopped !== null) return 'the loop is stopped: resume it first';
    if (proposal.draft.autonomy === 'observe') return `the policy says observe for ${proposal.draft.kind}`;
    this.#book.enter(proposal, 'approved', nowMs, order.by, order.reason ?? 'approved');
    return null;
  }

  #all(order: Exclude<Order, { readonly proposal: string }>, nowMs: number): string | null {
    const { kind, by, reason } = order;
    if (kind === 'stop') {
      const words = reason ?? 'nothing acts any more';
      // Whoever stopped it first did so; a second one is in the journal.
      this.stopped ??= { atMs: nowMs, by, reason: words };
      this.#actions.note(nowMs, 'stopped', null, by, words);
      return null;
    }
    if (kind === 'resume') {
      if (this.stopped === null) return 'the loop is not stopped';
      this.stopped = null;
      this.#actions.note(nowMs, 'resumed', null, by, reason ?? 'the loop acts again');
      this.#actions.apply(null, by, reason ?? 'the loop acts again');
      return null;
    }
    if (this.stopped === null) return 'stop the loop first: it would install the same again';
    for (const each of this.#book.live) {
      if (each.isInForce) this.#book.takeBack(each, 'withdrawn', nowMs, by, reason ?? 'all that the loop did');
    }
    return null;
  }
}
