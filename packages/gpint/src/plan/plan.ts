/** The results of planners: paths and their properties. */
import type { Graph } from '../graph/graph.js';

/** The planner of a plan. */
export type Algorithm = 'gpint' | 'euler' | 'per-node';

/**
 * A list of paths: path p visits `visits[starts[p]]` to `visits[starts[p + 1] - 1]`. A path is a walk: consecutive
 * visits are neighbours, and a node may be visited more than once. Its length is its number of visits.
 */
export class Paths {
  readonly visits: Uint32Array;
  readonly starts: Uint32Array;

  /** Uses the arrays without copies. `starts` has one entry more than paths, begins with 0 and ascends. */
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

  /** The paths as names of a graph's nodes. */
  named(graph: Graph): string[][] {
    return Array.from({ length: this.count }, (_, p) => Array.from(this.path(p), (node) => graph.names[node]!));
  }
}

/** Lower bounds of all plans for an instance; see `lowerBounds`. */
export interface Bounds {
  /** Lower bound of the longest path (visits; cost if links have weights). */
  readonly longest: number;
  /** Lower bound of the overlap. */
  readonly overlap: number;
  /** The reasons of the two bounds as text, one line each. */
  readonly why: readonly string[];
}

/** The result of a planner. Lengths count visits. */
export interface Plan {
  readonly algorithm: Algorithm;
  readonly paths: Paths;
  /** Nodes that no path visits. Not empty only if a failure cut off nodes from every entry point. */
  readonly uncovered: readonly number[];
  readonly longest: number;
  readonly shortest: number;
  /** Total visits minus distinct visited nodes. */
  readonly overlap: number;
  /** Cost of the dearest and the cheapest path: the sum of its links' weights, or their number without weights. */
  readonly dearest: number;
  readonly cheapest: number;
  /** Whether the planner has proven that no plan is better (in the order longest, overlap). */
  readonly optimal: boolean;
}
