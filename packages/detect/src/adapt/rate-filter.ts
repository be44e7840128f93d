/** Log-likelihood ratio at which a change of the rate by a factor of two counts as certain. */
const ALARM = 10;
/** A move that changes the rate by a factor of e adds this to the relative variance of the rate. */
const MOVE_VARIANCE = 0.1;
/** Seconds over which the burstiness is averaged. */
const BURST_MEMORY = 3;
const MAXIMUM_BURST = 1000;

/** Evidence for a change of the rate, and the events since the change would have begun (Page, 1954). */
class CumulativeSum {
  sum = 0;
  events = 0;
  seconds = 0;

  add(evidence: number, events: number, seconds: number): void {
    this.sum += evidence;
    this.events += events;
    this.seconds += seconds;
    if (!(this.sum > 0)) this.clear();
  }

  clear(): void {
    this.sum = this.events = this.seconds = 0;
  }
}

/** What {@link RateFilter.update} found. */
export type RateChange = 'none' | 'up' | 'down';

/**
 * Estimates the rate of events at the present threshold from counts.
 *
 * The estimate is a gamma distribution, the conjugate prior of the rate of a Poisson process. It forgets with a time
 * constant, and is scaled when the threshold moves. Beside it, two cumulative sums test for a doubling and for a
 * halving: when one is certain, the filter forgets at once what was before the change. Counts that vary more than
 * Poisson counts weigh less, by the ratio of variance to mean that the filter measures.
 */
export class RateFilter {
  /** Events a second. */
  rate = 0;
  /** Independent events that the rate rests on: its relative variance is 1 / weight. 0: the rate is unknown. */
  weight = 0;
  /** Variance of the counts over their mean, at least 1. */
  burst = 1;
  /** Seconds after which an observation counts for 1/e. */
  memory: number;
  #burstSeen = 0;
  readonly #up = new CumulativeSum();
  readonly #down = new CumulativeSum();

  constructor(memory: number) {
    this.memory = memory;
  }

  /** Whether an upward change may have begun. */
  get rising(): boolean {
    return this.#up.sum > 0;
  }

  /** Takes the `events` of `seconds` at one threshold. */
  update(events: number, seconds: number): RateChange {
    if (this.weight === 0) {
      this.restart(events, seconds);
      return 'none';
    }
    const expected = this.rate * seconds;
    this.#learnBurst(events, expected, seconds);
    const surplus = events * Math.LN2;
    this.#up.add((surplus - expected) / this.burst, events, seconds);
    this.#down.add((expected / 2 - surplus) / this.burst, events, seconds);
    if (this.#up.sum > ALARM) {
      this.restart(this.#up.events, this.#up.seconds);
      return 'up';
    }
    if (this.#down.sum > ALARM) {
      this.restart(this.#down.events, this.#down.seconds);
      return 'down';
    }
    const kept = this.weight * Math.exp(-seconds / this.memory);
    const information = expected / this.burst;
    this.rate *= (kept + events / this.burst) / (kept + information);
    this.weight = kept + information;
    return 'none';
  }

  /** The threshold has moved; the rate is expected to change by this factor. */
  moved(factor: number): void {
    const size = Math.log(factor);
    this.rate *= factor;
    this.weight /= 1 + this.weight * MOVE_VARIANCE * size * size;
    if (Math.abs(size) > 0.5) this.#clearSums();
  }

  /** Sets the rate from another source. */
  set(rate: number, weight: number): void {
    this.rate = rate;
    this.weight = weight;
  }

  /** Starts anew from the events of `seconds`. */
  restart(events: number, seconds: number): void {
    this.rate = (events + 0.5) / seconds;
    this.weight = (events + 0.5) / this.burst;
    this.#clearSums();
  }

  #clearSums(): void {
    this.#up.clear();
    this.#down.clear();
  }

  #learnBurst(events: number, expected: number, seconds: number): void {
    if (expected < 0.5) return;
    // Neither the rate's own uncertainty nor a single outlier, such as a step of the load, is burstiness.
    const excess = (events - expected) ** 2 / expected / (1 + expected / (this.weight * this.burst));
    const share = Math.max(seconds / BURST_MEMORY, 1 / (this.#burstSeen + 10));
    this.#burstSeen++;
    this.burst += share * (Math.min(excess, 16 * this.burst) - this.burst);
    this.burst = Math.min(Math.max(this.burst, 1), MAXIMUM_BURST);
  }
}
