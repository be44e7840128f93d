import type { IntentKind } from '../intents/intent.js';
import type { ControlPolicy } from './policy.js';
import { spanText } from './reason-text.js';

/** Counts installations within the last time, so that no more are made than a policy allows. */
export class ActionLimits {
  /** Times and kinds, the oldest first: never more than the limit for all kinds. */
  #done: { readonly atMs: number; readonly kind: IntentKind }[] = [];

  /** Why an installation has to wait; `null`: it may be made now. */
  refusal(kind: IntentKind, nowMs: number, { withinMs, all, kinds }: ControlPolicy['limits']): string | null {
    this.#done = this.#done.filter(({ atMs }) => nowMs - atMs < withinMs);
    if (this.#done.length >= all) return `${all} actions within ${spanText(withinMs)} is the limit`;
    const most = kinds[kind] ?? Number.POSITIVE_INFINITY;
    const same = this.#done.filter((each) => each.kind === kind).length;
    return same < most ? null : `${most} actions of kind ${kind} within ${spanText(withinMs)} is the limit`;
  }

  /** How many more of a kind may be made now. */
  room(kind: IntentKind, nowMs: number, { withinMs, all, kinds }: ControlPolicy['limits']): number {
    const recent = this.recent(nowMs, { withinMs });
    const same = recent.filter((each) => each === kind).length;
    return Math.max(0, Math.min(all - recent.length, (kinds[kind] ?? Number.POSITIVE_INFINITY) - same));
  }

  /** Kinds of the installations within the last time. */
  recent(nowMs: number, { withinMs }: Pick<ControlPolicy['limits'], 'withinMs'>): readonly IntentKind[] {
    return this.#done.filter(({ atMs }) => nowMs - atMs < withinMs).map(({ kind }) => kind);
  }

  /** Installations that count. */
  get installations(): readonly { readonly atMs: number; readonly kind: IntentKind }[] {
    return this.#done;
  }

  restore(installations: readonly { readonly atMs: number; readonly kind: IntentKind }[]): void {
    this.#done = [...installations];
  }

  count(kind: IntentKind, nowMs: number): void {
    this.#done.push({ atMs: nowMs, kind });
  }
}
