/** Repair of a plan after failures of links or switches. */
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

/** Failed nodes and links. Nodes are given by name or number. Unknown links are ignored. */
export interface Failure {
  readonly links?: readonly (readonly [number | string, number | string])[];
  readonly nodes?: readonly (number | string)[];
}

/** Options of a repair. */
export interface ReplanOptions {
  /** Seed of the search; default 1. */
  readonly seed?: number | string;
  /** Time limit of the search in milliseconds. Without it the search ends when nothing improves. */
  readonly budgetMs?: number;
  /** Nodes at which new paths may begin, by name or number; absent: any. */
  readonly entries?: readonly (number | string)[];
}

/** A repaired plan. */
export interface Replan {
  /** The new plan. Path p replaces path p of the old plan; added paths come last. */
  readonly plan: Plan;
  /** Numbers of the unchanged paths. */
  readonly kept: readonly number[];
  /** Numbers of the other paths: repaired ones, then added ones. */
  readonly changed: readonly number[];
  /** The remaining graph: the same nodes with the same numbers, failed nodes without links. */
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
  /** Nodes that need a new path. */
  readonly wanted: number[];
  /** The same, in the order of the broken paths. */
  readonly pieces: number[][];
  paths: number;
}

/**
 * Distributes paths: each part gets one, then always the part with the most nodes per path, while it has more nodes
 * than paths.
 */
function share(parts: readonly Part[], available: number): void {
  for (const part of parts) part.paths = 1;
  for (let left = available - parts.length; left > 0; left--) {
    const needy = parts.filter(({ paths, wanted }) => paths < wanted.length);
    if (needy.length === 0) return;
    needy.reduce((a, b) => (b.wanted.length * a.paths > a.wanted.length * b.paths ? b : a)).paths++;
  }
}

/**
 * New paths through the lost nodes of one part, from the pieces of the broken paths. Without entry points, which may be
 * anywhere, only the surroundings are searched, so a repair in a large network takes no longer than in a small one.
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

/** Gives each new path the free number of the broken path with which it shares most nodes; the rest get none. */
function matched(found: readonly number[][], broken: readonly number[], paths: Paths): (number[] | null)[] {
  const owners = new Map<number, number[]>();
  for (const [slot, p] of broken.entries()) {
    for (const v of new Set(paths.path(p))) owners.set(v, [...(owners.get(v) ?? []), slot]);
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
 * Repairs a plan after a failure, and changes only broken paths: paths without failed nodes and links keep all their
 * visits. Nodes that only broken paths visited get new paths in the remaining network, as many as were broken. So the
 * number of paths and their numbering stay the same.
 *
 * - Nodes that failed, or whose part of the network has no entry point left, are in `plan.uncovered`. They cause no
 *   exception.
 * - If a failure cuts the network into more parts with required nodes than broken paths, each part without a path gets
 *   an additional one.
 * - A broken path without remaining nodes becomes a single visit: to one of its own remaining nodes, otherwise to any
 *   node. It disappears only if no node (with entry points: no entry point) is left; then the kept paths move up.
 *
 * For the next failure, apply it to `graph` and `plan` of the {@link Replan}. Return to the original graph after all
 * repairs.
 *
 * @param graph the graph of the plan
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
    // Fewer links allow no better plan than before.
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
