import type { Graph } from './graph.js';

/**
 * The nodes of `required` (`null`: all) in ascending order of degree, equal ones in order of number: a counting sort. Those of
 * degree d are at `begin[d]` up to `begin[d + 1]`.
 */
export function byDegree(graph: Graph, required: Uint8Array | null): { order: Uint32Array; begin: Uint32Array } {
  const { nodeCount } = graph;
  let highest = 0;
  for (let v = 0; v < nodeCount; v++) highest = Math.max(highest, graph.degree(v));
  const begin = new Uint32Array(highest + 2);
  for (let v = 0; v < nodeCount; v++) if (required === null || required[v] === 1) begin[graph.degree(v) + 1]!++;
  for (let d = 0; d <= highest; d++) begin[d + 1] = begin[d + 1]! + begin[d]!;
  const order = new Uint32Array(begin[highest + 1]!);
  const at = begin.slice();
  for (let v = 0; v < nodeCount; v++) if (required === null || required[v] === 1) order[at[graph.degree(v)]!++] = v;
  return { order, begin };
}
