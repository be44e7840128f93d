import type { ObservedFlow } from '../twin/rehearsal.js';
import { flowKey } from './flow-test.js';
import type { Measurement } from './measurement.js';

const MOST = 8192;
/** A flow goes on if it was seen in so many windows. */
const GOES_ON = 3;
/** What an older window counts beside the next. */
const FADE = 0.75;
/** A pause counts as so many windows at most. */
const MOST_PAUSE = 4;

export interface RecentFlow {
  readonly flow: ObservedFlow;
  /**
   * Over the windows that it was there throughout: neither that in which it began nor that in which it was last seen, for it may
   * have been cut off in the middle of that.
   */
  readonly bps: number;
  /** Bytes and seconds of these windows; the older count less. */
  readonly bytes: number;
  readonly seconds: number;
  /** Begin and end of the window in which it was last seen. */
  readonly fromMs: number;
  readonly timeMs: number;
  /** Windows in which it was seen. */
  readonly windows: number;
}

/** Flows by the window in which they were last seen: what a link carried before it failed. */
export class RecentFlows {
  readonly #flows = new Map<string, RecentFlow>();

  add({ flows, seconds, timeMs }: Measurement): void {
    for (const flow of flows) {
      const key = flowKey(flow);
      const before = this.#flows.get(key);
      const windows = (before?.windows ?? 0) + 1;
      const fromMs = timeMs - 1000 * seconds;
      let { bytes: wholeBytes, seconds: wholeSeconds } = before ?? { bytes: 0, seconds: 0 };
      if (before !== undefined && before.windows > 1) {
        wholeBytes = FADE * wholeBytes + before.flow.bytes;
        wholeSeconds = FADE * wholeSeconds + Math.min((fromMs - before.fromMs) / 1000, MOST_PAUSE * seconds);
      }
      const bps = wholeSeconds > 0 ? (8 * wholeBytes) / wholeSeconds : (8 * flow.bytes) / seconds;
      this.#flows.delete(key);
      this.#flows.set(key, { flow, bps, bytes: wholeBytes, seconds: wholeSeconds, fromMs, timeMs, windows });
      if (this.#flows.size > MOST) this.#flows.delete(this.#flows.keys().next().value!);
    }
  }

  /**
   * Flows seen since a time whose path goes over a link, in either direction. Only those that go on: a flow that was seen for a
   * moment may have ended.
   */
  over(from: number, to: number, sinceMs: number): ReadonlyMap<string, RecentFlow> {
    const found = new Map<string, RecentFlow>();
    for (const [key, recent] of this.#flows) {
      if (!crosses(recent.flow, from, to) && !crosses(recent.flow, to, from)) continue;
      if (recent.timeMs >= sinceMs && recent.windows >= GOES_ON) found.set(key, recent);
    }
    return found;
  }
}

/** Whether a flow goes over a link from one switch to another, in this direction. */
export function crosses({ path }: ObservedFlow, from: number, to: number): boolean {
  return path.some((node, index) => node === from && path[index + 1] === to);
}
