/** Largest threshold there is. */
export const MAXIMUM_THRESHOLD = 0xffff_ffff;

/** Keeps `floor(weight * (threshold / weight))` from falling one short; below one part in 2^32. */
const ROUNDING = 1 + 1e-13;

/**
 * Integer thresholds that move together: threshold i is `floor(weight[i] * position)`, kept within its limits. The
 * position is a real number; all positions from {@link lower} up to, and without, {@link upper} mean the same
 * thresholds.
 */
export class ThresholdVector {
  readonly weights: Float64Array;
  /** Thresholds at the present position. */
  readonly thresholds: Float64Array;
  /** At this position and below, every threshold is at its minimum. */
  readonly first: number;
  /** At this position and above, every threshold is at its maximum. */
  readonly last: number;
  readonly #minima: Float64Array;
  readonly #maxima: Float64Array;

  constructor(weights: ArrayLike<number>, minima: ArrayLike<number>, maxima: ArrayLike<number>) {
    this.weights = Float64Array.from(weights);
    this.#minima = Float64Array.from(minima);
    this.#maxima = Float64Array.from(maxima);
    this.thresholds = new Float64Array(weights.length);
    this.first = this.#minima.reduce(
      (first, minimum, i) => Math.min(first, minimum / weights[i]!),
      Number.POSITIVE_INFINITY,
    );
    this.last = this.#maxima.reduce((last, maximum, i) => Math.max(last, maximum / weights[i]!), 0);
  }

  /** The nearest position from `first` to `last`. */
  clamp(position: number): number {
    return Math.min(Math.max(position, this.first), this.last);
  }

  /** Bytes of typed arrays. */
  get byteLength(): number {
    return 4 * this.thresholds.byteLength;
  }

  /** Sets the thresholds. */
  set(position: number): void {
    for (let i = 0; i < this.weights.length; i++) this.thresholds[i] = this.#at(i, position);
  }

  /** The lowest position that means the same thresholds. */
  lower(position: number): number {
    let lower = this.first;
    for (let i = 0; i < this.weights.length; i++) {
      const threshold = this.#at(i, position);
      if (threshold > this.#minima[i]!) lower = Math.max(lower, threshold / this.weights[i]!);
    }
    return lower;
  }

  /** The lowest position above that means other thresholds; infinite if there is none. */
  upper(position: number): number {
    let upper = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.weights.length; i++) {
      const threshold = this.#at(i, position);
      if (threshold < this.#maxima[i]!) upper = Math.min(upper, (threshold + 1) / this.weights[i]!);
    }
    return upper;
  }

  /** The lowest position of the next lower thresholds; `first` if there are none. */
  below(position: number): number {
    const lower = this.lower(position);
    let below = this.first;
    for (let i = 0; i < this.weights.length; i++) {
      const threshold = this.#at(i, lower);
      if (threshold <= this.#minima[i]!) continue;
      const at = threshold / this.weights[i]!;
      const candidate = at * ROUNDING < lower ? at : (threshold - 1) / this.weights[i]!;
      below = Math.max(below, candidate);
    }
    return below;
  }

  #at(i: number, position: number): number {
    const threshold = Math.floor(this.weights[i]! * position * ROUNDING);
    return Math.min(Math.max(threshold, this.#minima[i]!), this.#maxima[i]!);
  }
}
