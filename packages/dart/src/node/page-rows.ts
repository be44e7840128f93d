import type { Checkpointer } from './checkpointer.js';

/** Most slots scanned per turn, so that a sparse store does not block its thread. */
const MOST_SCANNED = 1 << 16;

/** Iterates over the non-empty slots of an epoch, in order, a batch at a time. */
export class PageRows {
  /** Numbers of this turn's slots, and their bytes one after the other. */
  readonly slots: Uint32Array;
  readonly bytes: Uint8Array;
  /** Rows of all turns so far. */
  total = 0;
  /** The longest turn, in milliseconds. */
  longest = 0;
  readonly #epoch: Checkpointer;
  readonly #checksumBytes: number;
  /** A copy of the current page, which no other thread changes. */
  readonly #page: Uint8Array;
  #next = 0;
  #firstSlot = 0;
  #at = 0;
  #end = 0;

  /** @param capacity most rows of a turn */
  constructor(epoch: Checkpointer, capacity: number) {
    this.#epoch = epoch;
    this.#checksumBytes = epoch.store.geometry.checksumBytes;
    this.slots = new Uint32Array(capacity);
    this.bytes = new Uint8Array(capacity * epoch.pages.slotBytes);
    this.#page = new Uint8Array(epoch.pages.pageBytes);
  }

  /** Records the duration of a turn. */
  spent(milliseconds: number): void {
    this.longest = Math.max(this.longest, milliseconds);
  }

  /** Reads the next rows. @returns rows of this turn; 0 at the end */
  next(most: number): number {
    const { slots, bytes } = this;
    const { slotBytes } = this.#epoch.pages;
    const page = this.#page;
    let rows = 0;
    let scanned = 0;
    while (rows < most && (scanned < MOST_SCANNED || rows === 0)) {
      if (this.#at === this.#end && !this.#turnPage()) break;
      const from = this.#at;
      while (this.#at < this.#end && rows < most) {
        const at = this.#at * slotBytes;
        if (this.#isWritten(at)) {
          slots[rows] = this.#firstSlot + this.#at;
          for (let index = 0; index < slotBytes; index++) bytes[rows * slotBytes + index] = page[at + index]!;
          rows++;
        }
        this.#at++;
      }
      scanned += this.#at - from;
    }
    this.total += rows;
    return rows;
  }

  #isWritten(at: number): boolean {
    for (let index = 0; index < this.#checksumBytes; index++) if (this.#page[at + index] !== 0) return true;
    return false;
  }

  #turnPage(): boolean {
    const { pages } = this.#epoch;
    while (this.#next < pages.count && !this.#epoch.isTouched(this.#next)) this.#next++;
    if (this.#next >= pages.count) return false;
    const page = this.#next++;
    // The epoch is over, so a writer in another thread can at most be ending its last write.
    let length = pages.copy(page, this.#page, 0);
    for (let tries = 0; length < 0; tries++) {
      if (tries > 1e6) throw new Error('another thread writes into an epoch that is over');
      length = pages.copy(page, this.#page, 0);
    }
    this.#firstSlot = pages.firstSlot(page);
    this.#at = 0;
    this.#end = length / pages.slotBytes;
    return true;
  }
}
