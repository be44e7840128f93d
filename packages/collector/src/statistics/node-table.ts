/** Not a row. */
export const NO_ROW = -1;

/**
 * Maps 32-bit node ids to rows 0 to `capacity - 1`, in a table of fixed size (open addressing, at most half full).
 * Ids that find no free row are the caller's to count elsewhere: a stream of random ids takes no more memory than this.
 */
export class NodeTable {
  readonly capacity: number;
  /** Node id of each row; undefined where {@link used} is 0. */
  readonly ids: Uint32Array;
  /** 1 for rows in use. */
  readonly used: Uint8Array;
  /** Row + 1, or 0. */
  readonly #slots: Int32Array;
  readonly #mask: number;
  #size = 0;

  /** @throws RangeError for a capacity other than an integer from 1 to 65 536 */
  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > 65_536) {
      throw new RangeError(`node table capacity must be an integer from 1 to 65536, not ${capacity}`);
    }
    this.capacity = capacity;
    this.ids = new Uint32Array(capacity);
    this.used = new Uint8Array(capacity);
    const slots = 2 ** Math.ceil(Math.log2(capacity * 2));
    this.#slots = new Int32Array(slots);
    this.#mask = slots - 1;
  }

  /** Rows in use. */
  get size(): number {
    return this.#size;
  }

  /** The row of a node, taking a free one for a node not seen before; {@link NO_ROW} if none is free. */
  rowOf(id: number): number {
    let slot = this.#start(id);
    for (;;) {
      const row = this.#slots[slot]! - 1;
      if (row < 0) return this.#insert(slot, id);
      if (this.ids[row] === id) return row;
      slot = (slot + 1) & this.#mask;
    }
  }

  /** Frees every row for which `isIdle` says so. Costs a pass over the table. */
  release(isIdle: (row: number) => boolean): void {
    let freed = 0;
    for (let row = 0; row < this.capacity; row++) {
      if (this.used[row] === 1 && isIdle(row)) {
        this.used[row] = 0;
        freed++;
      }
    }
    if (freed === 0) return;
    this.#size -= freed;
    // Entries behind a removed one would no longer be found: lay the table out anew.
    this.#slots.fill(0);
    for (let row = 0; row < this.capacity; row++) {
      if (this.used[row] === 0) continue;
      let slot = this.#start(this.ids[row]!);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = row + 1;
    }
  }

  #start(id: number): number {
    const mixed = Math.imul(id ^ (id >>> 16), 0x9e3779b1);
    return (mixed ^ (mixed >>> 15)) & this.#mask;
  }

  #insert(slot: number, id: number): number {
    if (this.#size === this.capacity) return NO_ROW;
    const row = this.used.indexOf(0);
    this.#slots[slot] = row + 1;
    this.ids[row] = id;
    this.used[row] = 1;
    this.#size++;
    return row;
  }
}
