import type { Random } from '@int/random';

const DRAWS = 1 << 16;

/** Exponential whole numbers from a table of draws, walked through at random: what a sender in a hurry can afford. */
export class ExponentialValues {
  readonly #draws: Uint32Array;
  #state: number;

  /** @param limit values are below it; greater ones are drawn again */
  constructor(random: Random, mean: number, limit: number) {
    this.#draws = Uint32Array.from({ length: DRAWS }, () => {
      for (;;) {
        const value = Math.floor(random.exponential(mean));
        if (value < limit) return value;
      }
    });
    this.#state = random.uint32() | 1;
  }

  next(): number {
    // xorshift32 (Marsaglia, 2003).
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return this.#draws[state >>> 16]!;
  }
}
