import { MAX_RULES } from './layout.js';
import { placeOf } from './metrics.js';
import type { PrefilterPlan } from './plan.js';

/** What verdicts of one rule set mean. */
export interface Generation {
  readonly number: number;
  /** Names of the rules in the kernel's table, by their place in it. */
  readonly names: readonly string[];
  /** Numbers of the metrics that they look at; -1: none. */
  readonly metrics: readonly number[];
}

/** Rule sets that frames may still be under way from. */
const KEPT = 16;

/** Remembers the latest rule sets, so that verdicts of frames that were under way during a change are understood. */
export class Generations {
  readonly #kept: Generation[] = [];

  add(number: number, { rules }: PrefilterPlan): void {
    const table = rules.slice(0, MAX_RULES).map(({ rule }) => rule);
    this.#kept.unshift({
      number,
      names: table.map(({ name }) => name),
      metrics: table.map(({ detector }) => ('metric' in detector ? (placeOf(detector.metric)?.id ?? -1) : -1)),
    });
    this.#kept.length = Math.min(this.#kept.length, KEPT);
  }

  /** `null`: too old. */
  find(number: number): Generation | null {
    for (const each of this.#kept) if (each.number === number) return each;
    return null;
  }
}
