import { given } from '../given.js';
import { counted, grouped } from '../output/numbers.js';
import type { SkipReason } from './skip-reason.js';
import type { SentCounts } from './target.js';

export interface ReplayState extends SentCounts {
  readonly skipped: ReadonlyMap<SkipReason, number>;
  readonly reasons: readonly SkipReason[];
  /** Milliseconds since the first frame was sent. */
  readonly elapsedMs: number;
  readonly loops: number;
}

function sum(counts: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

function rateOf({ sent, elapsedMs }: ReplayState): number {
  return elapsedMs > 0 ? (sent * 1000) / elapsedMs : 0;
}

/**
 * What `int replay --json` prints each second and at the end. `frames` is `sent` plus the sums of `skipped`, with all
 * reasons, and `failed`, with those that occurred.
 */
export function replayJson(type: 'stats' | 'total', state: ReplayState) {
  const { sent, bytes, skipped, failed, elapsedMs, loops, outages, reasons } = state;
  return {
    type,
    frames: sent + sum(skipped) + sum(failed),
    sent,
    bytes,
    skipped: Object.fromEntries(reasons.map((reason) => [reason, skipped.get(reason) ?? 0])),
    failed: Object.fromEntries(failed),
    elapsedMs: Math.round(elapsedMs * 1000) / 1000,
    rate: Math.round(rateOf(state) * 10) / 10,
    loops,
    ...given({ outages }),
  };
}

/** Frames not sent, by reason: the lines before the last one. */
export function reasonLines({ skipped, failed, outages = 0 }: ReplayState): string[] {
  const list = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([reason, count]) => `${reason} ${grouped(count)}`).join(', ');
  return [
    ...(skipped.size > 0 ? [`skipped: ${list(skipped)}`] : []),
    ...(failed.size > 0 ? [`failed: ${list(failed)}`] : []),
    ...(outages > 0 ? [`outages of the interface: ${grouped(outages)}`] : []),
  ];
}

/** The last message of `int replay`. */
export function totalText(state: ReplayState): string {
  const { sent, skipped, failed, elapsedMs } = state;
  const seconds = (elapsedMs / 1000).toFixed(3);
  const rate = rateOf(state).toFixed(1);
  return `${sent} sent, ${sum(skipped)} skipped, ${sum(failed)} failed in ${seconds} s (${rate} pps)`;
}

export function progressText(name: string, state: ReplayState): string {
  return `${counted(state.sent, 'frame')} sent to ${name}, ${grouped(rateOf(state))} per second`;
}
