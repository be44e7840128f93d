import { BUCKET_MS } from '../../protocol/entities.js';

/**
 * The newest values of some series: a ring of buckets for each. Values may come twice and in any order; the last one counts.
 */
export class SeriesWindow {
  readonly #columns: Float32Array[];
  readonly #capacity: number;
  /** Number of the newest bucket since the epoch; -1: none yet. */
  #newest = -1;

  /**
   * @param count series
   * @param capacity buckets kept of each
   */
  constructor(count: number, capacity: number) {
    this.#capacity = capacity;
    this.#columns = Array.from({ length: count }, () => new Float32Array(capacity).fill(Number.NaN));
  }

  /** Time of the newest bucket in milliseconds; `null` if there is none. */
  get newestMs(): number | null {
    return this.#newest < 0 ? null : this.#newest * BUCKET_MS;
  }

  /** Takes values that begin at `t0`; a step is one or more buckets, and a value is then in all of them. */
  put(series: number, t0: number, stepMs: number, values: ArrayLike<number | null>): void {
    const column = this.#columns[series];
    if (column === undefined) return;
    const buckets = Math.max(1, Math.round(stepMs / BUCKET_MS));
    for (let k = 0; k < values.length; k++) {
      const value = values[k] ?? Number.NaN;
      const first = Math.round(t0 / BUCKET_MS) + k * buckets;
      for (let bucket = first; bucket < first + buckets; bucket++) {
        if (bucket > this.#newest) this.#advance(bucket);
        if (bucket > this.#newest - this.#capacity) column[bucket % this.#capacity] = value;
      }
    }
  }

  /** Buckets that nothing has come for are empty. */
  #advance(bucket: number): void {
    const from = Math.max(this.#newest + 1, bucket - this.#capacity + 1);
    for (const column of this.#columns) {
      for (let each = from; each <= bucket; each++) column[each % this.#capacity] = Number.NaN;
    }
    this.#newest = bucket;
  }

  /** The value of a bucket; NaN: nothing was seen. */
  at(series: number, ms: number): number {
    const bucket = Math.round(ms / BUCKET_MS);
    if (bucket > this.#newest || bucket <= this.#newest - this.#capacity || bucket < 0) return Number.NaN;
    return this.#columns[series]?.[bucket % this.#capacity] ?? Number.NaN;
  }

  /**
   * The last `length` buckets up to `toMs`, as a chart wants them.
   * @param out filled; `null`: nothing was seen
   */
  read(series: number, toMs: number, length: number, out: (number | null)[]): void {
    for (let k = 0; k < length; k++) {
      const value = this.at(series, toMs - (length - 1 - k) * BUCKET_MS);
      out[k] = Number.isNaN(value) ? null : value;
    }
    out.length = length;
  }

  /** The largest of the last `buckets` values; NaN if nothing was seen. */
  most(series: number, buckets: number): number {
    let most = Number.NaN;
    for (let k = 0; k < buckets; k++) {
      const value = this.at(series, (this.#newest - k) * BUCKET_MS);
      if (!(value <= most) && !Number.isNaN(value)) most = value;
    }
    return most;
  }
}
