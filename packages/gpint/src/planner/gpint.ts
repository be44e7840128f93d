import { Random } from '@int/random';
import { GpintError } from '../errors.js';
import { components, isConnected, requireConnected } from '../graph/components.js';
import type { Graph } from '../graph/graph.js';
import { nodeMask } from '../graph/mask.js';
import { lowerBounds } from '../plan/bounds.js';
import { measurePlan } from '../plan/measure.js';
import { Paths, type Plan } from '../plan/plan.js';
import { type Phases, solveWith } from './solve.js';

/** What {@link gpint} is asked for. */
export interface GpintOptions {
  /** Number of paths, 1 to 2^24. Beyond the number of nodes, paths repeat single nodes. */
  readonly paths: number;
  /** Seed of all that is random; default 1. The same seed gives the same plan, unless time runs out. */
  readonly seed?: number | string;
  /** Milliseconds after which the best plan so far is returned; default Infinity: when nothing improves. */
  readonly budgetMs?: number;
  /**
   * What `budgetMs` is measured by, in milliseconds that never decrease; default `performance.now`. A clock that counts its
   * calls makes a plan with a budget the same on every machine.
   */
  readonly clock?: () => number;
  /** Nodes (numbers or names) at which paths may start; default: any. */
  readonly entries?: readonly (number | string)[];
  /** Plan each component of a graph on its own, with a share of the paths by size; default: refuse such a graph. */
  readonly perComponent?: boolean;
  /** `'grow'`: the first phase of the paper alone, for comparison. Default `'both'`. */
  readonly phases?: Phases;
}

const MOST_PATHS = 1 << 24;

/** Paths for each component: in proportion to its size, at least one, as balanced as can be (by largest share next). */
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
 * Plans `paths` probe paths that together visit every node of a graph: the longest as short as can be, then as little
 * overlap as can be, then the shortest as long as can be. Where links have weights, longest and shortest are by cost (the
 * sum of the weights of a path's links) and the overlap counts visits all the same.
 *
 * After GPINT (G. Simsek, D. Ergenc, E. Onur, "Efficient Network Monitoring via In-band Telemetry", DRCN 2021; reliable
 * GPINT, section III-A): paths are grown from the nodes of lowest degree, then exchange nodes until nothing improves. Up to
 * eleven nodes without weights the plan is optimal; above, `optimal` tells whether it meets `lowerBounds`.
 *
 * @throws {@link GpintError} `ERR_GPINT_EMPTY_GRAPH`; `ERR_GPINT_DISCONNECTED`; `ERR_GPINT_NO_PLAN`: fewer paths than components, or a component without
 * an entry; `ERR_GPINT_UNKNOWN_NODE`: an entry that is no node
 * @throws RangeError for a number of paths, a budget or a choice of phases that cannot be
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
  const plan = (required: Uint8Array | null, share: number, index: number): ReturnType<typeof solveWith> =>
    solveWith(
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
  if (isConnected(graph)) {
    const { paths: found, optimal } = plan(null, paths, 0);
    return measurePlan(graph, found, 'gpint', optimal);
  }
  if (!perComponent) requireConnected(graph);
  const { count, of, sizes } = components(graph);
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
