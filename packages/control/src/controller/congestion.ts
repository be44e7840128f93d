import { type Decision, type Demand, type LinkCapacity, TrafficEngineer } from '@int/knowledge';
import type { ObservedFlow } from '../twin/rehearsal.js';
import { flowKey } from './flow-test.js';
import { hottestOf, type LinkKey, type LinkMap, loadsOf } from './link-map.js';
import type { Measurement } from './measurement.js';

/** Flows that may be moved: the largest, and those of a tenth of a link at least. */
const MOST_DEMANDS = 200;
const ELEPHANT = 0.1;

/** A flow shall take another path. */
export interface FlowMove {
  readonly flow: ObservedFlow;
  readonly via: readonly number[];
}

export interface Moves {
  readonly moves: readonly FlowMove[];
  readonly decision: Decision;
}

/** Looks at the loads of links, and says which flows should move. */
export class Congestion {
  #above: number;
  #engineer: TrafficEngineer;

  constructor(above: number) {
    this.#above = above;
    this.#engineer = new TrafficEngineer({ above });
  }

  /** What may be reached, as a share of the capacity; another value begins anew. */
  set above(above: number) {
    if (above === this.#above) return;
    this.#above = above;
    this.#engineer = new TrafficEngineer({ above });
  }

  /** @param isUsable whether flows may be moved to a link @param pinned flows that stay, by their key */
  look(
    { flows, seconds, timeMs, ageMs, loss }: Measurement,
    links: LinkMap,
    { isUsable, pinned }: { isUsable: (link: LinkKey) => boolean; pinned: ReadonlySet<string> },
  ): Moves | null {
    const loads = loadsOf(flows, seconds, links);
    if (hottestOf(loads, links) === null) return null;
    const elephants = flows
      .filter(({ path }) => path.length > 1)
      .sort((a, b) => b.bytes - a.bytes)
      .slice(0, MOST_DEMANDS);
    const byKey = new Map<string, { readonly flow: ObservedFlow; readonly paths: readonly (readonly number[])[] }>();
    const own = new Map<LinkKey, number>();
    const demands: Demand[] = [];
    for (const flow of elephants) {
      const bps = (8 * flow.bytes) / seconds;
      const current = links.linksOf(flow.path);
      const known = current.filter((link) => links.capacities.has(link));
      if (known.length !== flow.path.length - 1) continue;
      const least = Math.min(...known.map((link) => links.capacities.get(link)!));
      if (bps < ELEPHANT * least) continue;
      const others = links
        .paths(flow.path[0]!, flow.path.at(-1)!)
        .filter((path) => path.join() !== flow.path.join())
        .filter((path) => links.linksOf(path).every((link) => links.capacities.has(link) && isUsable(link)));
      const paths = [flow.path, ...others];
      const key = flowKey(flow);
      if (byKey.has(key) || pinned.has(key)) continue;
      byKey.set(key, { flow, paths });
      demands.push({ key, bps, path: 0, paths: paths.map((path) => links.linksOf(path)) });
      for (const link of current) own.set(link, (own.get(link) ?? 0) + bps);
    }
    // The rest stays where it is: a demand of one path for each link.
    const between: LinkCapacity[] = [];
    for (const [key, capacityBps] of links.capacities) {
      between.push({ key, capacityBps });
      const rest = (loads.get(key) ?? 0) - (own.get(key) ?? 0);
      if (rest > 0) demands.push({ key: `rest ${key}`, bps: rest, path: 0, paths: [[key]] });
    }
    const decision = this.#engineer.step({ links: between, demands, ageMs, loss }, timeMs);
    const moves = decision.moves.flatMap(({ demand, to }): FlowMove[] => {
      const found = byKey.get(demand);
      return found === undefined ? [] : [{ flow: found.flow, via: found.paths[to]! }];
    });
    return { moves, decision };
  }
}
