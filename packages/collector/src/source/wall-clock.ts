/** A step of the system's clock from which on it is followed. */
const STEP_MS = 5;

/**
 * The time of day with a resolution of microseconds, which `Date.now` does not have. It runs with the monotonic clock
 * and is set anew when {@link adjust} finds that the system's clock has gone elsewhere.
 */
export class WallClock {
  #origin = performance.timeOrigin;

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#origin + performance.now();
  }

  /** Compares with the system's clock: call it every second or so. */
  adjust(): void {
    const origin = Date.now() - performance.now();
    if (Math.abs(origin - this.#origin) > STEP_MS) this.#origin = origin;
  }
}
