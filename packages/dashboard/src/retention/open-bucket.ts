import { BINS, rankOf } from './bins.js';
import type { EntityRows } from './entity-rows.js';
import { CELL } from './geometry.js';
import { GROUP_BITS, GROUPS, groupOf, SHIFT } from './hop-sums.js';

/** Cells of the open bucket go on where a cell of the ring ends: here is the count of buckets in which the row was touched last. */
const STAMP = 8;

/**
 * The bucket that fills: a cell and a histogram per row. Rows are emptied when they are touched first, so that a bucket costs no more
 * than what is in it.
 */
export class OpenBucket {
  /** Cells, `1 << SHIFT` words each. */
  readonly words: Uint32Array;
  readonly histograms: Uint32Array;
  /** Rows that have something, {@link touchedCount} of them. */
  readonly touched: Int32Array;
  touchedCount = 0;
  /** Count of buckets opened, from 1. */
  #count = 0;
  /** Its number; -1 before the first. */
  bucket = -1;
  readonly #rows: EntityRows;

  constructor(rows: number, entities: EntityRows) {
    this.words = new Uint32Array(rows << SHIFT);
    this.histograms = new Uint32Array(rows * BINS);
    this.touched = new Int32Array(rows);
    this.#rows = entities;
  }

  begin(bucket: number): void {
    this.bucket = bucket;
    this.#count++;
  }

  /** Adds to a count of a row. */
  count(row: number, word: number, by: number): void {
    this.touch(row);
    this.words[(row << SHIFT) + word]! += by;
  }

  /** Empties a row that nothing has touched in this bucket yet. */
  touch(row: number): void {
    if (this.words[(row << SHIFT) + STAMP] !== this.#count) this.#empty(row);
  }

  /** Adds reports, maxima and values of a row, or sum, to a row of this bucket. */
  merge(words: Uint32Array, bins: Uint32Array, row: number, to: number): void {
    const open = this.words;
    const histograms = this.histograms;
    const from = row << SHIFT;
    const at = to << SHIFT;
    this.touch(to);
    open[at + CELL.REPORTS]! += words[from + CELL.REPORTS]!;
    for (let word: number = CELL.LATENCY_MAX; word <= CELL.UTILIZATION; word++) {
      if (words[from + word]! > open[at + word]!) open[at + word] = words[from + word]!;
    }
    open[at + GROUPS]! |= words[from + GROUPS]!;
    for (let left = words[from + GROUPS]!; left !== 0; left &= left - 1) {
      const first = groupOf(left);
      const source = row * BINS + first;
      const target = to * BINS + first;
      for (let bin = 0; bin < 1 << GROUP_BITS; bin++) histograms[target + bin]! += bins[source + bin]!;
    }
  }

  /** The quantiles of a row's histogram, which is empty then. */
  quantiles(row: number): number {
    const groups = this.words[(row << SHIFT) + GROUPS]!;
    const { histograms } = this;
    const first = row * BINS;
    let count = 0;
    for (let left = groups; left !== 0; left &= left - 1) {
      const from = first + groupOf(left);
      for (let bin = from; bin < from + (1 << GROUP_BITS); bin++) count += histograms[bin]!;
    }
    if (count === 0) return 0;
    const half = rankOf(0.5, count);
    const most = rankOf(0.99, count);
    let seen = 0;
    let p50 = -1;
    let p99 = -1;
    for (let left = groups; left !== 0; left &= left - 1) {
      const from = groupOf(left);
      for (let bin = from; bin < from + (1 << GROUP_BITS); bin++) {
        seen += histograms[first + bin]!;
        histograms[first + bin] = 0;
        if (p50 < 0 && seen >= half) p50 = bin;
        if (p99 < 0 && seen >= most) p99 = bin;
      }
    }
    return ((p50 + 1) | ((p99 + 1) << 16)) >>> 0;
  }

  #empty(row: number): void {
    const at = row << SHIFT;
    this.#rows.lastSeen[row] = this.bucket;
    this.touched[this.touchedCount++] = row;
    this.words.fill(0, at, at + GROUPS + 1);
    this.words[at + STAMP] = this.#count;
  }
}
