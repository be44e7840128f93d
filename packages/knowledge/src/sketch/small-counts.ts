import { mix32 } from '@int/random';

const BITS = 64;

/**
 * Counts a few distinct things for many keys, each a row of 64 bits: linear counting (Whang, Vander-Zanden, Taylor, TODS
 * 1990), within a tenth up to about 60 things. Of more than 250 it knows no number.
 */
export class SmallCounts {
  readonly #words: Uint32Array;

  constructor(rows: number) {
    this.#words = new Uint32Array(2 * rows);
  }

  static byteLength(rows: number): number {
    return rows * (BITS / 8);
  }

  /** Adds a thing. @param hash of the thing, 32 bits; it is mixed again */
  add(row: number, hash: number): void {
    const bit = mix32(hash ^ 0x27d4eb2f) & (BITS - 1);
    const at = 2 * row + (bit >>> 5);
    this.#words[at] = (this.#words[at]! | (1 << (bit & 31))) >>> 0;
  }

  clear(row: number): void {
    this.#words[2 * row] = this.#words[2 * row + 1] = 0;
  }

  /** How many distinct things a row has, about; the most that it can tell if it is full. */
  count(row: number): number {
    const free = BITS - bitsOf(this.#words[2 * row]!) - bitsOf(this.#words[2 * row + 1]!);
    return BITS * Math.log(BITS / Math.max(1, free));
  }
}

function bitsOf(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
