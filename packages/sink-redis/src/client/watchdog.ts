/** Detects a reply that takes too long, with one timer for any number of replies. */
export class Watchdog {
  readonly #limitMs: number;
  readonly #awaitedSince: () => number | null;
  readonly #onTimeout: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param awaitedSince time of the oldest request without a reply, by performance.now(); `null` if there is none */
  constructor(limitMs: number, awaitedSince: () => number | null, onTimeout: () => void) {
    this.#limitMs = limitMs;
    this.#awaitedSince = awaitedSince;
    this.#onTimeout = onTimeout;
  }

  /** Starts the timer; call it for each request. */
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
