import { move } from './rows.js';

/** Counts of values between limits, for a number of rows. */
export class BucketCounts {
  /** Ascending; several may be the same. */
  readonly #limits: Float64Array;
  readonly #width: number;
  /** Per row. */
  readonly #sum: Float64Array;
  /** Per row and bucket. */
  readonly #counts: Float64Array;

  constructor(limits: Float64Array, rows: number) {
    this.#limits = limits;
    this.#width = limits.length + 1;
    this.#sum = new Float64Array(rows);
    this.#counts = new Float64Array(rows * this.#width);
  }

  add(row: number, value: number): void {
    const limits = this.#limits;
    let low = 0;
    let high = limits.length;
    // The first bucket whose limit is not below the value.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (limits[middle]! < value) low = middle + 1;
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

  /** Adds the counts of a row to those that begin at `at`. */
  addTo(row: number, counts: Float64Array, at: number): void {
    for (let bucket = 0; bucket < this.#width; bucket++)
      counts[at + bucket]! += this.#counts[row * this.#width + bucket]!;
  }

  /** Of all values of a row. */
  sumOf(row: number): number {
    return this.#sum[row]!;
  }
}
