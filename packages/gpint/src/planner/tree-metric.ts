import type { Random } from '@int/random';
import type { Graph } from '../graph/graph.js';
import type { Reach } from '../graph/reach.js';
import type { Metric } from './metric.js';
import { SpanningTree } from './spanning-tree.js';

/** Most links per node followed in the search for near nodes. */
const LOOKED_AT = 12;
/** Most nodes examined in it, in units of the wanted nodes. */
const MOST_LOOKS = 4;
/**
 * Distances in a spanning tree, found in constant time: exact in a tree, else no less than those in the graph, but for
 * neighbours, which are known to be such. For networks too large for the distances between each two nodes.
 */
export class TreeMetric implements Metric {
  readonly nodes: Int32Array;
  readonly size: number;
  readonly isWeighted = false;
  readonly hasEntries: boolean;
  readonly entryCost: Float64Array;
  readonly entryHops: Float64Array;
  readonly #graph: Graph;
  readonly #tree: SpanningTree;
  /** Another tree, unless the graph is one. */
  readonly #other: SpanningTree | null;
  /** Index of each node of the graph; -1: not to be covered. */
  readonly #indexOf: Int32Array;

  /** For the nodes of `required`; those of a graph without weights. */
  constructor(graph: Graph, required: Int32Array, fromEntries: Reach | null) {
    const { nodeCount } = graph;
    this.#graph = graph;
    const tree = new SpanningTree(graph, required, 'broad');
    this.#tree = tree;
    this.#other = graph.linkCount < nodeCount && tree.isWhole ? null : new SpanningTree(graph, required, 'deep');
    this.size = required.length;
    // Nodes near each other get close indices, and share cache lines.
    const wanted = new Uint8Array(nodeCount);
    for (const v of required) wanted[v] = 1;
    this.nodes = tree.order.filter((v) => wanted[v] === 1);
    this.#indexOf = new Int32Array(nodeCount).fill(-1);
    this.entryCost = new Float64Array(this.size);
    this.entryHops = new Float64Array(this.size);
    this.hasEntries = fromEntries !== null;
    for (let i = 0; i < this.size; i++) {
      const v = this.nodes[i]!;
      this.#indexOf[v] = i;
      if (fromEntries === null) continue;
      this.entryCost[i] = fromEntries.cost[v]!;
      this.entryHops[i] = fromEntries.hops[v]!;
    }
  }

  costBetween(a: number, b: number): number {
    return this.hopsBetween(a, b);
  }

  hopsBetween(a: number, b: number): number {
    const { nodes } = this;
    const v = nodes[a]!;
    const u = nodes[b]!;
    const hops = this.#tree.hops(v, u);
    if (hops < 2 || this.#other === null) return hops;
    const its = this.#other.hops(v, u);
    if (its < 2) return its;
    return this.#graph.positionOf(v, u) >= 0 ? 1 : Math.min(hops, its);
  }

  /** By breadth-first search, limited in links per node and in nodes. */
  nearest(width: number, random: Random): Int32Array {
    const { size, nodes } = this;
    const indexOf = this.#indexOf;
    const { nodeCount, first, neighbours } = this.#graph;
    const near = new Int32Array(size * width);
    const seen = new Int32Array(nodeCount).fill(-1);
    const most = MOST_LOOKS * (width + 1);
    const queue = new Int32Array(most + LOOKED_AT);
    for (let i = 0; i < size; i++) {
      let count = 0;
      let tail = 0;
      queue[tail++] = nodes[i]!;
      seen[nodes[i]!] = i;
      for (let head = 0; head < tail && tail < most && count < width; head++) {
        const v = queue[head]!;
        const begin = first[v]!;
        const degree = first[v + 1]! - begin;
        if (degree === 0) continue;
        let at = random.uint32() % degree;
        for (let looks = Math.min(degree, LOOKED_AT); looks > 0 && count < width; looks--) {
          const u = neighbours[begin + at]!;
          if (++at === degree) at = 0;
          if (seen[u] === i) continue;
          seen[u] = i;
          queue[tail++] = u;
          if (indexOf[u]! >= 0) near[i * width + count++] = indexOf[u]!;
        }
      }
      for (; count < width; count++) near[i * width + count] = i;
    }
    return near;
  }
}
