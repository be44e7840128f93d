import type { Graph } from '../graph/graph.js';
import { measurePlan } from '../plan/measure.js';
import type { Paths } from '../plan/plan.js';

/** The quality of a cover by the objective of `CoverProblem`. */
export interface Score {
  /** Required nodes that no walk visits. */
  readonly missing: number;
  /** Visits of the longest walk; cost of the dearest, where links have weights. */
  readonly longest: number;
  readonly overlap: number;
  readonly spread: number;
}

export function scoreOf(graph: Graph, paths: Paths, required: Uint8Array | null): Score {
  const plan = measurePlan(graph, paths, 'gpint', false, required);
  const { uncovered, overlap } = plan;
  const [longest, shortest] = graph.weights === null ? [plan.longest, plan.shortest] : [plan.dearest, plan.cheapest];
  return { missing: uncovered.length, longest, overlap, spread: longest - shortest };
}

export function isBetter(a: Score, b: Score): boolean {
  if (a.missing !== b.missing) return a.missing < b.missing;
  if (a.longest !== b.longest) return a.longest < b.longest;
  if (a.overlap !== b.overlap) return a.overlap < b.overlap;
  return a.spread < b.spread;
}
