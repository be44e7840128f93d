import { ControlLoop, type ControlPolicy, type LoopAction, type LoopInput } from '@int/control';
import { expect } from 'vitest';
import { measurement, SAFE, TOPOLOGY } from './scenes.js';

/** Runs a loop second by second; its surroundings answer at once. */
export class Surroundings {
  loop: ControlLoop;
  readonly actions: LoopAction[] = [];
  nowMs = 1_000_000;
  /** Whether switches and rehearsal answer. */
  answers = true;
  error: string | null = null;
  rehearsal = SAFE;

  constructor(policy: ControlPolicy) {
    this.loop = new ControlLoop(policy, TOPOLOGY);
  }

  /** A step, and those that answers to its actions cause. */
  step(...inputs: LoopInput[]): LoopAction[] {
    const done: LoopAction[] = [];
    let next = inputs;
    do {
      const actions = this.loop.step(this.nowMs, next);
      done.push(...actions);
      next = this.answers ? actions.flatMap((action) => this.#answer(action)) : [];
    } while (next.length > 0);
    this.actions.push(...done);
    // People read these: no nanoseconds, and no numbers that are longer than one can read.
    for (const action of done) if (action.kind === 'note') expect(action.note.reason).not.toMatch(/\d ns\b|\d{7}/);
    return done;
  }

  seconds(count: number, ...inputs: LoopInput[]): void {
    for (let k = 0; k < count; k++) {
      this.nowMs += 1000;
      this.step(...inputs);
    }
  }

  /** A second, and what was measured in it. */
  measured(flows: Parameters<typeof measurement>[1], more: Parameters<typeof measurement>[2] = {}): void {
    this.nowMs += 1000;
    this.step({ kind: 'measurement', measurement: measurement(this.nowMs, flows, more) });
  }

  #answer(action: LoopAction): LoopInput[] {
    if (action.kind === 'rehearse') {
      return [{ kind: 'rehearsed', proposal: action.proposal.id, rehearsal: this.rehearsal, refused: null }];
    }
    if (action.kind !== 'apply') return [];
    return [{ kind: 'applied', proposal: action.proposal, error: action.proposal === null ? null : this.error }];
  }

  states(): string[] {
    return this.loop.proposals.map(({ kind, state }) => `${kind} ${state}`);
  }

  get reason(): string {
    return this.loop.proposals[0]!.history.at(-1)!.reason;
  }
}
