/** Repair of a plan after links or switches have failed. */
import { Random } from '@int/random';
import { components } from '../graph/components.js';
import type { Graph } from '../graph/graph.js';
import { nodeMask, nodeNumber } from '../graph/mask.js';
import { surroundings } from '../graph/surroundings.js';
import { withoutLinks } from '../graph/without.js';
import { solveCover } from '../planner/solve.js';
import { lowerBounds } from './bounds.js';
import { measurePlan } from './measure.js';
import { Paths, type Plan } from './plan.js';

/** What has failed. Nodes by name or number. Links that the graph does not have are passed over. */
export interface Failure {
  readonly links?: readonly (readonly [number | string, number | string])[];
  readonly nodes?: readonly (number | string)[];
}

/** How a plan is repaired. */
export interface ReplanOptions {
  /** Seed of the search; default 1. */
  readonly seed?: number | string;
  /** Milliseconds for the search, which otherwise ends when nothing improves. */
  readonly budgetMs?: number;
  /** Nodes at which new paths may begin, by name or number; absent: any. */
  readonly entries?: readonly (number | string)[];
}

/** A repaired plan. */
export interface Replan {
  /** Path p is what has become of path p of the plan before; paths added are the last. */
  readonly plan: Plan;
  /** Numbers of the paths that are as they were. */
  readonly kept: readonly number[];
  /** Numbers of those that are not: repaired ones, then added ones. */
  readonly changed: readonly number[];
  /** What is left: the same nodes with the same numbers, failed ones without links. */
  readonly graph: Graph;
}

function brokenPaths(paths: Paths, failed: Uint8Array, isDead: (a: number, b: number) => boolean): number[] {
  const { visits, starts } = paths;
  const broken: number[] = [];
  for (let p = 0; p < paths.count; p++) {
    for (let i = starts[p]!; i < starts[p + 1]!; i++) {
      const v = visits[i]!;
      if (failed[v] === 1 || (i > starts[p]! && isDead(visits[i - 1]!, v))) {
        broken.push(p);
        break;
      }
    }
  }
  return broken;
}

/** A part of the network in which nodes have lost their paths. */
interface Part {
  /** Nodes that need a path again. */
  readonly wanted: number[];
  /** The same, in the order of the broken paths. */
  readonly pieces: number[][];
  paths: number;
}

/** Shares paths out: each part gets one, and then always the one with most nodes a path, while it has more nodes. */
function share(parts: readonly Part[], available: number): void {
  let left = available;
  for (const part of parts) {
    part.paths = 1;
    left--;
  }
  for (; left > 0; left--) {
    let neediest: Part | null = null;
    for (const part of parts) {
      if (part.paths >= part.wanted.length) continue;
      if (neediest === null || part.wanted.length * neediest.paths > neediest.wanted.length * part.paths)
        neediest = part;
    }
    if (neediest === null) return;
    neediest.paths++;
  }
}

/**
 * New paths through what one part has lost, from the pieces of the broken ones. Without entry points, which may be
 * anywhere, only the surroundings are looked at: the repair of a big network takes no longer than that of a small one.
 */
function plannedPart(
  graph: Graph,
  part: Part,
  entries: Uint8Array | null,
  random: Random,
  budgetMs: number,
): number[][] {
  const { wanted, pieces, paths } = part;
  if (entries === null && wanted.length === paths) return wanted.map((v) => [v]);
  const near = entries === null ? surroundings(graph, wanted) : null;
  const field = near?.graph ?? graph;
  const required = new Uint8Array(field.nodeCount);
  for (const [i, v] of wanted.entries()) required[near === null ? v : i] = 1;
  const numbers = new Map(wanted.map((v, i) => [v, near === null ? v : i]));
  const solution = solveCover({
    graph: field,
    paths,
    required,
    entries,
    initial: Paths.from(pieces.map((piece) => piece.map((v) => numbers.get(v)!))),
    random,
    budgetMs,
    clock: () => performance.now(),
    bound: lowerBounds(field, { paths, required, entries }),
  });
  return Array.from({ length: paths }, (_, p) =>
    Array.from(solution.paths.path(p), (v) => (near === null ? v : near.whole[v]!)),
  );
}

/** Gives each new path the number of the broken path that it shares most with and that is free; the rest stay over. */
function matched(found: readonly number[][], broken: readonly number[], paths: Paths): (number[] | null)[] {
  const owners = new Map<number, number[]>();
  for (const [slot, p] of broken.entries()) {
    for (const v of new Set(paths.path(p))) {
      const slots = owners.get(v);
      if (slots === undefined) owners.set(v, [slot]);
      else slots.push(slot);
    }
  }
  const pairs: { readonly path: number; readonly slot: number; readonly common: number }[] = [];
  for (const [path, nodes] of found.entries()) {
    const common = new Map<number, number>();
    for (const v of new Set(nodes)) {
      for (const slot of owners.get(v) ?? []) common.set(slot, (common.get(slot) ?? 0) + 1);
    }
    for (const [slot, count] of common) pairs.push({ path, slot, common: count });
  }
  pairs.sort((a, b) => b.common - a.common || a.slot - b.slot || a.path - b.path);
  const slots: (number[] | null)[] = broken.map(() => null);
  const placed = new Uint8Array(found.length);
  for (const { path, slot } of pairs) {
    if (placed[path] === 1 || slots[slot] !== null) continue;
    slots[slot] = found[path]!;
    placed[path] = 1;
  }
  let free = 0;
  for (const [path, nodes] of found.entries()) {
    if (placed[path] === 1) continue;
    while (free < broken.length && slots[free] !== null) free++;
    slots[free++] = nodes;
  }
  return slots;
}

/**
 * Repairs a plan after a failure, and touches only what is broken: paths that use none of what failed stay as they are,
 * visit by visit. The nodes that only broken paths visited are planned anew on what is left of the network, with as
 * many paths as were broken, so that the number of paths stays the same, and path p keeps its number.
 *
 * - Nodes that cannot be reached, because they failed or because no entry point is left in their part of the network,
 *   are in `plan.uncovered`. Nothing is thrown for them.
 * - A failure that cuts the network into more parts with nodes to visit than paths were broken adds paths, one for each
 *   part that would have none.
 * - A broken path for which there is nothing left to visit becomes a single visit: to a node of its own that is still
 *   there, else to any node. Only if no node is left (with entry points: no entry point) it is gone, and the paths kept
 *   move up.
 *
 * Apply it to `graph` and `plan` of a {@link Replan} for the next failure, and to the first graph again once all is
 * well.
 *
 * @param graph the graph that the plan was made for
 * @throws {@link GpintError} `ERR_GPINT_UNKNOWN_NODE` for nodes that are not in the graph
 */
export function replan(graph: Graph, plan: Plan, failure: Failure, options: ReplanOptions = {}): Replan {
  const failed = nodeMask(graph, failure.nodes ?? []);
  const dead = new Uint8Array(graph.linkCount);
  for (const [a, b] of failure.links ?? []) {
    const link = graph.linkBetween(nodeNumber(graph, a), nodeNumber(graph, b));
    if (link >= 0) dead[link] = 1;
  }
  for (let v = 0; v < graph.nodeCount; v++) {
    if (failed[v] === 0) continue;
    for (let i = graph.first[v]!; i < graph.first[v + 1]!; i++) dead[graph.links[i]!] = 1;
  }
  const entries = options.entries === undefined ? null : nodeMask(graph, options.entries);
  if (entries !== null) {
    for (let v = 0; v < graph.nodeCount; v++) entries[v] = entries[v]! & ~failed[v]!;
  }
  const left = withoutLinks(graph, dead);
  const { paths } = plan;
  const broken = brokenPaths(paths, failed, (a, b) => dead[graph.linkBetween(a, b)] === 1);
  if (broken.length === 0) {
    // Fewer links allow no better plan than was there before.
    return { plan, kept: Array.from({ length: paths.count }, (_, p) => p), changed: [], graph: left };
  }

  const isBroken = new Uint8Array(paths.count);
  for (const p of broken) isBroken[p] = 1;
  const covered = new Uint8Array(graph.nodeCount);
  for (let p = 0; p < paths.count; p++) {
    if (isBroken[p] === 1) continue;
    for (const v of paths.path(p)) covered[v] = 1;
  }
  const { count, of } = components(left);
  const reachable = new Uint8Array(count).fill(entries === null ? 1 : 0);
  for (let v = 0; v < graph.nodeCount; v++) {
    if (entries?.[v] === 1) reachable[of[v]!] = 1;
  }
  const parts = new Map<number, Part>();
  for (const p of broken) {
    let piece: number[] = [];
    let pieceOf: Part | null = null;
    for (const v of paths.path(p)) {
      if (covered[v] === 1 || failed[v] === 1 || reachable[of[v]!] === 0) continue;
      covered[v] = 1;
      let part = parts.get(of[v]!);
      if (part === undefined) {
        part = { wanted: [], pieces: [], paths: 0 };
        parts.set(of[v]!, part);
      }
      if (part !== pieceOf) {
        piece = [];
        part.pieces.push(piece);
        pieceOf = part;
      }
      part.wanted.push(v);
      piece.push(v);
    }
  }
  const lost = [...parts.values()];
  share(lost, broken.length);
  const found: number[][] = [];
  const random = new Random(options.seed ?? 1).derive('replan');
  const end = options.budgetMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + options.budgetMs;
  for (const [i, part] of lost.entries()) {
    const remaining = end === Number.POSITIVE_INFINITY ? end : Math.max(0, end - performance.now());
    for (const path of plannedPart(left, part, entries, random.derive('part', i), remaining)) found.push(path);
  }

  const slots = matched(found, broken, paths);
  const mayStart = (v: number): boolean => failed[v] === 0 && (entries === null || entries[v] === 1);
  const anywhere = failed.findIndex((_, v) => mayStart(v));
  const result: number[][] = [];
  const kept: number[] = [];
  const changed: number[] = [];
  let slot = 0;
  for (let p = 0; p < paths.count; p++) {
    if (isBroken[p] === 0) {
      kept.push(result.push(Array.from(paths.path(p))) - 1);
      continue;
    }
    const own = paths.path(p).find(mayStart) ?? anywhere;
    const path = slots[slot++] ?? (own >= 0 ? [own] : null);
    if (path !== null) changed.push(result.push(path) - 1);
  }
  for (; slot < slots.length; slot++) changed.push(result.push(slots[slot]!) - 1);
  return { plan: measurePlan(left, Paths.from(result), 'gpint'), kept, changed, graph: left };
}
