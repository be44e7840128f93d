/**
 * Adaptive thresholds: a controller moves thresholds within given limits, so that events come at a target rate.
 *
 * Every 10 ms the controller counts the events and adds the difference from the target to an account. Then it sets the
 * threshold at the rate that evens out the account in about a tenth of a second. The events themselves show which
 * threshold gives which rate: each exceeds the threshold by some amount, so the controller can count how many would
 * exceed a higher one. It reaches a lower one in small steps, along the extended curve. Every error shows in the account
 * and is paid back, so the rate is closer to the target than chance would bring it.
 *
 * - The load changes by a factor of two or more: within two or three ticks chance no longer explains the counts, and the
 *   controller forgets all that it learnt before the change.
 * - Reports come, but no events: the threshold falls by up to 30 % a tick until there are events again.
 * - The metric has so few values that no threshold comes within 10 % of the target: the controller tries the two nearest
 *   thresholds, stays at the one whose rate is nearer (`too-coarse`), and looks at the other for one tick every few seconds.
 * - The threshold reaches a limit: it stays there (`at-minimum`, `at-maximum`).
 * - No reports come: the threshold stays as it is.
 *
 * Limits of the method: below some hundred events a second there are too few to hold 10 % within one second. A burst of
 * more than about a fiftieth of a second's target is over before a threshold can stop it; the mean is still right while
 * bursts are below about a tenth of a second's target.
 *
 * @module
 */
import { type AdaptiveStatus, RateControl, type StatisticKind } from './control.js';
import { MAXIMUM_THRESHOLD, ThresholdVector } from './threshold-vector.js';

/** A threshold that a controller moves. */
export interface ControlledThreshold {
  /** Lowest threshold, 0 to 2^32 - 1. */
  readonly minimum: number;
  /** Highest threshold, `minimum` to 2^32 - 1. */
  readonly maximum: number;
  /** Threshold at the start; the controller moves it to the nearer limit if it is beyond one. */
  readonly initial: number;
  readonly kind: StatisticKind;
}

/** @throws RangeError if it is no number above 0 */
export function checkTarget(target: number): number {
  if (!(target > 0 && Number.isFinite(target))) {
    throw new RangeError(`target must be a number of events a second above 0, not ${target}`);
  }
  return target;
}

function checkThreshold(name: string, value: number): void {
  if (!(Number.isInteger(value) && value >= 0 && value <= MAXIMUM_THRESHOLD)) {
    throw new RangeError(`${name} must be an integer from 0 to 2^32 - 1, not ${value}`);
  }
}

/**
 * Holds the rate of the events of one threshold, or of several together. No clock and no timer: time is an argument, of
 * any origin. Memory is fixed at construction; no later call makes an object.
 *
 * Several thresholds move by a common factor, the position: threshold i is `initial[i] * position` (an initial threshold
 * of 0 counts as 1), rounded down and kept within its limits. One that has reached a limit stays there while the others
 * go on, until all have reached theirs. A single threshold can be the position itself.
 *
 * On a stationary load and for targets of 1,000 events a second and more, at least 95 % of windows of one second are
 * within 10 % of the target, and a tenfold step of the load is over within a second.
 */
export class ThresholdController {
  readonly #vector: ThresholdVector;
  readonly #control: RateControl;

  /**
   * @param target events a second of all members together
   * @param members at least one
   * @param isTotal whether the position is a common factor of the members; else there is one, and the position is its threshold
   * @param intervalMs shortest time between two moves
   * @throws RangeError for a number out of range
   */
  constructor(target: number, members: readonly ControlledThreshold[], isTotal: boolean, intervalMs: number) {
    checkTarget(target);
    for (const { minimum, maximum, initial } of members) {
      checkThreshold('minimum', minimum);
      checkThreshold('maximum', maximum);
      checkThreshold('initial', initial);
      if (minimum > maximum) throw new RangeError(`minimum must not be above maximum: ${minimum} > ${maximum}`);
    }
    this.#vector = new ThresholdVector(
      members.map(({ initial }) => (isTotal ? Math.max(initial, 1) : 1)),
      members.map(({ minimum }) => minimum),
      members.map(({ maximum }) => maximum),
    );
    const kind = members.some((member) => member.kind === 'difference') ? 'difference' : 'level';
    this.#control = new RateControl(this.#vector, target, isTotal ? 1 : members[0]!.initial, kind, intervalMs);
  }

  /** Events a second to hold. */
  get target(): number {
    return this.#control.target;
  }

  get status(): AdaptiveStatus {
    return this.#control.status;
  }

  /** Events a second over about the last second; of a load that has changed, since then. 0 before the second tick. */
  get rate(): number {
    return this.#control.rate;
  }

  /** The common factor, or the threshold of the one member. */
  get position(): number {
    return this.#control.position;
  }

  /** Bytes of its memory, fixed at construction, save for a few objects. */
  get byteLength(): number {
    return this.#control.byteLength + this.#vector.byteLength;
  }

  /**
   * Whether so many events have come since the last tick (eight times what the target allows, and 64) that the next one
   * should come now: {@link tick} takes it 1 ms after the last one.
   */
  get urgent(): boolean {
    return this.#control.urgent;
  }

  /** Threshold of a member: an event is what is above. */
  threshold(member: number): number {
    return this.#vector.thresholds[member]!;
  }

  /** Counts an event of a member. `statistic`: what was compared with the threshold, so a number above it. */
  observe(member: number, statistic: number): void {
    const scaled = statistic / this.#vector.weights[member]!;
    // The threshold of a member at its maximum does not follow: its events count but tell nothing about the position.
    if (scaled > this.#control.position && statistic > this.#vector.thresholds[member]!) this.#control.observe(scaled);
    else this.#control.count(1);
  }

  /** Counts events for the target that no member's threshold governs. */
  count(events: number): void {
    this.#control.count(events);
  }

  /** Goes on from another position, within the limits, and learns the rate there anew. */
  moveTo(position: number): void {
    this.#control.moveTo(position);
  }

  /**
   * Moves the thresholds if it is time to. `nowMs`: the time in milliseconds, fractions welcome. `reports`: how many
   * reports the detector has looked at since the last call; 0 means that nothing could raise events. Returns whether a
   * threshold has moved.
   *
   * Calls more often than `intervalMs` are cheap and only add up. The first call starts the clock, and so does one with a
   * time before the last: it drops what was counted since the last call, for there is no time to relate it to. With calls
   * further apart the rate is only as steady as the calls are frequent.
   */
  tick(nowMs: number, reports: number): boolean {
    return this.#control.tick(nowMs, reports);
  }
}
