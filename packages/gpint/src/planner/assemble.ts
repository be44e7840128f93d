/** Makes walks from the orders of the nodes that they cover. */
import type { Graph } from '../graph/graph.js';
import { type Reach, reach } from '../graph/reach.js';
import { Paths } from '../plan/plan.js';
import type { Hops } from './hops.js';

/** Appends the nodes between `a` and `b` on a cheapest path. */
function appendBetween(graph: Graph, hops: Hops, a: number, b: number, isSmall: boolean, out: number[]): void {
  const link = graph.linkBetween(a, b);
  if (graph.weights === null || !isSmall) {
    if (link >= 0) return;
    hops.between(a, b);
    hops.appendInner(out);
    return;
  }
  const { cost, parent } = reach(graph, [b]);
  if (link >= 0 && graph.cost(link) <= cost[a]!) return;
  for (let x = parent[a]!; x !== b; x = parent[x]!) out.push(x);
}

/**
 * Drops visits at the ends of walks if other visits cover the nodes. With entries, a walk keeps its first visit unless
 * the next one is an entry.
 */
function trim(walks: number[][], nodeCount: number, entries: Uint8Array | null): void {
  const visits = new Uint32Array(nodeCount);
  for (const walk of walks) {
    for (const v of walk) visits[v]!++;
  }
  for (const walk of walks) {
    let begin = 0;
    let end = walk.length;
    while (end - begin > 1 && visits[walk[end - 1]!]! > 1) visits[walk[--end]!]!--;
    while (end - begin > 1 && visits[walk[begin]!]! > 1 && (entries === null || entries[walk[begin + 1]!] === 1)) {
      visits[walk[begin++]!]!--;
    }
    if (end - begin < walk.length) walk.splice(0, walk.length, ...walk.slice(begin, end));
  }
}

interface Assembly {
  readonly graph: Graph;
  readonly hops: Hops;
  readonly entries: Uint8Array | null;
  readonly fromEntries: Reach | null;
  /** Whether the graph is small enough to search for paths cheaper than a link. */
  readonly isSmall: boolean;
  /** The visit of a walk that covers nothing. */
  readonly filler: number;
}

/** The walks for given orders of nodes: cheapest paths between them, and from an entry to the nearer end. */
export function assembleWalks(assembly: Assembly, orders: readonly (readonly number[])[]): Paths {
  const { graph, hops, entries, fromEntries, isSmall, filler } = assembly;
  const walks: number[][] = [];
  for (const given of orders) {
    const walk: number[] = [];
    walks.push(walk);
    if (given.length === 0) {
      walk.push(filler);
      continue;
    }
    let order = given;
    if (fromEntries !== null) {
      if (fromEntries.cost[order.at(-1)!]! < fromEntries.cost[order[0]!]!) order = order.toReversed();
      for (let x = fromEntries.parent[order[0]!]!; x >= 0; x = fromEntries.parent[x]!) walk.unshift(x);
    }
    for (let i = 0; i < order.length; i++) {
      if (i > 0) appendBetween(graph, hops, order[i - 1]!, order[i]!, isSmall, walk);
      walk.push(order[i]!);
    }
  }
  trim(walks, graph.nodeCount, entries);
  return Paths.from(walks);
}
