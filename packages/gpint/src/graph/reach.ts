/** Distances of nodes from a set of nodes. */
import type { Graph } from './graph.js';

/** Distances from a set of nodes to all nodes, by cost and by number of links. */
export interface Reach {
  /** Cost of the cheapest path to each node; Infinity: unreachable. */
  readonly cost: Float64Array;
  /** Links of that path (the cheapest path with the fewest links). */
  readonly hops: Int32Array;
  /** Previous node on that path; -1 at the start. */
  readonly parent: Int32Array;
}

/** Distances from the nearest source by number of links, without weights. O(links). */
export function reachByHops(graph: Graph, sources: readonly number[]): Reach {
  const { nodeCount, first, neighbours } = graph;
  const cost = new Float64Array(nodeCount).fill(Number.POSITIVE_INFINITY);
  const hops = new Int32Array(nodeCount).fill(-1);
  const parent = new Int32Array(nodeCount).fill(-1);
  const queue = new Int32Array(nodeCount);
  let tail = 0;
  for (const source of sources) {
    hops[source] = 0;
    cost[source] = 0;
    queue[tail++] = source;
  }
  for (let i = 0; i < tail; i++) {
    const v = queue[i]!;
    const depth = hops[v]! + 1;
    for (let j = first[v]!; j < first[v + 1]!; j++) {
      const u = neighbours[j]!;
      if (hops[u]! >= 0) continue;
      hops[u] = depth;
      cost[u] = depth;
      parent[u] = v;
      queue[tail++] = u;
    }
  }
  return { cost, hops, parent };
}

/** Dijkstra's algorithm with a binary heap. Entries that a shorter path has replaced are skipped. */
function cheapestFirst(graph: Graph, sources: readonly number[]): Reach {
  const { nodeCount, first, neighbours, links } = graph;
  const cost = new Float64Array(nodeCount).fill(Number.POSITIVE_INFINITY);
  const hops = new Int32Array(nodeCount).fill(-1);
  const parent = new Int32Array(nodeCount).fill(-1);
  const keys: number[] = [];
  const nodes: number[] = [];
  const push = (key: number, node: number): void => {
    let i = keys.length;
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (keys[up]! <= key) break;
      keys[i] = keys[up]!;
      nodes[i] = nodes[up]!;
      i = up;
    }
    keys[i] = key;
    nodes[i] = node;
  };
  const pop = (): void => {
    const key = keys.pop()!;
    const node = nodes.pop()!;
    const size = keys.length;
    if (size === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= size) break;
      if (child + 1 < size && keys[child + 1]! < keys[child]!) child++;
      if (keys[child]! >= key) break;
      keys[i] = keys[child]!;
      nodes[i] = nodes[child]!;
      i = child;
    }
    keys[i] = key;
    nodes[i] = node;
  };
  for (const source of sources) {
    cost[source] = 0;
    hops[source] = 0;
    push(0, source);
  }
  while (keys.length > 0) {
    const key = keys[0]!;
    const v = nodes[0]!;
    pop();
    if (key > cost[v]!) continue;
    for (let j = first[v]!; j < first[v + 1]!; j++) {
      const u = neighbours[j]!;
      const its = key + graph.cost(links[j]!);
      if (its < cost[u]!) {
        cost[u] = its;
        hops[u] = hops[v]! + 1;
        parent[u] = v;
        push(its, u);
      } else if (its === cost[u]! && hops[v]! + 1 < hops[u]!) {
        hops[u] = hops[v]! + 1;
        parent[u] = v;
      }
    }
  }
  return { cost, hops, parent };
}

/** Distances from the nearest source. O(links), with weights O(links log nodes). */
export function reach(graph: Graph, sources: readonly number[]): Reach {
  return graph.weights === null ? reachByHops(graph, sources) : cheapestFirst(graph, sources);
}

/** The reachable node of `required` (`null`: all) with the greatest distance; -1 if there is none. */
export function farthest(distances: Reach['cost'], required: Uint8Array | null): number {
  let node = -1;
  for (let v = 0; v < distances.length; v++) {
    if (distances[v] === Number.POSITIVE_INFINITY || (required !== null && required[v] !== 1)) continue;
    if (node < 0 || distances[v]! > distances[node]!) node = v;
  }
  return node;
}
