import type { Graph } from '../graph/graph.js';
import { maskedNodes } from '../graph/mask.js';
import { farthest, reach } from '../graph/reach.js';

/** Tolerance for rounding: the sum of fractions depends on their order. */
const ROUNDING = 1e-9;

/**
 * A lower bound of the cost of the dearest of k walks.
 *
 * Every node to be visited is entered over one of its links, but for the first of each walk. Hence all walks together
 * cost at least the cheapest link of each of the n nodes, less the k dearest of these, and the dearest walk the k-th
 * part of it; and the walk that visits most, n / k of them or more, costs at least as many of these as are cheapest,
 * less one. With entry points, some walk also gets from one to the node that costs most to reach.
 *
 * @param question.visits visits to different nodes that the walk with most of them has at least
 */
export function costFloor(
  graph: Graph,
  question: {
    readonly paths: number;
    readonly entries: Uint8Array | null;
    readonly required: Uint8Array | null;
    readonly visits: number;
  },
): { readonly value: number; readonly why: string } {
  const { nodeCount, first, links } = graph;
  const { paths, entries, required, visits } = question;
  const weights = graph.weights!;
  const cheapest = new Float64Array(nodeCount);
  let count = 0;
  for (let v = 0; v < nodeCount; v++) {
    if (required !== null && required[v] !== 1) continue;
    let least = Number.POSITIVE_INFINITY;
    for (let i = first[v]!; i < first[v + 1]!; i++) least = Math.min(least, weights[links[i]!]!);
    // A node without links is a separate walk, and is not entered.
    if (least < Number.POSITIVE_INFINITY) cheapest[count++] = least;
  }
  const sorted = cheapest.subarray(0, count).sort();
  let sum = 0;
  for (let i = 0; i < count - paths; i++) sum += sorted[i]!;
  let value = sum / paths;
  let why = `the cheapest links of ${Math.max(0, count - paths)} nodes cost ${sum} on ${paths} paths`;
  let few = 0;
  for (let i = 0; i < Math.min(count, visits) - 1; i++) few += sorted[i]!;
  if (few > value) {
    value = few;
    why = `some path enters ${visits - 1} nodes or more`;
  }
  if (entries !== null) {
    const { cost } = reach(graph, maskedNodes(entries));
    const node = farthest(cost, required);
    const most = cost[node] ?? 0;
    if (most > value) {
      value = most;
      why = `${graph.names[node] ?? ''} costs ${most} from the nearest entry point`;
    }
  }
  const whole = weights.every(Number.isInteger);
  return { value: whole ? Math.ceil(value - ROUNDING) : value * (1 - ROUNDING), why };
}
