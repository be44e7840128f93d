import { assemble } from './csr.js';
import type { Graph } from './graph.js';

/** A part of a graph, as a graph of its own. */
interface Surroundings {
  readonly graph: Graph;
  /** Number in the whole graph of each node of the part; the nodes asked for come first, in their order. */
  readonly whole: readonly number[];
}

/**
 * How far the part reaches at least, and the nodes for each node asked for at which it is large enough to reach half as
 * far.
 */
const LEAST_RADIUS = 2;
const ENOUGH = 32;

/**
 * The part of a graph around some nodes: all nodes up to some distance from one of them, 2 (in dense graphs 1) or as
 * much more as it takes to make the part connected. Ways between two of the nodes of twice that length or less are as
 * short in the part as in the whole. O(nodes, and links of the part): what is far away is not looked at.
 *
 * @param nodes different nodes of one component, one or more
 */
export function surroundings(graph: Graph, nodes: readonly number[]): Surroundings {
  const { first, neighbours, links, weights } = graph;
  /** Number in the part, from 1. */
  const local = new Uint32Array(graph.nodeCount);
  const whole = [...nodes];
  /** Which of the nodes asked for a node of the part was reached from, as a forest of those found to be connected. */
  const origin = nodes.map((_, i) => i);
  const root = nodes.map((_, i) => i);
  const rootOf = (i: number): number => {
    let top = i;
    while (root[top] !== top) {
      root[top] = root[root[top]!]!;
      top = root[top]!;
    }
    return top;
  };
  for (const [i, v] of nodes.entries()) local[v] = i + 1;
  let apart = nodes.length;
  let head = 0;
  const isNarrow = (radius: number): boolean =>
    radius === 0 || (radius < LEAST_RADIUS && whole.length < ENOUGH * nodes.length);
  for (let radius = 0; (apart > 1 || isNarrow(radius)) && head < whole.length; radius++) {
    for (const end = whole.length; head < end; head++) {
      const v = whole[head]!;
      const mine = origin[head]!;
      for (let i = first[v]!; i < first[v + 1]!; i++) {
        const u = neighbours[i]!;
        if (local[u] === 0) {
          local[u] = whole.push(u);
          origin.push(mine);
          continue;
        }
        const [a, b] = [rootOf(mine), rootOf(origin[local[u]! - 1]!)];
        if (a === b) continue;
        root[a] = b;
        apart--;
      }
    }
  }
  const from: number[] = [];
  const to: number[] = [];
  const costs: number[] = [];
  for (const [i, v] of whole.entries()) {
    for (let j = first[v]!; j < first[v + 1]!; j++) {
      const u = local[neighbours[j]!]! - 1;
      if (u <= i) continue;
      from.push(i);
      to.push(u);
      if (weights !== null) costs.push(weights[links[j]!]!);
    }
  }
  const part = assemble(
    whole.map((v) => graph.names[v]!),
    from.length,
    Uint32Array.from(from),
    Uint32Array.from(to),
    weights === null ? null : Float64Array.from(costs),
  );
  return { graph: part.graph, whole };
}
