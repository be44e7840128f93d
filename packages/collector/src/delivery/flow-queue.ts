/** A ring buffer of flow entries that wait. */
export class FlowQueue {
  #words = new Int32Array(0);
  #recordWords = 0;
  #capacity: number;
  #head = 0;
  /** Records held. */
  count = 0;

  /** @param capacity records */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Records that there is room for. */
  get room(): number {
    return this.#capacity - this.count;
  }

  /** Copies records in. The caller has checked `room`, or sets `grows` to enlarge the queue. */
  push(words: Int32Array, at: number, records: number, recordWords: number, grows: boolean): void {
    if (this.#recordWords !== recordWords) {
      this.#recordWords = recordWords;
      this.#words = new Int32Array(this.#capacity * recordWords);
      this.#head = 0;
    }
    if (grows && records > this.room) this.#grow(this.count + records);
    let from = at;
    for (let left = records; left > 0; ) {
      const tail = (this.#head + this.count) % this.#capacity;
      const run = Math.min(left, this.#capacity - tail);
      this.#words.set(words.subarray(from, from + run * recordWords), tail * recordWords);
      from += run * recordWords;
      left -= run;
      this.count += run;
    }
  }

  /** The oldest records that are contiguous, at most `most`. They stay until {@link release}. */
  oldest(most: number): { readonly words: Int32Array; readonly at: number; readonly records: number } {
    const records = Math.min(most, this.count, this.#capacity - this.#head);
    return { words: this.#words, at: this.#head * this.#recordWords, records };
  }

  /** Lets go of the oldest records. */
  release(records: number): void {
    this.#head = (this.#head + records) % this.#capacity;
    this.count -= records;
  }

  clear(): void {
    this.count = 0;
  }

  #grow(least: number): void {
    const capacity = 2 ** Math.ceil(Math.log2(least));
    const words = new Int32Array(capacity * this.#recordWords);
    const first = this.oldest(this.count);
    words.set(first.words.subarray(first.at, first.at + first.records * this.#recordWords));
    const rest = (this.count - first.records) * this.#recordWords;
    words.set(this.#words.subarray(0, rest), first.records * this.#recordWords);
    this.#words = words;
    this.#capacity = capacity;
    this.#head = 0;
  }
}
