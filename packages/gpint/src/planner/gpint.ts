import { Random } from '@int/random';
import { GpintError } from '../errors.js';
import { components, requireConnected } from '../graph/components.js';
import type { Graph } from '../graph/graph.js';
import { nodeMask } from '../graph/mask.js';
import { lowerBounds } from '../plan/bounds.js';
import { measurePlan } from '../plan/measure.js';
import { Paths, type Plan } from '../plan/plan.js';
import { type Phases, type Solution, solveCover } from './solve.js';

/** Options of {@link gpint}. */
export interface GpintOptions {
  /** Number of paths, 1 to 2^24. Beyond the number of nodes, paths repeat single nodes. */
  readonly paths: number;
  /** Seed of all randomness; default 1. The same seed gives the same plan, unless the time limit ends the search. */
  readonly seed?: number | string;
  /**
   * Time limit in milliseconds, after which the best plan so far is returned; default Infinity: the search ends when
   * nothing improves.
   */
  readonly budgetMs?: number;
  /**
   * Clock for `budgetMs`, in milliseconds that never decrease; default `performance.now`. With a clock that counts its
   * calls, a plan with a budget is the same on every machine.
   */
  readonly clock?: () => number;
  /** Nodes (numbers or names) at which paths may start; default: any. */
  readonly entries?: readonly (number | string)[];
  /**
   * Plan each component of a disconnected graph separately, with a share of the paths by size; default: refuse such a
   * graph.
   */
  readonly perComponent?: boolean;
  /** `'grow'`: only the first phase of the paper, for comparison. Default `'both'`. */
  readonly phases?: Phases;
}

const MOST_PATHS = 1 << 24;

/** Number of paths of each component: at least one, in proportion to its size (the largest share comes next). */
function sharesOf(sizes: Uint32Array, paths: number): Uint32Array {
  let low = 1;
  let high = Math.max(...sizes);
  const needed = (longest: number): number => sizes.reduce((sum, size) => sum + Math.ceil(size / longest), 0);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (needed(middle) <= paths) high = middle;
    else low = middle + 1;
  }
  const shares = sizes.map((size) => Math.ceil(size / low));
  let spare = paths - shares.reduce((sum, share) => sum + share, 0);
  const byShare = Array.from(sizes.keys()).sort((a, b) => sizes[b]! / shares[b]! - sizes[a]! / shares[a]! || a - b);
  for (const c of byShare) {
    const more = Math.min(spare, sizes[c]! - shares[c]!);
    if (more <= 0) continue;
    shares[c] = shares[c]! + more;
    spare -= more;
  }
  shares[0] = shares[0]! + spare;
  return shares;
}

/**
 * Plans `paths` probe paths that together visit every node of a graph: first the longest path is as short as possible,
 * then the overlap as small as possible, then the shortest path as long as possible. With weights, longest and shortest
 * refer to cost (the sum of the weights of a path's links), but the overlap still counts visits.
 *
 * After GPINT (G. Simsek, D. Ergenc, E. Onur, "Efficient Network Monitoring via In-band Telemetry", DRCN 2021; reliable
 * GPINT, section III-A): paths grow from the nodes of lowest degree, then exchange nodes until nothing improves. For up
 * to eleven nodes without weights the plan is optimal; for more, `optimal` tells whether it meets `lowerBounds`.
 *
 * @throws {@link GpintError} `ERR_GPINT_EMPTY_GRAPH`; `ERR_GPINT_DISCONNECTED`; `ERR_GPINT_NO_PLAN`: fewer paths than
 *   components, or a component without an entry; `ERR_GPINT_UNKNOWN_NODE`: an entry that is not a node
 * @throws RangeError for an invalid number of paths, budget or choice of phases
 */
export function gpint(graph: Graph, options: GpintOptions): Plan {
  const { paths, seed = 1, budgetMs = Number.POSITIVE_INFINITY, perComponent = false, phases = 'both' } = options;
  if (!Number.isInteger(paths) || paths < 1 || paths > MOST_PATHS) {
    throw new RangeError(`paths must be an integer from 1 to ${MOST_PATHS}, not ${paths}`);
  }
  if (!(budgetMs >= 0)) throw new RangeError(`budgetMs must be 0 or more, not ${budgetMs}`);
  if (phases !== 'both' && phases !== 'grow') throw new RangeError(`phases must be 'both' or 'grow', not ${phases}`);
  if (graph.nodeCount === 0) throw new GpintError('ERR_GPINT_EMPTY_GRAPH', 'the graph has no nodes');
  const clock = options.clock ?? ((): number => performance.now());
  const begun = clock();
  const entries = options.entries === undefined ? null : nodeMask(graph, options.entries);
  if (entries !== null && !entries.includes(1)) throw new GpintError('ERR_GPINT_NO_PLAN', 'there is no entry point');
  const random = new Random(seed).derive('gpint');
  const plan = (required: Uint8Array | null, share: number, index: number): Solution =>
    solveCover(
      {
        graph,
        paths: share,
        required,
        entries,
        initial: null,
        random: random.derive('component', index),
        budgetMs: budgetMs - (clock() - begun),
        clock,
        bound: lowerBounds(graph, { paths: share, entries, required }),
      },
      phases,
    );
  const { count, of, sizes } = components(graph);
  if (count === 1) {
    const { paths: found, optimal } = plan(null, paths, 0);
    return measurePlan(graph, found, 'gpint', optimal);
  }
  if (!perComponent) requireConnected(graph);
  if (paths < count) {
    throw new GpintError('ERR_GPINT_NO_PLAN', `${paths} paths are fewer than the ${count} components of the graph`);
  }
  const shares = sharesOf(sizes, paths);
  const all: Uint32Array[] = [];
  let optimal = true;
  for (let c = 0; c < count; c++) {
    const part = plan(
      Uint8Array.from(of, (its) => (its === c ? 1 : 0)),
      shares[c]!,
      c,
    );
    for (let p = 0; p < part.paths.count; p++) all.push(part.paths.path(p));
    optimal &&= part.optimal && count === 1;
  }
  return measurePlan(graph, Paths.from(all.map((path) => Array.from(path))), 'gpint', optimal);
}
