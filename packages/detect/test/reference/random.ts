/** Reproducible pseudo-random numbers (xorshift32), for inputs that one seed describes. */
export class Random {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds must not give similar streams, and the state must not be 0.
    this.#state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ (seed >>> 16)) | 1;
    for (let warm = 0; warm < 8; warm++) this.word();
  }

  /** 0 to 2^32 - 1. */
  word(): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x;
    // The plain generator has weak low bits.
    return Math.imul(x, 0x2545f491) >>> 0;
  }

  /** 0 to `bound - 1`. */
  below(bound: number): number {
    return Math.floor((this.word() / 0x1_0000_0000) * bound);
  }

  chance(probability: number): boolean {
    return this.word() < probability * 0x1_0000_0000;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }
}
