import type { RuntimeValue } from '../machine/runtime.js';
import { NARROW_BITS } from './data-width.js';

/** Packs values of fixed widths one after the other, most significant bits first, into whole bytes (zero bits at the end). */
export class BitPacker {
  readonly bytes: Uint8Array;
  readonly #widths: readonly number[];

  constructor(widths: readonly number[]) {
    this.#widths = widths;
    this.bytes = new Uint8Array(Math.ceil(widths.reduce((sum, width) => sum + width, 0) / 8));
  }

  /** Writes all values (bit patterns) to `bytes`. */
  pack(values: readonly RuntimeValue[]): void {
    const { bytes } = this;
    bytes.fill(0);
    let at = 0;
    for (let i = 0; i < this.#widths.length; i++) {
      const width = this.#widths[i]!;
      const value = values[i]!;
      for (let left = width; left > 0; ) {
        // Up to the end of the current byte.
        const take = Math.min(left, 8 - (at & 7));
        left -= take;
        const bits =
          width <= NARROW_BITS
            ? ((value as number) >>> left) & ((1 << take) - 1)
            : Number(((value as bigint) >> BigInt(left)) & BigInt((1 << take) - 1));
        bytes[at >> 3]! |= bits << (8 - (at & 7) - take);
        at += take;
      }
    }
  }
}
