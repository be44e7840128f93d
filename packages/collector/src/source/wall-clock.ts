/** A step of the system's clock from which on it is followed. */
const STEP_MS = 5;

/** A step back by more than this is followed at once; by less, time stands still until the clock has caught up. */
const WAIT_MS = 1000;

/**
 * The time of day with a resolution of microseconds, which `Date.now` does not have. It runs with the monotonic clock
 * and is set anew when {@link adjust} finds that the system's clock has gone elsewhere.
 *
 * It does not go back when the system's clock is set back by up to a second, as time servers do: it stands still until that
 * has caught up. A larger step back is followed, and counted in {@link stepsBack}.
 */
export class WallClock {
  #origin = performance.timeOrigin;
  #last = Number.NEGATIVE_INFINITY;
  #stepsBack = 0;

  /** How often times have gone back. */
  get stepsBack(): number {
    return this.#stepsBack;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    const time = this.#origin + performance.now();
    if (time > this.#last) this.#last = time;
    return this.#last;
  }

  /** Compares with the system's clock: call it every second or so. */
  adjust(): void {
    const now = performance.now();
    const origin = Date.now() - now;
    if (Math.abs(origin - this.#origin) <= STEP_MS) return;
    this.#origin = origin;
    if (origin + now >= this.#last - WAIT_MS) return;
    this.#last = Number.NEGATIVE_INFINITY;
    this.#stepsBack++;
  }
}
