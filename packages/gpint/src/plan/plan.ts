/** What planners return: paths, and how they were found. */
import type { Graph } from '../graph/graph.js';

/** Which planner made a plan. */
export type Algorithm = 'gpint' | 'euler' | 'per-node';

/**
 * Paths one after the other: path p visits `visits[starts[p]]` to `visits[starts[p + 1] - 1]`. A path is a walk: consecutive
 * visits are neighbours, and a node may be visited more than once. Its length is its number of visits.
 */
export class Paths {
  readonly visits: Uint32Array;
  readonly starts: Uint32Array;

  /** Takes the arrays as they are. `starts` has one entry more than paths, begins with 0 and ascends. */
  constructor(visits: Uint32Array, starts: Uint32Array) {
    this.visits = visits;
    this.starts = starts;
  }

  static from(paths: readonly (readonly number[])[]): Paths {
    const starts = new Uint32Array(paths.length + 1);
    for (const [p, path] of paths.entries()) starts[p + 1] = starts[p]! + path.length;
    const visits = new Uint32Array(starts[paths.length]!);
    for (const [p, path] of paths.entries()) visits.set(path, starts[p]!);
    return new Paths(visits, starts);
  }

  /** Number of paths. */
  get count(): number {
    return this.starts.length - 1;
  }

  /** Visits of path `p`; a view, not a copy. */
  path(p: number): Uint32Array {
    return this.visits.subarray(this.starts[p]!, this.starts[p + 1]!);
  }

  /** The paths with the names that a graph gives to its nodes. */
  named(graph: Graph): string[][] {
    return Array.from({ length: this.count }, (_, p) => Array.from(this.path(p), (node) => graph.names[node]!));
  }
}

/** A floor under every plan for an instance; see `lowerBounds`. */
export interface Bounds {
  /** No plan has a longest path shorter than this (visits; cost where links have weights). */
  readonly longest: number;
  /** No plan has less overlap than this. */
  readonly overlap: number;
  /** How the two were found, for people: one line each. */
  readonly why: readonly string[];
}

/** What a planner returns. Lengths are visits. */
export interface Plan {
  readonly algorithm: Algorithm;
  readonly paths: Paths;
  /** Nodes that no path visits: empty, but for nodes that a failure cut off from every entry point. */
  readonly uncovered: readonly number[];
  readonly longest: number;
  readonly shortest: number;
  /** Total visits less distinct nodes visited. */
  readonly overlap: number;
  /** Cost of the dearest and cheapest path: the sum of the weights of its links; its links, where there are none. */
  readonly dearest: number;
  readonly cheapest: number;
  /** Whether the planner has proven that no plan is better (in the order longest, overlap). */
  readonly optimal: boolean;
}
