import type { ObservedFlow } from '../twin/rehearsal.js';
import { flowKey } from './flow-test.js';
import type { Measurement } from './measurement.js';

const MOST = 8192;
/** A flow goes on if it was seen in so many windows. */
const GOES_ON = 3;

export interface RecentFlow {
  readonly flow: ObservedFlow;
  readonly bps: number;
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
      const windows = (this.#flows.get(key)?.windows ?? 0) + 1;
      this.#flows.delete(key);
      this.#flows.set(key, { flow, bps: (8 * flow.bytes) / seconds, timeMs, windows });
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
      const { path } = recent.flow;
      const at = path.findIndex((node, index) => {
        const next = path[index + 1];
        return (node === from && next === to) || (node === to && next === from);
      });
      if (at >= 0 && recent.timeMs >= sinceMs && recent.windows >= GOES_ON) found.set(key, recent);
    }
    return found;
  }
}
