import type { Graph } from '../graph/graph.js';
import type { Algorithm, Paths, Plan } from './plan.js';

/**
 * Measures paths as a plan: lengths, costs, overlap, and uncovered nodes. O(visits), with weights times the logarithm
 * of the degree. The paths must be walks of the graph; `validatePlan` checks that.
 *
 * @param required mask with 1 for each node that must be visited; absent or `null`: all
 */
export function measurePlan(
  graph: Graph,
  paths: Paths,
  algorithm: Algorithm,
  optimal = false,
  required: Uint8Array | null = null,
): Plan {
  const { visits, starts, count } = paths;
  const { weights } = graph;
  const visited = new Uint8Array(graph.nodeCount);
  let distinct = 0;
  let longest = 0;
  let shortest = count === 0 ? 0 : visits.length;
  let dearest = 0;
  let cheapest = count === 0 ? 0 : Number.POSITIVE_INFINITY;
  for (let p = 0; p < count; p++) {
    const length = starts[p + 1]! - starts[p]!;
    if (length > longest) longest = length;
    if (length < shortest) shortest = length;
    let cost = weights === null ? Math.max(0, length - 1) : 0;
    for (let i = starts[p]!; i < starts[p + 1]!; i++) {
      const node = visits[i]!;
      if (visited[node] === 0) {
        visited[node] = 1;
        distinct++;
      }
      if (weights !== null && i > starts[p]!) cost += weights[graph.linkBetween(visits[i - 1]!, node)]!;
    }
    if (cost > dearest) dearest = cost;
    if (cost < cheapest) cheapest = cost;
  }
  const isMissing = (v: number): boolean => visited[v] === 0 && (required === null || required[v] === 1);
  const uncovered = distinct === graph.nodeCount ? [] : Array.from(visited.keys()).filter(isMissing);
  return {
    algorithm,
    paths,
    uncovered,
    longest,
    shortest,
    overlap: visits.length - distinct,
    dearest,
    cheapest,
    optimal,
  };
}
