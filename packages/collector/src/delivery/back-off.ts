/** Waiting times between attempts: each twice as long as the one before, up to a limit, less a random part of a half. */
export class BackOff {
  readonly #firstMs: number;
  readonly #longestMs: number;
  readonly #random: () => number;
  #attempts = 0;

  /** @param random from 0 to below 1 */
  constructor(firstMs: number, longestMs: number, random: () => number) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#random = random;
  }

  next(): number {
    const whole = Math.min(this.#longestMs, this.#firstMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return whole * (1 - this.#random() / 2);
  }

  reset(): void {
    this.#attempts = 0;
  }
}
