import { RateFilter } from './rate-filter.js';
import { COARSE, Steps } from './steps.js';
import { TailModel } from './tail-model.js';
import type { ThresholdVector } from './threshold-vector.js';
import type { Visited } from './visited.js';

/** What a controller is doing. */
export type AdaptiveStatus =
  /** The target has not been reached yet. */
  | 'warming'
  /** The load has changed, and the target is not reached again yet. */
  | 'searching'
  /** The target is held. */
  | 'holding'
  /** No threshold gives the target within 10 %: the one whose rate is nearest is held. */
  | 'too-coarse'
  /** Events are too few, and no threshold can go lower. */
  | 'at-minimum'
  /** Events are too many, and no threshold can go higher. */
  | 'at-maximum'
  /** No reports for a quarter of a second or more: thresholds stay as they are. */
  | 'idle';

/** How a detector's statistic depends on its threshold. */
export type StatisticKind =
  /** Not at all: the value itself, or its difference from the value before. */
  | 'level'
  /** It is the difference from the value last reported, and that depends on the threshold. */
  | 'difference';

/** Part of the debt that is paid back per second: a debt is gone in about a tenth of a second. */
const GAIN = 10;
/** Natural logarithm of how far the rate that pays a debt may be from the target. */
const MAXIMUM_REPAYMENT = 1.5;
/** The largest debt, in seconds of the target. */
const DEBT_SECONDS = 0.15;
/** The largest debt where events come in bursts, in standard deviations of the debt that bursts make. */
const BURST_DEBT = 6;
/** Independent events that the rate is to rest on. */
const MEMORY_EVENTS = 400;
/** Seconds without reports after which the load is idle. Shorter pauses are part of the load and are made up for. */
const IDLE_SECONDS = 0.25;
/** So many events are expected at the target before their absence is a sign. */
const SILENCE = 3;
/** After so many ticks without a move, a change of the rate is a change of the load. */
const SETTLED_TICKS = 5;
/** For so many ticks, a position with too many events bounds the search below. */
const BRACKET_TICKS = 8;
/** Seconds between two looks at the other threshold of a metric that is too coarse. */
const PROBE_SECONDS = { LEAST: 2, MOST: 30 } as const;
/** Part of the target that these looks may cost. */
const PROBE_COST = 0.005;

/**
 * Holds a rate of events by moving the position of a {@link ThresholdVector}. Time is an argument; nothing is allocated
 * after construction.
 *
 * In each tick (10 ms) it
 * - counts the events, and estimates the rate at the present position ({@link RateFilter});
 * - adds the difference from the target to a debt that runs since the start;
 * - works out the rate that pays the debt back within a tenth of a second;
 * - moves to the position at which the {@link TailModel} expects that rate.
 *
 * The debt makes the rate exact: an error of the model only changes the debt at which the thresholds stand still. The
 * debt stays small, and the events of a second differ from the target by no more than the debt changes in that second.
 * This is far less than they would differ by chance.
 */
export class RateControl {
  /** Events a second to hold. */
  readonly target: number;
  /** Lowest position that means the present thresholds. */
  position: number;
  status: AdaptiveStatus = 'warming';
  /** Events a second over about the last second, or since the load changed. */
  rate = 0;
  readonly #vector: ThresholdVector;
  readonly #kind: StatisticKind;
  readonly #intervalMs: number;
  readonly #filter = new RateFilter(0.4);
  readonly #tail: TailModel;
  readonly #steps: Steps;
  /** Events beyond the target; negative: too few. */
  #debt = 0;
  #lastMs = Number.NaN;
  #events = 0;
  #reports = 0;
  #lowest = Number.POSITIVE_INFINITY;
  #lowestCount = 0;
  #silentSeconds = 0;
  #attempts = 0;
  #idleSeconds = 0;
  #lastShift = 0;
  #stillTicks = 0;
  #measured = 0;
  #measuredSeconds = 0;
  /** A few ticks ago, events were too many here. */
  #bracket = Number.NaN;
  #bracketTicks = 0;
  /** With a metric that is too coarse: the records of the present position, and of the other one that comes close. */
  #held: Visited | null = null;
  #other: Visited | null = null;
  #otherRate = 0;
  #heldEvents = 0;
  #heldSeconds = 0;
  #probing = false;
  #sinceProbe = 0;

  constructor(vector: ThresholdVector, target: number, position: number, kind: StatisticKind, intervalMs: number) {
    this.#vector = vector;
    this.target = target;
    this.#kind = kind;
    this.#intervalMs = intervalMs;
    this.#steps = new Steps(vector, target);
    const start = vector.clamp(position);
    this.#tail = new TailModel(target, start, kind);
    vector.set(start);
    this.position = vector.lower(start);
  }

  /** Bytes of typed arrays. */
  get byteLength(): number {
    return this.#tail.byteLength;
  }

  /** Whether so many events have come since the last tick that the next one should not wait. */
  get urgent(): boolean {
    return this.#events > 64 + (8 * this.target * this.#intervalMs) / 1000;
  }

  /** Counts an event. `statistic`: in the unit of the position, and above the position. */
  observe(statistic: number): void {
    this.#events++;
    if (statistic < this.#lowest) {
      this.#lowest = statistic;
      this.#lowestCount = 1;
    } else if (statistic === this.#lowest) this.#lowestCount++;
    this.#tail.add(statistic);
  }

  /** Counts events that do not depend on the position. */
  count(events: number): void {
    this.#events += events;
  }

  /** Goes on from a position that somebody else has set. */
  moveTo(position: number): void {
    const vector = this.#vector;
    this.position = vector.lower(vector.clamp(position));
    vector.set(this.position);
    this.#leaveCoarse();
    this.#clear();
    this.#steps.visited.clear();
    this.#bracket = Number.NaN;
    this.#debt = this.#lastShift = this.#silentSeconds = this.#attempts = 0;
    // The rate is unknown: the next tick starts from its count.
    this.#filter.weight = 0;
  }

  /** Returns whether the position has changed. See `ThresholdController.tick`. */
  tick(nowMs: number, reports: number): boolean {
    const seconds = (nowMs - this.#lastMs) / 1000;
    if (!(seconds >= 0)) {
      this.#lastMs = nowMs;
      this.#clear();
      return false;
    }
    this.#reports += reports;
    // Callers add up milliseconds in floats: ten times 1 ms is a tick even if the sum falls short of 10.
    const due = seconds * 1000 >= this.#intervalMs - 1e-6 || (this.urgent && seconds >= 0.001);
    if (!due) return false;
    this.#lastMs = nowMs;
    if (this.#reports === 0 && this.#events === 0) {
      this.#rest(seconds);
      return false;
    }
    if (this.#idleSeconds >= IDLE_SECONDS) {
      this.#debt = 0;
      this.#filter.weight = Math.min(this.#filter.weight, 5);
      if (this.status === 'idle') this.status = this.#held === null ? 'searching' : 'too-coarse';
    }
    this.#idleSeconds = 0;
    const before = this.position;
    this.#step(this.#events, seconds);
    this.#clear();
    return this.position !== before;
  }

  #clear(): void {
    this.#events = 0;
    this.#reports = 0;
    this.#lowest = Number.POSITIVE_INFINITY;
    this.#lowestCount = 0;
  }

  #rest(seconds: number): void {
    this.#idleSeconds += seconds;
    if (this.#idleSeconds >= IDLE_SECONDS) this.status = 'idle';
    else if (this.#held === null) this.#owe(-this.target * seconds);
    this.#measure(0, seconds);
  }

  #measure(events: number, seconds: number): void {
    const kept = Math.exp(-seconds);
    this.#measured = this.#measured * kept + events;
    this.#measuredSeconds = this.#measuredSeconds * kept + seconds;
    this.rate = this.#measured / this.#measuredSeconds;
  }

  /** Bursts make larger debts. These have to be paid as well, or the mean would be wrong. */
  get #debtLimit(): number {
    return Math.max(
      this.target * DEBT_SECONDS,
      BURST_DEBT * Math.sqrt((this.target * this.#filter.burst) / (2 * GAIN)),
    );
  }

  #owe(events: number): void {
    const limit = this.#debtLimit;
    this.#debt = Math.min(Math.max(this.#debt + events, -limit), limit);
  }

  #step(events: number, seconds: number): void {
    const { target } = this;
    const filter = this.#filter;
    const tail = this.#tail;
    const steps = this.#steps;
    const { visited } = steps;
    this.#measure(events, seconds);
    const isOther = this.#steps.contradicts(visited.at(this.position), events, seconds);
    if (isOther || this.#contradictsHeld(events, seconds)) {
      if (this.#held !== null) filter.weight = 0;
      this.#leaveCoarse();
      visited.clear();
    }
    let record = visited.add(this.position, events, seconds, this.#lowest, this.#lowestCount);
    if (this.#held !== null) {
      if (this.#probing) this.#hold(this.#held, this.#other!);
      else this.#holdCoarse(record, events, seconds);
      return;
    }
    tail.learnSlope(this.#lastShift, events, filter.rate * seconds);
    const first = filter.weight === 0;
    const change = filter.update(events, seconds);
    filter.memory = Math.min(Math.max((MEMORY_EVENTS * filter.burst) / target, 0.1), 5);
    if (change !== 'none' || first) {
      tail.forget();
      // Just after a move, the move may have changed the rate, and not the load.
      if (this.#stillTicks >= SETTLED_TICKS) {
        visited.clear();
        record = visited.add(this.position, events, seconds, this.#lowest, this.#lowestCount);
      }
      this.#measured = filter.weight * filter.burst;
      this.#measuredSeconds = this.#measured / filter.rate;
    }
    this.#stillTicks++;
    steps.burst = filter.burst;
    tail.endTick(filter.burst, filter.rising);
    this.#watchSilence(events, seconds, change === 'down' || first);
    if (change === 'up' || (first && events > 2 * target * seconds)) {
      this.#bracket = this.position;
      this.#bracketTicks = 0;
    } else if (++this.#bracketTicks > BRACKET_TICKS) this.#bracket = Number.NaN;
    this.#owe(events - target * seconds);
    if (change === 'none' && this.#enterCoarse(record)) return;
    this.#aim(seconds);
    this.#judge();
  }

  /** Watches for ticks without events: the load may have gone far below the thresholds, and nothing tells how far. */
  #watchSilence(events: number, seconds: number, begins: boolean): void {
    if (events > 0) {
      this.#silentSeconds = this.#attempts = 0;
      return;
    }
    this.#silentSeconds += seconds;
    if (this.#attempts === 0 && !(begins && this.#filter.weight < 1)) return;
    if (this.#silentSeconds * this.target >= SILENCE) this.#attempts++;
  }

  #judge(): void {
    const { target, position } = this;
    const vector = this.#vector;
    const off = Math.abs(this.rate / target - 1);
    if (vector.lower(position) <= vector.first && this.#filter.rate < 0.95 * target) this.status = 'at-minimum';
    else if (position >= vector.last && this.#filter.rate > 1.05 * target) this.status = 'at-maximum';
    else if (off < 0.1 || (this.status === 'holding' && off < 0.2)) this.status = 'holding';
    else if (this.status !== 'warming') this.status = 'searching';
  }

  /** Moves the thresholds towards the rate that pays the debt. */
  #aim(seconds: number): void {
    const { target, position } = this;
    const vector = this.#vector;
    const filter = this.#filter;
    const tail = this.#tail;
    const shiftBefore = this.#lastShift;
    this.#lastShift = 0;
    // A low target has few events to go by, and a long tick an old picture: both move more slowly.
    const gain = Math.min(GAIN, 0.35 / seconds, target / 50);
    const repayment = Math.min(Math.max((gain * this.#debt) / target, -MAXIMUM_REPAYMENT), MAXIMUM_REPAYMENT);
    const wanted = target * Math.exp(-repayment);
    const distance = Math.log(wanted / filter.rate);
    tail.learnScale(position);
    const down = distance > 0;
    if (down && vector.lower(position) <= vector.first) {
      this.#debt = Math.max(this.#debt, 0);
      return;
    }
    if (!down && position >= vector.last) {
      this.#debt = Math.min(this.#debt, 0);
      return;
    }
    if (this.#attempts > 0) {
      if (this.#silentSeconds * target < SILENCE) {
        this.#lastShift = shiftBefore;
        return;
      }
      this.#silentSeconds = 0;
      tail.search(position, this.#attempts);
      this.#place(Math.min(this.#bounded(tail.next), vector.below(position)), 1);
      return;
    }
    if (down) tail.lower(position, distance);
    else tail.raise(position, -distance);
    const next = vector.clamp(down ? this.#bounded(tail.next) : tail.next);
    const here = this.#steps.floorOf(position);
    const low = this.#steps.floorOf(next);
    const high = this.#steps.ceilingOf(next);
    let to = high - next < next - low ? high : low;
    if (down ? to >= here : to <= here) to = this.#stepTo(here, wanted, down);
    if (to === here) return;
    // A quantile says how many events are above it. Other moves count by their length after rounding.
    const shift = Math.abs(tail.shift) < 0.5 || down ? (here - to) / tail.scale : tail.shift;
    tail.moved();
    this.#place(to, Math.exp(shift * tail.slope));
    this.#lastShift = shift;
  }

  /** Keeps a position above the middle between here and where events were too many just now. */
  #bounded(next: number): number {
    return this.#bracket < this.position ? Math.max(next, (this.position + this.#bracket) / 2) : next;
  }

  #place(next: number, factor: number): void {
    const vector = this.#vector;
    const filter = this.#filter;
    this.#stillTicks = 0;
    this.position = this.#steps.floorOf(vector.clamp(next));
    vector.set(this.position);
    const known = this.#steps.visited.at(this.position);
    if (known !== null && this.#steps.isKnown(known)) {
      const weight = Math.max(known.events, 1) / filter.burst;
      filter.set(Math.max(known.events, 0.5) / known.seconds, Math.min(weight, filter.weight));
    } else filter.moved(Math.min(Math.max(factor, 1e-3), 1e3));
  }

  /**
   * The position to go to if rounding leaves the thresholds where they are: the neighbour if its rate is nearer, or
   * none.
   */
  #stepTo(here: number, wanted: number, down: boolean): number {
    const { target } = this;
    const vector = this.#vector;
    const next = down ? this.#steps.floorOf(vector.below(here)) : this.#steps.ceilingOf(here);
    const limit = 0.99 * this.#debtLimit;
    if (down ? this.#debt <= -limit : this.#debt >= limit) return next;
    const mine = this.#steps.visited.at(here);
    const neighbour = this.#steps.visited.at(next);
    if (mine === null || neighbour === null) return here;
    if (!this.#steps.isKnown(mine) || !this.#steps.isKnown(neighbour)) return here;
    const middle = Math.sqrt(mine.rate * Math.max(neighbour.rate, 0.1 * target));
    return (down ? wanted > middle : wanted < middle) ? next : here;
  }

  /**
   * Whether the last ten ticks or so contradict the rate of a held position: over several ticks a smaller change shows.
   */
  #contradictsHeld(events: number, seconds: number): boolean {
    if (this.#held === null || this.#probing) return false;
    const kept = Math.exp(-seconds / 0.1);
    this.#heldEvents = this.#heldEvents * kept + events;
    this.#heldSeconds = this.#heldSeconds * kept + seconds;
    return this.#steps.contradicts(this.#held, this.#heldEvents, this.#heldSeconds);
  }

  /** Stands still at the nearer of two neighbours if neither certainly gives the target. */
  #enterCoarse(record: Visited): boolean {
    const { target } = this;
    const other = this.#steps.pairOf(record);
    if (other === null) return false;
    if (Math.abs(record.rate - target) < Math.abs(other.rate - target)) this.#hold(record, other);
    else this.#hold(other, record);
    return true;
  }

  #leaveCoarse(): void {
    if (this.#held === null) return;
    this.#held = this.#other = null;
    this.#probing = false;
    this.status = 'searching';
  }

  #hold(held: Visited, other: Visited): void {
    this.#held = held;
    this.#other = other;
    this.#otherRate = other.rate;
    this.#sinceProbe = 0;
    this.#probing = false;
    this.#heldEvents = this.#heldSeconds = 0;
    this.#debt = 0;
    this.status = 'too-coarse';
    this.#lastShift = 0;
    this.#place(held.position, 1);
    this.#filter.set(Math.max(held.events, 0.5) / held.seconds, Math.max(held.events, 1) / this.#filter.burst);
  }

  #holdCoarse(record: Visited, events: number, seconds: number): void {
    const { target } = this;
    const filter = this.#filter;
    const tail = this.#tail;
    // Only to learn the burstiness: the record knows the rate better.
    filter.update(events, seconds);
    this.#steps.burst = filter.burst;
    tail.endTick(filter.burst, false);
    const held = this.#held!;
    const other = this.#other!;
    if (record !== held || Math.abs(held.rate / target - 1) < 0.9 * COARSE) {
      this.#leaveCoarse();
      return;
    }
    // A level above the lower threshold also tells whether it is above the higher one.
    const told = this.#kind === 'level' && held.position < other.position && held.stepped;
    if (told) this.#otherRate = (held.events - held.lowestCount) / held.seconds;
    const margin = 0.01 * target + this.#steps.doubt(held) + (told ? 0 : this.#steps.doubt(other));
    if (Math.abs(this.#otherRate - target) < Math.abs(held.rate - target) - margin) {
      this.#hold(other, held);
      return;
    }
    // A change of the load may show at the other position only: look there for one tick now and then.
    this.#sinceProbe += seconds;
    const cost = (Math.abs(this.#otherRate - held.rate) * seconds) / (PROBE_COST * target);
    if (this.#sinceProbe <= Math.min(Math.max(cost, PROBE_SECONDS.LEAST), PROBE_SECONDS.MOST)) return;
    this.#probing = true;
    this.#place(other.position, 1);
  }
}
