/** A queue of records to send: a ring of fixed size, filled and emptied by one thread. */
export class RecordQueue {
  readonly recordWords: number;
  readonly capacity: number;
  /** All slots, one after the other. */
  readonly words: Int32Array;
  count = 0;
  #first = 0;

  constructor(recordWords: number, capacity: number) {
    this.recordWords = recordWords;
    this.capacity = capacity;
    this.words = new Int32Array(recordWords * capacity);
  }

  /** Copies `records` records from word `at` on. The caller has checked that there is room. */
  put(words: Int32Array | Uint32Array, at: number, records: number): void {
    const { capacity, recordWords } = this;
    let from = at;
    let left = records;
    while (left > 0) {
      const slot = (this.#first + this.count) % capacity;
      const run = Math.min(left, capacity - slot);
      this.words.set(words.subarray(from, from + run * recordWords), slot * recordWords);
      this.count += run;
      from += run * recordWords;
      left -= run;
    }
  }

  /** Word index of record `k`, counted from the oldest, which is 0. */
  wordOf(k: number): number {
    return ((this.#first + k) % this.capacity) * this.recordWords;
  }

  drop(records: number): void {
    this.#first = (this.#first + records) % this.capacity;
    this.count -= records;
  }
}
