/** Records that an engine has made and the cache is about to hand on. Made once and used again. */
export class Outbox {
  /** Records one behind the other, {@link recordWords} each. */
  readonly words: Int32Array;
  readonly recordWords: number;
  readonly capacity: number;
  /** Records held. */
  count = 0;

  /** @param words room for the records; default: a buffer of its own */
  constructor(recordWords: number, capacity: number, words?: Int32Array) {
    this.recordWords = recordWords;
    this.capacity = capacity;
    this.words = words ?? new Int32Array(recordWords * capacity);
  }
}
