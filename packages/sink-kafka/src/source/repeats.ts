/** Writers remembered at most, over all partitions. */
const MOST_WRITERS = 4096;

/**
 * Detects repeated records of a topic. Within a partition a sink's records are in the order of their numbers, and a
 * failure repeats a run of them. So a number not above the last one of its partition and instance is a repeat, and one
 * number per pair is enough.
 *
 * When there are more than 4096 pairs of partition and instance, those heard of least recently are forgotten.
 */
export class RepeatFilter {
  /** Last number by partition and instance, the one heard of least recently first. */
  readonly #last = new Map<string, number>();
  /** What the last call was about: most records come from the writer of the one before. */
  #key = '';
  #partition = -1;
  #high = 0;
  #low = 0;

  /** Notes a record. @returns whether it had come before */
  isRepeat(partition: number, instanceHigh: number, instanceLow: number, number: number): boolean {
    if (partition !== this.#partition || instanceHigh !== this.#high || instanceLow !== this.#low) {
      this.#partition = partition;
      this.#high = instanceHigh;
      this.#low = instanceLow;
      this.#key = `${partition}:${instanceHigh}:${instanceLow}`;
      this.#touch();
    }
    const last = this.#last.get(this.#key);
    if (last !== undefined && number <= last) return true;
    this.#last.set(this.#key, number);
    if (this.#last.size > MOST_WRITERS) {
      for (const oldest of this.#last.keys()) {
        this.#last.delete(oldest);
        break;
      }
    }
    return false;
  }

  #touch(): void {
    const last = this.#last.get(this.#key);
    if (last === undefined) return;
    this.#last.delete(this.#key);
    this.#last.set(this.#key, last);
  }
}
