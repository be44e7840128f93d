/** Notices that an answer takes too long, with one timer however many answers are awaited. */
export class Watchdog {
  readonly #limitMs: number;
  readonly #awaitedSince: () => number | null;
  readonly #onTimeout: () => void;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param awaitedSince when the question was asked whose answer is awaited longest, by performance.now(); `null` if none
   *   is awaited
   */
  constructor(limitMs: number, awaitedSince: () => number | null, onTimeout: () => void) {
    this.#limitMs = limitMs;
    this.#awaitedSince = awaitedSince;
    this.#onTimeout = onTimeout;
  }

  /** An answer is awaited. */
  start(): void {
    this.#timer ??= setTimeout(() => this.#look(), this.#limitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    this.#timer = undefined;
    const since = this.#awaitedSince();
    if (since === null) return;
    const leftMs = since + this.#limitMs - performance.now();
    if (leftMs > 0) this.#timer = setTimeout(() => this.#look(), leftMs);
    else this.#onTimeout();
  }
}
