/**
 * The statistics of the last events, for quantiles: a ring of fixed size. Where events are many, it keeps every n-th.
 */
export class RecentStatistics {
  /** Of so many events one is kept; at least 1. */
  stride = 1;
  /** How many statistics have been kept, overwritten ones included. */
  kept = 0;
  readonly #ring: Float64Array;
  readonly #chosen: Float64Array;
  #place = 0;
  #skipped = 0;
  #chosenCount = 0;

  constructor(capacity: number) {
    this.#ring = new Float64Array(capacity);
    this.#chosen = new Float64Array(capacity);
  }

  get byteLength(): number {
    return this.#ring.byteLength + this.#chosen.byteLength;
  }

  add(value: number): void {
    if (++this.#skipped < this.stride) return;
    this.#skipped = 0;
    this.#ring[this.#place] = value;
    this.#place = this.#place + 1 === this.#ring.length ? 0 : this.#place + 1;
    this.kept++;
  }

  /** Chooses the statistics above `position` of those kept since `kept` was `from`. Returns how many there are. */
  choose(position: number, from: number): number {
    const ring = this.#ring;
    const chosen = this.#chosen;
    const size = ring.length;
    const wanted = Math.min(Math.max(this.kept - from, 0), size, this.kept);
    let at = this.#place - wanted;
    if (at < 0) at += size;
    let count = 0;
    for (let left = wanted; left > 0; left--) {
      const value = ring[at]!;
      if (value > position) chosen[count++] = value;
      if (++at === size) at = 0;
    }
    this.#chosenCount = count;
    return count;
  }

  /** The chosen statistic of a rank, 1 being the largest; at most the number chosen. */
  largest(rank: number): number {
    const values = this.#chosen;
    const target = this.#chosenCount - rank;
    let low = 0;
    let high = this.#chosenCount - 1;
    // Quickselect (Hoare): linear on average.
    while (low < high) {
      const pivot = values[(low + high) >>> 1]!;
      let left = low;
      let right = high;
      while (left <= right) {
        while (values[left]! < pivot) left++;
        while (values[right]! > pivot) right--;
        if (left <= right) {
          const value = values[left]!;
          values[left++] = values[right]!;
          values[right--] = value;
        }
      }
      if (target <= right) high = right;
      else if (target >= left) low = left;
      else break;
    }
    return values[target]!;
  }
}
