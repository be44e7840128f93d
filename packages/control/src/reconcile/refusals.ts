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

  attempts(id: string): number {
    return this.#refusals.get(id)?.attempts ?? 0;
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
