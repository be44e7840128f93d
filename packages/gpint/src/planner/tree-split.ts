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

/** Orders the nodes of pieces: from one end of a longest path to the other, off which it goes on the way. */
class Orderer {
  readonly #tree: SpanningTree;
  readonly #required: Uint8Array | null;
  /** By node: last link in the piece, in which it was found, node from which it was found. */
  readonly #last: Int32Array;
  readonly #from: Int32Array;
  readonly #isOn: Uint8Array;
  /** By link: node at its far end, link before. */
  readonly #far: Int32Array;
  readonly #before: Int32Array;
  #links = 0;
  readonly #queue: Int32Array;

  constructor(tree: SpanningTree, required: Uint8Array | null) {
    const nodeCount = tree.place.length;
    this.#tree = tree;
    this.#required = required;
    this.#last = new Int32Array(nodeCount).fill(-1);
    this.#from = new Int32Array(nodeCount);
    this.#isOn = new Uint8Array(nodeCount);
    this.#far = new Int32Array(2 * nodeCount);
    this.#before = new Int32Array(2 * nodeCount);
    this.#queue = new Int32Array(nodeCount);
  }

  #link(a: number, b: number): void {
    this.#far[this.#links] = b;
    this.#before[this.#links] = this.#last[a]!;
    this.#last[a] = this.#links++;
    this.#far[this.#links] = a;
    this.#before[this.#links] = this.#last[b]!;
    this.#last[b] = this.#links++;
  }

  /** The node that is farthest from `start`; all are found from it. */
  #farthest(start: number): number {
    const last = this.#last;
    const from = this.#from;
    const far = this.#far;
    const before = this.#before;
    const queue = this.#queue;
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

  order(begin: number, end: number): number[] {
    const tree = this.#tree;
    const required = this.#required;
    const last = this.#last;
    const from = this.#from;
    const isOn = this.#isOn;
    const far = this.#far;
    const before = this.#before;
    const queue = this.#queue;
    const { order, parent, place, depth } = tree;
    this.#links = 0;
    let top = order[begin]!;
    const start = top;
    for (let i = begin + 1; i < end; i++) {
      const up = parent[order[i]!]!;
      if (place[up]! < begin && depth[up]! < depth[top]!) top = up;
    }
    for (let i = begin; i < end; i++) last[order[i]!] = -1;
    for (let x = start; x !== top; x = parent[x]!) last[parent[x]!] = -1;
    for (let x = start; x !== top; x = parent[x]!) this.#link(x, parent[x]!);
    for (let i = begin + 1; i < end; i++) this.#link(order[i]!, parent[order[i]!]!);
    const head = this.#farthest(start);
    const tail = this.#farthest(head);
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
  }
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
  const orderer = new Orderer(tree, required);
  const orders = best
    .map((end, i) => orderer.order(i === 0 ? 0 : best[i - 1]!, end))
    .filter((order) => order.length > 0);
  halve(orders, pieces);
  return orders;
}
