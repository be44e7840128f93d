import type { Random } from '@int/random';
import type { Graph } from '../graph/graph.js';
import type { Metric } from './metric.js';

/** Distances from some nodes to all, by cost and by number of links. */
export interface Reach {
  /** Cost of the cheapest way to each node; Infinity: out of reach. */
  readonly cost: Float64Array;
  /** Links on that way (of the cheapest, one with the fewest). */
  readonly hops: Int32Array;
  /** Node before each node on that way; -1 at the start. */
  readonly parent: Int32Array;
}

function breadthFirst(graph: Graph, sources: readonly number[]): Reach {
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

/** Dijkstra's algorithm with a binary heap; entries that a shorter way has made void are skipped. */
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

/** Distances from the nearest of some nodes. O(links), with weights O(links log nodes). */
export function reach(graph: Graph, sources: readonly number[]): Reach {
  return graph.weights === null ? breadthFirst(graph, sources) : cheapestFirst(graph, sources);
}

/**
 * The distances that a search over few nodes needs: between each two of them, and from the nearest entry point. Indices
 * are those of `nodes`.
 */
export class Closure implements Metric {
  readonly nodes: Int32Array;
  readonly size: number;
  readonly isWeighted: boolean;
  /** Cost between nodes i and j at `i * size + j`; the number of links where these have no weights. */
  readonly cost: Float64Array;
  /** Links between nodes i and j, at the same place. The same array as `cost` without weights. */
  readonly hops: Float64Array;
  readonly entryCost: Float64Array;
  readonly entryHops: Float64Array;
  readonly hasEntries: boolean;

  /** `isOver` is asked before each node whether time is up; the closure must not be used if it was. */
  constructor(graph: Graph, nodes: Int32Array, fromEntries: Reach | null, isOver: () => boolean) {
    const size = nodes.length;
    this.nodes = nodes;
    this.size = size;
    this.isWeighted = graph.weights !== null;
    this.cost = new Float64Array(size * size);
    this.hops = this.isWeighted ? new Float64Array(size * size) : this.cost;
    this.entryCost = new Float64Array(size);
    this.entryHops = new Float64Array(size);
    this.hasEntries = fromEntries !== null;
    for (let i = 0; i < size && !isOver(); i++) {
      const row = reach(graph, [nodes[i]!]);
      for (let j = 0; j < size; j++) {
        this.cost[i * size + j] = row.cost[nodes[j]!]!;
        if (this.isWeighted) this.hops[i * size + j] = row.hops[nodes[j]!]!;
      }
      if (fromEntries !== null) {
        this.entryCost[i] = fromEntries.cost[nodes[i]!]!;
        this.entryHops[i] = fromEntries.hops[nodes[i]!]!;
      }
    }
  }

  costBetween(a: number, b: number): number {
    return this.cost[a * this.size + b]!;
  }

  hopsBetween(a: number, b: number): number {
    return this.hops[a * this.size + b]!;
  }

  nearest(width: number, random: Random): Int32Array {
    const { size, cost } = this;
    const near = new Int32Array(size * width);
    for (let v = 0; v < size; v++) {
      const begin = v * width;
      let count = 0;
      let u = random.uint32() % size;
      for (let i = 0; i < size; i++, u = u + 1 === size ? 0 : u + 1) {
        if (u === v) continue;
        const its = cost[v * size + u]!;
        if (count === width && its >= cost[v * size + near[begin + width - 1]!]!) continue;
        let j = count < width ? count++ : width - 1;
        for (; j > 0 && cost[v * size + near[begin + j - 1]!]! > its; j--) near[begin + j] = near[begin + j - 1]!;
        near[begin + j] = u;
      }
    }
    return near;
  }
}
