/** Paths from the monitor's entry switches to the start of a probe. */
import type { Graph } from '../graph/graph.js';
import { reachByHops } from '../graph/reach.js';
import type { PrefixFinder } from './model.js';

const NO_NODES: readonly number[] = /* @__PURE__ */ Object.freeze([]);

/**
 * A {@link PrefixFinder} over a graph: shortest paths (breadth first, the lowest neighbour first), if possible around
 * links and switches to avoid. Attempt a takes the a-th nearest entry (cyclically), so that a dead entry or a lossy
 * path to it does not block the others. Paths longer than `maxHops` are excluded; if none is left, the shortest path is
 * taken regardless of failures. Empty if no entry reaches the target.
 *
 * @param entries entry nodes, at least one
 */
export function prefixFinder(graph: Graph, entries: readonly number[], maxHops: number): PrefixFinder {
  const isEntry = new Uint8Array(graph.nodeCount);
  for (const entry of entries) isEntry[entry] = 1;
  const towards = new Int32Array(graph.nodeCount);
  const distance = new Int32Array(graph.nodeCount);
  const queue = new Int32Array(graph.nodeCount);

  /** Searches from the target; fills `towards` with the next switch to it. @returns entries, nearest first */
  function search(target: number, avoid: ((from: number, to: number) => boolean) | null): number[] {
    towards.fill(-1);
    towards[target] = target;
    distance[target] = 0;
    queue[0] = target;
    const found: number[] = [];
    for (let head = 0, tail = 1; head < tail; head++) {
      const node = queue[head]!;
      if (distance[node]! > maxHops) break;
      if (isEntry[node] === 1) found.push(node);
      for (let at = graph.first[node]!; at < graph.first[node + 1]!; at++) {
        const next = graph.neighbours[at]!;
        if (towards[next] !== -1 || avoid?.(next, node)) continue;
        towards[next] = node;
        distance[next] = distance[node]! + 1;
        queue[tail++] = next;
      }
    }
    return found;
  }

  return ({ target, attempt, avoid }) => {
    let found = search(target, avoid);
    if (found.length === 0) found = search(target, null);
    if (found.length === 0) return NO_NODES;
    const prefix: number[] = [];
    for (let node = found[attempt % found.length]!; node !== target; node = towards[node]!) prefix.push(node);
    return prefix;
  };
}

/** Largest distance in hops of a switch from its nearest entry. */
export function farthestFromEntries(graph: Graph, entries: readonly number[]): number {
  return reachByHops(graph, entries).hops.reduce((most, hops) => Math.max(most, hops), 0);
}
