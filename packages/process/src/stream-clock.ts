/**
 * The time of a stream, in a process that reads several partitions of it.
 *
 * Records have their own time, and it stands still where none come. Silence is an event for the processor, so time has
 * to go on without records: as fast as the wall clock, from the latest records of any partition on. That holds for a
 * recording that is replayed as well as for a network.
 *
 * Partitions of which there is a backlog would run away from each other, as nothing holds the shorter one back. So
 * whoever is ahead of the slowest with a backlog waits.
 */
export class StreamClock {
  readonly #wall: () => number;
  readonly #slackMs: number;
  /** Time of records minus wall clock when they were taken, the largest in this period and in the one before. */
  #skew = Number.NEGATIVE_INFINITY;
  #previousSkew = Number.NEGATIVE_INFINITY;
  #periodEnd = Number.NEGATIVE_INFINITY;
  /** Time of those that have a backlog. */
  readonly #behind = new Map<object, number>();

  /**
   * @param wall the wall clock, milliseconds
   * @param slackMs how far ahead of the slowest one may be
   */
  constructor(wall: () => number, slackMs: number) {
    this.#wall = wall;
    this.#slackMs = slackMs;
  }

  /** Tells the time of records that were just taken. @param backlog whether `who` has more to read */
  saw(who: object, timeMs: number, backlog: boolean): void {
    if (backlog) this.#behind.set(who, timeMs);
    else this.#behind.delete(who);
    this.#turn();
    this.#skew = Math.max(this.#skew, timeMs - this.#wall());
  }

  /** `who` has read everything there is, or is gone. */
  caughtUp(who: object): void {
    this.#behind.delete(who);
  }

  /** The stream's time now; null if there were no records in the last one or two periods. */
  now(): number | null {
    this.#turn();
    const skew = Math.max(this.#skew, this.#previousSkew);
    return skew === Number.NEGATIVE_INFINITY ? null : this.#wall() + skew;
  }

  /** Whether `who` may go on, being at `timeMs`. */
  mayGoOn(who: object, timeMs: number): boolean {
    for (const [other, time] of this.#behind) {
      if (other !== who && timeMs > time + this.#slackMs) return false;
    }
    return true;
  }

  /** One wrong time, far ahead, is forgotten after two periods. */
  #turn(): void {
    const now = this.#wall();
    if (now < this.#periodEnd) return;
    const isFirst = this.#periodEnd === Number.NEGATIVE_INFINITY;
    this.#periodEnd = now + SKEW_PERIOD_MS;
    if (isFirst) return;
    // Nothing new: the stream is silent, and its time goes on as before.
    if (this.#skew === Number.NEGATIVE_INFINITY) return;
    this.#previousSkew = this.#skew;
    this.#skew = Number.NEGATIVE_INFINITY;
  }
}

const SKEW_PERIOD_MS = 30_000;
