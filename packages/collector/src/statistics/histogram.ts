/**
 * Counts of 32-bit values in log-linear buckets, for many rows, over a sliding window of time slices.
 *
 * Values below 64 have a bucket each; above, every power of two is cut into 32 buckets, so that a quantile is off by at
 * most 1/64 (1.6 %) of the value. Layout and memory are fixed: this is what `node:perf_hooks` histograms lack here, which
 * cannot forget (a window would need one object per switch and slice, merged on every look) and cost a call into native
 * code for each value.
 */

const SUB_BITS = 5;
const SUB_BUCKETS = 1 << SUB_BITS;
const LINEAR = SUB_BUCKETS * 2;

/** Buckets of one histogram: 64 single values, then 26 powers of two with 32 buckets each. */
export const HISTOGRAM_BUCKETS: number = LINEAR + (32 - SUB_BITS - 1) * SUB_BUCKETS;

/** The bucket of an unsigned 32-bit value. */
export function bucketOf(value: number): number {
  if (value >>> 0 < LINEAR) return value;
  const shift = 31 - SUB_BITS - Math.clz32(value);
  return (shift << SUB_BITS) + (value >>> shift);
}

/** The middle of a bucket: what its values are taken to be. */
export function bucketValue(bucket: number): number {
  if (bucket < LINEAR) return bucket;
  const shift = (bucket >>> SUB_BITS) - 1;
  const mantissa = (bucket & (SUB_BUCKETS - 1)) + SUB_BUCKETS;
  return (mantissa * 2 + 1) * 2 ** (shift - 1);
}

/** See the file's comment. Rows are numbered from 0; time moves by {@link rotate}. */
export class SlidingHistograms {
  /** Slices in the window, the one being filled included. */
  readonly slices: number;
  /** Per row and slice. */
  readonly #counts: Uint32Array;
  /** Per row: the sum of its slices. */
  readonly #window: Uint32Array;
  /** Values per row and slice. */
  readonly #sliceTotals: Float64Array;
  readonly #windowTotals: Float64Array;
  #slice = 0;

  /** @throws RangeError unless both numbers are positive integers */
  constructor(rows: number, slices: number) {
    if (!Number.isInteger(rows) || rows < 1 || !Number.isInteger(slices) || slices < 1) {
      throw new RangeError(`rows and slices must be positive integers, not ${rows} and ${slices}`);
    }
    this.slices = slices;
    this.#counts = new Uint32Array(rows * slices * HISTOGRAM_BUCKETS);
    this.#window = new Uint32Array(rows * HISTOGRAM_BUCKETS);
    this.#sliceTotals = new Float64Array(rows * slices);
    this.#windowTotals = new Float64Array(rows);
  }

  get byteLength(): number {
    return this.#counts.byteLength + this.#window.byteLength;
  }

  /** Counts an unsigned 32-bit value in the current slice. */
  record(row: number, value: number): void {
    const bucket = bucketOf(value);
    const cell = row * this.slices + this.#slice;
    this.#counts[cell * HISTOGRAM_BUCKETS + bucket]!++;
    this.#window[row * HISTOGRAM_BUCKETS + bucket]!++;
    this.#sliceTotals[cell]!++;
    this.#windowTotals[row]!++;
  }

  /** Begins a new slice in all rows and forgets the oldest one. */
  rotate(): void {
    this.#slice = (this.#slice + 1) % this.slices;
    for (let row = 0; row < this.#windowTotals.length; row++) this.#forget(row, this.#slice);
  }

  /** Adds the values of a row to another one, slice by slice, and forgets them. */
  move(row: number, to: number): void {
    for (let slice = 0; slice < this.slices; slice++) {
      const cell = row * this.slices + slice;
      const values = this.#sliceTotals[cell]!;
      if (values === 0) continue;
      const target = to * this.slices + slice;
      for (let bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        const count = this.#counts[cell * HISTOGRAM_BUCKETS + bucket]!;
        this.#counts[target * HISTOGRAM_BUCKETS + bucket]! += count;
        this.#window[to * HISTOGRAM_BUCKETS + bucket]! += count;
      }
      this.#sliceTotals[target]! += values;
      this.#windowTotals[to]! += values;
      this.#forget(row, slice);
    }
  }

  /** Values in the window. */
  count(row: number): number {
    return this.#windowTotals[row]!;
  }

  /** The value below which the fraction `quantile` (0 to 1) of the window's values lies; `null` if there are none. */
  quantile(row: number, quantile: number): number | null {
    const start = row * HISTOGRAM_BUCKETS;
    return this.#find(this.#window, start, this.#windowTotals[row]!, quantile);
  }

  /** The same over the current slice alone. */
  sliceQuantile(row: number, quantile: number): number | null {
    const cell = row * this.slices + this.#slice;
    return this.#find(this.#counts, cell * HISTOGRAM_BUCKETS, this.#sliceTotals[cell]!, quantile);
  }

  #find(counts: Uint32Array, start: number, total: number, quantile: number): number | null {
    if (total === 0) return null;
    const rank = Math.max(1, Math.ceil(quantile * total));
    let seen = 0;
    for (let bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
      seen += counts[start + bucket]!;
      if (seen >= rank) return bucketValue(bucket);
    }
    return null;
  }

  #forget(row: number, slice: number): void {
    const cell = row * this.slices + slice;
    if (this.#sliceTotals[cell] === 0) return;
    const from = cell * HISTOGRAM_BUCKETS;
    const window = row * HISTOGRAM_BUCKETS;
    for (let bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
      this.#window[window + bucket]! -= this.#counts[from + bucket]!;
    }
    this.#counts.fill(0, from, from + HISTOGRAM_BUCKETS);
    this.#windowTotals[row]! -= this.#sliceTotals[cell]!;
    this.#sliceTotals[cell] = 0;
  }
}
