export interface PacerOptions {
  /** Schedule that may be made up for at once, in milliseconds. Default: 5, which covers what timers are late by. */
  readonly slackMs?: number;
  /** Speed of the schedule while it is behind, above 1. Default: 4. */
  readonly catchUp?: number;
  /** A sender that is further behind than this gives the rest up. Default: 1000. */
  readonly maxLagMs?: number;
}

/**
 * Says how far a sender may be in its schedule. Times of the schedule are milliseconds from its start, as are those that it
 * gives; the clock is the caller's.
 *
 * The schedule is never ahead of the clock. After a pause it is caught up with, but not in one burst: in any `t` milliseconds no
 * more than `slackMs + catchUp * t` of it are released.
 */
export class Pacer {
  readonly #slackMs: number;
  readonly #catchUp: number;
  readonly #maxLagMs: number;
  #startMs = Number.NaN;
  #lastMs = 0;
  /** How far the schedule is released. */
  #releasedMs = 0;
  #creditMs: number;
  #lostMs = 0;

  /** @throws RangeError for a slack or lag that is not above 0, or a speed that is not above 1 */
  constructor(options: PacerOptions = {}) {
    const { slackMs = 5, catchUp = 4, maxLagMs = 1000 } = options;
    if (!(slackMs > 0 && maxLagMs > 0 && catchUp > 1)) {
      throw new RangeError(`pacer: slackMs ${slackMs}, maxLagMs ${maxLagMs} or catchUp ${catchUp} is out of range`);
    }
    this.#slackMs = slackMs;
    this.#catchUp = catchUp;
    this.#maxLagMs = maxLagMs;
    this.#creditMs = slackMs;
  }

  /** Schedule given up so far: by how much all that is left comes later. */
  get lostMs(): number {
    return this.#lostMs;
  }

  /**
   * Releases a further part of the schedule. Call it when all that was released before has been sent; the first call starts the
   * schedule.
   *
   * @param nowMs a clock that never goes back
   * @param nextMs when, in the schedule, the next frame is due: what lies before it is passed without a burst
   * @returns up to when frames may leave now
   */
  release(nowMs: number, nextMs: number): number {
    if (Number.isNaN(this.#startMs)) {
      this.#startMs = nowMs;
      this.#lastMs = nowMs;
    }
    let budget = this.#catchUp * Math.max(0, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    const lag = nowMs - this.#startMs - this.#releasedMs;
    const idle = Math.max(0, Math.min(budget, lag, nextMs - this.#releasedMs));
    budget -= idle;
    this.#releasedMs += idle;
    this.#creditMs = Math.min(this.#slackMs, this.#creditMs + budget);
    const step = Math.max(0, Math.min(this.#creditMs, lag - idle));
    this.#creditMs -= step;
    this.#releasedMs += step;
    const lost = lag - idle - step - this.#maxLagMs;
    if (lost > 0) {
      this.#startMs += lost;
      this.#lostMs += lost;
    }
    return this.#releasedMs;
  }

  /** Milliseconds until a frame that is due at `nextMs` may leave, as of the last {@link release}. */
  waitMs(nextMs: number): number {
    const ahead = nextMs - (this.#lastMs - this.#startMs);
    const behind = (nextMs - this.#releasedMs - this.#creditMs) / this.#catchUp;
    return Math.max(0, ahead, behind);
  }
}
