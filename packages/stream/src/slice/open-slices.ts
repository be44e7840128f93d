import { StreamError } from '../errors.js';
import type { SliceContents } from '../model/partial.js';
import type { StateChange } from '../model/state.js';
import { decodeSlice, encodeSlice } from '../partial/bytes.js';
import { SliceBank, type SliceCapacity } from './bank.js';

const NONE = -1;

/** The slices with data that no partial contains yet, each in a bank, and which banks have changed. */
export class OpenSlices {
  /** First byte of the keys of its state. The number of the bank follows. */
  static readonly PREFIX = 0x62;
  readonly #sliceUs: number;
  readonly #banks: readonly SliceBank[];
  /** The slice in each bank; -1 if it is free. */
  readonly #slice: Float64Array;
  /** The turn in which each bank was last used. */
  readonly #used: Float64Array;
  #turn = 0;
  /** The bank that was last used. */
  #last = 0;
  readonly #isDirty: Uint8Array;
  /** Whether the stored state contains the bank. */
  readonly #isKept: Uint8Array;
  readonly #onSpilled: (contents: SliceContents) => void;

  /**
   * @param banks number of banks, 2 to 256
   * @param onSpilled takes the contents of a slice that gives up its bank
   */
  constructor(banks: number, sliceUs: number, capacity: SliceCapacity, onSpilled: (contents: SliceContents) => void) {
    this.#sliceUs = sliceUs;
    this.#banks = Array.from({ length: banks }, () => new SliceBank(capacity));
    this.#slice = new Float64Array(banks).fill(NONE);
    this.#used = new Float64Array(banks);
    this.#isDirty = new Uint8Array(banks);
    this.#isKept = new Uint8Array(banks);
    this.#onSpilled = onSpilled;
  }

  get count(): number {
    return this.#banks.length;
  }

  /**
   * The bank of a slice, for changes. A slice without one takes a free bank, or that of the slice unused for longest.
   */
  bank(slice: number): SliceBank {
    if (this.#slice[this.#last] !== slice) this.#last = this.#indexOf(slice);
    this.#used[this.#last] = this.#turn++;
    this.#isDirty[this.#last] = 1;
    return this.#banks[this.#last]!;
  }

  #indexOf(slice: number): number {
    const home = slice % this.#banks.length;
    if (this.#slice[home] === slice) return home;
    let oldest = home;
    let free = this.#slice[home] === NONE ? home : NONE;
    for (let index = 0; index < this.#banks.length; index++) {
      if (this.#slice[index] === slice) return index;
      if (this.#slice[index] === NONE && free === NONE) free = index;
      if (this.#used[index]! < this.#used[oldest]!) oldest = index;
    }
    const index = free === NONE ? oldest : free;
    if (free === NONE) this.#spill(index);
    this.#slice[index] = slice;
    return index;
  }

  #spill(index: number): void {
    const contents = this.#take(index);
    if (contents !== null) this.#onSpilled(contents);
  }

  /** The contents of a bank, which is free then; `null` if it is empty. */
  #take(index: number): SliceContents | null {
    const slice = this.#slice[index]!;
    const bank = this.#banks[index]!;
    this.#slice[index] = NONE;
    if (bank.isEmpty) return null;
    const contents = bank.read(slice, this.#sliceUs);
    bank.clear();
    this.#isDirty[index] = 1;
    return contents;
  }

  /** The contents of a slice, which has no bank then; `null` if there are none. */
  take(slice: number): SliceContents | null {
    const index = this.#slice.indexOf(slice);
    return index < 0 ? null : this.#take(index);
  }

  /** Spills all slices before `slice`. */
  spillBefore(slice: number): void {
    for (let index = 0; index < this.#banks.length; index++) {
      if (this.#slice[index] !== NONE && this.#slice[index]! < slice) this.#spill(index);
    }
  }

  /** The first slice from `from` on that has a bank; infinity if there is none. */
  earliest(from: number): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const slice of this.#slice) if (slice >= from && slice !== NONE && slice < earliest) earliest = slice;
    return earliest;
  }

  /** The last slice that has a bank; -1 if there is none. */
  latest(): number {
    return this.#slice.reduce((a, b) => Math.max(a, b), NONE);
  }

  changes(into: StateChange[]): void {
    this.#banks.forEach((bank, index) => {
      if (this.#isDirty[index] === 0) return;
      this.#isDirty[index] = 0;
      if (bank.isEmpty && this.#isKept[index] === 0) return;
      this.#isKept[index] = bank.isEmpty ? 0 : 1;
      const value = bank.isEmpty ? null : encodeSlice(bank.read(this.#slice[index]!, this.#sliceUs), this.#sliceUs);
      into.push({ key: Uint8Array.of(OpenSlices.PREFIX, index), value });
    });
  }

  /** @throws StreamError */
  restore(key: Uint8Array, value: Uint8Array): void {
    const index = key[1]!;
    const bank = this.#banks[index];
    const { contents, sliceUs } = decodeSlice(value);
    if (bank === undefined || sliceUs !== this.#sliceUs) {
      throw new StreamError('ERR_STREAM_MISMATCH', 0, 'a slice of a side with other options');
    }
    if (!bank.load(contents, sliceUs))
      throw new StreamError('ERR_STREAM_CAPACITY', 0, 'a slice with more than there is room for');
    this.#slice[index] = contents.slice;
    this.#isKept[index] = 1;
  }
}
