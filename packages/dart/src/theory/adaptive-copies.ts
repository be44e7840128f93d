/**
 * A number of copies that depends on the load of the epoch. The paper leaves "dynamically adjusting N as the load
 * fluctuates" to future work (section 5.1). This is one way, with its theory.
 */
import { MAX_COPIES } from '../layout.js';
import { type AgeRange, ALL_AGES, averageOverAges } from './ages.js';
import { OutcomeModel, type OutcomeOptions, type Outcomes } from './outcomes.js';
import { bestCopies, type ChoiceOptions, type Measure } from './plan.js';

export interface AdaptiveCopiesOptions extends ChoiceOptions {
  /** The measure by which a number is best at a load; `oldest` if absent, which gives the better mean, too. */
  readonly measure?: Measure;
}

/** Loads beyond which one copy is best, by either measure. */
const MOST_LOAD = 4;

/**
 * Chooses the number of copies of a key from the load so far: keys written in the epoch / slots. It is the number that
 * would be best if all keys up to that load had used it. It is large while the store is empty and copies overwrite few
 * keys, and one when the store is full. Queries always read all `mostCopies` slots.
 *
 * Early keys have many copies, and late keys overwrite few. The mean success over all keys is therefore above that of
 * any fixed number at nearly every load.
 *
 * @example
 * const adaptive = new AdaptiveCopies({ mostCopies: store.geometry.copies });
 * const load = store.keyWrites / store.geometry.slots; // not store.load, which counts slots
 * store.write(key, value, adaptive.copiesAt(load));
 */
export class AdaptiveCopies {
  readonly mostCopies: number;
  /**
   * `thresholds[n - 1]`: up to this load, n copies or more are written. The thresholds fall; `thresholds[0]` is
   * infinite.
   */
  readonly thresholds: readonly number[];

  /** @throws RangeError for `mostCopies` that is not 1..8 */
  constructor({ measure = 'oldest', mostCopies = MAX_COPIES, ...rest }: AdaptiveCopiesOptions = {}) {
    if (!(Number.isInteger(mostCopies) && mostCopies >= 1 && mostCopies <= MAX_COPIES)) {
      throw new RangeError(`mostCopies must be a whole number from 1 to ${MAX_COPIES}, not ${mostCopies}`);
    }
    this.mostCopies = mostCopies;
    const thresholds = [Number.POSITIVE_INFINITY];
    for (let copies = 2; copies <= mostCopies; copies++) {
      let [low, high] = [0, Math.min(MOST_LOAD, thresholds[copies - 2]!)];
      // Six digits suffice: near a threshold, both numbers are almost equally good.
      while (high - low > 1e-6) {
        const middle = (low + high) / 2;
        if (bestCopies(middle, measure, { mostCopies, ...rest }) >= copies) low = middle;
        else high = middle;
      }
      thresholds.push(low);
    }
    this.thresholds = thresholds;
  }

  /** @param load keys written so far in the epoch / M */
  copiesAt(load: number): number {
    const { thresholds } = this;
    let copies = this.mostCopies;
    while (copies > 1 && load > thresholds[copies - 1]!) copies--;
    return copies;
  }

  /**
   * Slots written by the keys up to a load, divided by M: the integral W of {@link copiesAt} from 0 to `load`. The
   * fraction of empty slots is exp(-W).
   */
  writesUpTo(load: number): number {
    let writes = 0;
    for (const threshold of this.thresholds) writes += Math.min(load, threshold);
    return writes;
  }
}

export interface AdaptiveOutcomeOptions extends Omit<OutcomeOptions, 'copies' | 'written'> {
  /** Keys of the epoch / slots, at the time of the queries. */
  readonly load: number;
  readonly adaptive: AdaptiveCopies;
  readonly ages?: AgeRange;
}

/**
 * The outcomes of keys written with {@link AdaptiveCopies}, for distinct values. A key that was written at load x wrote
 * n(x) of its slots; each has since been overwritten with probability p = 1 - exp(-(W(load) - W(x))), W being
 * {@link AdaptiveCopies.writesUpTo}; its other slots hold foreign keys with probability 1 - exp(-W(load)). The
 * approximation is that for a fixed number: Poisson, without terms of order 1 / M.
 */
export function adaptiveOutcomes({ load, adaptive, ages = ALL_AGES, ...options }: AdaptiveOutcomeOptions): Outcomes {
  const { mostCopies, thresholds } = adaptive;
  const models = Array.from({ length: mostCopies }, (_, index) => {
    const written = Array.from({ length: mostCopies + 1 }, (_, count) => (count === index + 1 ? 1 : 0));
    return new OutcomeModel({ ...options, copies: mostCopies, written });
  });
  const all = adaptive.writesUpTo(load);
  const foreign = -Math.expm1(-all);
  // Integrate piecewise: the curve is smooth only between ages at which the number of copies changes.
  const ends = thresholds
    .map((threshold) => 1 - Math.min(1, threshold / load))
    .filter((age) => age > ages.from && age < ages.to);
  const edges = [ages.from, ...new Set(ends), ages.to];
  const total = { success: 0, absent: 0, conflict: 0, wrong: 0 };
  for (let piece = 0; piece + 1 < edges.length; piece++) {
    const range = { from: edges[piece]!, to: edges[piece + 1]! };
    const share = range.from === range.to ? 1 : (range.to - range.from) / (ages.to - ages.from);
    const model = models[adaptive.copiesAt(load * (1 - (range.from + range.to) / 2)) - 1]!;
    for (const outcome of ['success', 'absent', 'conflict', 'wrong'] as const) {
      const at = (age: number): number => {
        const since = all - adaptive.writesUpTo(load * (1 - age));
        return model.distinct(-Math.expm1(-since), foreign, Math.exp(-since))[outcome];
      };
      total[outcome] += share * averageOverAges(at, range);
    }
  }
  return total;
}
