import type { Graph } from './graph.js';
import { LinkList } from './link-list.js';

/** A part of a graph as a separate graph. */
interface Surroundings {
  readonly graph: Graph;
  /** Number of each node in the whole graph. The given nodes come first, in their order. */
  readonly whole: readonly number[];
}

/** Least radius of the part, and its number of nodes per given node from which half the radius suffices. */
const LEAST_RADIUS = 2;
const ENOUGH = 32;

/**
 * The part of a graph around some nodes: all nodes within some distance of one of them. The distance is 2 (1 in dense
 * graphs), or as large as needed to make the part connected. A path between two of the nodes of at most twice that
 * length is as short in the part as in the whole graph. O(nodes + links of the part): distant links are not visited.
 *
 * @param nodes one or more distinct nodes of one component
 */
export function surroundings(graph: Graph, nodes: readonly number[]): Surroundings {
  const { first, neighbours, links, weights } = graph;
  /** Number in the part, from 1. */
  const local = new Uint32Array(graph.nodeCount);
  const whole = [...nodes];
  /** The given node from which a node was reached, as a forest of connected ones. */
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
  const list = new LinkList();
  for (const [i, v] of whole.entries()) {
    for (let j = first[v]!; j < first[v + 1]!; j++) {
      const u = local[neighbours[j]!]! - 1;
      if (u > i) list.add(i, u, weights?.[links[j]!]);
    }
  }
  return { graph: list.assemble(whole.map((v) => graph.names[v]!)).graph, whole };
}
