/** No row. */
export const NO_ROW = -1;

/**
 * A hash table from keys of two 32-bit words to rows 0 to `size - 1`, in order of arrival. Its size is fixed. Open
 * addressing, at most half full.
 */
export class PairTable {
  readonly capacity: number;
  readonly first: Uint32Array;
  readonly second: Uint32Array;
  /** Row + 1; 0 if the slot is free. */
  readonly #slots: Int32Array;
  /** The slot of each row, for clearing. */
  readonly #slotOf: Int32Array;
  size = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.first = new Uint32Array(capacity);
    this.second = new Uint32Array(capacity);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(capacity * 2)));
    this.#slotOf = new Int32Array(capacity);
  }

  /** The row of a key, a new one if there is none; {@link NO_ROW} if there is no room. Words are unsigned. */
  rowOf(first: number, second: number): number {
    const mask = this.#slots.length - 1;
    const mixed = Math.imul(first ^ (first >>> 16) ^ Math.imul(second, 0x85ebca6b), 0x9e3779b1);
    let slot = (mixed ^ (mixed >>> 15)) & mask;
    for (;;) {
      const row = this.#slots[slot]! - 1;
      if (row < 0) break;
      if (this.first[row] === first && this.second[row] === second) return row;
      slot = (slot + 1) & mask;
    }
    if (this.size === this.capacity) return NO_ROW;
    const row = this.size++;
    this.#slots[slot] = row + 1;
    this.#slotOf[row] = slot;
    this.first[row] = first;
    this.second[row] = second;
    return row;
  }

  /** The rows in ascending order of their keys. Allocates. */
  ordered(): number[] {
    const { first, second } = this;
    return Array.from({ length: this.size }, (_, row) => row).sort(
      (a, b) => first[a]! - first[b]! || second[a]! - second[b]!,
    );
  }

  clear(): void {
    for (let row = 0; row < this.size; row++) this.#slots[this.#slotOf[row]!] = 0;
    this.size = 0;
  }
}
