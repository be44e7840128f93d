import type { Change } from '../change/change.js';

/** A change that a switch refused, or acknowledged without effect. */
export interface Refusal {
  readonly switchId: number;
  readonly change: Change;
  /** The switch's words. */
  readonly message: string;
  readonly attempts: number;
  readonly nextAttemptMs: number;
}

/** Attempts to remove what is left of a broken path, or to make it whole, for which others wait. */
const MOST_HELD_BACK = 5;

/** What was refused, with the time of the next attempt: the wait doubles from the first to the most. */
export class Refusals {
  readonly #refusals = new Map<string, Refusal>();

  constructor(readonly retry: { readonly firstMs: number; readonly maxMs: number }) {}

  /** @param id what identifies the change: switch, place, and what was to be there */
  note(id: string, change: Change, message: string, nowMs: number): void {
    const attempts = (this.#refusals.get(id)?.attempts ?? 0) + 1;
    const { firstMs, maxMs } = this.retry;
    const waitMs = Math.min(firstMs * 2 ** Math.min(attempts - 1, 30), maxMs);
    this.#refusals.set(id, {
      switchId: change.switchId,
      change,
      message,
      attempts,
      nextAttemptMs: nowMs + waitMs,
    });
  }

  mustWait(id: string, nowMs: number): boolean {
    const refusal = this.#refusals.get(id);
    return refusal !== undefined && refusal.nextAttemptMs > nowMs;
  }

  /** Whether a change was refused, and not yet so often that there is little hope. */
  hasHope(id: string): boolean {
    const refusal = this.#refusals.get(id);
    return refusal !== undefined && refusal.attempts <= MOST_HELD_BACK;
  }

  /** What was refused so often that others wait for it no longer. */
  get hopeless(): readonly Change[] {
    return this.list.filter(({ attempts }) => attempts > MOST_HELD_BACK).map(({ change }) => change);
  }

  /** Forgets what is no longer to be done. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#refusals.keys()) if (!ids.has(id)) this.#refusals.delete(id);
  }

  /** Lets everything of a switch be tried again at once. */
  forgive(switchId: number): void {
    for (const [id, refusal] of this.#refusals) if (refusal.switchId === switchId) this.#refusals.delete(id);
  }

  get list(): readonly Refusal[] {
    return [...this.#refusals.values()];
  }
}
