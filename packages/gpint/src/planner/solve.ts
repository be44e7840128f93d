/** The planner: first the fast search for paths without overlap, then slower searches for the rest. */
import { GpintError } from '../errors.js';
import type { Graph } from '../graph/graph.js';
import { maskedNodes } from '../graph/mask.js';
import { type Reach, reach } from '../graph/reach.js';
import { Paths } from '../plan/plan.js';
import { anneal } from './anneal.js';
import { assembleWalks } from './assemble.js';
import { Cover } from './cover.js';
import { cutCover } from './cut.js';
import { Closure } from './distances.js';
import { EXACT_NODES, exactCover } from './exact.js';
import { Exchange } from './exchange.js';
import { grow } from './grow.js';
import { Hops } from './hops.js';
import type { Metric } from './metric.js';
import type { CoverProblem } from './problem.js';
import { isBetter, type Score, scoreOf } from './score.js';
import { SpanningTree } from './spanning-tree.js';
import { joinedTour, looseTour, type PieceCost, splitTour } from './split.js';
import { TreeMetric } from './tree-metric.js';
import { splitTree } from './tree-split.js';

/** Most nodes, and nodes times paths, for which distances between all of them are computed. */
const CLOSURE_NODES = 1200;
const CLOSURE_CELLS = 1 << 20;
/** Work (nodes examined or changed) without progress after which a search ends: a constant, and an amount per node. */
const PATIENCE = 2_500_000;
const PATIENCE_OF_FEW = 1500;
const PATIENCE_OF_MANY = 80;
/** Progress means an energy of at most this share of the previous one. */
const PROGRESS = 0.99;
/** Most work of a search in units of its patience; and of one that must fail. */
const MOST_PATIENCES = 25;
const HOPELESS_PATIENCES = 0.3;
/** Most nodes for a second search after a failure. */
const SECOND_CHANCE_NODES = 2000;
/** Number of lengths tried: each 0.5 % above the previous one, then 1 %, 1.5 %, ... */
const RUNGS = 8;
/** Paths of the cover of a large network, in units of those asked for, from which on there is no point in that. */
const TOO_MANY = 3;
/** Longest walk, in units of its floor, from which on overlap may be the better choice in a large network. */
const POOR = 1.1;

/** `'grow'` leaves out the second phase of the paper: for comparison. */
export type Phases = 'both' | 'grow';

export interface Solution {
  readonly paths: Paths;
  readonly optimal: boolean;
}

class Solver {
  readonly #problem: CoverProblem;
  readonly #graph: Graph;
  readonly #required: Int32Array;
  readonly #fromEntries: Reach | null;
  readonly #hops: Hops;
  readonly #begun: number;
  #best: Paths | null = null;
  #bestScore: Score | null = null;

  constructor(problem: CoverProblem) {
    this.#problem = problem;
    this.#graph = problem.graph;
    this.#begun = problem.budgetMs < Number.POSITIVE_INFINITY ? problem.clock() : 0;
    const { graph, required, entries } = problem;
    this.#required = required === null ? Int32Array.from(graph.names.keys()) : Int32Array.from(maskedNodes(required));
    this.#hops = new Hops(graph);
    const fromEntries = entries === null ? null : reach(graph, maskedNodes(entries));
    this.#fromEntries = fromEntries;
    const lost = fromEntries === null ? undefined : this.#required.find((v) => fromEntries.hops[v]! < 0);
    if (lost !== undefined) {
      throw new GpintError('ERR_GPINT_NO_PLAN', `no entry point reaches node "${graph.names[lost]}"`);
    }
  }

  readonly #isOver = (): boolean => {
    const { budgetMs, clock } = this.#problem;
    return budgetMs < Number.POSITIVE_INFINITY && clock() - this.#begun >= budgetMs;
  };

  #offer(paths: Paths): void {
    const score = scoreOf(this.#graph, paths, this.#problem.required);
    if (this.#bestScore === null || isBetter(score, this.#bestScore)) {
      this.#best = paths;
      this.#bestScore = score;
    }
  }

  #meetsBound(): boolean {
    const { bound } = this.#problem;
    const score = this.#bestScore;
    return score !== null && score.missing === 0 && score.longest <= bound.longest && score.overlap <= bound.overlap;
  }

  /** Whether no improvement is possible: the bound is met, and walks differ as little as possible. */
  #isPerfect(): boolean {
    const spread = this.#graph.weights === null ? 1 : 0;
    return this.#meetsBound() && this.#bestScore!.spread <= spread;
  }

  solve(phases: Phases): Solution {
    const graph = this.#graph;
    const required = this.#required;
    const { paths } = this.#problem;
    if (required.length === 0 || (this.#fromEntries === null && required.length <= paths)) return this.#singles();
    // For few nodes the exact search completes the first phase at once.
    const isGrown = phases === 'grow' || required.length <= EXACT_NODES;
    const orders = isGrown ? this.#pieces(this.#firstCover(0)) : this.#exchange();
    if (phases === 'both' && !this.#isPerfect() && !this.#isOver()) {
      const cells = required.length * Math.max(required.length, paths);
      if (required.length <= CLOSURE_NODES && cells <= CLOSURE_CELLS * 2) {
        const proven = this.#refine(orders);
        if (proven) return { paths: this.#best!, optimal: true };
      } else if (graph.weights === null && this.#bestScore!.overlap > 0 && !this.#meetsBound()) this.#settle(orders);
    }
    return { paths: this.#best!, optimal: this.#meetsBound() };
  }

  /** One visit for each node, and repeated nodes for the remaining paths. */
  #singles(): Solution {
    const nodes = this.#required.length > 0 ? this.#required : Int32Array.of(this.#filler());
    const { paths } = this.#problem;
    const visits = Uint32Array.from({ length: paths }, (_, p) => nodes[p % nodes.length]!);
    return {
      paths: new Paths(
        visits,
        Uint32Array.from({ length: paths + 1 }, (_, p) => p),
      ),
      optimal: true,
    };
  }

  /** A node that can be a walk by itself. */
  #filler(): number {
    const { entries } = this.#problem;
    return entries === null ? (this.#required[0] ?? 0) : Math.max(0, entries.indexOf(1));
  }

  /** The given cover without overlaps and without paths between nodes that are not neighbours; otherwise phase 1. */
  #firstCover(index: number): Cover {
    const graph = this.#graph;
    const { initial, required, paths, random } = this.#problem;
    if (initial === null) return grow(graph, required, paths, random.derive('grow', index));
    const cover = new Cover(graph.nodeCount);
    for (let p = 0; p < initial.count; p++) {
      let before = -1;
      for (const v of initial.path(p)) {
        if (cover.of[v]! >= 0 || (required !== null && required[v] !== 1)) continue;
        if (before >= 0 && graph.positionOf(before, v) >= 0) cover.append(cover.of[before]!, v);
        else cover.add(v);
        before = v;
      }
    }
    for (const v of this.#required) if (cover.of[v]! < 0) cover.add(v);
    return cover;
  }

  /**
   * Phase 2 over the links alone, for the shortest paths that can be and, as long as these are not found, for longer ones;
   * small networks get a second chance first. Where some overlap is known to be needed, one short search prepares what
   * follows; where there is some, the division of a spanning tree is another candidate. Offers what it finds, and returns
   * the orders of the best.
   */
  #exchange(): number[][] {
    const problem = this.#problem;
    const required = this.#required;
    const share = required.length / problem.paths;
    const shortest = Math.max(1, Math.floor(share));
    let longest = Math.ceil(share);
    if (this.#graph.weights === null) longest = Math.max(longest, Math.ceil(problem.bound.longest));
    let cover = this.#firstCover(0);
    const isHopeless = problem.bound.overlap > 0;
    let isFound = this.#search(cover, shortest, longest, 0, isHopeless ? HOPELESS_PATIENCES : MOST_PATIENCES);
    if (!isFound && !isHopeless && required.length <= SECOND_CHANCE_NODES && !this.#isOver()) {
      const second = this.#firstCover(1);
      isFound = this.#search(second, shortest, longest, 1, MOST_PATIENCES);
      if (isFound || second.count < cover.count) cover = second;
    }
    let orders = this.#pieces(cover);
    const isLarge = required.length > CLOSURE_NODES;
    const most = isLarge && !isHopeless ? TOO_MANY * problem.paths : problem.paths;
    for (let rung = 1; rung <= RUNGS && !isFound && cover.count <= most && !this.#isOver(); rung++) {
      longest += Math.max(1, Math.round((longest * rung) / 200));
      // Lower the shortest length by the same amount: the search gets stuck in a narrow range of lengths.
      const low = Math.max(1, shortest - Math.ceil(longest - share));
      isFound = this.#search(cover, low, longest, 1 + rung, MOST_PATIENCES);
      const before = this.#best;
      const found = this.#pieces(cover);
      if (this.#best !== before) orders = found;
    }
    if (this.#graph.weights !== null || this.#fromEntries !== null || this.#meetsBound() || this.#isOver())
      return orders;
    const isPoor = this.#bestScore!.longest > POOR * problem.bound.longest;
    if (isLarge && isPoor && cover.count <= problem.paths) orders = this.#better(orders, this.#joined(cover));
    if (this.#bestScore!.overlap > 0) {
      const tree = new SpanningTree(this.#graph, required, 'deep');
      orders = this.#better(orders, splitTree(tree, problem.paths, problem.required));
    }
    return orders;
  }

  /** Offers walks. Returns their orders if they are the best so far, otherwise the given ones. */
  #better(orders: number[][], offered: number[][] | null): number[][] {
    if (offered === null) return orders;
    const before = this.#best;
    this.#offerOrders(offered);
    return this.#best === before ? orders : offered;
  }

  /** The paths of a cover as one tour through nodes that they share, and its division. */
  #joined(cover: Cover): number[][] | null {
    return splitTour(joinedTour(this.#graph, cover, this.#hops), this.#problem.paths, this.#pieceCost());
  }

  #pieceCost(): PieceCost {
    return { base: this.#graph.weights === null ? 1 : 0, entry: this.#fromEntries?.cost ?? null };
  }

  /** Searches until a cover can be cut as requested, or nothing improves. Returns whether its pieces are few enough. */
  #search(cover: Cover, shortest: number, longest: number, index: number, most: number): boolean {
    const { paths, random } = this.#problem;
    const { length } = this.#required;
    const search = new Exchange(this.#graph, cover, paths, shortest, longest, random.derive('exchange', index));
    const patience = Math.min(PATIENCE, PATIENCE_OF_FEW * length) + PATIENCE_OF_MANY * length;
    let lowest = search.energy;
    let idle = 0;
    let total = 0;
    for (let step = 0; search.energy > 0 && idle < patience && total < most * patience; step++) {
      const work = search.step();
      idle += work;
      total += work;
      if (search.energy < lowest && search.energy <= lowest * PROGRESS) {
        lowest = search.energy;
        idle = 0;
      }
      if ((step & 255) === 255 && this.#isOver()) break;
    }
    return search.leastPieces <= paths;
  }

  /** Cuts and joins the paths of a cover to the requested number, and offers them. Returns their orders. */
  #pieces(cover: Cover): number[][] {
    const { paths } = this.#problem;
    const graph = this.#graph;
    const fromEntries = this.#fromEntries;
    if (cover.count <= paths && fromEntries === null && graph.weights === null) {
      const cut = cutCover(cover, paths);
      this.#offer(cut);
      return Array.from({ length: cut.count }, (_, p) => Array.from(cut.path(p)));
    }
    let found = cover.count <= paths ? splitTour(looseTour(graph, cover), paths, this.#pieceCost()) : null;
    if (found !== null) this.#offerOrders(found);
    if (found === null || fromEntries !== null) {
      const joined = this.#joined(cover);
      if (joined === null && found === null) {
        const message = `${paths} paths are fewer than the parts of the graph to be visited`;
        throw new GpintError('ERR_GPINT_NO_PLAN', message);
      }
      found = this.#better(found ?? joined!, joined);
    }
    return found;
  }

  #offerOrders(orders: readonly (readonly number[])[]): void {
    const { graph, paths, entries } = this.#problem;
    const isSmall = this.#required.length <= CLOSURE_NODES;
    const parts = { graph, hops: this.#hops, entries, fromEntries: this.#fromEntries, isSmall, filler: this.#filler() };
    const all = Array.from({ length: paths }, (_, p) => orders[p] ?? []);
    this.#offer(assembleWalks(parts, all));
  }

  /** The same search as the last of `refine`, for large networks: with distances in a spanning tree, and cut short. */
  #settle(orders: readonly (readonly number[])[]): void {
    const metric = new TreeMetric(this.#graph, this.#required, this.#fromEntries);
    if (!this.#isOver()) this.#improve(metric, orders);
  }

  #improve(metric: Metric, orders: readonly (readonly number[])[]): void {
    const { paths, random, bound } = this.#problem;
    const indexOf = new Int32Array(this.#graph.nodeCount);
    for (let i = 0; i < metric.size; i++) indexOf[metric.nodes[i]!] = i;
    const goal = { longest: bound.longest, visits: bound.overlap + this.#required.length, isOver: this.#isOver };
    const begun = orders.map((order) => order.map((v) => indexOf[v]!));
    const found = anneal({ metric, paths, random: random.derive('anneal'), ...goal }, begun);
    this.#offerOrders(found.map((order) => order.map((i) => metric.nodes[i]!)));
  }

  /** Searches that need the distances between all nodes. Returns whether the result is proven to be the best. */
  #refine(orders: readonly (readonly number[])[]): boolean {
    const graph = this.#graph;
    const required = this.#required;
    const closure = new Closure(graph, required, this.#fromEntries, this.#isOver);
    if (this.#isOver()) return false;
    if (required.length <= EXACT_NODES) {
      this.#offerOrders(exactCover(closure, this.#problem.paths).map((order) => order.map((i) => required[i]!)));
      return graph.weights === null && required.length === graph.nodeCount;
    }
    this.#improve(closure, orders);
    return false;
  }
}

/**
 * Solves a {@link CoverProblem}. The result covers every required node, whatever the budget. With a budget of Infinity the effort is bounded by the size of the problem: up to ten
 * searches by exchange, each of which ends after work for 2.5 million nodes, and 80 for each node, without progress. Where
 * the floor is not met, there follow: for up to 1,200 required nodes, at most eight schedules of annealing of 4,000 steps,
 * and 400 for each node (250,000 at most), and one of 100 for each; for more of them, if there is overlap and links have no
 * weights, one of 400 steps for each node (1.5 million at most), with distances in a spanning tree. Up to eleven required
 * nodes, the result is exact instead.
 */
export function solveCover(problem: CoverProblem, phases: Phases = 'both'): Solution {
  return new Solver(problem).solve(phases);
}
