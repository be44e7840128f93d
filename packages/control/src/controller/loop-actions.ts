import type { LoopAction, LoopNote } from './loop-io.js';

/** What a step of the loop wants done, in its order. */
export class LoopActions {
  #list: LoopAction[] = [];

  /** Begins a step. */
  clear(): void {
    this.#list = [];
  }

  get list(): readonly LoopAction[] {
    return this.#list;
  }

  add(action: LoopAction): void {
    this.#list.push(action);
  }

  apply(proposal: string | null, by: string, reason: string): void {
    this.#list.push({ kind: 'apply', proposal, by, reason });
  }

  note(atMs: number, what: LoopNote['what'], proposal: string | null, by: string, reason: string): void {
    this.#list.push({ kind: 'note', note: { atMs, what, proposal, by, reason } });
  }
}
