import { DeviceProfile, type Topology } from '@int/network';
import type { Intent, IntentKind } from '../intents/intent.js';
import { ActionLimits } from './action-limits.js';
import { autonomyOf } from './autonomy.js';
import { BackOff } from './back-off.js';
import type { EmergencyStop } from './emergency-stop.js';
import { judge, stillFires, UNMEASURED, type Verdict } from './judgement.js';
import { LinkMap } from './link-map.js';
import { LiveProposal } from './live-proposal.js';
import { LoopActions } from './loop-actions.js';
import type { LoopAction, LoopInput } from './loop-io.js';
import type { LoopMemory } from './loop-memory.js';
import type { Measurement } from './measurement.js';
import { Observations, type UnderWay } from './observations.js';
import { Orders } from './orders.js';
import { isAggregatePath } from './path-draft.js';
import type { ControlPolicy } from './policy.js';
import type { Proposal, ProposalState } from './proposal.js';
import { ProposalBook } from './proposal-book.js';
import { Sight } from './sight.js';

/** Whoever was asked has to answer within this time. */
const ANSWER_MS = 60_000;
/** After a restart nothing ends before telemetry has had this time to say whether it is still needed. */
const GRACE_MS = 5000;

/**
 * What the closed loop does, as a function of what it is told and of time: it opens no socket, sets no timer and draws no random
 * number. Observations become proposals; these are rehearsed, approved, installed, measured, and kept or rolled back.
 * {@link step} says what is to be done, and whoever does it tells it the result.
 */
export class ControlLoop {
  #policy: ControlPolicy;
  readonly #links: LinkMap;
  readonly #observations: Observations;
  readonly #limits = new ActionLimits();
  readonly #backOff = new BackOff();
  readonly #actions = new LoopActions();
  readonly #book: ProposalBook;
  readonly #orders: Orders;
  #own: readonly Intent[] = [];
  #begun: LoopMemory['begun'] = [];
  readonly #sight = new Sight();
  #measurement: Measurement | null = null;

  /** @param device says what one of a switch's numbers is, for reasons that people read */
  constructor(policy: ControlPolicy, topology: Topology, device = DeviceProfile.NONE) {
    this.#policy = policy;
    this.#links = new LinkMap(topology);
    this.#observations = new Observations(this.#links, policy.loadAbove, topology, device);
    this.#book = new ProposalBook(this.#actions, this.#observations);
    this.#orders = new Orders(this.#book, this.#backOff, this.#actions);
  }

  get isStopped(): boolean {
    return this.#orders.stopped !== null;
  }

  /** Who has stopped it; `null`: nobody. */
  get stopped(): EmergencyStop | null {
    return this.#orders.stopped;
  }

  /** Why telemetry cannot be relied on; `null`: it can. */
  get blindness(): string | null {
    return this.#sight.blindness;
  }

  /** Proposals for which there was no room. */
  get untracked(): number {
    return this.#book.untracked;
  }

  /** What is in force. */
  get policy(): ControlPolicy {
    return this.#policy;
  }

  /** Kinds of the installations that the limits of the policy count at a time. */
  recentActions(nowMs: number): readonly IntentKind[] {
    return this.#limits.recent(nowMs, this.#policy.limits);
  }

  /** Proposals under way in the order in which they were made, then those that ended, the newest first. */
  get proposals(): readonly Proposal[] {
    return this.#book.all;
  }

  /** What the network shall do: the intents of people, and those of the proposals in force. */
  get intents(): readonly Intent[] {
    return [...this.#own, ...this.#book.intents];
  }

  /** Links that are seen to carry nothing, both ends: `<switch id>:<port>`. */
  get failedLinks(): ReadonlySet<string> {
    return this.#observations.failedLinks;
  }

  /** What {@link restore} takes. */
  get memory(): LoopMemory {
    return {
      ...{ isStopped: this.isStopped, stopped: this.stopped, begun: this.#begun },
      ...this.#book.memory,
      installations: this.#limits.installations,
      backOff: this.#backOff.failures,
      ...this.#observations.memory,
    };
  }

  /**
   * Goes on where another loop has ended, before the first {@link step}. Whoever carries this out makes the switches have
   * {@link intents}, and tells `applied` of those whose installation is `pending`.
   */
  restore(memory: LoopMemory, nowMs: number): readonly LoopAction[] {
    this.#actions.clear();
    if (memory.isStopped) {
      this.#orders.stopped = memory.stopped ?? { atMs: nowMs, by: 'unknown', reason: 'before a restart' };
    }
    this.#begun = memory.begun;
    this.#limits.restore(memory.installations);
    this.#backOff.restore(memory.backOff);
    this.#observations.restore(memory, nowMs);
    const live = memory.live.map((each) => {
      const { rehearsal, pending } = each.proposal;
      // What a rehearsal of long ago has said of a change that is half done is not known to be true.
      const isStale = rehearsal !== null && nowMs - rehearsal.atMs > this.#policy.freshMs + GRACE_MS;
      const isInstalling = pending === 'install' && !isStale && !this.isStopped;
      return LiveProposal.restored(each, nowMs, GRACE_MS, isInstalling);
    });
    this.#book.restore(memory, live);
    const inForce = live.filter((each) => each.isInForce).length;
    const words = `${inForce} proposals in force, ${live.length - inForce} wait`;
    const { stopped } = this;
    const halt = stopped === null ? '' : `; the loop is stopped by ${stopped.by}: ${stopped.reason}`;
    this.#actions.note(nowMs, 'restored', null, 'loop', words + halt);
    return this.#actions.list;
  }

  /** Takes what has happened, in its order, and the time. @param nowMs milliseconds since the epoch; it does not go back */
  step(nowMs: number, inputs: readonly LoopInput[] = []): readonly LoopAction[] {
    this.#actions.clear();
    for (const input of inputs) this.#take(input, nowMs);
    if (!this.isStopped) this.#dropOldIntents(nowMs);
    for (const draft of this.#observations.drafts(nowMs, this.#policy, this.#own, this.#underWay(nowMs))) {
      if (typeof draft === 'string') this.#actions.note(nowMs, 'seen', null, 'loop', draft);
      else this.#book.propose({ ...draft, autonomy: autonomyOf(draft, this.#own) }, nowMs);
    }
    for (const proposal of this.#book.live) this.#progress(proposal, nowMs);
    return this.#actions.list;
  }

  #underWay(nowMs: number): UnderWay {
    const { live } = this.#book;
    const subjects = new Set(live.map(({ draft }) => draft.subject));
    const moves = live.filter(({ draft }) => draft.kind === 'path');
    return {
      isBusy: (subject) => subjects.has(subject) || !this.#backOff.isOver(subject, nowMs),
      isMoving: moves.some(({ state }) => state !== 'verified'),
      pinned: new Set(moves.flatMap(({ draft }) => [...draft.flows.keys()])),
      paths: moves.flatMap(({ intents }) => intents).filter(isAggregatePath),
    };
  }

  #take(input: LoopInput, nowMs: number): void {
    if (input.kind === 'measurement') {
      this.#measure(input.measurement, nowMs);
    } else if (input.kind === 'incident') {
      this.#observations.incident(input.incident);
    } else if (input.kind === 'event') {
      const audit = this.#observations.event(input.event, nowMs);
      if (audit !== null) this.#actions.add({ kind: 'audit', reason: audit });
    } else if (input.kind === 'intents') {
      this.#own = input.intents;
      this.#begun = input.intents.map(({ id, fromMs }) => [id, fromMs]);
      this.#actions.note(nowMs, 'intents', null, input.by, `${input.intents.length} intents of people`);
      if (!this.isStopped) this.#actions.apply(null, input.by, 'the intents of people have changed');
    } else if (input.kind === 'policy') {
      this.#policy = input.policy;
      this.#actions.note(nowMs, 'policy', null, input.by, 'another policy is in force');
    } else if (input.kind === 'order') {
      const error = this.#orders.do(input.order, nowMs, this.#policy);
      this.#actions.add({ kind: 'answer', order: input.order, error });
    } else if (input.kind === 'rehearsed') {
      this.#rehearsed(input, nowMs);
    } else this.#applied(input.proposal, input.error, nowMs);
  }

  #measure(measurement: Measurement, nowMs: number): void {
    this.#measurement = measurement;
    this.#observations.measurement(measurement);
    if (this.#sight.look(measurement, this.#policy)) {
      const { blindness } = this.#sight;
      const reason =
        blindness === null ? 'telemetry can be relied on again' : `nothing is done by itself: ${blindness}`;
      this.#actions.note(nowMs, blindness === null ? 'sighted' : 'blind', null, 'loop', reason);
    }
    if (measurement.ageMs > this.#policy.staleMs) return;
    const loadAbove = this.#observations.loadAbove;
    for (const proposal of this.#book.live) {
      if (proposal.isInForce && stillFires(proposal, measurement, this.#links, loadAbove)) proposal.firedMs = nowMs;
    }
  }

  #progress(proposal: LiveProposal, nowMs: number): void {
    const { pending } = proposal;
    if (pending !== null && nowMs - pending.sinceMs >= ANSWER_MS) {
      if (pending.what === 'rehearse') this.#rehearsalFailed(proposal, 'the rehearsal gave no answer', nowMs);
      else this.#fail(proposal, 'refused', 'the switches gave no answer', nowMs);
      return;
    }
    if (proposal.state === 'proposed' || proposal.state === 'approved') this.#prepare(proposal, nowMs);
    else if (!this.isStopped) this.#watchOver(proposal, nowMs);
  }

  /** Rehearses, approves and installs. */
  #prepare(proposal: LiveProposal, nowMs: number): void {
    if (proposal.pending?.what === 'install') return;
    if (nowMs - proposal.proposedMs >= this.#policy.approvalMs) {
      this.#backOff.failed(proposal.draft.subject, nowMs, this.#policy.backOff);
      this.#book.end(proposal, 'expired', nowMs, 'loop', proposal.heldBy ?? 'nobody approved it in time');
      return;
    }
    const { incident, autonomy } = proposal.draft;
    if (incident !== null && !this.#observations.isOpen(incident.id)) {
      this.#book.end(proposal, 'expired', nowMs, 'loop', 'the incident has closed');
      return;
    }
    if (proposal.pending !== null) return;
    const { rehearse } = this.#policy;
    const { rehearsal } = proposal;
    if (rehearse !== 'off' && rehearsal === null) {
      this.#rehearse(proposal, nowMs);
      return;
    }
    if (proposal.state === 'proposed') {
      if (autonomy !== 'act' || this.isStopped || this.#isHeldBlind(proposal, nowMs)) return;
      this.#book.enter(proposal, 'approved', nowMs, 'policy', `the policy says act for ${proposal.draft.kind}`);
    }
    if (this.isStopped) return;
    // What a person has approved is done.
    if (proposal.history.at(-1)!.by === 'policy' && this.#isHeldBlind(proposal, nowMs)) return;
    const refusal = this.#limits.refusal(proposal.draft.kind, nowMs, this.#policy.limits);
    if (refusal !== null) {
      this.#hold(proposal, refusal, nowMs);
      return;
    }
    if (rehearse !== 'off' && nowMs - rehearsal!.atMs > this.#policy.freshMs) {
      this.#rehearse(proposal, nowMs);
      return;
    }
    this.#limits.count(proposal.draft.kind, nowMs);
    proposal.pending = { what: 'install', sinceMs: nowMs };
    const measurement = this.#measurement;
    proposal.expect(this.#sight.blindness === null ? measurement : null, this.#links);
    this.#actions.apply(proposal.id, proposal.history.at(-1)!.by, proposal.draft.reason);
  }

  #isHeldBlind(proposal: LiveProposal, nowMs: number): boolean {
    if (this.#sight.blindness === null) return false;
    this.#hold(proposal, 'telemetry cannot be relied on', nowMs);
    return true;
  }

  #hold(proposal: LiveProposal, reason: string, nowMs: number): void {
    if (proposal.heldBy !== reason) this.#actions.note(nowMs, 'held', proposal.id, 'loop', reason);
    proposal.heldBy = reason;
  }

  #rehearse(proposal: LiveProposal, nowMs: number): void {
    proposal.pending = { what: 'rehearse', sinceMs: nowMs };
    this.#actions.add({ kind: 'rehearse', proposal: proposal.snapshot() });
  }

  #rehearsed(
    { proposal: id, rehearsal, seconds = 60, refused }: Extract<LoopInput, { readonly kind: 'rehearsed' }>,
    nowMs: number,
  ): void {
    const proposal = this.#book.get(id);
    if (proposal?.pending?.what !== 'rehearse') return;
    proposal.pending = null;
    if (refused !== null || rehearsal === null) {
      this.#rehearsalFailed(proposal, refused ?? 'there is no rehearsal', nowMs);
      return;
    }
    proposal.rehearsed(rehearsal, seconds, nowMs);
    if (rehearsal.isSafe || this.#policy.rehearse !== 'required') return;
    const [first] = rehearsal.violations;
    const more = rehearsal.violations.length > 1 ? `, and ${rehearsal.violations.length - 1} more` : '';
    this.#rehearsalFailed(proposal, `the rehearsal found ${first?.message ?? 'a violation'}${more}`, nowMs);
  }

  #rehearsalFailed(proposal: LiveProposal, reason: string, nowMs: number): void {
    proposal.pending = null;
    this.#backOff.failed(proposal.draft.subject, nowMs, this.#policy.backOff);
    this.#book.end(proposal, 'refused', nowMs, 'loop', reason);
  }

  #applied(id: string | null, error: string | null, nowMs: number): void {
    if (error !== null && id === null) this.#actions.note(nowMs, 'failed', null, 'loop', error);
    const proposal = id === null ? undefined : this.#book.get(id);
    if (proposal?.pending?.what !== 'install') return;
    proposal.pending = null;
    if (error !== null) {
      this.#fail(proposal, 'refused', error, nowMs);
      return;
    }
    proposal.renew(nowMs);
    proposal.renewals = 0;
    this.#book.enter(proposal, 'installed', nowMs, 'loop', 'the switches have acknowledged all entries');
  }

  /** Measures, renews, and takes back what is in force. */
  #watchOver(proposal: LiveProposal, nowMs: number): void {
    if (proposal.state === 'installed') {
      const measurement = this.#measurement;
      const settledMs = proposal.sinceMs + this.#policy.settleMs;
      const isUsable =
        measurement !== null &&
        this.#sight.blindness === null &&
        measurement.timeMs - 1000 * measurement.seconds >= settledMs;
      if (isUsable || (proposal.predicted === null && nowMs >= settledMs)) {
        const { loadAbove } = this.#observations;
        const unmeasured: Verdict = { verdict: 'helps', measured: null, effects: null, reason: UNMEASURED };
        const { verdict, measured, effects, reason } =
          measurement === null || !isUsable
            ? unmeasured
            : judge(proposal, measurement, this.#links, loadAbove, this.#book.beside(proposal));
        proposal.measured = measured;
        proposal.effects = effects;
        if (verdict === 'helps') {
          this.#book.enter(proposal, 'verified', nowMs, 'loop', reason);
          this.#backOff.helped(proposal.draft.subject);
        } else {
          const words = verdict === 'hurts' ? 'it made things worse' : 'it did not help';
          this.#fail(proposal, 'rolled-back', `${words}: ${reason}`, nowMs);
          return;
        }
      }
    }
    if (nowMs < proposal.expiresMs!) return;
    const { incident, ttlMs } = proposal.draft;
    const isSeen = nowMs - proposal.firedMs <= ttlMs / 2;
    if (isSeen || (incident !== null && proposal.draft.kind !== 'block' && this.#observations.isOpen(incident.id))) {
      proposal.renew(nowMs);
      proposal.isRenewedBlindly = false;
      this.#actions.note(nowMs, 'renewed', proposal.id, 'loop', 'what it is there for is still seen');
      return;
    }
    // Not to see anything is no sign of an end; but what nobody sees does not stay for ever.
    if (this.#sight.blindness !== null && !proposal.isRenewedBlindly) {
      proposal.renew(nowMs);
      proposal.isRenewedBlindly = true;
      this.#actions.note(
        nowMs,
        'renewed',
        proposal.id,
        'loop',
        `once, as it is not known whether it is needed: ${this.#sight.blindness}`,
      );
      return;
    }
    this.#book.takeBack(proposal, 'expired', nowMs, 'loop', 'its time is over, and what it is there for is not seen');
  }

  /** Ends a proposal that did not come to a good end: the like of it is not tried again soon. */
  #fail(proposal: LiveProposal, state: ProposalState, reason: string, nowMs: number): void {
    this.#backOff.failed(proposal.draft.subject, nowMs, this.#policy.backOff);
    this.#book.takeBack(proposal, state, nowMs, 'loop', reason);
  }

  #dropOldIntents(nowMs: number): void {
    const kept = this.#own.filter(({ fromMs, ttlMs }) => ttlMs === null || nowMs < fromMs + ttlMs);
    const gone = this.#own.length - kept.length;
    if (gone === 0) return;
    this.#own = kept;
    this.#actions.note(nowMs, 'intents', null, 'loop', `the time of ${gone} intents of people is over`);
    this.#actions.apply(null, 'loop', 'the time of intents is over');
  }
}
