/** The best covers of small graphs, by trying everything: an oracle that shares nothing with planners and floors. */
import type { Graph } from '@int/gpint';

/** Best values over all choices of k walks; Infinity where there is no cover. Each is found on its own. */
export interface Best {
  readonly longest: number;
  readonly overlap: number;
  readonly dearest: number;
}

/** For each set of nodes (as bits), the smallest measure of a walk that visits exactly these. */
function walks(
  graph: Graph,
  entries: Uint8Array | null,
  measure: (link: number) => number,
  begin: number,
): Float64Array {
  const n = graph.nodeCount;
  const all = 1 << n;
  // Value of each state (set visited, node at); sets only grow, so that one pass over the sets in ascending order is
  // enough, with repeated passes over the nodes of a set.
  const value = new Float64Array(all * n).fill(Number.POSITIVE_INFINITY);
  for (let v = 0; v < n; v++) {
    if (entries === null || entries[v] === 1) value[(1 << v) * n + v] = begin;
  }
  for (let set = 1; set < all; set++) {
    for (let pass = 0; pass < n; pass++) {
      for (let v = 0; v < n; v++) {
        const here = value[set * n + v]!;
        if (here === Number.POSITIVE_INFINITY) continue;
        for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) {
          const u = graph.neighbours[i]!;
          const state = (set | (1 << u)) * n + u;
          value[state] = Math.min(value[state]!, here + measure(graph.links[i]!));
        }
      }
    }
  }
  return Float64Array.from({ length: all }, (_, set) => Math.min(...value.subarray(set * n, set * n + n)));
}

/** Smallest result over all choices of k sets whose union has all of `wanted`. */
function choose(
  single: Float64Array,
  k: number,
  wanted: number,
  join: (a: number, b: number) => number,
  result: (value: number, union: number) => number,
): number {
  let best = new Float64Array(single.length).fill(Number.POSITIVE_INFINITY);
  best[0] = 0;
  for (let i = 0; i < k; i++) {
    const next = new Float64Array(single.length).fill(Number.POSITIVE_INFINITY);
    for (let union = 0; union < single.length; union++) {
      if (best[union] === Number.POSITIVE_INFINITY) continue;
      for (let set = 1; set < single.length; set++) {
        const value = join(best[union]!, single[set]!);
        if (value < next[union | set]!) next[union | set] = value;
      }
    }
    best = next;
  }
  let found = Number.POSITIVE_INFINITY;
  for (let union = 0; union < best.length; union++) {
    if ((union & wanted) === wanted) found = Math.min(found, result(best[union]!, union));
  }
  return found;
}

function bits(set: number): number {
  let count = 0;
  for (let rest = set; rest > 0; rest &= rest - 1) count++;
  return count;
}

/** `graph`: 7 nodes at most, or it takes long. */
export function bestCovers(
  graph: Graph,
  k: number,
  required: Uint8Array | null = null,
  entries: Uint8Array | null = null,
): Best {
  let wanted = 0;
  for (let v = 0; v < graph.nodeCount; v++) if (required === null || required[v] === 1) wanted |= 1 << v;
  const visits = walks(graph, entries, () => 1, 1);
  const costs = walks(graph, entries, (link) => graph.cost(link), 0);
  const add = (a: number, b: number): number => a + b;
  return {
    longest: choose(visits, k, wanted, Math.max, (value) => value),
    overlap: choose(visits, k, wanted, add, (value, union) => value - bits(union)),
    dearest: choose(costs, k, wanted, Math.max, (value) => value),
  };
}
