import { GpintError } from '../errors.js';
import { requireConnected } from '../graph/components.js';
import type { Graph } from '../graph/graph.js';
import { measurePlan } from './measure.js';
import { Paths, type Plan } from './plan.js';

/** Walks over links that no trail has used. */
class Trails {
  readonly #graph: Graph;
  readonly #used: Uint8Array;
  /** Next entry of each row to examine. */
  readonly #next: Uint32Array;
  /** Unused links of each node. */
  readonly left: Uint32Array;
  readonly #stack: number[] = [];

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#used = new Uint8Array(graph.linkCount);
    this.#next = graph.first.slice(0, graph.nodeCount);
    this.left = new Uint32Array(graph.nodeCount);
    for (let v = 0; v < graph.nodeCount; v++) this.left[v] = graph.degree(v);
  }

  /** Uses a link of `v` and returns its other end; -1 if none is left. */
  #step(v: number): number {
    const { neighbours, links, first } = this.#graph;
    const end = first[v + 1]!;
    let i = this.#next[v]!;
    while (i < end && this.#used[links[i]!] === 1) i++;
    if (i === end) {
      this.#next[v] = i;
      return -1;
    }
    this.#next[v] = i + 1;
    this.#used[links[i]!] = 1;
    const u = neighbours[i]!;
    this.left[v] = this.left[v]! - 1;
    this.left[u] = this.left[u]! - 1;
    return u;
  }

  /**
   * Walks from `start` until no unused link is left. From a node with an odd number of unused links, the walk ends at
   * another such node.
   */
  walk(start: number): number[] {
    const trail = [start];
    for (let v = this.#step(start); v >= 0; v = this.#step(v)) trail.push(v);
    return trail;
  }

  /**
   * A circuit over every link that is left around `start`, all nodes having an even number left (Hierholzer): appended
   * to `out` with `start` at both ends, or once if nothing is left there.
   */
  circuit(start: number, out: number[]): void {
    const stack = this.#stack;
    stack.push(start);
    while (stack.length > 0) {
      const v = this.#step(stack[stack.length - 1]!);
      if (v >= 0) stack.push(v);
      else out.push(stack.pop()!);
    }
  }
}

/**
 * The paths of INT-Path (T. Pan et al., INFOCOM 2019): the fewest trails that cover every LINK exactly once. A
 * component with 2m nodes of odd degree has m trails, or one if m is 0; a node without links is a separate trail. Each
 * trail walks from an odd node until no link is left; circuits of the remaining links are then inserted (Hierholzer).
 * The lengths of the trails are not balanced, which GPINT improves. O(nodes + links).
 *
 * @param options.perComponent plan each component of a disconnected graph; default false
 * @throws {@link GpintError} `ERR_GPINT_EMPTY_GRAPH`; `ERR_GPINT_DISCONNECTED`, unless `perComponent` is set
 */
export function euler(graph: Graph, options: { readonly perComponent?: boolean } = {}): Plan {
  if (graph.nodeCount === 0) throw new GpintError('ERR_GPINT_EMPTY_GRAPH', 'the graph has no nodes');
  if (options.perComponent !== true) requireConnected(graph);
  const trails = new Trails(graph);
  const loose: number[][] = [];
  for (let v = 0; v < graph.nodeCount; v++) {
    if (trails.left[v]! % 2 === 1) loose.push(trails.walk(v));
  }
  const visits: number[] = [];
  const starts = [0];
  for (const trail of loose) {
    for (const v of trail) trails.circuit(v, visits);
    starts.push(visits.length);
  }
  // The remaining links are in components without odd nodes; the remaining nodes have no links.
  for (let v = 0; v < graph.nodeCount; v++) {
    if (trails.left[v]! === 0 && graph.degree(v) > 0) continue;
    trails.circuit(v, visits);
    starts.push(visits.length);
  }
  return measurePlan(graph, new Paths(Uint32Array.from(visits), Uint32Array.from(starts)), 'euler');
}
