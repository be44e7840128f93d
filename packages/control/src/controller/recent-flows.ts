import type { ObservedFlow } from '../twin/rehearsal.js';
import { flowKey } from './flow-test.js';
import type { Measurement } from './measurement.js';

const MOST = 8192;

export interface RecentFlow {
  readonly flow: ObservedFlow;
  readonly bps: number;
  readonly timeMs: number;
}

/** Flows by the window in which they were last seen: what a link carried before it failed. */
export class RecentFlows {
  readonly #flows = new Map<string, RecentFlow>();

  add({ flows, seconds, timeMs }: Measurement): void {
    for (const flow of flows) {
      const key = flowKey(flow);
      this.#flows.delete(key);
      this.#flows.set(key, { flow, bps: (8 * flow.bytes) / seconds, timeMs });
      if (this.#flows.size > MOST) this.#flows.delete(this.#flows.keys().next().value!);
    }
  }

  /** Flows seen since a time whose path goes over a link, in either direction. */
  over(from: number, to: number, sinceMs: number): ReadonlyMap<string, RecentFlow> {
    const found = new Map<string, RecentFlow>();
    for (const [key, recent] of this.#flows) {
      const { path } = recent.flow;
      const at = path.findIndex((node, index) => {
        const next = path[index + 1];
        return (node === from && next === to) || (node === to && next === from);
      });
      if (at >= 0 && recent.timeMs >= sinceMs) found.set(key, recent);
    }
    return found;
  }
}
