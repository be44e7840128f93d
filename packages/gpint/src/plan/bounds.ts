import type { Graph } from '../graph/graph.js';
import { maskedNodes } from '../graph/mask.js';
import { farthest, reachByHops } from '../graph/reach.js';
import { costFloor } from './cost-floor.js';
import type { Bounds } from './plan.js';
import { cutNodes, hangingJoints, neighbourhood, type Separator, separatorOf, smallerSides } from './separators.js';
import { treeVisits } from './tree-floor.js';

/** The instance of a lower bound. */
export interface BoundsQuestion {
  /** Number of paths, none of them empty. */
  readonly paths: number;
  /** Mask with 1 for each node at which a path may start; absent or `null`: any. */
  readonly entries?: Uint8Array | null;
  /** Mask with 1 for each node that must be visited; absent or `null`: all. */
  readonly required?: Uint8Array | null;
}

/** A lower bound that rises, and its reasons. */
class Floor {
  value: number;
  why: string;

  constructor(value: number, why: string) {
    this.value = value;
    this.why = why;
  }

  raise(value: number, why: string): void {
    if (value <= this.value) return;
    this.value = value;
    this.why = why;
  }
}

/** Most links per node of a graph whose links are all examined. */
const SPARSE = 16;

function countOf(mask: Uint8Array): number {
  let count = 0;
  for (let v = 0; v < mask.length; v++) count += mask[v]!;
  return count;
}

/** Sets of nodes that may raise a bound, one at a time. `matters(size, parts)` tells whether a set could at best. */
function* separators(
  graph: Graph,
  required: Uint8Array | null,
  entries: Uint8Array | null,
  matters: (size: number, parts: number) => boolean,
): Generator<Separator> {
  const { nodeCount } = graph;
  let degree = nodeCount;
  for (let v = 0; v < nodeCount; v++) degree = Math.min(degree, graph.degree(v));
  const candidates: (readonly [string, () => Uint8Array | null])[] = [['every second node', () => smallerSides(graph)]];
  // In dense graphs independent sets are small or a side of the graph, and examining all links is expensive.
  if (graph.linkCount <= SPARSE * nodeCount) {
    candidates.push(['the neighbours of nodes of low degree', () => neighbourhood(graph)]);
  }
  if (degree <= 1) candidates.push(['nodes at which hanging paths meet', () => hangingJoints(graph)]);
  // A part that hangs on one cut node has as many nodes as the lowest degree says; a tree of parts and cut nodes with l
  // leaves has no more than l cut nodes at which three parts meet, and 2 l parts without them.
  const hanging = Math.floor(nodeCount / Math.max(1, degree));
  if (matters(0, hanging) || matters(hanging, 2 * hanging)) {
    candidates.push(['nodes at which three or more parts meet', () => cutNodes(graph)]);
  }
  if (entries !== null) candidates.push(['the entry points', () => entries]);
  for (const [name, find] of candidates) {
    const inside = find();
    if (inside === null) continue;
    const size = countOf(inside);
    if (matters(size, nodeCount - size)) yield separatorOf(graph, inside, name, required, entries);
  }
}

/**
 * Lower bounds of the longest path and the overlap of all plans for an instance, in O(nodes + links) (for trees, and
 * with weights and entry points, times the logarithm of the nodes). No efficient bound is tight for all graphs, because
 * it would decide whether a Hamiltonian path exists. n is the number of required nodes, k the number of paths.
 *
 * - Visits: k paths have at least n visits in total, so the longest has at least n / k.
 * - Separators: let S be a set of nodes without which the graph falls into c parts with nodes to be visited. Between
 *   two parts a path must pass S, so that a path with s visits to S sees s + 1 parts at most: S is visited c - k times
 *   or more, |S| of which can be first visits. Hence an overlap of c - k - |S| or more, and as many visits in all as
 *   there are nodes outside S, and c - k. Also some path sees c / k parts, rounded up, and so has twice as many visits,
 *   less one. If all entry points lie in S a path sees s parts at most: read c for c - k, and no visit less.
 * - Trees: see `treeVisits`, for the visits in all.
 * - Entry points: a path must get from one to the node that is farthest from all; and k paths that begin at e entry
 *   points begin k - e times or more at one that was visited.
 * - Costs (only where links have weights, and `longest` is a cost): see `costFloor`.
 *
 * The sets S are: the smaller side of a bipartite graph, the neighbours of nodes of low degree, nodes at which hanging
 * paths meet, cut nodes, entry points.
 *
 * @throws RangeError unless `paths` is an integer of 1 or more
 */
export function lowerBounds(graph: Graph, question: BoundsQuestion): Bounds {
  const k = question.paths;
  const required = question.required ?? null;
  const entries = question.entries ?? null;
  if (!Number.isInteger(k) || k < 1) throw new RangeError(`paths must be an integer of 1 or more, not ${k}`);
  const { nodeCount } = graph;
  const n = required === null ? nodeCount : countOf(required);
  const most = Math.max(1, Math.ceil(n / k));
  const longest = new Floor(most, `${n} nodes on ${k} paths: one visits ${most} or more`);
  const overlap = new Floor(0, 'no overlap is known to be needed');
  const total = new Floor(Math.max(n, k), '');
  const starts = entries === null ? nodeCount : countOf(entries);
  overlap.raise(k - starts, `${k} paths begin at ${starts} ${entries === null ? 'nodes' : 'entry points'}`);

  const matters = (size: number, parts: number): boolean => {
    const slack = entries === null ? 1 : 0;
    const passes = parts - slack * k;
    const more = passes - (required === null ? size : 0) > total.value - n;
    return more || passes - size > overlap.value || 2 * Math.ceil(parts / k) - slack > longest.value;
  };
  for (const { name, size, requiredInside, parts, holdsEntries } of separators(graph, required, entries, matters)) {
    const passes = parts - (holdsEntries ? 0 : k);
    const label = `${name} (${size}) leave ${parts} parts`;
    overlap.raise(passes - size, `${label}: ${passes} visits to them or more`);
    total.raise(n - requiredInside + Math.max(requiredInside, passes), label);
    const seen = Math.ceil(parts / k);
    longest.raise(2 * seen - (holdsEntries ? 0 : 1), `${label}: some path sees ${seen} of them`);
  }
  const visits = n === nodeCount ? treeVisits(graph, k) : null;
  if (visits !== null) {
    overlap.raise(visits - n, `${k} walks make ${visits} visits or more in a tree`);
    total.raise(visits, `${k} walks in a tree`);
  }
  if (total.why !== '') {
    longest.raise(Math.ceil(total.value / k), `${total.why}: ${total.value} visits in all or more`);
  }
  if (entries !== null) {
    const { cost } = reachByHops(graph, maskedNodes(entries));
    const node = farthest(cost, required);
    const hops = cost[node] ?? 0;
    longest.raise(hops + 1, `${graph.names[node] ?? ''} is ${hops} links from the nearest entry point`);
  }
  const why = [`longest: ${longest.why}`, `overlap: ${overlap.why}`];
  if (graph.weights === null) return { longest: longest.value, overlap: overlap.value, why };
  const cost = costFloor(graph, { paths: k, entries, required, visits: most });
  return { longest: cost.value, overlap: overlap.value, why: [`longest: ${cost.why}`, why[1]!] };
}
