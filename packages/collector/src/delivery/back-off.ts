/** Waiting times between attempts: each twice as long as the one before, up to a limit, less a random part of a half. */
export class BackOff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  readonly #random: () => number;
  #attempts = 0;

  /** @param random from 0 to below 1 */
  constructor(firstMs: number, maxMs: number, random: () => number) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
    this.#random = random;
  }

  next(): number {
    const whole = Math.min(this.#maxMs, this.#firstMs * 2 ** Math.min(this.#attempts, 30));
    this.#attempts += 1;
    return whole * (1 - this.#random() / 2);
  }

  reset(): void {
    this.#attempts = 0;
  }
}
