export interface PacerOptions {
  /** Lag that may be made up for at once, in milliseconds. Default: 5, which covers late timers. */
  readonly slackMs?: number;
  /** Speed of the schedule while it is behind, above 1. Default: 4. */
  readonly catchUp?: number;
  /** Lag beyond which the schedule is postponed, in milliseconds. Default: 1000. */
  readonly maxLagMs?: number;
}

/**
 * Limits the progress of a sender in its schedule. Times of the schedule are milliseconds from its start. The caller
 * provides the clock.
 *
 * The schedule is never ahead of the clock. After a pause the sender catches up, but not in one burst: in any `t`
 * milliseconds, at most `slackMs + catchUp * t` milliseconds of the schedule are released.
 */
export class Pacer {
  readonly #slackMs: number;
  readonly #catchUp: number;
  readonly #maxLagMs: number;
  #startMs = Number.NaN;
  #lastMs = 0;
  /** The released part of the schedule, in milliseconds. */
  #releasedMs = 0;
  #creditMs: number;
  #lostMs = 0;

  /** @throws RangeError for a slack or lag not above 0, or a speed not above 1 */
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

  /** Milliseconds by which the schedule has been postponed so far. */
  get lostMs(): number {
    return this.#lostMs;
  }

  /**
   * Releases a further part of the schedule. Call it when the released part has been sent. The first call starts the
   * schedule.
   *
   * @param nowMs time of a monotonic clock
   * @param nextMs time in the schedule of the next frame; the empty part before it causes no burst
   * @returns the time in the schedule up to which frames may leave now
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

  /** Milliseconds from the last {@link release} until a frame due at `nextMs` may leave. */
  waitMs(nextMs: number): number {
    const ahead = nextMs - (this.#lastMs - this.#startMs);
    const behind = (nextMs - this.#releasedMs - this.#creditMs) / this.#catchUp;
    return Math.max(0, ahead, behind);
  }
}
