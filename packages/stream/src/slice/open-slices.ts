import { StreamError } from '../errors.js';
import type { NetworkPartial } from '../model/partial.js';
import type { StateChange } from '../model/state.js';
import { decodePartial, encodePartial } from '../partial/bytes.js';
import { SliceBank, type SliceCapacity } from './bank.js';

/** The slices that are open at a time, and which of them have changed. */
export class OpenSlices {
  /** First byte of the keys of its state; the number of the bank follows. */
  static readonly PREFIX = 0x62;
  readonly #side: number;
  readonly #sliceUs: number;
  readonly #banks: readonly SliceBank[];
  readonly #isDirty: Uint8Array;
  /** The state has it from before. */
  readonly #isKept: Uint8Array;

  /** @param slices how many are open at most, 2 to 256 */
  constructor(slices: number, side: number, sliceUs: number, capacity: SliceCapacity) {
    this.#side = side;
    this.#sliceUs = sliceUs;
    this.#banks = Array.from({ length: slices }, () => new SliceBank(capacity));
    this.#isDirty = new Uint8Array(slices);
    this.#isKept = new Uint8Array(slices);
  }

  get count(): number {
    return this.#banks.length;
  }

  /** The bank of an open slice, to be changed. @param index the slice's number modulo {@link count} */
  bank(index: number): SliceBank {
    this.#isDirty[index] = 1;
    return this.#banks[index]!;
  }

  /** What a slice holds, which is closed by that; `null` if it holds nothing and need not be told of. */
  close(slice: number, isTold: boolean): NetworkPartial | null {
    const index = slice % this.#banks.length;
    const bank = this.#banks[index]!;
    if (bank.isEmpty && !isTold) return null;
    const partial = bank.read(this.#side, slice, this.#sliceUs);
    bank.clear();
    this.#isDirty[index] = 1;
    return partial;
  }

  /** @param openSlice the first that is open */
  changes(into: StateChange[], openSlice: number): void {
    const banks = this.#banks.length;
    this.#banks.forEach((bank, index) => {
      if (this.#isDirty[index] === 0) return;
      this.#isDirty[index] = 0;
      if (bank.isEmpty && this.#isKept[index] === 0) return;
      this.#isKept[index] = bank.isEmpty ? 0 : 1;
      const slice = openSlice + ((index - (openSlice % banks) + banks) % banks);
      const value = bank.isEmpty ? null : encodePartial(bank.read(this.#side, slice, this.#sliceUs));
      into.push({ key: Uint8Array.of(OpenSlices.PREFIX, index), value });
    });
  }

  /** @throws StreamError */
  restore(key: Uint8Array, value: Uint8Array): void {
    const index = key[1]!;
    const bank = this.#banks[index];
    const partial = decodePartial(value);
    if (bank === undefined || partial.sliceUs !== this.#sliceUs || partial.slice % this.#banks.length !== index) {
      throw new StreamError('MISMATCH', 0, 'a slice of a side with other options');
    }
    if (!bank.load(partial)) throw new StreamError('CAPACITY', 0, 'a slice with more than there is room for');
    this.#isKept[index] = 1;
  }
}
