/**
 * A number of copies that depends on the load of the epoch. The paper leaves "dynamically adjusting N as the load
 * fluctuates" to future work (section 5.1). This is one way.
 */
import { MAX_COPIES, whole } from '../layout.js';
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
    whole('mostCopies', mostCopies, 1, MAX_COPIES);
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
}
