import type {
  ControlAnswer,
  ControlOrder,
  ControlSource,
  HostRow,
  IncidentRow,
  JournalRow,
  ProposalAnswer,
  ProposalRow,
  ProposalState,
} from '@int/dashboard';
import type { RehearsalAnswer } from '@int/dashboard/client';

const SCANNER = '198.51.100.7';
const SETTLE_MS = 400;

type Way = Pick<ProposalAnswer, 'cause' | 'intents' | 'rehearsal' | 'links' | 'diff' | 'journal'> &
  Partial<Pick<ProposalAnswer, 'compared'>>;
type Live = { row: ProposalRow; rest: Way };

/** A controller without a network: what it says is made up, and it does what it is told. */
export class MadeControl implements ControlSource {
  revision = 1;
  readonly orders: ControlOrder[] = [];
  readonly #startMs = Date.now() - 30_000;
  #stopped: ControlAnswer['stopped'] = null;
  readonly #journal: JournalRow[] = [];
  readonly #incidents: readonly IncidentRow[];
  readonly #proposals: readonly Live[];

  constructor() {
    const at = (seconds: number): number => this.#startMs + seconds * 1000;
    this.#incidents = incidentsAt(at);
    this.#proposals = proposalsAt(at, this.#incidents);
    const past = this.#proposals.flatMap(({ row }) => row.stages.map((stage) => ({ ...stage, id: row.id })));
    for (const { id, stage, atMs, by, reason } of past.sort((a, b) => a.atMs - b.atMs)) {
      this.#note(stage, id, by, reason, atMs);
    }
  }

  state(): ControlAnswer {
    const count = (state: ProposalState): number => this.#proposals.filter(({ row }) => row.state === state).length;
    return {
      revision: this.revision,
      nowMs: Date.now(),
      isStopped: this.#stopped !== null,
      stopped: this.#stopped,
      autonomy: [
        { kind: 'watch', autonomy: 'observe' },
        { kind: 'block', autonomy: 'propose' },
        { kind: 'limit', autonomy: 'act' },
        { kind: 'avoid', autonomy: 'act' },
        { kind: 'path', autonomy: 'act' },
      ],
      rehearse: 'required',
      limits: {
        withinMs: 60_000,
        all: { most: 10, used: 2 },
        kinds: [
          { kind: 'block', most: 4, used: 1 },
          { kind: 'path', most: null, used: 1 },
        ],
      },
      settleMs: 3000,
      approvalMs: 600_000,
      isSettled: true,
      switches: [1, 2, 5, 6].map((switchId) => ({
        switchId,
        name: NAMES[switchId]!,
        phase: switchId === 6 ? ('absent' as const) : ('settled' as const),
        error: switchId === 6 ? 'connection refused' : null,
      })),
      refusals: [],
      failedLinks: [],
      intents: this.#proposals
        .filter(({ row }) => row.state === 'installed' || row.state === 'verified')
        .flatMap(({ rest }) => rest.intents),
      counts: {
        incidents: { open: 2, closed: 1 },
        proposals: {
          proposed: count('proposed'),
          approved: count('approved'),
          installed: count('installed'),
          verified: count('verified'),
          'rolled-back': count('rolled-back'),
          withdrawn: count('withdrawn'),
          expired: count('expired'),
          refused: count('refused'),
        },
        approvals: this.#proposals.filter(({ row }) => row.waitsFor === 'approval').length,
        journal: this.#journal.length,
        untracked: {},
      },
    };
  }

  incidents(): readonly IncidentRow[] {
    return this.#incidents;
  }

  hosts(): readonly HostRow[] {
    const [scan] = this.#incidents;
    const phase = { phase: scan!.phase!, evidence: scan!.confidence, incident: scan!.id, timeMs: scan!.from };
    return [
      {
        ...{ host: SCANNER, name: null, level: 1, levelOf: 'default', score: 1, open: 1 },
        phases: [{ ...phase, otherwise: scan!.otherwise }],
      },
      { host: '10.0.2.1', name: 'web', level: 3, levelOf: 'topology', score: 0, phases: [], open: 0 },
    ];
  }

  proposals(): readonly ProposalRow[] {
    return this.#proposals.map(({ row }) => row);
  }

  proposal(id: string): ProposalAnswer | null {
    const found = this.#proposals.find(({ row }) => row.id === id);
    if (found === undefined) return null;
    return {
      compared: null,
      ...found.row,
      ...found.rest,
      journal: this.#journal.filter((each) => each.proposal === id).reverse(),
    };
  }

  journal(): readonly JournalRow[] {
    return this.#journal;
  }

  async order(order: ControlOrder & { readonly by: string }): Promise<string | null> {
    this.orders.push(order);
    const { by, reason = '' } = order;
    const nowMs = Date.now();
    if ('proposal' in order) {
      const found = this.#proposals.find(({ row }) => row.id === order.proposal)!;
      if (!found.row.orders.includes(order.order)) return `${order.proposal} is ${found.row.state}`;
      if (order.order === 'approve') this.#install(found, by, reason);
      else this.#enter(found, order.order === 'undo' ? 'withdrawn' : 'refused', by, reason || order.order);
      return null;
    }
    if (order.order === 'stop') {
      this.#stopped = { atMs: nowMs, by, reason };
      this.#note('stopped', null, by, 'nothing acts any more');
    } else if (order.order === 'resume') {
      this.#stopped = null;
      this.#note('resumed', null, by, 'the loop acts again');
    } else {
      for (const each of this.#proposals) {
        if (each.row.orders.includes('undo')) this.#enter(each, 'withdrawn', by, 'all that the loop did');
      }
    }
    this.revision++;
    return null;
  }

  #install(found: Live, by: string, reason: string): void {
    this.#enter(found, 'approved', by, reason || 'approved');
    this.#enter(found, 'installed', 'loop', 'the switches have acknowledged all entries');
    const { diff } = found.rest;
    const switches = diff.switches.map((each) => ({
      ...each,
      changes: each.changes.map((change) => ({ ...change, result: 'done' as const, atMs: Date.now() })),
    }));
    found.rest = { ...found.rest, diff: { ...diff, of: 'written', switches } };
    for (const { switchId, name, changes } of switches) {
      this.#note('written', found.row.id, 'loop', found.row.reason, Date.now(), {
        switchId,
        switchName: name,
        changes,
      });
    }
    setTimeout(() => {
      if (found.row.state !== 'installed') return;
      found.row = { ...found.row, effect: { ...found.row.effect!, measured: 0 } };
      this.#enter(found, 'verified', 'loop', '100 kbit/s before, 0 now, 0 predicted');
    }, SETTLE_MS).unref();
  }

  #enter(found: Live, state: ProposalState, by: string, reason: string): void {
    const isInForce = state === 'installed' || state === 'verified';
    found.row = {
      ...found.row,
      state,
      stages: [...found.row.stages, { stage: state, atMs: Date.now(), by, reason }],
      orders: isInForce ? ['undo'] : [],
      waitsFor: state === 'installed' ? 'measurement' : null,
      expiresMs: isInForce ? Date.now() + 60_000 : null,
    };
    this.#note(state, found.row.id, by, reason);
    this.revision++;
  }

  #note(
    what: string,
    proposal: string | null,
    by: string,
    reason: string,
    atMs = Date.now(),
    written: Partial<JournalRow> = {},
  ): void {
    const id = this.#journal.length + 1;
    const none = { switchId: null, switchName: null, changes: [], leftOut: 0 };
    this.#journal.push({ id, atMs, what, by, reason, proposal, ...none, ...written });
  }
}

const NAMES: Readonly<Record<number, string>> = { 1: 'leaf-1', 2: 'leaf-2', 5: 'spine-1', 6: 'spine-2' };

function incidentsAt(at: (seconds: number) => number): readonly IncidentRow[] {
  const scan = `host:${SCANNER}`;
  const closed = { state: 'close', to: at(8) } as const;
  const open = { state: 'open', to: null } as const;
  return [
    {
      ...{ id: `scan-vertical/${scan}/${at(20)}`, kind: 'scan-vertical', entity: scan, name: SCANNER, ...open },
      ...{ from: at(20), detector: 'threshold-random-walk', baseline: null, windowMs: 9000, along: [] },
      formula: 'ln L = failures * ln((1 - theta1) / (1 - theta0)) + successes * ln(theta1 / theta0) >= ln(eta1)',
      operands: { failures: 9, successes: 0, theta0: 0.8, theta1: 0.2, 'ln L': 12.477, 'ln(eta1)': 11.513 },
      ...{ confidence: 0.99, phase: 'reconnaissance', proposals: ['block-1'] },
      otherwise: ['a client whose servers are down', 'a monitoring system or an inventory'],
      confirm: 'watch what the source sends after a contact that succeeded',
      suggest: { intent: 'block', match: { source: SCANNER }, ttlMs: 60_000 },
    },
    {
      ...{ id: `congestion/queue:1/0/${at(12)}`, kind: 'congestion', entity: 'queue:1/0', name: 'queue 0 of leaf-1' },
      ...{ ...open, from: at(12), detector: 'cusum-of-baseline', windowMs: 1000, along: ['switch:5'] },
      formula: 'S = max(0, S + z - 0.5) > h, z = (ln(1 + value) - ln(1 + usual)) / spread, clipped to 8',
      operands: { metric: 'queueOccupancy', value: 310, usual: 40, z: 5.1, S: 21.4, h: 17.1 },
      baseline: { metric: 'queueOccupancy', usual: 40 },
      ...{ confidence: 0.71, phase: null, proposals: ['path-2'] },
      otherwise: ['more traffic than usual that the network can carry', 'a change of paths'],
      confirm: 'see which flows share the queue, and whether they came together',
      suggest: { intent: 'avoid', match: { switch: 1 }, ttlMs: 60_000 },
    },
    {
      ...{ id: `syn-flood/host:10.0.2.1/${at(2)}`, kind: 'syn-flood', entity: 'host:10.0.2.1', name: 'web (10.0.2.1)' },
      ...{ ...closed, from: at(2), detector: 'syn-cusum', windowMs: 1000, along: [] },
      formula: 'g = max(0, g + (alpha * mu / sigma^2) * (syns - mu - alpha * mu / 2)) >= h and completed < c',
      operands: { g: 9.2, syns: 410, mu: 12, completed: 0.02, alpha: 0.5, h: 5, c: 0.5 },
      ...{ baseline: { synsPerSecond: 12 }, confidence: 0.98, phase: 'impact', proposals: ['limit-3'] },
      otherwise: ['a service that is down while many clients try it'],
      confirm: 'compare the half-open connections of the host',
      suggest: { intent: 'limit', match: { destination: '10.0.2.1', protocol: 'tcp' }, ttlMs: 60_000 },
    },
  ];
}

const NO_REHEARSAL: RehearsalAnswer = {
  ...{ atMs: 0, isSafe: true, violations: [], moved: 0, movedFlows: [], dropped: 0, droppedFlows: [], steps: [] },
  ...{ tables: [], highest: { before: 0.41, after: 0.41 }, unplaced: 0, astray: 0 },
};

function proposalsAt(at: (seconds: number) => number, incidents: readonly IncidentRow[]): readonly Live[] {
  const [scan, hot, flood] = incidents;
  const flow = { protocol: 6, sourcePort: 40_000, destinationPort: 443 };
  const planned = { result: 'planned', message: '', atMs: null } as const;
  const done = { result: 'done', message: '', atMs: at(14) } as const;
  const base = { heldBy: null, renewals: 0 } as const;
  return [
    {
      row: {
        ...{ id: 'block-1', kind: 'block', state: 'proposed', text: `block ${SCANNER}`, autonomy: 'propose', ...base },
        ...{ reason: `scan-vertical at ${SCANNER}`, incident: scan!.id, waitsFor: 'approval', expiresMs: null },
        stages: [
          { stage: 'proposed', atMs: at(20), by: 'loop', reason: `scan-vertical at ${SCANNER}` },
          { stage: 'rehearsed', atMs: at(20.3), by: 'loop', reason: 'safe: 0 flows moved, 1 dropped' },
        ],
        orders: ['approve', 'reject'],
        effect: { metric: 'flow-bps', subject: SCANNER, before: 100_000, predicted: 0, measured: null },
      },
      rest: {
        cause: scan!,
        intents: [intent('block-1', 'block', `block ${SCANNER}`, scan!.id, at(20))],
        rehearsal: {
          ...NO_REHEARSAL,
          ...{ atMs: at(20.3), dropped: 1, steps: [{ changes: 2, delivered: 63, lost: 1, linkLoad: 0.41 }] },
          droppedFlows: [
            {
              ...{ ...flow, source: SCANNER, destination: '10.0.2.1', bps: 100_000, share: 1, switchId: 1 },
              ...{ switchName: 'leaf-1', intents: ['block-1'] },
            },
          ],
          tables: [{ switchId: 1, name: 'leaf-1', table: 'IntIngress.access_ipv4', before: 0, after: 1, size: 1024 }],
        },
        links: [],
        diff: {
          ...{ of: 'planned', leftOut: 0, problems: [] },
          switches: [1, 2].map((switchId) => ({
            ...{ switchId, name: NAMES[switchId]! },
            changes: [
              {
                ...{ type: 'insert', before: null, intents: ['block-1'], ...planned },
                after: `IntIngress.access_ipv4: source_address ${SCANNER}/32 priority 1100 => IntIngress.deny(cell 17, one_in 100)`,
              },
            ],
          })),
        },
        journal: [],
      },
    },
    {
      row: {
        ...{ id: 'path-2', kind: 'path', state: 'verified', autonomy: 'act', incident: hot!.id, ...base },
        ...{ text: 'path tcp 10.0.1.9 -> 10.0.2.1:443 over leaf-1, spine-2, leaf-2', waitsFor: null },
        ...{ reason: 'leaf-1:1 is at 93 %', expiresMs: at(90), orders: ['undo'] },
        stages: [
          { stage: 'proposed', atMs: at(12.1), by: 'loop', reason: 'leaf-1:1 is at 93 %' },
          { stage: 'rehearsed', atMs: at(12.4), by: 'loop', reason: 'safe: 1 flow moved, 0 dropped' },
          { stage: 'approved', atMs: at(12.4), by: 'policy', reason: 'the policy says act for path' },
          { stage: 'installed', atMs: at(12.6), by: 'loop', reason: 'the switches have acknowledged all entries' },
          { stage: 'verified', atMs: at(16), by: 'loop', reason: 'the hottest link is at 54.6 %, 55 % was predicted' },
        ],
        effect: { metric: 'link-load', subject: 'leaf-1:1', before: 0.93, predicted: 0.55, measured: 0.546 },
      },
      rest: {
        cause: hot!,
        intents: [intent('path-2', 'path', 'path tcp 10.0.1.9 -> 10.0.2.1:443 over spine-2', hot!.id, at(12.6))],
        rehearsal: {
          ...NO_REHEARSAL,
          ...{ atMs: at(12.4), moved: 1, highest: { before: 0.93, after: 0.55 } },
          movedFlows: [
            {
              ...{ ...flow, source: '10.0.1.9', destination: '10.0.2.1', bps: 3_800_000 },
              ...{ from: ['leaf-1', 'spine-1', 'leaf-2'], to: ['leaf-1', 'spine-2', 'leaf-2'] },
            },
          ],
          steps: [
            { changes: 1, delivered: 64, lost: 0, linkLoad: 0.93 },
            { changes: 1, delivered: 64, lost: 0, linkLoad: 0.55 },
          ],
        },
        compared: { atMs: at(16), verdict: 'as-predicted', achieved: 0.99 },
        links: [
          load(1, 1, 'leaf-1:1', 'link:1:1-5:1', [9_300_000, 5_500_000, 5_460_000]),
          load(1, 2, 'leaf-1:2', 'link:1:2-6:1', [1_200_000, 5_000_000, 5_040_000]),
        ],
        diff: {
          ...{ of: 'written', leftOut: 0, problems: [] },
          switches: [
            {
              ...{ switchId: 6, name: 'spine-2' },
              changes: [
                {
                  ...{ type: 'insert', before: null, intents: ['path-2'], ...done },
                  after:
                    'IntIngress.steer_ipv4: destination_address 10.0.2.1/32 priority 1100 => IntIngress.forward(port 2)',
                },
              ],
            },
            {
              ...{ switchId: 1, name: 'leaf-1' },
              changes: [
                {
                  ...{ type: 'modify', intents: ['path-2'], ...done },
                  before:
                    'IntIngress.steer_ipv4: destination_address 10.0.2.1/32 priority 1100 => IntIngress.forward(port 1)',
                  after:
                    'IntIngress.steer_ipv4: destination_address 10.0.2.1/32 priority 1100 => IntIngress.forward(port 2)',
                },
                {
                  ...{ type: 'delete', after: null, intents: ['path-1'], ...done },
                  before:
                    'IntIngress.steer_ipv4: destination_address 10.0.2.9/32 priority 1100 => IntIngress.forward(port 1)',
                },
              ],
            },
          ],
        },
        journal: [],
      },
    },
    {
      row: {
        ...{ id: 'limit-3', kind: 'limit', state: 'refused', autonomy: 'act', incident: flood!.id, ...base },
        ...{ text: 'limit tcp any -> 10.0.2.1 to 1 Mbit/s', waitsFor: null, expiresMs: null, orders: [] },
        reason: 'syn-flood at web (10.0.2.1)',
        stages: [
          { stage: 'proposed', atMs: at(2.1), by: 'loop', reason: 'syn-flood at web (10.0.2.1)' },
          {
            stage: 'refused',
            atMs: at(2.5),
            by: 'loop',
            reason: 'the rehearsal found 4 flows that nobody meant to drop',
          },
        ],
        effect: null,
      },
      rest: {
        cause: flood!,
        intents: [intent('limit-3', 'limit', 'limit tcp any -> 10.0.2.1 to 1 Mbit/s', flood!.id, at(2))],
        rehearsal: {
          ...NO_REHEARSAL,
          ...{ atMs: at(2.5), isSafe: false, dropped: 4, astray: 2 },
          steps: [{ changes: 1, delivered: 60, lost: 4, linkLoad: 0.41 }],
          violations: [
            {
              ...{ kind: 'drop', step: 0, where: 'leaf-2', flows: 4 },
              message: '4 flows that were delivered lose packets, and no intent means them',
            },
          ],
        },
        links: [],
        diff: { of: 'nothing', switches: [], leftOut: 0, problems: [] },
        journal: [],
      },
    },
  ];
}

function intent(
  proposal: string,
  kind: 'block' | 'path' | 'limit',
  text: string,
  incident: string,
  fromMs: number,
): ProposalAnswer['intents'][number] {
  return {
    ...{ id: `${proposal}/0`, kind, text, owner: `incident:${incident}`, priority: 100, reason: '', fromMs, proposal },
    expiresMs: fromMs + 60_000,
  };
}

function load(
  switchId: number,
  port: number,
  name: string,
  key: string,
  [beforeBps, predictedBps, measuredBps]: readonly [number, number, number],
): ProposalAnswer['links'][number] {
  return { switchId, port, name, key, capacityBps: 10_000_000, beforeBps, predictedBps, measuredBps };
}
