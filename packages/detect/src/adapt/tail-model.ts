import { RecentStatistics } from './recent.js';

/** Statistics remembered. */
const CAPACITY = 512;
/** The memory spans the events of at least so many seconds at the target rate. */
const SPAN = 0.1;
/** Fewer statistics than this teach nothing. */
const FEW = 8;
/**
 * A move that changes the rate by more than this factor (natural logarithm) goes by quantiles, a smaller one along the
 * slope.
 */
const FAR = 0.5;
/** The largest part of a position that one move down takes away (natural logarithm): what is below is unknown. */
const DEEPEST = 0.36;

/**
 * Models how the rate of events depends on the position of the thresholds, near the present one.
 *
 * Every event shows its statistic, which is above the threshold. So the distribution above is seen, and the one below
 * is not.
 * - Upwards, a far move goes to a quantile of what was seen. A near one follows the local slope: that of an exponential
 *   tail with the median seen.
 * - Downwards, the slope is extrapolated in proportion, not in difference: this falls short for light tails and reaches
 *   far enough for heavy ones. One move goes down by at most 30 %.
 *
 * With detectors whose state depends on the threshold, this slope may be far too steep: a slow walk crosses a threshold
 * by little, however far apart two crossings are. So the model compares what moves achieve with what they should have.
 */
export class TailModel {
  /** Distance over which the rate falls by a factor of e, if the statistics at a fixed state tell all. */
  scale: number;
  /** Logarithm of the rate per `scale`: 1 if the statistics tell all. */
  slope = 1;
  /** Result of {@link raise} and {@link lower}: the position to go to. */
  next = 0;
  /** Result: the expected change of the logarithm of the rate, divided by `slope`. */
  shift = 0;
  readonly #recent = new RecentStatistics(CAPACITY);
  readonly #level: boolean;
  readonly #stride: number;
  /** Weight of the belief that `slope` is 1. */
  readonly #prior: number;
  #known: number;
  /** Statistics before this one are of a past load. */
  #from = 0;
  /** From this one on, statistics may be of another load. */
  #mark = 0;
  /** The scale is learnt anew when so many statistics have been kept. */
  #relearnAt = 0;
  /** Position at which the scale was learnt. */
  #learntAt = 0;
  #burst = 1;
  #newScale = 0;

  constructor(target: number, position: number, kind: 'level' | 'difference') {
    this.#level = kind === 'level';
    this.scale = Math.max(position / 4, 1e-6);
    this.#prior = this.#level ? 20 : 1;
    this.#known = this.#prior;
    this.#stride = Math.max(1, Math.ceil((target * SPAN) / CAPACITY));
    this.#recent.stride = this.#stride;
  }

  /** Bytes of typed arrays. */
  get byteLength(): number {
    return this.#recent.byteLength;
  }

  /** Takes an event's statistic. */
  add(statistic: number): void {
    this.#recent.add(statistic);
  }

  /** Ends a tick. `burst`: variance over mean of counts; `rising`: the load may be changing since the last tick. */
  endTick(burst: number, rising: boolean): void {
    this.#burst = burst;
    // Events of one burst are alike, so the memory has to span several bursts.
    this.#recent.stride = Math.max(this.#stride, Math.round(burst / 8));
    if (!rising) this.#mark = this.#recent.kept;
  }

  /** Forgets what was seen before the load began to change. */
  forget(): void {
    this.#from = this.#mark;
    this.#relearnAt = 0;
  }

  /** Learns the slope: compares the events of a tick with those expected after a move of `shift`. */
  learnSlope(shift: number, events: number, expected: number): void {
    if (shift === 0 || expected <= 0) return;
    const burst = this.#burst;
    // Linear in the count: a logarithm would be biased where counts are low. Bounded: the load may have changed.
    const error = Math.min(events - expected, 3 * Math.max(expected, Math.sqrt(burst * expected)));
    this.#known = Math.max(this.#known * 0.99, this.#prior) + (expected / burst) * shift * shift;
    this.slope += (shift * error) / burst / this.#known;
    this.slope = Math.min(Math.max(this.slope, this.#level ? 0.5 : 0.02), 3);
  }

  /** Learns the scale above a position. */
  learnScale(position: number): void {
    // A few more events, seen from about the same position, do not change the median.
    if (this.#recent.kept < this.#relearnAt && Math.abs(position - this.#learntAt) < 0.1 * this.scale) return;
    this.#relearnAt = this.#recent.kept + 3 * FEW;
    this.#learntAt = position;
    let count = this.#recent.choose(position, this.#mark);
    if (count < this.#several(16)) count = this.#recent.choose(position, this.#from);
    if (count < FEW) return;
    const median = this.#recent.largest(count >>> 1);
    this.scale = Math.max((median - position) / Math.LN2, 1e-9);
  }

  /** Finds the position above at which the rate is lower by `distance`, a natural logarithm above 0. */
  raise(position: number, distance: number): void {
    const steps = distance / this.slope;
    this.#newScale = 0;
    if (steps <= FAR) {
      this.next = position + steps * this.scale;
      this.shift = -steps;
      return;
    }
    let count = this.#recent.choose(position, this.#mark);
    if (count < this.#several(8)) count = this.#recent.choose(position, this.#from);
    if (count < FEW) {
      const by = Math.min(steps * this.scale, Math.max(position, this.scale));
      this.next = position + by;
      this.shift = -by / this.scale;
      return;
    }
    const reach = this.#level ? distance : steps;
    const rank = Math.min(Math.max(3, Math.round(count * Math.exp(-reach))), count);
    const quantile = this.#recent.largest(rank);
    this.next = quantile;
    this.shift = Math.log(rank / count);
    this.#newScale = (quantile - this.#recent.largest(Math.min(2 * rank, count))) / Math.LN2;
    const rest = steps + this.shift;
    if (!this.#level && rest > 0.2) {
      const by = Math.min(rest * this.scale, quantile);
      this.next += by;
      this.shift -= by / this.scale;
    }
  }

  /** Finds the position below at which the rate is higher by `distance`, a natural logarithm above 0. */
  lower(position: number, distance: number): void {
    this.#newScale = 0;
    const steps = distance / this.slope;
    this.next = position * Math.exp(-Math.min((steps * this.scale) / position, DEEPEST));
    this.shift = (position - this.next) / this.scale;
  }

  /** Finds a position below when nothing is above any more, for the `attempt`th time in a row, from 1 on. */
  search(position: number, attempt: number): void {
    this.#newScale = 0;
    this.next = position - Math.min((1 - Math.exp(-DEEPEST)) * position, this.scale * 2 ** attempt);
    this.shift = 0;
  }

  /** Says that the move found last was made. */
  moved(): void {
    // A scale learnt at a far lower position does not hold up here.
    if (this.#newScale > 0) this.scale = this.#newScale;
    this.#newScale = 0;
  }

  #several(bursts: number): number {
    return Math.max(bursts, (bursts * this.#burst) / this.#recent.stride);
  }
}
