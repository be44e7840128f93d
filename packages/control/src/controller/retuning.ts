import type { EventThreshold, EventThresholds } from '../adaptation/event-thresholds.js';
import { ActionLimits } from './action-limits.js';
import type { ControlLoop } from './control-loop.js';

/** What a {@link Retuning} asks, and whom it tells. */
export interface RetuningSurroundings {
  readonly loop: Pick<ControlLoop, 'isStopped' | 'blindness' | 'policy'>;
  nameOf(switchId: number): string;
  tell(what: 'retuned' | 'held', reason: string): void;
}

/**
 * Moves thresholds of rules in switches, as far as the policy lets it. Moves have limits of their own, so that events without end do
 * not keep the loop from what else it has to do.
 */
export class Retuning {
  readonly #thresholds: EventThresholds;
  readonly #around: RetuningSurroundings;
  readonly #limits = new ActionLimits();
  /** Thresholds of which it was told that they may not move, and why. */
  readonly #held = new Map<string, string>();

  constructor(thresholds: EventThresholds, surroundings: RetuningSurroundings) {
    this.#thresholds = thresholds;
    this.#around = surroundings;
  }

  /** @returns why thresholds have moved; `null`: none has */
  step(nowMs: number): string | null {
    const { policy, blindness } = this.#around.loop;
    const { limits } = policy;
    if (blindness !== null) {
      this.#thresholds.restart(nowMs);
      return null;
    }
    const refusal = this.#refusal();
    const room = refusal === null ? this.#limits.room('detect', nowMs, limits) : 0;
    const moves = this.#thresholds.step(nowMs, room);
    const states = this.#thresholds.thresholds;
    const reasons = moves.map(({ switchId, rule, from, to }) => {
      const state = states.find((each) => each.switchId === switchId && each.rule === rule)!;
      const reason = `${this.#rateText(state)}: threshold ${from} -> ${to}`;
      this.#limits.count('detect', nowMs);
      this.#around.tell('retuned', reason);
      return reason;
    });
    this.#tellHeld(states, refusal ?? this.#limits.refusal('detect', nowMs, limits));
    return reasons.length === 0 ? null : reasons.join('; ');
  }

  /** Why no threshold may move; `null`: it may. */
  #refusal(): string | null {
    const { isStopped, policy } = this.#around.loop;
    if (isStopped) return 'the loop is stopped';
    const { detect: autonomy = 'observe' } = policy.autonomy;
    return autonomy === 'act' ? null : `the policy says ${autonomy} for detect`;
  }

  #tellHeld(states: readonly EventThreshold[], why: string | null): void {
    for (const state of states) {
      const key = `${state.switchId} ${state.rule}`;
      if (state.status !== 'waiting' || why === null) this.#held.delete(key);
      else if (this.#held.get(key) !== why) {
        this.#held.set(key, why);
        this.#around.tell(
          'held',
          `${this.#rateText(state)}: threshold ${state.threshold}, not ${state.wanted}: ${why}`,
        );
      }
    }
  }

  #rateText({ intent, switchId, rate, target }: EventThreshold): string {
    return `${intent} at ${this.#around.nameOf(switchId)}: ${Number(rate.toPrecision(3))} events/s, ${target} wanted`;
  }
}
