/**
 * Keeps the partitions that a process reads together. Those of which there is a backlog would run away from each other, as
 * nothing holds the shorter one back; so whoever is ahead of the slowest with a backlog waits.
 */
export class Pace {
  readonly #slackMs: number;
  /** Time of those that have a backlog. */
  readonly #behind = new Map<object, number>();

  /** @param slackMs how far ahead of the slowest one may be */
  constructor(slackMs: number) {
    this.#slackMs = slackMs;
  }

  /** `who` is at `timeMs`. @param backlog whether there is more to read */
  at(who: object, timeMs: number, backlog: boolean): void {
    if (backlog) this.#behind.set(who, timeMs);
    else this.#behind.delete(who);
  }

  /** `who` has read everything there is, or is gone. */
  caughtUp(who: object): void {
    this.#behind.delete(who);
  }

  /** Whether `who` may go on, being at `timeMs`. */
  mayGoOn(who: object, timeMs: number): boolean {
    for (const [other, time] of this.#behind) {
      if (other !== who && timeMs > time + this.#slackMs) return false;
    }
    return true;
  }
}
