/** A running controller, as the dashboard shows it. */
import type { Controller, JournalEntry, LoopNote, Proposal } from '@int/control';
import type {
  ChangeRow,
  ControlAnswer,
  ControlOrder,
  ControlSource,
  HostRow,
  IncidentRow,
  JournalRow,
  ProposalAnswer,
  ProposalRow,
} from '@int/dashboard';
import type { Incident, KnowledgePlane } from '@int/knowledge';
import { changeText } from '../entity-text.js';
import type { ReadControl } from '../read-control.js';
import { plannedRow, rowText } from './changes.js';
import { hostRows, IncidentRows, incidentRow } from './incident-rows.js';
import { intentRow, portOf } from './intent-text.js';
import { JournalRows } from './journal-rows.js';
import { isOf, linkRows, newestFirst, proposalRow, rehearsalAnswer, waitsFor } from './proposal-rows.js';

/** Kinds of intents of which there are proposals. */
const KINDS = ['watch', 'block', 'limit', 'avoid', 'path'] as const;
const MOST_REFUSALS = 100;
const MOST_INTENTS = 1000;
const MOST_LINKS = 1000;
const MOST_UNDONE = 1000;
/** Changes that the answer about a proposal shows, and rows of the journal. */
const MOST_CHANGES = 500;
const MOST_JOURNAL = 100;
/** A plan of the same proposal is made anew after this time, if nothing has happened. */
const PLAN_MS = 1000;

/** What the view looks at. It comes into being after the view, which is told of everything from the start. */
export interface Viewed {
  readonly controller: Controller;
  readonly knowledge: Pick<KnowledgePlane, 'open' | 'hosts' | 'totals'>;
}

/** Entries of before that are shown. */
const MOST_REMEMBERED = 20_000;

type Diff = ProposalAnswer['diff'];

export class ControlView implements ControlSource {
  revision = 0;
  readonly #read: () => ReadControl;
  readonly #nowMs: () => number;
  #viewed: Viewed | null = null;
  readonly #incidents = new IncidentRows();
  readonly #journal: JournalRows;
  #plan: { readonly id: string; readonly revision: number; readonly atMs: number; readonly diff: Diff } | null = null;

  constructor(read: () => ReadControl, nowMs: () => number = Date.now) {
    this.#read = read;
    this.#nowMs = nowMs;
    this.#journal = new JournalRows(read().topology);
  }

  /** To be called before anything is asked. */
  look(viewed: Viewed): void {
    this.#viewed = viewed;
  }

  incident(incident: Incident): void {
    this.#incidents.take(incident);
    this.revision++;
  }

  note(note: LoopNote): void {
    this.#journal.note(note);
    this.revision++;
  }

  /** What was written before this run: entries of the journal, in its order. */
  remember(entries: readonly JournalEntry[]): void {
    let request: JournalEntry[] = [];
    for (const entry of [...entries.slice(-MOST_REMEMBERED), null]) {
      if (request.length > 0 && request[0]!.request !== entry?.request) {
        this.#journal.written(request, proposalOf(request));
        request = [];
      }
      if (entry !== null) request.push(entry);
    }
  }

  /** @param entries of one request */
  written(entries: readonly JournalEntry[]): void {
    if (entries.length === 0) return;
    const intents = entries.flatMap((entry) => entry.intents);
    const proposal = this.#proposals.find(({ id }) => intents.some((intent) => isOf(intent, id)));
    this.#journal.written(entries, proposal?.id ?? null);
    this.revision++;
  }

  state(): ControlAnswer {
    const { topology } = this.#read();
    const { loop, state } = this.#controller;
    const { policy, stopped } = loop;
    const nowMs = this.#nowMs();
    const used = loop.recentActions(nowMs);
    const proposals = { proposed: 0, approved: 0, installed: 0, verified: 0 };
    const ended = { 'rolled-back': 0, withdrawn: 0, expired: 0, refused: 0 };
    const counts: Record<Proposal['state'], number> = { ...proposals, ...ended };
    for (const each of loop.proposals) counts[each.state]++;
    const { untracked } = this.#knowledge.totals();
    return {
      ...{ revision: this.revision, nowMs, isStopped: loop.isStopped },
      stopped: stopped === null ? null : { ...stopped, by: rowText(stopped.by), reason: rowText(stopped.reason) },
      autonomy: KINDS.map((kind) => ({ kind, autonomy: policy.autonomy[kind] ?? 'observe' })),
      rehearse: policy.rehearse,
      limits: {
        withinMs: policy.limits.withinMs,
        all: { most: policy.limits.all, used: used.length },
        kinds: KINDS.map((kind) => ({
          ...{ kind, most: policy.limits.kinds[kind] ?? null, used: used.filter((each) => each === kind).length },
        })),
      },
      ...{ settleMs: policy.settleMs, approvalMs: policy.approvalMs, isSettled: state.isSettled },
      switches: state.switches.map(({ switchId, phase, error }) => ({
        ...{ switchId, name: topology.switchText(switchId), phase },
        error: error === undefined ? null : rowText(error),
      })),
      refusals: state.refusals.slice(0, MOST_REFUSALS).map(({ switchId, change, message, attempts }) => ({
        ...{ switchId, name: topology.switchText(switchId), change: rowText(changeText(change)) },
        ...{ message: rowText(message), attempts },
      })),
      undone: undoneOf(this.#controller.undone),
      failedLinks: [...loop.failedLinks].slice(0, MOST_LINKS).map((link) => portOf(link, topology)),
      intents: loop.intents
        .slice(0, MOST_INTENTS)
        .map((intent) => intentRow(intent, topology, this.#proposalOf(loop.proposals, intent.id))),
      counts: {
        incidents: { open: this.#incidents.open, closed: this.#incidents.closed },
        proposals: counts,
        approvals: loop.proposals.filter((each) => waitsFor(each, loop.isStopped) === 'approval').length,
        journal: this.#journal.count,
        untracked: { ...untracked, ...(loop.untracked > 0 && { proposals: loop.untracked }) },
      },
    };
  }

  incidents(): readonly IncidentRow[] {
    const proposals = new Map<string, string[]>();
    for (const { id, incident } of newestFirst(this.#proposals)) {
      if (incident === null) continue;
      const known = proposals.get(incident.id);
      if (known === undefined) proposals.set(incident.id, [id]);
      else known.push(id);
    }
    return this.#incidents.rows(this.#read(), this.#knowledge.open, proposals);
  }

  hosts(): readonly HostRow[] {
    return hostRows(this.#read(), this.#knowledge.hosts(), this.#knowledge.open);
  }

  proposals(): readonly ProposalRow[] {
    const { topology } = this.#read();
    const { loop } = this.#controller;
    return newestFirst(loop.proposals).map((proposal) => proposalRow(proposal, loop, topology));
  }

  proposal(id: string): ProposalAnswer | null {
    const read = this.#read();
    const { topology } = read;
    const { loop } = this.#controller;
    const proposal = loop.proposals.find((each) => each.id === id);
    if (proposal === undefined) return null;
    const { incident, effects } = proposal;
    const newest = incident === null ? null : (this.#incidents.get(incident.id) ?? incident);
    const ids = newestFirst(loop.proposals)
      .filter((each) => each.incident !== null && each.incident.id === incident?.id)
      .map((each) => each.id);
    return {
      ...proposalRow(proposal, loop, topology),
      intents: proposal.intents.map((intent) => intentRow(intent, topology, id)),
      cause: newest === null ? null : incidentRow(newest, read, ids),
      rehearsal: rehearsalAnswer(proposal, topology),
      links: linkRows(proposal, topology),
      compared: effects === null ? null : { atMs: effects.atMs, verdict: effects.verdict, achieved: effects.achieved },
      diff: this.#diff(proposal),
      journal: this.#journal.rows
        .filter((row) => row.proposal === id)
        .slice(-MOST_JOURNAL)
        .reverse(),
    };
  }

  journal(): readonly JournalRow[] {
    return this.#journal.rows;
  }

  order(order: ControlOrder & { readonly by: string }): Promise<string | null> {
    const { by, reason } = order;
    const terms = { by, ...(reason !== undefined && { reason }) };
    if ('entries' in order) return this.#controller.order({ kind: order.order, entries: order.entries, ...terms });
    if ('proposal' in order) return this.#controller.order({ kind: order.order, proposal: order.proposal, ...terms });
    return this.#controller.order({ kind: order.order, ...terms });
  }

  get #controller(): Controller {
    if (this.#viewed === null) throw new Error('the controller is not there yet');
    return this.#viewed.controller;
  }

  get #knowledge(): Viewed['knowledge'] {
    if (this.#viewed === null) throw new Error('the controller is not there yet');
    return this.#viewed.knowledge;
  }

  get #proposals(): readonly Proposal[] {
    return this.#viewed === null ? [] : this.#viewed.controller.loop.proposals;
  }

  #proposalOf(proposals: readonly Proposal[], intent: string): string | null {
    return proposals.find(({ id }) => isOf(intent, id))?.id ?? null;
  }

  /** What a proposal changes: what was written of it, else what it would change now. */
  #diff(proposal: Proposal): Diff {
    const written = this.#written(proposal.id);
    if (written.of === 'written') return written;
    if (proposal.state !== 'proposed' && proposal.state !== 'approved') return written;
    const nowMs = this.#nowMs();
    const known = this.#plan;
    if (known?.id === proposal.id && (known.revision === this.revision || nowMs - known.atMs < PLAN_MS)) {
      return known.diff;
    }
    const diff = this.#planned(proposal);
    this.#plan = { id: proposal.id, revision: this.revision, atMs: nowMs, diff };
    return diff;
  }

  #planned(proposal: Proposal): Diff {
    const { loop } = this.#controller;
    const { plan, problems } = this.#controller.preview([...loop.intents, ...proposal.intents]);
    const own = problems.filter(({ intents }) => intents.some((intent) => isOf(intent, proposal.id)));
    const changes = plan.flatMap((step) =>
      step.map((change) => ({ switchId: change.switchId, row: () => plannedRow(change) })),
    );
    return this.#bySwitch(
      'planned',
      changes,
      changes.length,
      own.map(({ message }) => rowText(message)),
    );
  }

  /** Of the journal, as far as it is remembered. */
  #written(id: string): Diff {
    let leftOut = 0;
    const changes = this.#journal.rows.flatMap((row) => {
      const { switchId } = row;
      if (switchId === null) return [];
      if (row.proposal === id) leftOut += row.leftOut;
      return row.changes
        .filter(({ intents }) => intents.some((intent) => isOf(intent, id)))
        .map((change) => ({ switchId, row: () => change }));
    });
    const all = changes.length + leftOut;
    return this.#bySwitch(all === 0 ? 'nothing' : 'written', changes.slice(-MOST_CHANGES).reverse(), all, []);
  }

  #bySwitch(
    of: Diff['of'],
    changes: readonly { readonly switchId: number; readonly row: () => ChangeRow }[],
    all: number,
    problems: readonly string[],
  ): Diff {
    const { topology } = this.#read();
    const switches = new Map<number, ChangeRow[]>();
    const shown = changes.slice(0, MOST_CHANGES);
    for (const { switchId, row } of shown) {
      const rows = switches.get(switchId);
      if (rows === undefined) switches.set(switchId, [row()]);
      else rows.push(row());
    }
    return {
      of,
      switches: Array.from(switches, ([switchId, rows]) => ({
        ...{ switchId, name: topology.switchText(switchId), changes: rows },
      })),
      leftOut: all - shown.length,
      problems,
    };
  }
}

/** What each order has undone: it may be of several places. */
function undoneOf(undone: Controller['undone']): NonNullable<ControlAnswer['undone']> {
  const orders = new Map(undone.map(({ entries, by }) => [entries.join(' '), { entries, by: rowText(by) }]));
  return [...orders.values()].slice(0, MOST_UNDONE);
}

/** The proposal of entries of before, by the name that its intents have; it may be forgotten by now. */
function proposalOf(entries: readonly JournalEntry[]): string | null {
  for (const { intents } of entries) {
    for (const intent of intents) {
      const [id] = /^(?:watch|block|limit|avoid|path)-[0-9a-z]+-\d+(?=\.\d+$|$)/.exec(intent) ?? [];
      if (id !== undefined) return id;
    }
  }
  return null;
}
