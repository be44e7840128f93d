import type { Graph } from '../graph/graph.js';

/**
 * The node to be visited that is farthest from every entry point, of those that can be reached; -1 if there is none.
 */
export function hopsFromEntries(
  graph: Graph,
  entries: Uint8Array,
  required: Uint8Array | null,
): { readonly node: number; readonly hops: number } {
  const { nodeCount, first, neighbours } = graph;
  const hops = new Int32Array(nodeCount).fill(-1);
  const queue = new Uint32Array(nodeCount);
  let tail = 0;
  for (let v = 0; v < nodeCount; v++) {
    if (entries[v] !== 1) continue;
    hops[v] = 0;
    queue[tail++] = v;
  }
  let node = -1;
  let most = 0;
  for (let head = 0; head < tail; head++) {
    const v = queue[head]!;
    if (required === null || required[v] === 1) {
      if (node < 0 || hops[v]! > most) {
        node = v;
        most = hops[v]!;
      }
    }
    const end = first[v + 1]!;
    for (let i = first[v]!; i < end; i++) {
      const u = neighbours[i]!;
      if (hops[u] !== -1) continue;
      hops[u] = hops[v]! + 1;
      queue[tail++] = u;
    }
  }
  return { node, hops: most };
}

/** The same by cost: Dijkstra with a binary heap, O(links log nodes). The graph has weights. */
export function costFromEntries(
  graph: Graph,
  weights: Float64Array,
  entries: Uint8Array,
  required: Uint8Array | null,
): { readonly node: number; readonly cost: number } {
  const { nodeCount, first, neighbours, links } = graph;
  const cost = new Float64Array(nodeCount).fill(Number.POSITIVE_INFINITY);
  const done = new Uint8Array(nodeCount);
  // A node may be in the heap once for each time that a cheaper way to it was found.
  const heap: number[] = [];
  const keys: number[] = [];
  const push = (node: number, key: number): void => {
    let i = heap.length;
    heap.push(node);
    keys.push(key);
    while (i > 0) {
      const up = (i - 1) >>> 1;
      if (keys[up]! <= key) break;
      heap[i] = heap[up]!;
      keys[i] = keys[up]!;
      i = up;
    }
    heap[i] = node;
    keys[i] = key;
  };
  const pop = (): number => {
    const top = heap[0]!;
    const node = heap.pop()!;
    const key = keys.pop()!;
    const size = heap.length;
    if (size === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= size) break;
      if (child + 1 < size && keys[child + 1]! < keys[child]!) child++;
      if (keys[child]! >= key) break;
      heap[i] = heap[child]!;
      keys[i] = keys[child]!;
      i = child;
    }
    heap[i] = node;
    keys[i] = key;
    return top;
  };
  for (let v = 0; v < nodeCount; v++) {
    if (entries[v] !== 1) continue;
    cost[v] = 0;
    push(v, 0);
  }
  let farthest = -1;
  while (heap.length > 0) {
    const v = pop();
    if (done[v] === 1) continue;
    done[v] = 1;
    if (required === null || required[v] === 1) farthest = v;
    const end = first[v + 1]!;
    for (let i = first[v]!; i < end; i++) {
      const u = neighbours[i]!;
      const through = cost[v]! + weights[links[i]!]!;
      if (through >= cost[u]!) continue;
      cost[u] = through;
      push(u, through);
    }
  }
  return { node: farthest, cost: farthest < 0 ? 0 : cost[farthest]! };
}
