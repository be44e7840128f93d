import { mix32 } from '@int/random';

/** Bits that a member sets. */
const HASHES = 4;

/**
 * Sets of hashes, each a row of a fixed number of bits (Bloom 1970). A member is always found; of others, some are
 * taken for members: with n members in m bits about (1 - exp(-4 n / m))^4 of them.
 */
export class BloomFilters {
  readonly #words: Uint32Array;
  readonly #wordsPerRow: number;
  readonly #mask: number;

  /** @param bits of a row, a power of two, at least 32 */
  constructor(rows: number, bits: number) {
    this.#wordsPerRow = bits / 32;
    this.#mask = bits - 1;
    this.#words = new Uint32Array(rows * this.#wordsPerRow);
  }

  static byteLength(rows: number, bits: number): number {
    return (rows * bits) / 8;
  }

  has(row: number, hash: number): boolean {
    const start = row * this.#wordsPerRow;
    let bit = mix32(hash);
    const step = mix32(bit ^ 0x9e3779b9) | 1;
    for (let k = 0; k < HASHES; k++, bit += step) {
      const at = bit & this.#mask;
      if ((this.#words[start + (at >>> 5)]! & (1 << (at & 31))) === 0) return false;
    }
    return true;
  }

  /** Adds a member. @returns whether it may have been one before */
  add(row: number, hash: number): boolean {
    const start = row * this.#wordsPerRow;
    let bit = mix32(hash);
    const step = mix32(bit ^ 0x9e3779b9) | 1;
    let wasIn = true;
    for (let k = 0; k < HASHES; k++, bit += step) {
      const at = bit & this.#mask;
      const word = start + (at >>> 5);
      const before = this.#words[word]!;
      const after = (before | (1 << (at & 31))) >>> 0;
      if (after !== before) {
        wasIn = false;
        this.#words[word] = after;
      }
    }
    return wasIn;
  }

  clear(row: number): void {
    this.#words.fill(0, row * this.#wordsPerRow, (row + 1) * this.#wordsPerRow);
  }
}
