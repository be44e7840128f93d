/**
 * Seeded random numbers.
 *
 * The generator is sfc32 (Chris Doty-Humphrey, PractRand): 128 bits of state, 32 bits a draw, only 32-bit additions,
 * shifts and exclusive ors, so that every engine gives the same numbers. Streams are derived by name from the seed and
 * not from how much was drawn: a new consumer takes a new name and disturbs none of the others.
 */

/** Finaliser of MurmurHash3 (Austin Appleby, public domain): a bijection of 32 bits in which every bit affects every. */
export function mix32(word: number): number {
  let h = word | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

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
  private readonly key0: number;
  private readonly key1: number;
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  /** `seed`: any text or number, a number being the same seed as its decimal text; or a 64-bit key as two words. */
  constructor(seed: number | string | readonly [number, number]) {
    if (typeof seed === 'object') {
      this.key0 = seed[0] >>> 0;
      this.key1 = seed[1] >>> 0;
    } else {
      [this.key0, this.key1] = keyOf(0x243f6a88, 0x85a308d3, String(seed), 0);
    }
    // The state from the key, SplitMix's way; twelve rounds let it mix, as in PractRand.
    this.a = mix32(this.key0 + GOLDEN);
    this.b = mix32(this.key1 + Math.imul(GOLDEN, 2));
    this.c = mix32((this.key0 ^ this.key1) + Math.imul(GOLDEN, 3));
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /**
   * An independent stream with a name, and a number where there are many of one name. It depends on this stream's seed
   * and name alone, not on what has been drawn from it.
   */
  derive(name: string, index = 0): Random {
    return new Random(keyOf(this.key0, this.key1, name, index));
  }

  /** 0 to 2^32 - 1. */
  uint32(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
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

/** (e^x - 1) / x, continuous at 0. */
function expm1OverX(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.expm1(x) / x : 1 + x * 0.5;
}

/** ln(1 + x) / x, continuous at 0. */
function log1pOverX(x: number): number {
  return Math.abs(x) > 1e-8 ? Math.log1p(x) / x : 1 - x * 0.5;
}

/** A sample is drawn again at most this often: the loop is bounded, and the bias below 2^-32. */
const MOST_ATTEMPTS = 64;

/**
 * Ranks 1 to n with P(k) proportional to k^-exponent, by rejection-inversion (W. Hörmann, G. Derflinger, ACM TOMACS 6(3),
 * 1996): no tables, constant time for every n and exponent.
 */
export class Zipf {
  readonly size: number;
  readonly exponent: number;
  private readonly low: number;
  private readonly high: number;
  private readonly squeeze: number;

  /** `size`: 1 to 2^31; `exponent`: 0 (uniform) to 100. Anything else is a RangeError. */
  constructor(size: number, exponent: number) {
    if (!Number.isInteger(size) || size < 1 || size > 0x8000_0000) {
      throw new RangeError(`size must be an integer from 1 to 2^31, not ${size}`);
    }
    if (!(exponent >= 0 && exponent <= 100)) {
      throw new RangeError(`exponent must be a number from 0 to 100, not ${exponent}`);
    }
    this.size = size;
    this.exponent = exponent;
    this.low = this.integral(1.5) - 1;
    this.high = this.integral(size + 0.5);
    this.squeeze = 2 - this.inverse(this.integral(2.5) - this.density(2));
  }

  private density(x: number): number {
    return Math.exp(-this.exponent * Math.log(x));
  }

  private integral(x: number): number {
    const log = Math.log(x);
    return expm1OverX((1 - this.exponent) * log) * log;
  }

  private inverse(y: number): number {
    const t = Math.max(-1, y * (1 - this.exponent));
    return Math.exp(log1pOverX(t) * y);
  }

  /** A rank from 1 (the most popular) to `size`. */
  sample(random: Random): number {
    let rank = 1;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const u = this.high + random.uniform() * (this.low - this.high);
      const x = this.inverse(u);
      rank = Math.floor(x + 0.5);
      if (!(rank >= 1)) rank = 1;
      else if (rank > this.size) rank = this.size;
      if (rank - x <= this.squeeze || u >= this.integral(rank + 0.5) - this.density(rank)) return rank;
    }
    return rank;
  }
}
