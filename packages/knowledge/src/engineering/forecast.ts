/** Weights of the newest value in level and trend. */
const LEVEL = 0.5;
const TREND = 0.2;

/** Forecasts of rates a little ahead: level and damped trend (Holt 1957; Gardner and McKenzie 1985). */
export class Forecast {
  #level = Number.NaN;
  #trend = 0;
  #timeMs = Number.NaN;

  /** Takes a rate at a time; one that is not later than the one before replaces it. */
  add(timeMs: number, bps: number): void {
    if (Number.isNaN(this.#level)) {
      this.#level = bps;
    } else {
      const seconds = Math.max(0, timeMs - this.#timeMs) / 1000;
      const expected = this.#level + this.#trend * seconds;
      const level = expected + LEVEL * (bps - expected);
      if (seconds > 0) this.#trend += TREND * ((level - this.#level) / seconds - this.#trend);
      this.#level = level;
    }
    this.#timeMs = timeMs;
  }

  /** The rate to expect, never negative; the trend counts for five seconds at most. */
  at(timeMs: number): number {
    const seconds = Math.min(5, Math.max(0, timeMs - this.#timeMs) / 1000);
    return Math.max(0, this.#level + this.#trend * seconds);
  }
}
