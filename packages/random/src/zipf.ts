import type { Random } from './random.js';

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
  readonly #low: number;
  readonly #high: number;
  readonly #squeeze: number;

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
    this.#low = this.#integral(1.5) - 1;
    this.#high = this.#integral(size + 0.5);
    this.#squeeze = 2 - this.#inverse(this.#integral(2.5) - this.#density(2));
  }

  #density(x: number): number {
    return Math.exp(-this.exponent * Math.log(x));
  }

  #integral(x: number): number {
    const log = Math.log(x);
    return expm1OverX((1 - this.exponent) * log) * log;
  }

  #inverse(y: number): number {
    const t = Math.max(-1, y * (1 - this.exponent));
    return Math.exp(log1pOverX(t) * y);
  }

  /** A rank from 1 (the most popular) to `size`. */
  sample(random: Random): number {
    let rank = 1;
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      const u = this.#high + random.uniform() * (this.#low - this.#high);
      const x = this.#inverse(u);
      rank = Math.floor(x + 0.5);
      if (!(rank >= 1)) rank = 1;
      else if (rank > this.size) rank = this.size;
      if (rank - x <= this.#squeeze || u >= this.#integral(rank + 0.5) - this.#density(rank)) return rank;
    }
    return rank;
  }
}
