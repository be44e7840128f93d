import type { Graph } from '../graph/graph.js';

/** Between parts of a graph that no link joins. */
const APART = 1e9;

/** `'broad'`: shortest ways from a node of highest degree. `'deep'`: by depth-first search, with few branches. */
type Shape = 'broad' | 'deep';

/**
 * A spanning tree of the parts of a graph in which there are required nodes, and distances in it in constant time.
 *
 * The nodes are numbered in preorder. Of all nodes numbered above `a` and up to `b`, the highest in the tree is a child of
 * the lowest common ancestor of the two; a sparse table of minima over ranges of depths finds its depth (M. A. Bender,
 * M. Farach-Colton, LATIN 2000). O(nodes log nodes) numbers of 32 bits.
 */
export class SpanningTree {
  /** Nodes in preorder. */
  readonly order: Int32Array;
  /** By node: place in preorder (-1: in no tree), depth, node above (-1: a root). */
  readonly place: Int32Array;
  readonly depth: Int32Array;
  readonly parent: Int32Array;
  /** Whether it is one tree of all nodes. */
  readonly isWhole: boolean;
  /** Depth of the parent of the node at each place; then the minima over 2, 4, 8, ... places from each on. */
  readonly #minima: Int32Array[];

  constructor(graph: Graph, required: Int32Array, shape: Shape) {
    const { nodeCount } = graph;
    const depth = new Int32Array(nodeCount).fill(-1);
    const parent = new Int32Array(nodeCount).fill(-1);
    const place = new Int32Array(nodeCount).fill(-1);
    const found = new Int32Array(nodeCount);
    let hub = required[0] ?? 0;
    for (const v of required) if (graph.degree(v) > graph.degree(hub)) hub = v;
    let count = 0;
    let roots = 0;
    for (let i = -1; i < required.length; i++) {
      const root = i < 0 ? hub : required[i]!;
      if (depth[root]! >= 0) continue;
      roots++;
      depth[root] = 0;
      count = (shape === 'broad' ? broad : deep)(graph, root, { depth, parent, found }, count);
    }
    // Sizes of subtrees, then places: each child begins where the one before it ends.
    const below = new Int32Array(nodeCount).fill(1);
    for (let i = count - 1; i >= 0; i--) {
      const up = parent[found[i]!]!;
      if (up >= 0) below[up] = below[up]! + below[found[i]!]!;
    }
    const order = new Int32Array(count);
    const free = new Int32Array(nodeCount);
    let begin = 0;
    for (let i = 0; i < count; i++) {
      const v = found[i]!;
      const up = parent[v]!;
      if (up < 0) {
        place[v] = begin;
        begin += below[v]!;
      } else {
        place[v] = free[up]!;
        free[up] = free[up]! + below[v]!;
      }
      free[v] = place[v]! + 1;
      order[place[v]!] = v;
    }
    this.order = order;
    this.place = place;
    this.depth = depth;
    this.parent = parent;
    this.isWhole = roots === 1 && count === nodeCount;
    let row = new Int32Array(count);
    for (let i = 0; i < count; i++) row[i] = depth[order[i]!]! - 1;
    this.#minima = [row];
    for (let span = 1; 2 * span <= count; span *= 2) {
      const above = new Int32Array(count - 2 * span + 1);
      for (let i = 0; i < above.length; i++) above[i] = Math.min(row[i]!, row[i + span]!);
      this.#minima.push(above);
      row = above;
    }
  }

  /** Number of links between two nodes; a very large number without a path. */
  hops(a: number, b: number): number {
    if (a === b) return 0;
    let low = this.place[a]!;
    let high = this.place[b]!;
    if (low > high) {
      const other = low;
      low = high;
      high = other;
    }
    const level = 31 - Math.clz32(high - low);
    const row = this.#minima[level]!;
    const top = Math.min(row[low + 1]!, row[high + 1 - (1 << level)]!);
    return top < 0 ? APART : this.depth[a]! + this.depth[b]! - 2 * top;
  }
}

/** By node: depth (-1: not found yet) and node above. Then the nodes found, in this order. */
interface Search {
  readonly depth: Int32Array;
  readonly parent: Int32Array;
  readonly found: Int32Array;
}

/** Finds the tree of a root. `count` nodes are found already. Returns how many are afterwards. */
function broad(graph: Graph, root: number, { depth, parent, found }: Search, count: number): number {
  const { first, neighbours } = graph;
  let tail = count;
  let head = tail;
  found[tail++] = root;
  for (; head < tail; head++) {
    const v = found[head]!;
    for (let j = first[v]!; j < first[v + 1]!; j++) {
      const u = neighbours[j]!;
      if (depth[u]! >= 0) continue;
      depth[u] = depth[v]! + 1;
      parent[u] = v;
      found[tail++] = u;
    }
  }
  return tail;
}

function deep(graph: Graph, root: number, { depth, parent, found }: Search, count: number): number {
  const { nodeCount, first, neighbours } = graph;
  const cursor = first.slice(0, nodeCount);
  let tail = count;
  found[tail++] = root;
  for (let v = root; v >= 0; ) {
    let child = -1;
    for (; cursor[v]! < first[v + 1]! && child < 0; cursor[v]!++) {
      const u = neighbours[cursor[v]!]!;
      if (depth[u]! < 0) child = u;
    }
    if (child < 0) v = parent[v]!;
    else {
      depth[child] = depth[v]! + 1;
      parent[child] = v;
      found[tail++] = child;
      v = child;
    }
  }
  return tail;
}
