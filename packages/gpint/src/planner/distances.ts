import type { Random } from '@int/random';
import type { Graph } from '../graph/graph.js';
import { type Reach, reach } from '../graph/reach.js';
import type { Metric } from './metric.js';

/**
 * The distances for a search over few nodes: between each two of them, and from the nearest entry point. Indices are
 * those of `nodes`.
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

  /** `isOver` is evaluated before each node: whether the time limit is reached. If it was, do not use the closure. */
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
