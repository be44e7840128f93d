import { type AdaptiveStatus, RateControl, type StatisticKind } from './control.js';
import { checkInterval, checkKind, checkLimits, checkTarget, checkThreshold, checkTick } from './controller.js';
import { MAXIMUM_THRESHOLD, ThresholdVector } from './threshold-vector.js';

/** One of the thresholds that a `TotalController` moves. */
export interface TotalMember {
  /** Lowest threshold, 0 to 2^32 - 1. Default 0. */
  readonly minimum?: number;
  /** Highest threshold, `minimum` to 2^32 - 1. Default 2^32 - 1. */
  readonly maximum?: number;
  /** Threshold at the start. Thresholds keep the proportions of these; 0 counts as 1. */
  readonly initial: number;
  /** As for a `ThresholdController`. */
  readonly kind: StatisticKind;
}

/** What a `TotalController` holds. */
export interface TotalControllerOptions {
  /** Events a second of all members together, above 0. */
  readonly target: number;
  /** At least one. */
  readonly members: readonly TotalMember[];
  /** Shortest time between two moves in milliseconds, 1 to 1000. Default 10. */
  readonly intervalMs?: number;
}

/**
 * Holds the rate of the events of several rules together, by one common factor: threshold i is `initial[i] * factor`,
 * rounded down and kept within its limits. So thresholds keep the proportions they were configured with; one that has
 * reached a limit stays there while the others go on, until all have reached theirs (`at-minimum`, `at-maximum`).
 *
 * Otherwise as `ThresholdController`. The metric is only too coarse if the steps of all thresholds together are.
 */
export class TotalController {
  readonly #vector: ThresholdVector;
  readonly #control: RateControl;
  readonly #weights: Float64Array;

  /** @throws RangeError for options out of range, TypeError for an unknown kind */
  constructor(options: TotalControllerOptions) {
    const { target, members } = options;
    checkTarget(target);
    if (members.length === 0) throw new RangeError('members must not be empty');
    const minima: number[] = [];
    const maxima: number[] = [];
    const weights: number[] = [];
    let kind: StatisticKind = 'level';
    for (const member of members) {
      const { minimum = 0, maximum = MAXIMUM_THRESHOLD } = member;
      checkLimits(minimum, maximum);
      checkKind(member.kind);
      minima.push(minimum);
      maxima.push(maximum);
      weights.push(Math.max(checkThreshold('initial', member.initial), 1));
      if (member.kind === 'difference') kind = 'difference';
    }
    this.#weights = Float64Array.from(weights);
    this.#vector = new ThresholdVector(weights, minima, maxima);
    const start = Math.min(Math.max(1, this.#vector.first), this.#vector.last);
    this.#control = new RateControl(this.#vector, target, start, kind, checkInterval(options.intervalMs));
  }

  /** Events a second to hold. */
  get target(): number {
    return this.#control.target;
  }

  /** Number of members. */
  get length(): number {
    return this.#vector.length;
  }

  get status(): AdaptiveStatus {
    return this.#control.status;
  }

  /** Events a second of all members over about the last second; of a load that has changed, since then. */
  get rate(): number {
    return this.#control.rate;
  }

  /** The common factor. */
  get factor(): number {
    return this.#control.position;
  }

  /** Bytes of its memory, fixed at construction, save for a few objects. */
  get byteLength(): number {
    return this.#control.byteLength + this.#vector.byteLength + this.#weights.byteLength;
  }

  /** As of `ThresholdController`. */
  get urgent(): boolean {
    return this.#control.urgent;
  }

  /** Threshold of a member. */
  threshold(member: number): number {
    const threshold = this.#vector.thresholds[member];
    if (threshold === undefined) throw new RangeError(`there is no member ${member}`);
    return threshold;
  }

  /** An event of a member: what was compared with its threshold, so a number above it. */
  observe(member: number, statistic: number): void {
    const scaled = statistic / this.#weights[member]!;
    // The threshold of a member at its maximum does not follow: its events count but tell nothing about the factor.
    if (scaled > this.#control.position && statistic > this.#vector.thresholds[member]!) this.#control.observe(scaled);
    else this.#control.count(1);
  }

  /** Events that count for the target but that no member's threshold governs. */
  count(events: number): void {
    this.#control.count(events);
  }

  /** Goes on from another factor, and learns the rate there anew. Kept within what the limits allow. */
  moveTo(factor: number): void {
    if (!(factor >= 0 && Number.isFinite(factor))) throw new RangeError(`factor must be at least 0, not ${factor}`);
    this.#control.moveTo(factor);
  }

  /** As `ThresholdController.tick`. Returns whether a threshold has moved. */
  tick(nowMs: number, reports: number): boolean {
    checkTick(nowMs, reports);
    return this.#control.tick(nowMs, reports);
  }
}
