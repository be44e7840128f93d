import type { ControlPolicy } from './policy.js';

const MOST = 1024;

interface Failures {
  count: number;
  untilMs: number;
}

/** What did not help is not tried again at once: how long, by subject. */
export class BackOff {
  /** Subjects that had to be forgotten. */
  forgotten = 0;
  readonly #failures = new Map<string, Failures>();

  get failures(): readonly (readonly [subject: string, failures: Readonly<Failures>])[] {
    return Array.from(this.#failures, ([subject, each]) => [subject, { ...each }]);
  }

  restore(failures: readonly (readonly [subject: string, failures: Readonly<Failures>])[]): void {
    for (const [subject, each] of failures) this.#failures.set(subject, { ...each });
  }

  isOver(subject: string, nowMs: number): boolean {
    return nowMs >= (this.#failures.get(subject)?.untilMs ?? Number.NEGATIVE_INFINITY);
  }

  /** How often it has failed in a row. */
  count(subject: string): number {
    return this.#failures.get(subject)?.count ?? 0;
  }

  failed(subject: string, nowMs: number, { firstMs, mostMs }: ControlPolicy['backOff']): void {
    const known = this.#failures.get(subject);
    // Quiet for the longest time: what happens now is something new.
    const count = known === undefined || nowMs - known.untilMs > mostMs ? 1 : known.count + 1;
    this.#failures.delete(subject);
    this.#failures.set(subject, { count, untilMs: nowMs + Math.min(mostMs, firstMs * 2 ** Math.min(30, count - 1)) });
    if (this.#failures.size <= MOST) return;
    this.#failures.delete(this.#failures.keys().next().value!);
    this.forgotten++;
  }

  helped(subject: string): void {
    this.#failures.delete(subject);
  }
}
