import { INTENT_KINDS, PROPOSAL_STATES } from '../protocol/control-words.js';
import { flag, list, maybe, number, object, oneOf, ref, type Schema, table, text, whole } from './schema.js';

const kind = oneOf(...INTENT_KINDS);
const state = oneOf(...PROPOSAL_STATES);
const autonomy = oneOf('observe', 'propose', 'act');
const limit = { most: maybe(whole), used: whole };
const port = { switchId: whole, port: whole, name: text, key: maybe(text) };
const operands = table({ type: ['number', 'string', 'null'] });
const flow = {
  source: text,
  destination: text,
  protocol: whole,
  sourcePort: whole,
  destinationPort: whole,
  bps: number,
};
const rows = (row: string): Record<string, Schema> => ({ rows: list(ref(row)), matched: whole, empty: maybe(text) });
const page = (row: string): Schema => object({ ...rows(row), newer: whole });

const proposal = {
  id: text,
  kind,
  state,
  text,
  reason: text,
  autonomy,
  incident: maybe(text),
  stages: list(object({ stage: oneOf(...PROPOSAL_STATES, 'rehearsed'), atMs: number, by: text, reason: text })),
  waitsFor: maybe(oneOf('rehearsal', 'approval', 'limit', 'resume', 'switches', 'measurement')),
  heldBy: maybe(text),
  orders: list(oneOf('approve', 'reject', 'undo')),
  effect: maybe(
    object({
      metric: oneOf('link-load', 'link-bps', 'flow-bps'),
      subject: text,
      before: number,
      predicted: maybe(number),
      measured: maybe(number),
    }),
  ),
  expiresMs: maybe(number),
  renewals: whole,
};

/** Answers of a controller. */
export const CONTROL_SCHEMAS: Readonly<Record<string, Schema>> = {
  ControlAnswer: object({
    revision: whole,
    nowMs: number,
    isStopped: flag,
    stopped: maybe(object({ atMs: number, by: text, reason: text })),
    autonomy: list(object({ kind, autonomy })),
    rehearse: oneOf('required', 'advised', 'off'),
    limits: object({ withinMs: number, all: object(limit), kinds: list(object({ kind, ...limit })) }),
    settleMs: number,
    approvalMs: number,
    isSettled: flag,
    switches: list(
      object({
        switchId: whole,
        name: text,
        phase: oneOf('absent', 'late', 'failing', 'behind', 'settled'),
        error: maybe(text),
      }),
    ),
    refusals: list(object({ switchId: whole, name: text, change: text, message: text, attempts: whole })),
    'undone?': list(object({ entries: list(whole), by: text })),
    failedLinks: list(object(port)),
    intents: list(ref('IntentRow')),
    counts: object({
      incidents: object({ open: whole, closed: whole }),
      proposals: object(Object.fromEntries(PROPOSAL_STATES.map((each) => [each, whole]))),
      approvals: whole,
      journal: whole,
      untracked: table(whole),
    }),
  }),
  IntentRow: object({
    id: text,
    kind,
    owner: text,
    priority: whole,
    text,
    reason: text,
    fromMs: number,
    expiresMs: maybe(number),
    proposal: maybe(text),
  }),
  IncidentRow: object({
    id: text,
    kind: text,
    entity: text,
    name: text,
    state: oneOf('open', 'close'),
    from: number,
    to: maybe(number),
    detector: text,
    formula: text,
    operands,
    baseline: maybe(operands),
    windowMs: number,
    confidence: number,
    phase: maybe(text),
    otherwise: list(text),
    confirm: text,
    along: list(text),
    suggest: maybe(
      object({
        intent: oneOf('block', 'limit', 'avoid', 'watch'),
        match: table({ type: ['number', 'string'] }),
        ttlMs: number,
      }),
    ),
    proposals: list(text),
  }),
  IncidentsAnswer: page('IncidentRow'),
  HostRow: object({
    host: text,
    name: maybe(text),
    level: number,
    levelOf: oneOf('topology', 'intent', 'default'),
    score: number,
    phases: list(object({ phase: text, evidence: number, incident: text, timeMs: number, otherwise: list(text) })),
    open: whole,
  }),
  HostsAnswer: object(rows('HostRow')),
  ProposalRow: object(proposal),
  ProposalsAnswer: page('ProposalRow'),
  RehearsalAnswer: object({
    atMs: number,
    isSafe: flag,
    violations: list(object({ kind: text, step: whole, where: text, flows: whole, message: text })),
    moved: whole,
    movedFlows: list(object({ ...flow, from: list(text), to: list(text) })),
    dropped: whole,
    droppedFlows: list(object({ ...flow, share: number, switchId: whole, switchName: text, intents: list(text) })),
    steps: list(object({ changes: whole, delivered: whole, lost: whole, linkLoad: number })),
    tables: list(object({ switchId: whole, name: text, table: text, before: whole, after: whole, size: whole })),
    highest: maybe(object({ before: number, after: number })),
    unplaced: whole,
    astray: whole,
  }),
  ChangeRow: object({
    'entry?': whole,
    type: oneOf('insert', 'modify', 'delete'),
    before: maybe(text),
    after: maybe(text),
    intents: list(text),
    result: oneOf('planned', 'done', 'refused', 'unknown'),
    message: text,
    atMs: maybe(number),
  }),
  ProposalAnswer: object({
    ...proposal,
    intents: list(ref('IntentRow')),
    cause: maybe(ref('IncidentRow')),
    rehearsal: maybe(ref('RehearsalAnswer')),
    links: list(
      object({
        ...port,
        capacityBps: maybe(number),
        beforeBps: number,
        predictedBps: maybe(number),
        measuredBps: maybe(number),
      }),
    ),
    compared: maybe(
      object({
        atMs: number,
        verdict: oneOf('as-predicted', 'partial', 'none', 'worse', 'other'),
        achieved: maybe(number),
      }),
    ),
    diff: object({
      of: oneOf('planned', 'written', 'nothing'),
      switches: list(object({ switchId: whole, name: text, changes: list(ref('ChangeRow')) })),
      leftOut: whole,
      problems: list(text),
    }),
    journal: list(ref('JournalRow')),
  }),
  JournalRow: object({
    id: whole,
    atMs: number,
    what: text,
    by: text,
    reason: text,
    proposal: maybe(text),
    switchId: maybe(whole),
    switchName: maybe(text),
    changes: list(ref('ChangeRow')),
    leftOut: whole,
  }),
  JournalAnswer: page('JournalRow'),
  OrderAnswer: object({ revision: whole, proposal: maybe(ref('ProposalRow')) }),
};
