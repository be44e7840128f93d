import type { Incident } from '@int/knowledge';
import type { Intent, IntentKind } from '../intents/intent.js';
import type { DroppedFlow, LinkLoad, ObservedFlow, Rehearsal } from '../twin/rehearsal.js';
import { expectedLoads, type RehearsedFlows } from './expected-loads.js';
import type { LinkMap } from './link-map.js';
import type { ProposalMemory } from './loop-memory.js';
import type { Measurement } from './measurement.js';
import type { Autonomy } from './policy.js';
import type { Effect, LinkEffects, Proposal, ProposalState, RehearsalResult, Transition } from './proposal.js';

/** What is proposed, before it has a name. */
export interface Draft {
  readonly kind: IntentKind;
  readonly subject: string;
  readonly reason: string;
  readonly incident: Incident | null;
  readonly ttlMs: number;
  readonly autonomy: Autonomy;
  readonly effect: Effect | null;
  /** Flows that it is about, by their key, with their path before; empty: those of the intents' matches. */
  readonly flows: ReadonlyMap<string, readonly number[]>;
  /** Bits a second of these before something kept them from arriving, by their key. */
  readonly rates?: ReadonlyMap<string, number>;
  /** Packets a second of what it is about, before. */
  readonly packetsPerSecond: number;
  make(id: string, nowMs: number): readonly Intent[];
}

/** Links, steps and violations that are kept of a rehearsal. */
const MOST_KEPT = 64;
/** Flows that are kept of a rehearsal, moved and dropped ones. */
const MOST_FLOWS = 32;

const changeOf = ({ beforeBps, afterBps }: LinkLoad): number => Math.abs(afterBps - beforeBps);

function largest<Row extends { readonly flow: ObservedFlow }>(rows: readonly Row[]): readonly Row[] {
  return [...rows].sort((a, b) => b.flow.bytes - a.flow.bytes).slice(0, MOST_FLOWS);
}

/** Packets of a flow that are dropped in several ways, reported and not, are one row, and one flow. */
function together(dropped: Rehearsal['dropped']): Rehearsal['dropped'] {
  const rows = new Map<ObservedFlow, DroppedFlow>();
  for (const each of dropped) {
    const known = rows.get(each.flow);
    const more = known === undefined ? each : { ...known, share: Math.min(1, known.share + each.share) };
    rows.set(each.flow, more);
  }
  return [...rows.values()];
}

/** A proposal under way. */
export class LiveProposal {
  readonly id: string;
  readonly draft: Draft;
  intents: readonly Intent[];
  readonly history: Transition[] = [];
  rehearsal: RehearsalResult | null = null;
  predicted: Effect | null;
  measured: Effect | null = null;
  effects: LinkEffects | null = null;
  /** Loads just before its installation, and as they shall be then; `null`: they were not measured. */
  expected: ReadonlyMap<string, LinkLoad> | null = null;
  /** End of the window in which these loads were measured; `null`: they were not. */
  expectedMs: number | null = null;
  #flows: RehearsedFlows | null = null;
  expiresMs: number | null = null;
  renewals = 0;
  /** What was asked of the surroundings and is not answered yet. */
  pending: { readonly what: 'rehearse' | 'install'; readonly sinceMs: number } | null = null;
  /** When something was last seen that it is there for. */
  firedMs = Number.NEGATIVE_INFINITY;
  /** What holds it back, told once. */
  heldBy: string | null = null;

  /** It was renewed because telemetry could not say whether it is still needed. */
  isRenewedBlindly = false;

  constructor(id: string, draft: Draft, nowMs: number) {
    this.id = id;
    this.draft = draft;
    this.intents = draft.make(id, nowMs);
    this.predicted = draft.effect;
  }

  /**
   * A proposal as it was before a restart. If its time is over meanwhile, it has `graceMs` more: nobody has looked whether what it is
   * there for goes on.
   */
  static restored(memory: ProposalMemory, nowMs: number, graceMs: number, isInstalling: boolean): LiveProposal {
    const { proposal, ttlMs, effect, flows, packetsPerSecond } = memory;
    const { id, kind, subject, reason, incident, autonomy, intents } = proposal;
    const rates = new Map(memory.rates);
    const draft = { kind, subject, reason, incident, autonomy, ttlMs, effect, packetsPerSecond };
    const live = new LiveProposal(id, { ...draft, flows: new Map(flows), rates, make: () => intents }, nowMs);
    live.history.push(...proposal.history);
    live.rehearsal = proposal.rehearsal;
    live.predicted = proposal.predicted;
    live.measured = proposal.measured;
    live.effects = proposal.effects;
    live.expected = memory.expected === null ? null : new Map(memory.expected);
    live.expectedMs = memory.expectedMs ?? null;
    live.renewals = proposal.renewals;
    live.firedMs = memory.firedMs;
    live.heldBy = proposal.heldBy;
    if (isInstalling) live.pending = { what: 'install', sinceMs: nowMs };
    if (proposal.expiresMs !== null) live.#expireAt(Math.max(proposal.expiresMs, nowMs + Math.min(graceMs, ttlMs)));
    return live;
  }

  /** What {@link LiveProposal.restored} takes. */
  get memory(): ProposalMemory {
    const { draft, firedMs, expected, expectedMs } = this;
    const { ttlMs, effect, flows, rates, packetsPerSecond } = draft;
    return {
      ...{ proposal: this.snapshot(), ttlMs, effect, packetsPerSecond, firedMs, flows: [...flows] },
      ...(rates !== undefined && rates.size > 0 && { rates: [...rates] }),
      expected: expected === null ? null : [...expected],
      ...(expectedMs !== null && { expectedMs }),
    };
  }

  get state(): ProposalState {
    return this.history.at(-1)!.state;
  }

  /** When it came into the present state. */
  get sinceMs(): number {
    return this.history.at(-1)!.atMs;
  }

  get proposedMs(): number {
    return this.history[0]!.atMs;
  }

  /** Whether the switches have its intents, or shall get them. */
  get isInForce(): boolean {
    return this.state === 'installed' || this.state === 'verified' || this.pending?.what === 'install';
  }

  enter(state: ProposalState, atMs: number, by: string, reason: string): void {
    this.history.push({ state, atMs, by, reason });
  }

  /** Makes its intents begin anew. */
  renew(nowMs: number): void {
    this.renewals++;
    this.#expireAt(nowMs + this.draft.ttlMs);
  }

  #expireAt(timeMs: number): void {
    this.expiresMs = timeMs;
    const fromMs = timeMs - this.draft.ttlMs;
    this.intents = this.intents.map((intent) => ({ ...intent, fromMs }));
  }

  /** It is about to be installed: what shall come of the traffic of now. */
  expect(measurement: Measurement | null, links: LinkMap): void {
    this.expected =
      measurement === null || this.#flows === null
        ? null
        : expectedLoads(this.intents, this.#flows, measurement, links, this.draft.rates);
    this.expectedMs = this.expected === null ? null : measurement!.timeMs;
    this.#flows = null;
  }

  /** Whether it has moved loads since a time, of which one knows how. */
  hasMovedSince(timeMs: number): boolean {
    const installed = this.history.find(({ state }) => state === 'installed');
    return this.isInForce && this.expected !== null && installed !== undefined && installed.atMs >= timeMs;
  }

  rehearsed(rehearsal: Rehearsal, seconds: number, nowMs: number): void {
    this.#flows = { moved: rehearsal.moved, seconds };
    const { isSafe, violations, steps, unplaced, astray, tables, moved, loads } = rehearsal;
    const dropped = together(rehearsal.dropped);
    let highest: { before: number; after: number } | null = null;
    for (const { beforeBps, afterBps, capacityBps } of loads.values()) {
      if (capacityBps === null) continue;
      highest ??= { before: 0, after: 0 };
      highest.before = Math.max(highest.before, beforeBps / capacityBps);
      highest.after = Math.max(highest.after, afterBps / capacityBps);
    }
    this.rehearsal = {
      ...{
        isSafe,
        unplaced,
        astray,
        steps: steps.slice(0, MOST_KEPT),
        atMs: nowMs,
        highest,
        moved: moved.length,
        dropped: dropped.length,
      },
      // What stays as it is says nothing, and there are as many as switches and tables.
      tables: tables.filter(({ before, after }) => before !== after).slice(0, 256),
      violations: violations.slice(0, MOST_KEPT),
      loads: [...loads]
        .map(([link, load]) => ({ link, ...load }))
        .sort((a, b) => changeOf(b) - changeOf(a))
        .slice(0, MOST_KEPT),
      movedFlows: largest(moved),
      droppedFlows: largest(dropped),
      seconds,
    };
  }

  snapshot(): Proposal {
    const { id, draft, intents, state, rehearsal, predicted, measured, effects, expiresMs, renewals } = this;
    const { kind, reason, incident, subject, autonomy } = draft;
    const pending = this.pending?.what ?? null;
    return {
      ...{ id, kind, intents, reason, incident, subject, autonomy, state },
      ...{ history: [...this.history], rehearsal, predicted, measured, effects, expiresMs, renewals },
      ...{ pending, heldBy: this.heldBy },
    };
  }
}
