import { move, rowsOf } from './rows.js';

const MAX_BOUNDS = 64;

/** A histogram of each row, as columns. */
export interface BucketColumns {
  /** Upper bounds of the buckets but the last; a value equal to a bound is below it. */
  readonly bounds: Float64Array;
  /** `bounds.length + 1` counts for each row, not cumulative. */
  readonly counts: Float64Array;
  /** Of all values, a cell for each row. */
  readonly sums: Float64Array;
}

/** Counts of values between bounds, for a number of rows. */
export class BucketCounts {
  readonly bounds: Float64Array;
  readonly #width: number;
  /** Per row. */
  readonly #sum: Float64Array;
  /** Per row and bucket. */
  readonly #counts: Float64Array;

  constructor(name: string, bounds: readonly number[], rows: number) {
    const isAscending = bounds.every((bound, index) => index === 0 || bound > bounds[index - 1]!);
    if (bounds.length < 1 || bounds.length > MAX_BOUNDS || !isAscending) {
      throw new RangeError(`${name} must be 1 to ${MAX_BOUNDS} numbers in ascending order`);
    }
    this.bounds = Float64Array.from(bounds);
    this.#width = bounds.length + 1;
    this.#sum = new Float64Array(rows);
    this.#counts = new Float64Array(rows * this.#width);
  }

  add(row: number, value: number): void {
    const { bounds } = this;
    let low = 0;
    let high = bounds.length;
    // The first bucket whose bound is not below the value.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (bounds[middle]! < value) low = middle + 1;
      else high = middle;
    }
    this.#sum[row]! += value;
    this.#counts[row * this.#width + low]!++;
  }

  /** Adds the counts of a row to another row, and clears it. */
  move(row: number, to: number): void {
    move(this.#sum, row, to);
    for (let bucket = 0; bucket < this.#width; bucket++) {
      move(this.#counts, row * this.#width + bucket, to * this.#width + bucket);
    }
  }

  /** Of the first rows, and of the row `other` behind them. */
  columns(rows: number, other: number): BucketColumns {
    const { bounds } = this;
    return {
      bounds: bounds.slice(),
      counts: rowsOf(this.#counts, rows, other, this.#width),
      sums: rowsOf(this.#sum, rows, other),
    };
  }
}
