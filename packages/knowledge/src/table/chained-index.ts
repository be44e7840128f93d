/** No row. */
export const NONE = -1;

/**
 * Finds rows by hash: buckets with chains, in two arrays of fixed size. The owner of the rows compares their keys.
 */
export class ChainedIndex {
  readonly #heads: Int32Array;
  readonly #next: Int32Array;
  readonly #mask: number;

  constructor(rows: number) {
    const buckets = 2 ** Math.ceil(Math.log2(Math.max(2, rows)));
    this.#mask = buckets - 1;
    this.#heads = new Int32Array(buckets).fill(NONE);
    this.#next = new Int32Array(rows).fill(NONE);
  }

  /** The first row that may have the hash, or `NONE`. */
  first(hash: number): number {
    return this.#heads[hash & this.#mask]!;
  }

  /** The row after `row` in its chain, or `NONE`. */
  after(row: number): number {
    return this.#next[row]!;
  }

  insert(row: number, hash: number): void {
    const bucket = hash & this.#mask;
    this.#next[row] = this.#heads[bucket]!;
    this.#heads[bucket] = row;
  }

  remove(row: number, hash: number): void {
    const bucket = hash & this.#mask;
    let at = this.#heads[bucket]!;
    if (at === row) {
      this.#heads[bucket] = this.#next[row]!;
      return;
    }
    while (at !== NONE) {
      const next = this.#next[at]!;
      if (next === row) {
        this.#next[at] = this.#next[row]!;
        return;
      }
      at = next;
    }
  }
}
