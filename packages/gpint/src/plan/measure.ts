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
  const { visits, starts } = paths;
  const count = paths.count;
  const visited = new Uint8Array(graph.nodeCount);
  let longest = 0;
  let shortest = count === 0 ? 0 : visits.length;
  for (let p = 0; p < count; p++) {
    const length = starts[p + 1]! - starts[p]!;
    if (length > longest) longest = length;
    if (length < shortest) shortest = length;
  }
  let distinct = 0;
  for (let i = 0; i < visits.length; i++) {
    const node = visits[i]!;
    if (visited[node] === 0) {
      visited[node] = 1;
      distinct++;
    }
  }
  let dearest = Math.max(0, longest - 1);
  let cheapest = Math.max(0, shortest - 1);
  if (graph.weights !== null) {
    dearest = 0;
    cheapest = count === 0 ? 0 : Number.POSITIVE_INFINITY;
    for (let p = 0; p < count; p++) {
      let cost = 0;
      for (let i = starts[p]! + 1; i < starts[p + 1]!; i++) {
        cost += graph.weights[graph.linkBetween(visits[i - 1]!, visits[i]!)]!;
      }
      if (cost > dearest) dearest = cost;
      if (cost < cheapest) cheapest = cost;
    }
  }
  const uncovered: number[] = [];
  if (distinct < graph.nodeCount) {
    for (let v = 0; v < graph.nodeCount; v++) {
      if (visited[v] === 0 && (required === null || required[v] === 1)) uncovered.push(v);
    }
  }
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
