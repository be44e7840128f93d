/**
 * The problem that the GPINT planner solves: k walks that together visit every required node.
 *
 * Objective, in this order: required nodes left out (must be 0), longest walk, overlap (visits less distinct nodes
 * visited), spread (longest less shortest). With weights, the longest and the shortest are those by cost.
 */
import type { Random } from '@int/random';
import type { Graph } from '../graph/graph.js';
import type { Paths } from '../plan/plan.js';

export interface CoverProblem {
  /** Connected, unless every component has required nodes and gets paths of its own from the caller. */
  readonly graph: Graph;
  /** Number of walks, 1 or more; none is empty. */
  readonly paths: number;
  /** 1 for each node that must be visited; `null`: all. The others may be passed through. */
  readonly required: Uint8Array | null;
  /** 1 for each node at which a walk may start (first visit); `null`: any. */
  readonly entries: Uint8Array | null;
  /** A cover to start from (it may be bad, and may lack nodes); `null`: grow one. */
  readonly initial: Paths | null;
  readonly random: Random;
  /**
   * Time limit in milliseconds of `clock`, after which the best cover so far is returned. Infinity: the search ends
   * when nothing improves.
   */
  readonly budgetMs: number;
  readonly clock: () => number;
  /** Known lower bound. The search stops when a cover meets it. */
  readonly bound: { readonly longest: number; readonly overlap: number };
}
