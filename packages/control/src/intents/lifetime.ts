import type { Intent } from './intent.js';

/** Whether an intent is in force at a time: from its beginning until, not including, the end of its TTL. */
export function isActive({ fromMs, ttlMs }: Intent, nowMs: number): boolean {
  return nowMs >= fromMs && (ttlMs === null || nowMs < fromMs + ttlMs);
}

/** The next time after `nowMs` at which an intent begins or ends; Infinity: none does. */
export function nextChangeMs(intents: Iterable<Intent>, nowMs: number): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { fromMs, ttlMs } of intents) {
    for (const at of ttlMs === null ? [fromMs] : [fromMs, fromMs + ttlMs]) if (at > nowMs && at < next) next = at;
  }
  return next;
}

const compared = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The older first: of two that cannot both hold, the one that is there stays. */
export const byAge = (a: Intent, b: Intent): number => a.fromMs - b.fromMs || compared(a.id, b.id);

/** The more important first, those of one priority by their id. */
export const byPriority = (a: Intent, b: Intent): number => b.priority - a.priority || compared(a.id, b.id);
