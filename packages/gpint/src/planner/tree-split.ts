/** The division of a tree among walks, each of which covers nodes that follow each other in preorder. */
import type { SpanningTree } from './spanning-tree.js';

/**
 * Ends (places in preorder) of pieces, each as large as `most` visits allow; `null` if it takes more than `pieces`. A walk
 * that covers a tree of l links, on the shortest ways, makes 2 l - d + 1 visits, where d is the length of a longest path
 * in it: it begins and ends at the ends of that path.
 */
function greedy(tree: SpanningTree, pieces: number, most: number): number[] | null {
  const { order, parent, depth, place } = tree;
  const ends: number[] = [];
  for (let begin = 0; begin < order.length; ) {
    if (ends.length === pieces) return null;
    let top = order[begin]!;
    let a = top;
    let b = top;
    let longest = 0;
    let links = 0;
    let end = begin + 1;
    for (; end < order.length; end++) {
      const x = order[end]!;
      const up = parent[x]!;
      if (up < 0) break;
      links++;
      if (place[up]! < begin && depth[up]! < depth[top]!) {
        // Its parent is above all that the piece has so far.
        links += depth[top]! - depth[up]!;
        top = up;
      }
      const toA = tree.hops(x, a);
      const toB = tree.hops(x, b);
      if (toA > longest && toA >= toB) {
        longest = toA;
        b = x;
      } else if (toB > longest) {
        longest = toB;
        a = x;
      }
      if (2 * links - longest + 1 > most) break;
    }
    ends.push(end);
    begin = end;
  }
  return ends;
}

/**
 * A function that orders the nodes of a piece, given by its begin and end in preorder: from one end of a longest path to
 * the other, off which it goes on the way.
 */
function ordererOf(tree: SpanningTree, required: Uint8Array | null): (begin: number, end: number) => number[] {
  const { order, parent, place, depth } = tree;
  const nodeCount = place.length;
  // By node: last link in the piece, node from which it was found, whether it is on the longest path.
  const last = new Int32Array(nodeCount).fill(-1);
  const from = new Int32Array(nodeCount);
  const isOn = new Uint8Array(nodeCount);
  // By link: node at its far end, link before.
  const far = new Int32Array(2 * nodeCount);
  const before = new Int32Array(2 * nodeCount);
  let links = 0;
  const queue = new Int32Array(nodeCount);

  function link(a: number, b: number): void {
    far[links] = b;
    before[links] = last[a]!;
    last[a] = links++;
    far[links] = a;
    before[links] = last[b]!;
    last[b] = links++;
  }

  /** The node that is farthest from `start`; all are found from it. */
  function farthest(start: number): number {
    queue[0] = start;
    from[start] = -1;
    let tail = 1;
    for (let head = 0; head < tail; head++) {
      const v = queue[head]!;
      for (let j = last[v]!; j >= 0; j = before[j]!) {
        if (far[j] === from[v]) continue;
        from[far[j]!] = v;
        queue[tail++] = far[j]!;
      }
    }
    return queue[tail - 1]!;
  }

  return (begin, end) => {
    links = 0;
    let top = order[begin]!;
    const start = top;
    for (let i = begin + 1; i < end; i++) {
      const up = parent[order[i]!]!;
      if (place[up]! < begin && depth[up]! < depth[top]!) top = up;
    }
    for (let i = begin; i < end; i++) last[order[i]!] = -1;
    for (let x = start; x !== top; x = parent[x]!) last[parent[x]!] = -1;
    for (let x = start; x !== top; x = parent[x]!) link(x, parent[x]!);
    for (let i = begin + 1; i < end; i++) link(order[i]!, parent[order[i]!]!);
    const head = farthest(start);
    const tail = farthest(head);
    for (let x = tail; x >= 0; x = from[x]!) isOn[x] = 1;
    const found: number[] = [];
    let depthOf = 0;
    queue[depthOf++] = head;
    while (depthOf > 0) {
      const v = queue[--depthOf]!;
      if (place[v]! >= begin && (required === null || required[v] === 1)) found.push(v);
      const at = depthOf;
      for (let j = last[v]!; j >= 0; j = before[j]!) {
        const u = far[j]!;
        if (u === from[v]) continue;
        queue[depthOf++] = u;
        // The way to the other end is the last to be taken: it lies below the others.
        if (isOn[u] === 1) {
          queue[depthOf - 1] = queue[at]!;
          queue[at] = u;
        }
      }
    }
    for (let x = tail; x >= 0; x = from[x]!) isOn[x] = 0;
    return found;
  };
}

/** Halves the largest orders until there are `pieces`, or none of more than one node. */
function halve(orders: number[][], pieces: number): void {
  while (orders.length < pieces) {
    orders.sort((a, b) => b.length - a.length);
    const least = Math.max(2, orders[0]!.length >> 1);
    let end = orders.findIndex((order) => order.length < least);
    if (end < 0) end = orders.length;
    if (end === 0) return;
    end = Math.min(end, pieces - orders.length);
    for (let i = 0; i < end; i++) orders.push(orders[i]!.splice(orders[i]!.length >> 1));
  }
}

/**
 * Divides the nodes of a spanning tree into `pieces` pieces or fewer that follow each other in preorder, the longest walk as
 * short as can be in this order. Returns the required nodes of each, in the order in which a shortest walk meets them
 * first; `null` if the trees are more than `pieces`.
 */
export function splitTree(tree: SpanningTree, pieces: number, required: Uint8Array | null): number[][] | null {
  let high = 2 * tree.order.length;
  let best = greedy(tree, pieces, high);
  if (best === null) return null;
  let low = 0;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = greedy(tree, pieces, middle);
    if (found === null) low = middle;
    else {
      high = middle;
      best = found;
    }
  }
  const orderOf = ordererOf(tree, required);
  const orders = best.map((end, i) => orderOf(i === 0 ? 0 : best[i - 1]!, end)).filter((order) => order.length > 0);
  halve(orders, pieces);
  return orders;
}
