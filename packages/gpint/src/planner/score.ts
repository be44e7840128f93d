import type { Graph } from '../graph/graph.js';
import type { Paths } from '../plan/plan.js';

/** The quality of a cover by the objective of `CoverProblem`. */
export interface Score {
  /** Required nodes that no walk visits. */
  readonly missing: number;
  /** Visits of the longest walk; cost of the dearest, where links have weights. */
  readonly longest: number;
  readonly overlap: number;
  readonly spread: number;
}

export function scoreOf(graph: Graph, paths: Paths, required: Uint8Array | null): Score {
  const { visits, starts } = paths;
  const visited = new Uint8Array(graph.nodeCount);
  let distinct = 0;
  let longest = 0;
  let shortest = Number.POSITIVE_INFINITY;
  for (let p = 0; p < paths.count; p++) {
    let cost = graph.weights === null ? starts[p + 1]! - starts[p]! : 0;
    for (let i = starts[p]!; i < starts[p + 1]!; i++) {
      const v = visits[i]!;
      if (visited[v] === 0) {
        visited[v] = 1;
        distinct++;
      }
      if (graph.weights !== null && i > starts[p]!) cost += graph.cost(graph.linkBetween(visits[i - 1]!, v));
    }
    if (cost > longest) longest = cost;
    if (cost < shortest) shortest = cost;
  }
  let missing = 0;
  for (let v = 0; v < graph.nodeCount; v++) {
    if (visited[v] === 0 && (required === null || required[v] === 1)) missing++;
  }
  return { missing, longest, overlap: visits.length - distinct, spread: longest - shortest };
}

export function isBetter(a: Score, b: Score): boolean {
  if (a.missing !== b.missing) return a.missing < b.missing;
  if (a.longest !== b.longest) return a.longest < b.longest;
  if (a.overlap !== b.overlap) return a.overlap < b.overlap;
  return a.spread < b.spread;
}
