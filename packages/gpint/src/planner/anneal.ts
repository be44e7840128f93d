/**
 * Phase 2 of GPINT where paths have to share nodes, where links have weights or where walks have entry points: the transfer
 * of nodes and segments (options (a) and (b) of the paper) between walks that may pass through any node (option (c)).
 *
 * A walk is the order of the nodes that it covers; from each to the next it takes a shortest way. Simulated annealing
 * (S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Science 220, 1983) over relocations of up to three nodes, exchanges of two,
 * exchanges of tails and reversals, between nodes that are near each other.
 */
import type { Random } from '@int/random';
import { Energy } from './energy.js';
import { Listing } from './listing.js';
import type { Metric } from './metric.js';
import { Draft, Routes } from './routes.js';

/** Number of nearest nodes beside which a node may move. */
const NEAR = 10;
const HOT = 1;
const COLD = 0.06;
/** Start of a schedule that begins with good routes. */
const WARM = 0.3;
/** Growth of the weight of cost above the mean from the start to the end of the schedule. */
const GROWTH = 30;
/** Nodes above which such a schedule is all that there is time for, and its steps: at most, and for each node. */
const MANY = 1200;
const MOST_STEPS = 1_500_000;
const STEPS_OF_FEW = 100;
const STEPS_OF_MANY = 400;

/** The properties of a set of routes. */
interface Standing {
  longest: number;
  visits: number;
  spread: number;
}

interface Annealing {
  readonly metric: Metric;
  readonly paths: number;
  readonly random: Random;
  /** Whether the time limit is reached; evaluated occasionally. */
  readonly isOver: () => boolean;
  /** Known floors of the longest walk and of the visits of all. */
  readonly longest: number;
  readonly visits: number;
}

class Annealer {
  readonly #routes: Routes;
  readonly #random: Random;
  readonly #near: Int32Array;
  readonly #width: number;
  readonly #energy: Energy;
  readonly #a = new Draft();
  readonly #b = new Draft();
  #s = 0;
  #t = 0;
  readonly #leastAim: number;
  /** Nodes of the routes that were changed. */
  #moved = 0;
  /** Routes dearer than the most allowed, and those without nodes. */
  readonly #over: Listing;
  readonly #empty: Listing;

  constructor(task: Annealing, routes: Routes) {
    this.#routes = routes;
    this.#random = task.random;
    this.#leastAim = task.longest;
    this.#over = new Listing(routes.count);
    this.#empty = new Listing(routes.count);
    this.#width = Math.min(NEAR, task.metric.size - 1);
    this.#near = task.metric.nearest(this.#width, task.random);
    let sum = 0;
    for (let r = 0; r < routes.count; r++) sum += routes.cost[r]!;
    this.#energy = new Energy(task.metric.isWeighted ? Math.max(sum / task.metric.size, Number.MIN_VALUE) : 1);
  }

  standing(): Standing {
    const { cost, visits, count } = this.#routes;
    let longest = 0;
    let shortest = Number.POSITIVE_INFINITY;
    let total = 0;
    for (let r = 0; r < count; r++) {
      if (cost[r]! > longest) longest = cost[r]!;
      if (cost[r]! < shortest) shortest = cost[r]!;
      total += visits[r]!;
    }
    return { longest, visits: total, spread: longest - shortest };
  }

  #total(): number {
    const routes = this.#routes;
    const energy = this.#energy;
    let total = 0;
    for (let r = 0; r < routes.count; r++) {
      total += energy.of(routes.cost[r]!, routes.visits[r]!);
      this.#list(r);
    }
    return total;
  }

  #list(r: number): void {
    this.#empty.set(r, this.#routes.length[r] === 0);
    this.#over.set(r, this.#routes.cost[r]! > this.#energy.most);
  }

  /** Drafts a change that puts some node beside one that is near it; false if there is none. */
  #propose(): boolean {
    const routes = this.#routes;
    const random = this.#random;
    const a = this.#a;
    const b = this.#b;
    const { of, at, length } = routes;
    let x = random.uint32() % routes.size;
    if (this.#over.count > 0 && (random.uint32() & 3) === 0) {
      const r = this.#over.draw(random);
      x = routes.nodeAt(r, random.uint32() % routes.length[r]!);
    } else if ((random.uint32() & 1) === 0) {
      // The dearest of three routes is the one to work on.
      for (let i = 0; i < 2; i++) {
        const other = random.uint32() % routes.size;
        if (routes.cost[of[other]!]! > routes.cost[of[x]!]!) x = other;
      }
    }
    const y = this.#near[x * this.#width + (random.uint32() % this.#width)]!;
    const s = of[x]!;
    const t = of[y]!;
    const i = at[x]!;
    const j = at[y]!;
    const endS = length[s]! - 1;
    const endT = length[t]! - 1;
    this.#s = s;
    this.#t = t;
    a.count = 0;
    b.count = 0;
    const draw = random.uint32();
    const kind = draw & 7;
    if (kind < 4) return this.#relocate(draw, s, i, endS, t, j, endT);
    if (kind === 4 && s === t && this.#empty.count > 0 && endS > 0) {
      // The part from `x` on becomes a route of its own.
      const cut = Math.max(1, i);
      this.#t = this.#empty.draw(random);
      a.forward(s, 0, cut - 1);
      b.forward(s, cut, endS);
      return true;
    }
    if (kind === 4 && s !== t) {
      // The node behind or before `y` changes places with `x`.
      const z = (draw & 8) === 0 ? j + 1 : j - 1;
      if (z < 0 || z > endT) return false;
      a.forward(s, 0, i - 1);
      a.forward(t, z, z);
      a.forward(s, i + 1, endS);
      b.forward(t, 0, z - 1);
      b.forward(s, i, i);
      b.forward(t, z + 1, endT);
      return true;
    }
    if (s === t) {
      const low = Math.min(i, j);
      const high = Math.max(i, j);
      if (high - low < 2) return false;
      const from = (draw & 8) === 0 ? low + 1 : low;
      const to = (draw & 8) === 0 ? high : high - 1;
      a.forward(s, 0, from - 1);
      a.backward(s, to, from);
      a.forward(s, to + 1, endS);
      return true;
    }
    switch ((draw >>> 3) & 3) {
      case 0:
        a.forward(s, 0, i);
        a.forward(t, j, endT);
        b.forward(t, 0, j - 1);
        b.forward(s, i + 1, endS);
        break;
      case 1:
        a.forward(t, 0, j);
        a.forward(s, i, endS);
        b.forward(s, 0, i - 1);
        b.forward(t, j + 1, endT);
        break;
      case 2:
        a.forward(s, 0, i);
        a.backward(t, j, 0);
        b.backward(s, endS, i + 1);
        b.forward(t, j + 1, endT);
        break;
      default:
        a.backward(t, endT, j);
        a.forward(s, i, endS);
        b.forward(s, 0, i - 1);
        b.backward(t, j - 1, 0);
    }
    return true;
  }

  /** Up to three nodes of `s` from place `i` on come to stand beside place `j` of `t`. */
  #relocate(draw: number, s: number, i: number, endS: number, t: number, j: number, endT: number): boolean {
    const a = this.#a;
    const b = this.#b;
    const more = (draw >>> 3) % 3;
    const ahead = (draw & 64) === 0;
    // The segment with `x` at one of its ends.
    const low = ahead ? i : Math.max(0, i - more);
    const high = ahead ? Math.min(endS, i + more) : i;
    const behind = (draw & 128) === 0;
    // `x` stands beside `y`: behind it, the segment begins with `x`; before it, the segment ends with `x`.
    const isForward = behind === ahead;
    if (s === t) {
      if (j >= low && j <= high) return false;
      const left = behind ? j : j - 1;
      if (left === low - 1 || left === high) {
        if (low === high || isForward) return false;
        a.forward(s, 0, low - 1);
        a.backward(s, high, low);
        a.forward(s, high + 1, endS);
        return true;
      }
      const draft = (from: number, to: number): void => {
        if (isForward) a.forward(s, from, to);
        else a.backward(s, to, from);
      };
      if (left < low) {
        a.forward(s, 0, left);
        draft(low, high);
        a.forward(s, left + 1, low - 1);
        a.forward(s, high + 1, endS);
      } else {
        a.forward(s, 0, low - 1);
        a.forward(s, high + 1, left);
        draft(low, high);
        a.forward(s, left + 1, endS);
      }
      return true;
    }
    a.forward(s, 0, low - 1);
    a.forward(s, high + 1, endS);
    const left = behind ? j : j - 1;
    b.forward(t, 0, left);
    if (isForward) b.forward(s, low, high);
    else b.backward(s, high, low);
    b.forward(t, left + 1, endT);
    return true;
  }

  /** Makes a change if it is an improvement, or by chance. Returns the change of the energy; 0: no change. */
  #step(heat: number): number {
    const routes = this.#routes;
    const random = this.#random;
    const energy = this.#energy;
    const a = this.#a;
    const b = this.#b;
    if (!this.#propose()) return 0;
    const s = this.#s;
    const t = this.#t;
    routes.judge(a);
    let change = energy.of(a.cost, a.visits) - energy.of(routes.cost[s]!, routes.visits[s]!);
    if (s !== t) {
      routes.judge(b);
      change += energy.of(b.cost, b.visits) - energy.of(routes.cost[t]!, routes.visits[t]!);
    }
    if (change > 0 && random.uint32() >= 4294967296 * Math.exp(-change / heat)) return 0;
    routes.make(s, a, t, b);
    this.#list(s);
    this.#list(t);
    this.#moved += routes.length[s]! + routes.length[t]!;
    return change;
  }

  /** One schedule from hot to cold. `keep` is told of every new lowest energy. */
  run(steps: number, aim: number, floor: number, keep: () => boolean, isOver: () => boolean): void {
    this.#energy.pursue(aim, floor);
    let energy = this.#total();
    let lowest = energy;
    let heat = HOT;
    const cooling = (COLD / HOT) ** (256 / steps);
    for (let step = 0; step < steps; step++) {
      if ((step & 255) === 255) {
        heat *= cooling;
        if (isOver()) return;
      }
      energy += this.#step(heat);
      if (energy < lowest - 1e-9) {
        lowest = energy;
        if (keep()) return;
      }
    }
  }

  /**
   * One schedule for routes that are good already: no route may become as dear as the dearest. The weight of a route
   * grows with its cost above the mean, so that nodes move to cheaper routes. `keep` is called occasionally.
   */
  level(keep: () => boolean, isOver: () => boolean): void {
    const routes = this.#routes;
    const steps = Math.min(MOST_STEPS, (routes.size > MANY ? STEPS_OF_MANY : STEPS_OF_FEW) * routes.size);
    let most = Math.max(this.#leastAim, this.standing().longest - 1);
    this.#aimAtMean(most, 1);
    this.#moved = 0;
    for (let step = 0, last = 0; step < steps; step++) {
      if ((step & 255) === 255) {
        // Changes of long routes take more time, which counts as steps.
        step += this.#moved >>> 7;
        this.#moved = 0;
        if (isOver()) return;
      }
      if (step - last >= routes.size) {
        last = step;
        if (keep()) return;
        if (this.#over.count === 0) most = Math.max(this.#leastAim, this.standing().longest - 1);
        this.#aimAtMean(most, GROWTH ** (step / steps));
      }
      this.#step(WARM * (COLD / WARM) ** (step / steps));
    }
    keep();
  }

  #aimAtMean(most: number, dear: number): void {
    const { cost, count } = this.#routes;
    let sum = 0;
    for (let r = 0; r < count; r++) sum += cost[r]!;
    this.#energy.level(Math.min(most, Math.max(this.#leastAim, Math.ceil(sum / count))), most, dear);
    this.#total();
  }
}

function improves(a: Standing, b: Standing): boolean {
  if (a.longest !== b.longest) return a.longest < b.longest;
  if (a.visits !== b.visits) return a.visits < b.visits;
  return a.spread < b.spread;
}

/** Steps of a schedule for so many nodes: enough for small networks to settle, and bounded for large ones. */
function stepsFor(size: number): number {
  return Math.min(250_000, 4000 + 400 * size);
}

/**
 * Orders of nodes (indices of the metric), one per path, no worse than the given ones. An order may be empty only if
 * some given one is. At most eight schedules.
 */
export function anneal(task: Annealing, orders: readonly (readonly number[])[]): number[][] {
  const { metric, paths } = task;
  if (metric.size < 2) return Array.from({ length: paths }, (_, r) => [...(orders[r] ?? [])]);
  const routes = new Routes(metric, paths, orders);
  const annealer = new Annealer(task, routes);
  const steps = stepsFor(metric.size);
  let best = annealer.standing();
  let bestOrders = routes.orders();
  const keep = (): boolean => {
    const now = annealer.standing();
    if (improves(now, best)) {
      best = now;
      bestOrders = routes.orders();
    }
    return best.longest <= task.longest && best.visits <= task.visits && best.spread <= (metric.isWeighted ? 0 : 1);
  };
  const floorOf = (): number => {
    let sum = 0;
    for (let r = 0; r < paths; r++) sum += routes.cost[r]!;
    return metric.isWeighted ? sum / paths : Math.floor(sum / paths);
  };
  if (metric.size > MANY) {
    annealer.level(keep, task.isOver);
    return bestOrders;
  }
  let failures = 0;
  // If only the spread can improve, there is little to gain: run one more short schedule.
  const isMet = (): boolean => best.longest <= task.longest && best.visits <= task.visits;
  for (let round = 0; round < 8 && failures < (isMet() ? 1 : 2) && !task.isOver(); round++) {
    const before = best;
    // First aim at the lower bound, then a step below the longest walk; after a failure, at less overlap at this
    // length.
    const step = metric.isWeighted ? best.longest * 0.02 : 1;
    const aim =
      round === 0 ? task.longest : failures === 0 ? Math.max(task.longest, best.longest - step) : best.longest;
    annealer.run(isMet() ? steps >>> 2 : steps, aim, floorOf(), keep, task.isOver);
    if (best === before) failures++;
    routes.set(bestOrders);
    if (keep()) break;
  }
  if (!metric.isWeighted && best.longest > task.longest && !task.isOver()) annealer.level(keep, task.isOver);
  return bestOrders;
}
