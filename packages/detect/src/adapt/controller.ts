/**
 * Adaptive thresholds: a target rate of events is held by moving thresholds within given limits.
 *
 * In plain words: every 10 ms the controller counts the events, and keeps a running account of how many there were too
 * many or too few. It then sets the threshold for the rate that evens out the account within about a tenth of a second.
 * To know which threshold gives which rate it looks at the events themselves: each shows by how much it was above the
 * threshold, so how many would have been above a higher one is counted, and a lower one is reached by extending the
 * curve in small steps. As every error shows up in the account and is paid back, the rate comes out closer to the
 * target than chance would bring it. When the load changes by a factor of two or more, within two or three ticks the
 * counts are too unlikely to be chance, and everything learnt before the change is forgotten at once; when no event
 * comes at all although reports do, the threshold falls by up to 30 % a tick until events are back. Thresholds are
 * whole numbers. Where a metric has so few values that no threshold comes within 10 % of the target, the controller
 * tries the two thresholds on both sides, stays at the one whose rate is nearer, says so (`too-coarse`), and looks
 * every few seconds, for one tick, whether the other has become the better one. At a limit it stays there and says so
 * (`at-minimum`, `at-maximum`). Without reports it leaves the threshold as it is.
 *
 * What it cannot do: below some hundred events a second there are too few to hold 10 % in one second; and events that
 * come in bursts of more than about a fiftieth of a second's target have happened before any threshold can stop them (the
 * mean is still held while bursts are smaller than about a tenth of a second's target).
 *
 * @module
 */
import {
  type AdaptiveStatus,
  DEFAULT_INTERVAL_MS,
  MAXIMUM_INTERVAL_MS,
  RateControl,
  type StatisticKind,
} from './control.js';
import { MAXIMUM_THRESHOLD, ThresholdVector } from './threshold-vector.js';

/** What a `ThresholdController` holds, and between which limits. */
export interface ThresholdControllerOptions {
  /** Events a second, above 0. */
  readonly target: number;
  /** Lowest threshold, 0 to 2^32 - 1. Default 0. */
  readonly minimum?: number;
  /** Highest threshold, `minimum` to 2^32 - 1. Default 2^32 - 1. */
  readonly maximum?: number;
  /** Threshold at the start; one beyond the limits is moved to the nearer of them. */
  readonly initial: number;
  /** `difference` for perHop, perFlow and movingAverage, whose statistic depends on the threshold; else `level`. */
  readonly kind: StatisticKind;
  /** Shortest time between two moves in milliseconds, 1 to 1000. Default 10. */
  readonly intervalMs?: number;
}

/** @throws RangeError if it is no number above 0 */
export function checkTarget(target: number): number {
  if (!(target > 0 && Number.isFinite(target))) {
    throw new RangeError(`target must be a number of events a second above 0, not ${target}`);
  }
  return target;
}

/** @throws RangeError if it is no length of a tick */
export function checkInterval(intervalMs: number = DEFAULT_INTERVAL_MS): number {
  if (!(intervalMs >= 1 && intervalMs <= MAXIMUM_INTERVAL_MS)) {
    throw new RangeError(`intervalMs must be a number from 1 to ${MAXIMUM_INTERVAL_MS}, not ${intervalMs}`);
  }
  return intervalMs;
}

/** @throws RangeError if it is no 32-bit threshold */
export function checkThreshold(name: string, value: number): number {
  if (!(Number.isInteger(value) && value >= 0 && value <= MAXIMUM_THRESHOLD)) {
    throw new RangeError(`${name} must be an integer from 0 to 2^32 - 1, not ${value}`);
  }
  return value;
}

/** @throws RangeError if they are no limits */
export function checkLimits(minimum: number, maximum: number): void {
  checkThreshold('minimum', minimum);
  checkThreshold('maximum', maximum);
  if (minimum > maximum) throw new RangeError(`minimum must not be above maximum: ${minimum} > ${maximum}`);
}

/**
 * Holds the rate of one threshold's events. No clock and no timer: time is an argument, of any origin. Memory is fixed
 * at construction; no call after it makes an object.
 *
 * On a stationary load and for targets of 1,000 events a second and more, at least 95 % of windows of one second are
 * within 10 % of the target, and a tenfold step of the load is over within a second.
 *
 * @example
 * const controller = new ThresholdController({ target: 1000, initial: 10_000, kind: 'level' });
 * // per report: if (value > controller.threshold) controller.observe(value);
 * // every 10 ms: controller.tick(nowMs, reports);
 */
export class ThresholdController {
  readonly #vector: ThresholdVector;
  readonly #control: RateControl;

  /** @throws RangeError for options out of range, TypeError for an unknown kind */
  constructor(options: ThresholdControllerOptions) {
    const { target, minimum = 0, maximum = MAXIMUM_THRESHOLD, initial, kind } = options;
    checkTarget(target);
    checkLimits(minimum, maximum);
    checkThreshold('initial', initial);
    checkKind(kind);
    this.#vector = new ThresholdVector([1], [minimum], [maximum]);
    const start = Math.min(Math.max(initial, minimum), maximum);
    this.#control = new RateControl(this.#vector, target, start, kind, checkInterval(options.intervalMs));
  }

  /** Events a second to hold. */
  get target(): number {
    return this.#control.target;
  }

  /** The threshold now: an event is what is above. */
  get threshold(): number {
    return this.#vector.thresholds[0]!;
  }

  get status(): AdaptiveStatus {
    return this.#control.status;
  }

  /** Events a second over about the last second; of a load that has changed, since then. 0 before the second tick. */
  get rate(): number {
    return this.#control.rate;
  }

  /** Bytes of its memory, fixed at construction, save for a few objects. */
  get byteLength(): number {
    return this.#control.byteLength;
  }

  /**
   * Whether so many events have come since the last tick (eight times what the target allows, and 64) that the next one
   * should come now: {@link tick} takes it 1 ms after the last one.
   */
  get urgent(): boolean {
    return this.#control.urgent;
  }

  /** An event: what was compared with the threshold, so a number above it. */
  observe(statistic: number): void {
    if (statistic > this.threshold) this.#control.observe(statistic);
    else this.#control.count(1);
  }

  /** Events that count for the target but that this threshold does not govern. */
  count(events: number): void {
    this.#control.count(events);
  }

  /** The threshold was set from outside; it is learnt anew from there. Kept within the limits. */
  moveTo(threshold: number): void {
    checkThreshold('threshold', threshold);
    this.#control.moveTo(threshold);
  }

  /**
   * Time has come to `nowMs` (milliseconds, fractions welcome). `reports`: how many reports the detector has looked at
   * since the last call; 0 means that there was nothing to raise events. Returns the threshold, new or not.
   *
   * Calls more often than `intervalMs` are cheap and only add up. The first call starts the clock, and so does one with
   * a time before the last: what was counted since the last call is then dropped, for there is no time to relate it to.
   * Calls further apart work on, but the rate can only be as steady as the calls are frequent.
   *
   * @throws RangeError if the time is no finite number or `reports` is below 0
   */
  tick(nowMs: number, reports: number): number {
    checkTick(nowMs, reports);
    this.#control.tick(nowMs, reports);
    return this.threshold;
  }
}

/** @throws TypeError if it is no kind */
export function checkKind(kind: StatisticKind): void {
  if (kind !== 'level' && kind !== 'difference') {
    throw new TypeError(`kind must be 'level' or 'difference', not ${String(kind)}`);
  }
}

/** @throws RangeError */
export function checkTick(nowMs: number, reports: number): void {
  if (!Number.isFinite(nowMs)) throw new RangeError(`nowMs must be a finite number, not ${nowMs}`);
  if (!(reports >= 0)) throw new RangeError(`reports must be a number of at least 0, not ${reports}`);
}
