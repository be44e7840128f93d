/**
 * Keeps the partitions of a process in step. Partitions with backlogs of different lengths would drift apart. A
 * partition therefore waits if it is too far ahead of the slowest one with a backlog.
 */
export class Pace {
  readonly #slackMs: number;
  /** Times of the partitions with a backlog. */
  readonly #behind = new Map<object, number>();

  /** @param slackMs greatest lead over the slowest, in milliseconds of the records' time */
  constructor(slackMs: number) {
    this.#slackMs = slackMs;
  }

  /** Sets the time of `who`. @param backlog whether there is more to read */
  at(who: object, timeMs: number, backlog: boolean): void {
    if (backlog) this.#behind.set(who, timeMs);
    else this.#behind.delete(who);
  }

  /** Removes `who`, which has no backlog any more, or has ended. */
  caughtUp(who: object): void {
    this.#behind.delete(who);
  }

  /** Whether `who`, at `timeMs`, may continue. */
  mayGoOn(who: object, timeMs: number): boolean {
    for (const [other, time] of this.#behind) {
      if (other !== who && timeMs > time + this.#slackMs) return false;
    }
    return true;
  }
}
