/**
 * Numbers of copies that follow the load of the epoch. The paper leaves "dynamically adjusting N as the load fluctuates"
 * to the future (section 5.1); this is one way, with the theory of what it gives.
 */
import { MAX_COPIES } from '../layout.js';
import { type AgeRange, ALL_AGES, averageOverAges } from './ages.js';
import { OutcomeModel, type OutcomeOptions, type Outcomes } from './outcomes.js';
import { bestCopies, type ChoiceOptions, type Measure } from './plan.js';

export interface AdaptiveCopiesOptions extends ChoiceOptions {
  /** By which measure a number is the best at a load; `oldest` if absent, which is the better rule for the mean too. */
  readonly measure?: Measure;
}

/** Loads beyond which one copy is best, by either measure. */
const MOST_LOAD = 4;

/**
 * Chooses how many copies of a key to write from the load so far: keys written in the epoch by slots. It is the number
 * that would be best if all keys of that load had used it: many while the store is empty, when copies harm few others,
 * and one when it is full. Queries read all `mostCopies` slots, whatever was written.
 *
 * Early keys keep many copies and late ones destroy few, so that the mean over all keys is above that of any fixed
 * number at nearly every load.
 *
 * @example
 * const adaptive = new AdaptiveCopies({ mostCopies: store.geometry.copies });
 * const load = store.keyWrites / store.geometry.slots; // not store.load, which counts slots
 * store.write(key, value, adaptive.copiesAt(load));
 */
export class AdaptiveCopies {
  readonly mostCopies: number;
  /** `thresholds[n - 1]`: up to this load, n copies or more are written; falling, `thresholds[0]` is infinite. */
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
      // Six digits: the curve is flat where two numbers are equally good.
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
   * Slots written by the keys up to a load, by M: the integral of {@link copiesAt} from 0 to `load`. The fraction of the
   * slots that is still empty is exp of minus this.
   */
  writesUpTo(load: number): number {
    let writes = 0;
    for (const threshold of this.thresholds) writes += Math.min(load, threshold);
    return writes;
  }
}

export interface AdaptiveOutcomeOptions extends Omit<OutcomeOptions, 'copies' | 'written'> {
  /** Keys of the epoch by slots, at the time of the queries. */
  readonly load: number;
  readonly adaptive: AdaptiveCopies;
  readonly ages?: AgeRange;
}

/**
 * The outcomes of keys written with {@link AdaptiveCopies}, for distinct values. A key that was written at load x wrote
 * n(x) of its slots; each has since been overwritten with probability p = 1 - exp(-(W(load) - W(x))), W being
 * {@link AdaptiveCopies.writesUpTo}; its other slots hold foreign keys with probability 1 - exp(-W(load)). The same
 * approximation as for a fixed number: Poisson, and no term of order 1 / M.
 */
export function adaptiveOutcomes({ load, adaptive, ages = ALL_AGES, ...options }: AdaptiveOutcomeOptions): Outcomes {
  const { mostCopies, thresholds } = adaptive;
  const models = Array.from({ length: mostCopies }, (_, index) => {
    const written = Array.from({ length: mostCopies + 1 }, (_, count) => (count === index + 1 ? 1 : 0));
    return new OutcomeModel({ ...options, copies: mostCopies, written });
  });
  const all = adaptive.writesUpTo(load);
  const foreign = -Math.expm1(-all);
  // The curve is smooth only between the ages at which the number of copies changes.
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
