import type { Graph } from '../graph/graph.js';

/** Nodes up to which trees are looked at this closely: the effort is nodes times the logarithm of nodes. */
const MOST_NODES = 50_000;

/** Nodes of a forest so that each comes after its parent, and the parents; `null` if the graph has a circle. */
function treeOrder(graph: Graph): { readonly order: Uint32Array; readonly parent: Int32Array } | null {
  const { nodeCount, linkCount, first, neighbours } = graph;
  if (linkCount >= nodeCount || nodeCount > MOST_NODES) return null;
  const order = new Uint32Array(nodeCount);
  const parent = new Int32Array(nodeCount).fill(-2);
  let found = 0;
  let trees = 0;
  for (let root = 0; root < nodeCount; root++) {
    if (parent[root] !== -2) continue;
    parent[root] = -1;
    trees++;
    let head = found;
    order[found++] = root;
    for (; head < found; head++) {
      const v = order[head]!;
      for (let i = first[v]!; i < first[v + 1]!; i++) {
        const u = neighbours[i]!;
        if (parent[u] !== -2) continue;
        parent[u] = v;
        order[found++] = u;
      }
    }
  }
  return linkCount + trees === nodeCount ? { order, parent } : null;
}

/**
 * Smallest value of (links walked + price * walks) over all covers of a forest by any number of walks.
 *
 * A cover walks each link 0, 1 or 2 times (two of three times can be left out). Of each piece that the links walked
 * hold together, one walk takes what has two odd ends or none, and every two odd ends more take another: a piece costs
 * half a price for each odd end, and a price if there are none. Hence a dynamic programme from the leaves up, over how
 * often the link to the parent is walked and whether the piece has an odd end yet. Everything counts twice, to stay
 * whole.
 */
function cheapest(order: Uint32Array, parent: Int32Array, price: number, sums: Float64Array): number {
  sums.fill(Number.POSITIVE_INFINITY);
  // Four numbers a node: smallest sums over its children, by (walks to children odd) + 2 * (an odd end below).
  for (let v = 0; v < order.length; v++) sums[4 * v] = 0;
  let total = 0;
  for (let at = order.length - 1; at >= 0; at--) {
    const v = order[at]!;
    const even = sums[4 * v]!;
    const odd = sums[4 * v + 1]!;
    const evenBelow = sums[4 * v + 2]!;
    const oddBelow = sums[4 * v + 3]!;
    const oddEnd = Math.min(odd, oddBelow) + price;
    const closed = Math.min(even + 2 * price, evenBelow, oddEnd);
    const up = parent[v]!;
    if (up < 0) {
      total += closed;
      continue;
    }
    // Walked once: what was odd is even, without an odd end unless one is below. Walked twice: as it was.
    const onceClean = odd + 2;
    const onceOdd = Math.min(oddBelow, Math.min(even, evenBelow) + price) + 2;
    const twiceClean = even + 4;
    const twiceOdd = Math.min(evenBelow, oddEnd) + 4;
    const a = sums[4 * up]!;
    const b = sums[4 * up + 1]!;
    const c = sums[4 * up + 2]!;
    const d = sums[4 * up + 3]!;
    sums[4 * up] = Math.min(a + closed, a + twiceClean, b + onceClean);
    sums[4 * up + 1] = Math.min(b + closed, b + twiceClean, a + onceClean);
    sums[4 * up + 2] = Math.min(
      c + Math.min(closed, twiceClean, twiceOdd),
      d + Math.min(onceClean, onceOdd),
      a + twiceOdd,
      b + onceOdd,
    );
    sums[4 * up + 3] = Math.min(
      d + Math.min(closed, twiceClean, twiceOdd),
      c + Math.min(onceClean, onceOdd),
      b + twiceOdd,
      a + onceOdd,
    );
  }
  return total / 2;
}

/**
 * A floor under the visits that k walks make in all to cover a forest; `null` if the graph is none. Walks without a
 * limit on their number, but at a price each, have a cheapest cover that is found exactly; whatever the price, the
 * cheapest cover less the price of k walks is no more than what k walks must walk. The best price is found by
 * bisection, for the value is concave.
 */
export function treeVisits(graph: Graph, k: number): number | null {
  const tree = treeOrder(graph);
  if (tree === null) return null;
  const sums = new Float64Array(4 * graph.nodeCount);
  const at = (price: number): number => cheapest(tree.order, tree.parent, price, sums) - price * k;
  let low = 0;
  let high = graph.nodeCount;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(middle) < at(middle + 1)) low = middle + 1;
    else high = middle;
  }
  return at(low) + k;
}
