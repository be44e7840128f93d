import { ControlLoop, type ControlPolicy, type LoopAction, type LoopInput } from '@int/control';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs as lengthOf } from '../../../../.ci/test/length.js';
import { ALL_ACT, flow, linkFailure, measurement, SAFE, scan, TOPOLOGY } from './scenes.js';

const KINDS = ['block', 'limit', 'avoid', 'path', 'watch'] as const;
const autonomy = fc.constantFrom('observe', 'propose', 'act');
const policies = fc
  .record({
    autonomy: fc.record({ block: autonomy, limit: autonomy, avoid: autonomy, path: autonomy, watch: autonomy }),
    rehearse: fc.constantFrom('required', 'advised', 'off'),
    all: fc.integer({ min: 0, max: 6 }),
    block: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ all, block, ...rest }): ControlPolicy => {
    return { ...ALL_ACT, ...rest, approvalMs: 120_000, limits: { withinMs: 30_000, all, kinds: { block } } };
  });

/** What happens in a second: numbers choose among what there is. */
const happenings = fc.record({
  waits: fc.integer({ min: 1, max: 40 }),
  what: fc.constantFrom(
    'scan',
    'close',
    'failure',
    'measure',
    'hot',
    'approve',
    'reject',
    'undo',
    'stop',
    'resume',
    'withdraw',
  ),
  which: fc.nat(20),
  answers: fc.constantFrom('good', 'bad', 'none'),
});

interface Step {
  readonly nowMs: number;
  readonly inputs: readonly LoopInput[];
  readonly actions: readonly LoopAction[];
  readonly isStopped: boolean;
}

class Run {
  readonly loop: ControlLoop;
  readonly steps: Step[] = [];
  nowMs = 1_000_000;
  readonly #opened: number[] = [];

  constructor(policy: ControlPolicy) {
    this.loop = new ControlLoop(policy, TOPOLOGY);
  }

  happen({ what, which, waits, answers }: { what: string; which: number; waits: number; answers: string }): void {
    this.nowMs += 1000 * waits;
    let inputs = this.#inputs(what, which);
    for (let round = 0; inputs.length > 0 && round < 20; round++) {
      const isStopped = this.loop.isStopped;
      const actions = this.loop.step(this.nowMs, inputs);
      this.steps.push({ nowMs: this.nowMs, inputs, actions, isStopped });
      inputs = actions.flatMap((action) => this.#answer(action, answers));
    }
  }

  /** Time goes on, and nothing is seen any more. */
  silence(): void {
    const incidents = this.#opened.map((which): LoopInput => {
      return { kind: 'incident', incident: scan(which, `198.51.100.${which}`, 'close') };
    });
    this.steps.push({
      nowMs: this.nowMs,
      inputs: incidents,
      actions: this.loop.step(this.nowMs, incidents),
      isStopped: false,
    });
    for (let k = 0; k < 200; k++)
      this.happen({ what: k === 0 ? 'resume' : 'measure', which: 20, waits: 60, answers: 'good' });
  }

  #inputs(what: string, which: number): LoopInput[] {
    const { nowMs } = this;
    if (what === 'scan') {
      this.#opened.push(which);
      return [{ kind: 'incident', incident: scan(which, `198.51.100.${which}`) }];
    }
    if (what === 'close') return [{ kind: 'incident', incident: scan(which, `198.51.100.${which}`, 'close') }];
    if (what === 'failure')
      return [{ kind: 'event', event: linkFailure(nowMs, which % 2 === 0 ? 1 : 2, 101 + (which % 3 === 0 ? 1 : 0)) }];
    if (what === 'measure' || what === 'hot') {
      const mbps = what === 'hot' ? 6 : 0.1;
      const flows =
        which === 20
          ? []
          : [flow({ mbps }), flow({ sourcePort: 1001 + which, mbps }), flow({ source: `198.51.100.${which}` })];
      const dropped = which % 5 === 0 && which !== 20 ? [flow({ source: `198.51.100.${which + 1}`, packets: 5 })] : [];
      return [{ kind: 'measurement', measurement: measurement(nowMs, flows, { dropped }) }];
    }
    if (what === 'stop' || what === 'resume' || what === 'withdraw')
      return [{ kind: 'order', order: { kind: what, by: 'ann' } }];
    const { proposals } = this.loop;
    const proposal = proposals[which % Math.max(1, proposals.length)]?.id ?? 'none';
    return [{ kind: 'order', order: { kind: what as 'approve', proposal, by: 'ann' } }];
  }

  #answer(action: LoopAction, answers: string): LoopInput[] {
    if (answers === 'none') return [];
    const isGood = answers === 'good';
    if (action.kind === 'rehearse') {
      return [
        { kind: 'rehearsed', proposal: action.proposal.id, rehearsal: { ...SAFE, isSafe: isGood }, refused: null },
      ];
    }
    if (action.kind !== 'apply') return [];
    return [
      { kind: 'applied', proposal: action.proposal, error: isGood || action.proposal === null ? null : 'refused' },
    ];
  }

  /** Installations: by time, and kind. */
  installations(): { nowMs: number; kind: string; step: Step }[] {
    return this.steps.flatMap((step) =>
      step.actions.flatMap((action) =>
        action.kind === 'apply' && action.proposal !== null
          ? [{ nowMs: step.nowMs, kind: action.proposal.split('-')[0]!, step }]
          : [],
      ),
    );
  }
}

const runs = fc.record({ policy: policies, all: fc.array(happenings, { maxLength: 60 }) });

function property(name: string, check: (run: Run, policy: ControlPolicy) => void): void {
  it(name, () => {
    fc.assert(
      fc.property(runs, ({ policy, all }) => {
        const run = new Run(policy);
        for (const each of all) run.happen(each);
        check(run, policy);
      }),
      { numRuns: lengthOf(1600) },
    );
  });
}

describe('whatever happens', () => {
  property('limits are kept', (run, { limits }) => {
    const done = run.installations();
    for (const { nowMs } of done) {
      const within = done.filter((each) => each.nowMs <= nowMs && nowMs - each.nowMs < limits.withinMs);
      expect(within.length).toBeLessThanOrEqual(limits.all);
      expect(within.filter(({ kind }) => kind === 'block').length).toBeLessThanOrEqual(limits.kinds.block!);
    }
  });

  property('nothing acts without leave', (run, policy) => {
    for (const proposal of run.loop.proposals) {
      const installed = proposal.history.find(({ state }) => state === 'installed');
      if (installed === undefined) continue;
      expect(policy.autonomy[proposal.kind]).not.toBe('observe');
      const by = policy.autonomy[proposal.kind] === 'act' ? /^(?:policy|ann)$/ : /^ann$/;
      expect(proposal.history.find(({ state }) => state === 'approved')?.by).toMatch(by);
    }
  });

  property('what is stopped does nothing, but what a person asks for', (run) => {
    for (const { isStopped, inputs, actions } of run.steps) {
      const isAsked = inputs.some((input) => input.kind === 'order');
      if (isStopped && !isAsked) {
        // An installation that was under way may fail, and is then taken back.
        const isAnswer = inputs.some((input) => input.kind === 'applied' || input.kind === 'measurement');
        const applied = actions.filter((action) => action.kind === 'apply');
        if (isAnswer) for (const action of applied) expect(action.proposal).toBeNull();
        else expect(applied.filter(({ proposal }) => proposal !== null)).toEqual([]);
      }
    }
  });

  property('intents in force are those of proposals installed, verified or under way', (run) => {
    const ids = run.loop.proposals
      .filter(
        ({ state, history }) => state === 'installed' || state === 'verified' || history.at(-1)!.state === 'approved',
      )
      .map(({ id }) => id);
    for (const { id } of run.loop.intents) expect(ids.some((each) => id.startsWith(each))).toBe(true);
  });

  property('states follow one another in order, and an end is the last', (run) => {
    const after: Record<string, string> = {
      proposed: 'approved expired refused',
      approved: 'installed expired refused withdrawn',
      installed: 'verified rolled-back withdrawn expired',
      verified: 'withdrawn expired',
    };
    for (const { history } of run.loop.proposals) {
      for (let k = 1; k < history.length; k++) {
        expect(after[history[k - 1]!.state]?.split(' ')).toContain(history[k]!.state);
        expect(history[k]!.atMs).toBeGreaterThanOrEqual(history[k - 1]!.atMs);
      }
    }
  });

  property('every proposal ends when nothing is seen any more', (run) => {
    run.silence();
    for (const { state } of run.loop.proposals)
      expect(['rolled-back', 'withdrawn', 'expired', 'refused']).toContain(state);
    expect(run.loop.intents).toEqual([]);
  });

  it('memory is bounded', () => {
    const loop = new ControlLoop(
      { ...ALL_ACT, autonomy: Object.fromEntries(KINDS.map((kind) => [kind, 'propose'])) },
      TOPOLOGY,
    );
    for (let k = 0; k < 5000; k++) {
      const source = `198.51.${k >> 8}.${k & 255}`;
      loop.step(1000 + k, [{ kind: 'incident', incident: scan(k, source) }]);
    }
    expect(loop.proposals.length).toBeLessThanOrEqual(256 + 512);
    expect(loop.untracked).toBeGreaterThan(0);
  });
});
