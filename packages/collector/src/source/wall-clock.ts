/** The smallest step of the system's clock that is followed, in milliseconds. */
const STEP_MS = 5;

/** A larger step back is followed at once. For a smaller one, time stands still until the clock has caught up. */
const WAIT_MS = 1000;

/**
 * The time of day with a resolution of microseconds, which `Date.now` does not have. It runs with the monotonic clock.
 * {@link adjust} sets it when the system's clock has been stepped.
 *
 * When a time server sets the system's clock back by up to a second, this clock stands still until the system's has
 * caught up. It follows a larger step back and counts it in {@link stepsBack}.
 */
export class WallClock {
  #origin = performance.timeOrigin;
  #last = Number.NEGATIVE_INFINITY;
  /** The number of steps back. */
  stepsBack = 0;

  /** Milliseconds since the epoch. */
  now(): number {
    const time = this.#origin + performance.now();
    if (time > this.#last) this.#last = time;
    return this.#last;
  }

  /** Compares with the system's clock. Call it about once a second. */
  adjust(): void {
    const now = performance.now();
    const origin = Date.now() - now;
    if (Math.abs(origin - this.#origin) <= STEP_MS) return;
    this.#origin = origin;
    if (origin + now >= this.#last - WAIT_MS) return;
    this.#last = Number.NEGATIVE_INFINITY;
    this.stepsBack++;
  }
}
