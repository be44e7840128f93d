/**
 * Seeded random numbers.
 *
 * The generator is sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, 32 bits a draw, only 32-bit additions,
 * shifts and exclusive ors, so that every engine gives the same numbers. Streams are derived by name from the seed and
 * not from how much was drawn: a new consumer takes a new name and disturbs none of the others.
 */
import { mix32 } from './mix.js';

/** Increment of SplitMix (Steele, Lea, Flood, OOPSLA 2014), cut to 32 bits: 2^32 divided by the golden ratio, odd. */
const GOLDEN = 0x9e3779b9;

/** A 64-bit key made of another one, a text and a number. */
function keyOf(key0: number, key1: number, text: string, index: number): readonly [number, number] {
  let h0 = mix32(key0 + GOLDEN);
  let h1 = mix32(key1 ^ text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    h0 = mix32(h0 ^ code);
    h1 = mix32((h1 + code + GOLDEN) ^ h0);
  }
  h0 = mix32(h0 ^ index);
  h1 = mix32((h1 + index + GOLDEN) ^ h0);
  return [h0, h1];
}

/** A stream of random numbers: same seed, same numbers. */
export class Random {
  readonly #key0: number;
  readonly #key1: number;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** `seed`: any text or number, a number being the same seed as its decimal text; or a 64-bit key as two words. */
  constructor(seed: number | string | readonly [number, number]) {
    if (typeof seed === 'object') {
      this.#key0 = seed[0] >>> 0;
      this.#key1 = seed[1] >>> 0;
    } else {
      [this.#key0, this.#key1] = keyOf(0x243f6a88, 0x85a308d3, String(seed), 0);
    }
    // The state from the key, SplitMix's way; twelve rounds let it mix, as in PractRand.
    this.#a = mix32(this.#key0 + GOLDEN);
    this.#b = mix32(this.#key1 + Math.imul(GOLDEN, 2));
    this.#c = mix32((this.#key0 ^ this.#key1) + Math.imul(GOLDEN, 3));
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /**
   * An independent stream with a name, and a number where there are many of one name. It depends on this stream's seed
   * and name alone, not on what has been drawn from it.
   */
  derive(name: string, index = 0): Random {
    return new Random(keyOf(this.#key0, this.#key1, name, index));
  }

  /** 0 to 2^32 - 1. */
  uint32(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** 0 to `bound` - 1, each equally likely. `bound`: 1 to 2^32, else a RangeError. */
  integer(bound: number): number {
    if (!Number.isInteger(bound) || bound < 1 || bound > 0x1_0000_0000) {
      throw new RangeError(`bound must be an integer from 1 to 2^32, not ${bound}`);
    }
    // The values above the last whole multiple would make the small results likelier.
    const limit = 0x1_0000_0000 - (0x1_0000_0000 % bound);
    let value = this.uint32();
    while (value >= limit) value = this.uint32();
    return value % bound;
  }

  /** 0 (included) to 1 (excluded), a multiple of 2^-53. */
  uniform(): number {
    const high = this.uint32() >>> 5;
    return (high * 0x400_0000 + (this.uint32() >>> 6)) / 0x20_0000_0000_0000;
  }

  /** Exponentially distributed with the given mean. */
  exponential(mean: number): number {
    return -Math.log(1 - this.uniform()) * mean;
  }

  /** Puts an array (or typed array) in random order, in place (Fisher and Yates), and returns it. */
  shuffle<T extends { readonly length: number; [index: number]: unknown }>(values: T): T {
    for (let i = values.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      const value = values[i];
      values[i] = values[j];
      values[j] = value;
    }
    return values;
  }
}
