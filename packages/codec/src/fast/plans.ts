import { type LAYOUT, lowerBitsOf, OP, type Plan, planFor } from '../plan.js';

/** Bytes of one slot of the column table: more than the 19 words of the longest plan. */
export const SLOT_BYTES = 32;
/** Slots of a table. Slot 0 means 'not compiled'. */
export const SLOTS = 512;

/**
 * Plans of one layout as flat tables. Looking one up takes two reads of typed arrays and no object.
 *
 * The tables hold up to {@link SLOTS} - 1 bitmaps. When they are full, they start anew, so hostile traffic that varies
 * the bitmap costs time but never memory.
 */
export class PlanTable {
  /** Slot of each bitmap, 0 if there is none. */
  readonly slotOf: Uint16Array;
  /** Word count of each slot. */
  readonly words: Uint8Array;
  /** Column mask of each slot. */
  readonly masks: Int32Array;
  /** Columns of each slot's words, from `slot * SLOT_BYTES`. For a word with two fields: the column of the upper field. */
  readonly columns: Uint8Array;
  /** Bits of the lower field of each slot's words, from `slot * SLOT_BYTES`; 0 for a word with one field. */
  readonly splits: Uint8Array = new Uint8Array(SLOTS * SLOT_BYTES);
  /** For each slot, the set of the words that hold two fields. */
  readonly splitMasks: Int32Array = new Int32Array(SLOTS);
  readonly #layout: (typeof LAYOUT)[keyof typeof LAYOUT];
  #used = 1;

  constructor(
    layout: (typeof LAYOUT)[keyof typeof LAYOUT],
    slotOf: Uint16Array = new Uint16Array(0x10000),
    words: Uint8Array = new Uint8Array(SLOTS),
    masks: Int32Array = new Int32Array(SLOTS),
    columns: Uint8Array = new Uint8Array(SLOTS * SLOT_BYTES),
  ) {
    this.#layout = layout;
    this.slotOf = slotOf;
    this.words = words;
    this.masks = masks;
    this.columns = columns;
  }

  /**
   * Puts the plan of a bitmap into the table.
   * @param bitmap 16-bit bitmap; all words that it selects have a column
   * @returns its slot, 1 to SLOTS - 1
   */
  compile(bitmap: number): number {
    if (this.#used === SLOTS) {
      this.slotOf.fill(0);
      this.#used = 1;
    }
    const plan: Plan = planFor(this.#layout, bitmap);
    const slot = this.#used++;
    this.words[slot] = plan.words;
    this.masks[slot] = plan.mask;
    this.splitMasks[slot] = 0;
    for (let word = 0; word < plan.words; word++) {
      const column = plan.columns[word]!;
      const isSplit = plan.ops[word] === OP.SPLIT;
      this.columns[slot * SLOT_BYTES + word] = isSplit ? column - 1 : column;
      this.splits[slot * SLOT_BYTES + word] = isSplit ? lowerBitsOf(column) : 0;
      if (isSplit) this.splitMasks[slot]! |= 1 << word;
    }
    this.slotOf[bitmap] = slot;
    return slot;
  }
}
