/** Each power of two has so many buckets, as a power of two. */
const FINE_BITS = 3;
const FINE = 1 << FINE_BITS;
/** Buckets of a sketch: values below FINE have one each. */
export const BUCKETS: number = (33 - FINE_BITS) * FINE;

/** The bucket of a value, 0 to 2^32 - 1. */
export function bucketOf(value: number): number {
  if (value < FINE) return value;
  const power = 31 - Math.clz32(value);
  return (power - FINE_BITS + 1) * FINE + ((value >>> (power - FINE_BITS)) & (FINE - 1));
}

/** The least value of a bucket. */
function leastOf(bucket: number): number {
  if (bucket < 2 * FINE) return bucket;
  const power = (bucket >>> FINE_BITS) - 1;
  return (FINE + (bucket & (FINE - 1))) * 2 ** power;
}

/**
 * Histograms of 32-bit numbers, one per row, with eight buckets for each power of two. A quantile is found by
 * interpolation in its bucket, so its error is well below an eighth of it.
 */
export class Sketches {
  readonly #counts: Uint32Array;
  /** Values in each row. */
  readonly total: Uint32Array;

  constructor(rows: number) {
    this.#counts = new Uint32Array(rows * BUCKETS);
    this.total = new Uint32Array(rows);
  }

  static byteLength(rows: number): number {
    return rows * (BUCKETS + 1) * 4;
  }

  /** Adds a value so many times. @param value 0 to 2^32 - 1 */
  add(row: number, value: number, times: number): void {
    const at = row * BUCKETS + bucketOf(value);
    this.#counts[at] = this.#counts[at]! + times;
    this.total[row] = this.total[row]! + times;
  }

  clear(row: number): void {
    this.#counts.fill(0, row * BUCKETS, (row + 1) * BUCKETS);
    this.total[row] = 0;
  }

  /** The value below which a share of the row's values lies; NaN for an empty row. */
  quantile(row: number, share: number): number {
    const total = this.total[row]!;
    if (total === 0) return Number.NaN;
    const rank = share * total;
    const at = row * BUCKETS;
    let before = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      const count = this.#counts[at + bucket]!;
      if (before + count >= rank && count > 0) {
        const least = leastOf(bucket);
        return bucket < FINE ? least : least + ((leastOf(bucket + 1) - least) * (rank - before)) / count;
      }
      before += count;
    }
    return leastOf(BUCKETS);
  }
}
