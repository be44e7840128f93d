import type { ControlAnswer, ControlSource, IncidentRow, JournalRow, ProposalAnswer } from '@int/dashboard';

const KINDS = ['block', 'path'] as const;
const STATES = ['verified', 'proposed', 'expired'] as const;

const incident = (k: number): IncidentRow => ({
  ...{ id: `scan-vertical/host:10.0.0.${k}/${k}`, kind: 'scan-vertical', entity: `host:10.0.0.${k}` },
  ...{ name: `10.0.0.${k}`, state: k % 2 === 0 ? 'open' : 'close', from: k, to: k % 2 === 0 ? null : k + 1 },
  ...{ detector: 'random-walk', formula: 'L >= eta', operands: { L: 5, eta: null }, baseline: null, windowMs: 10 },
  ...{ confidence: 0.5, phase: null, otherwise: ['<b>a monitor</b>'], confirm: '', along: [`queue:${k}/0`] },
  ...{ suggest: null, proposals: [] },
});

const proposal = (k: number): ProposalAnswer => ({
  ...{ id: `${KINDS[k % 2]}-x-${k}`, kind: KINDS[k % 2]!, state: STATES[k % 3]!, text: 'x', reason: 'y' },
  ...{ autonomy: 'act', incident: null, waitsFor: null, heldBy: null, orders: ['undo'], effect: null },
  stages: [{ stage: 'proposed', atMs: 1000 * k, by: 'loop', reason: 'y' }],
  ...{ expiresMs: null, renewals: 0, intents: [], cause: null, rehearsal: null, links: [], compared: null },
  ...{ diff: { of: 'nothing', switches: [], leftOut: 0, problems: [] }, journal: [] },
});

const rowOf = (each: ProposalAnswer) => {
  const { intents: _, cause: __, rehearsal: ___, links: ____, compared: _____, diff, journal, ...row } = each;
  return row;
};

/** A controller that does nothing but write down orders; how a real one is shown is tested where it is put together. */
export class PlainControl implements ControlSource {
  revision = 1;
  isStopped = false;
  readonly orders: unknown[] = [];
  readonly #journal: JournalRow[] = [];
  readonly #proposals: number;

  /** @param proposals how many there are, of which those in `verified` and `proposed` are under way */
  constructor(proposals = 6) {
    this.#proposals = proposals;
  }

  state(): ControlAnswer {
    const limit = { most: null, used: 0 };
    return {
      ...{ revision: this.revision, nowMs: Date.now(), isStopped: this.isStopped, stopped: null, autonomy: [] },
      ...{ rehearse: 'required', limits: { withinMs: 1, all: limit, kinds: [] }, settleMs: 1, approvalMs: 1 },
      ...{ isSettled: true, switches: [], refusals: [], failedLinks: [], intents: [] },
      counts: {
        ...{ incidents: { open: 5, closed: 5 }, approvals: 2, journal: this.#journal.length, untracked: {} },
        proposals: {
          ...{ proposed: 0, approved: 0, installed: 0, verified: 0 },
          ...{ 'rolled-back': 0, withdrawn: 0, expired: 0, refused: 0 },
        },
      },
    };
  }

  incidents(): readonly IncidentRow[] {
    return Array.from({ length: 10 }, (_, k) => incident(9 - k));
  }

  hosts() {
    return Array.from({ length: 3 }, (_, k) => ({
      ...{ host: `10.0.0.${k}`, name: null, level: 1, levelOf: 'default' as const, score: 0, phases: [], open: 0 },
    }));
  }

  proposals() {
    return Array.from({ length: this.#proposals }, (_, k) => rowOf(proposal(this.#proposals - 1 - k)));
  }

  proposal(id: string): ProposalAnswer | null {
    return Array.from({ length: this.#proposals }, (_, k) => proposal(k)).find((each) => each.id === id) ?? null;
  }

  journal(): readonly JournalRow[] {
    return this.#journal;
  }

  /** Something happens. */
  happen(what: string, count = 1): void {
    for (let k = 0; k < count; k++) {
      const id = this.#journal.length + 1;
      const of = { proposal: id % 2 === 0 ? 'block-x-0' : null, switchId: id % 3 === 0 ? 3 : null, switchName: null };
      this.#journal.push({ id, atMs: id, what, by: 'loop', reason: 'because', ...of, changes: [], leftOut: 0 });
    }
    this.revision++;
  }

  order(order: Parameters<ControlSource['order']>[0]): Promise<string | null> {
    this.orders.push(order);
    this.happen(order.order);
    return Promise.resolve(order.order === 'withdraw' ? 'stop the loop first' : null);
  }
}
