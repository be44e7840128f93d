/** Walks as orders of covered nodes, with fast evaluation of changes to two of them at once. */
import type { Metric } from './metric.js';

/** Most segments of a new route. */
const MOST_SEGMENTS = 5;

/**
 * A route in the making: segments of present routes, each from one place to another; backwards if the first place is
 * the later one.
 */
export class Draft {
  readonly route = new Int32Array(MOST_SEGMENTS);
  readonly from = new Int32Array(MOST_SEGMENTS);
  readonly to = new Int32Array(MOST_SEGMENTS);
  count = 0;
  cost = 0;
  visits = 0;

  /** Adds the places `from` to `to` of a route in this order, if there are any. */
  forward(route: number, from: number, to: number): void {
    if (from <= to) this.#add(route, from, to);
  }

  /** Adds the places `from` down to `to`, if there are any. */
  backward(route: number, from: number, to: number): void {
    if (from >= to) this.#add(route, from, to);
  }

  #add(route: number, from: number, to: number): void {
    this.route[this.count] = route;
    this.from[this.count] = from;
    this.to[this.count++] = to;
  }
}

export class Routes {
  readonly metric: Metric;
  readonly count: number;
  /** Nodes in all. */
  readonly size: number;
  readonly length: Int32Array;
  readonly cost: Float64Array;
  readonly visits: Float64Array;
  /** Route and place of each node (index of the metric). */
  readonly of: Int32Array;
  readonly at: Int32Array;
  /** Where the nodes of each route begin in the arrays that all share, and how many have room there. */
  readonly #begin: Int32Array;
  readonly #room: Int32Array;
  #nodes: Int32Array;
  /** Costs and hops from the first node of a route to each. The same array without weights. */
  #costTo: Float64Array;
  #hopsTo: Float64Array;
  #top = 0;
  readonly #base: number;
  /** Routes in the making. */
  readonly #newNodes: Int32Array;
  readonly #newCosts: Float64Array;
  readonly #newHops: Float64Array;

  constructor(metric: Metric, count: number, orders: readonly (readonly number[])[]) {
    const { size, isWeighted } = metric;
    this.metric = metric;
    this.count = count;
    this.size = size;
    this.#base = isWeighted ? 0 : 1;
    this.length = new Int32Array(count);
    this.cost = new Float64Array(count);
    this.visits = new Float64Array(count);
    this.of = new Int32Array(size);
    this.at = new Int32Array(size);
    this.#begin = new Int32Array(count);
    this.#room = new Int32Array(count);
    // Room for all routes with a quarter to spare, and for one with all nodes and half to spare, and as much again.
    const cells = 4 * size + 8 * count;
    this.#nodes = new Int32Array(cells);
    this.#costTo = new Float64Array(cells);
    this.#hopsTo = isWeighted ? new Float64Array(cells) : this.#costTo;
    this.#newNodes = new Int32Array(2 * size);
    this.#newCosts = new Float64Array(2 * size);
    this.#newHops = isWeighted ? new Float64Array(2 * size) : this.#newCosts;
    this.set(orders);
  }

  set(orders: readonly (readonly number[])[]): void {
    const { metric } = this;
    const newNodes = this.#newNodes;
    const newCosts = this.#newCosts;
    const newHops = this.#newHops;
    this.#top = 0;
    this.length.fill(0);
    this.#room.fill(0);
    for (let r = 0; r < this.count; r++) {
      const order = orders[r] ?? [];
      let cost = 0;
      let hops = 0;
      for (let i = 0; i < order.length; i++) {
        const v = order[i]!;
        if (i > 0) {
          cost += metric.costBetween(order[i - 1]!, v);
          hops += metric.hopsBetween(order[i - 1]!, v);
        }
        newNodes[i] = v;
        newHops[i] = hops;
        newCosts[i] = cost;
      }
      this.#put(r, 0, order.length);
    }
  }

  orders(): number[][] {
    const { length } = this;
    const begin = this.#begin;
    const nodes = this.#nodes;
    return Array.from({ length: this.count }, (_, r) => Array.from(nodes.subarray(begin[r]!, begin[r]! + length[r]!)));
  }

  /** Node of route `r` at a place along it. */
  nodeAt(r: number, place: number): number {
    return this.#nodes[this.#begin[r]! + place]!;
  }

  /** Moves all routes together, each with some room, into new arrays. */
  #compact(): void {
    const { length } = this;
    const begin = this.#begin;
    const room = this.#room;
    const nodes = this.#nodes;
    const costTo = this.#costTo;
    const hopsTo = this.#hopsTo;
    this.#nodes = new Int32Array(nodes.length);
    this.#costTo = new Float64Array(nodes.length);
    this.#hopsTo = hopsTo === costTo ? this.#costTo : new Float64Array(nodes.length);
    let top = 0;
    for (let r = 0; r < this.count; r++) {
      const from = begin[r]!;
      const its = length[r]!;
      for (let i = 0; i < its; i++) {
        this.#nodes[top + i] = nodes[from + i]!;
        this.#hopsTo[top + i] = hopsTo[from + i]!;
        this.#costTo[top + i] = costTo[from + i]!;
      }
      begin[r] = top;
      room[r] = its + (its >>> 2) + 2;
      top += room[r]!;
    }
    this.#top = top;
  }

  /** Makes the nodes from `from` up to `to` of the routes in the making the route `r`. */
  #put(r: number, from: number, to: number): void {
    const { metric, of, at } = this;
    const newNodes = this.#newNodes;
    const newCosts = this.#newCosts;
    const newHops = this.#newHops;
    const length = to - from;
    if (length > this.#room[r]!) {
      const room = length + (length >>> 1) + 2;
      if (this.#top + room > this.#nodes.length) this.#compact();
      this.#begin[r] = this.#top;
      this.#room[r] = room;
      this.#top += room;
    }
    const nodes = this.#nodes;
    const costTo = this.#costTo;
    const hopsTo = this.#hopsTo;
    const begin = this.#begin[r]!;
    for (let i = 0; i < length; i++) {
      const v = newNodes[from + i]!;
      nodes[begin + i] = v;
      hopsTo[begin + i] = newHops[from + i]!;
      costTo[begin + i] = newCosts[from + i]!;
      of[v] = r;
      at[v] = i;
    }
    this.length[r] = length;
    let cost = length > 0 ? newCosts[to - 1]! : 0;
    let hops = length > 0 ? newHops[to - 1]! : 0;
    if (length > 0 && metric.hasEntries) {
      const head = newNodes[from]!;
      const tail = newNodes[to - 1]!;
      const near = metric.entryCost[head]! <= metric.entryCost[tail]! ? head : tail;
      cost += metric.entryCost[near]!;
      hops += metric.entryHops[near]!;
    }
    this.cost[r] = this.#base + cost;
    this.visits[r] = 1 + hops;
  }

  /** Sets the cost and the visits of a draft. */
  judge(draft: Draft): void {
    const { metric } = this;
    const nodes = this.#nodes;
    const costTo = this.#costTo;
    const hopsTo = this.#hopsTo;
    let cost = this.#base;
    let hops = 0;
    let head = -1;
    let tail = -1;
    for (let i = 0; i < draft.count; i++) {
      const begin = this.#begin[draft.route[i]!]!;
      const from = begin + draft.from[i]!;
      const to = begin + draft.to[i]!;
      const v = nodes[from]!;
      cost += Math.abs(costTo[to]! - costTo[from]!);
      hops += Math.abs(hopsTo[to]! - hopsTo[from]!);
      if (tail >= 0) {
        const its = metric.costBetween(tail, v);
        cost += its;
        hops += metric.isWeighted ? metric.hopsBetween(tail, v) : its;
      } else head = v;
      tail = nodes[to]!;
    }
    if (head >= 0 && metric.hasEntries) {
      const near = metric.entryCost[head]! <= metric.entryCost[tail]! ? head : tail;
      cost += metric.entryCost[near]!;
      hops += metric.entryHops[near]!;
    }
    draft.cost = cost;
    draft.visits = 1 + hops;
  }

  /** Writes a draft to the routes in the making, from `at` on. Returns where it ends. */
  #write(draft: Draft, at: number): number {
    const { metric } = this;
    const nodes = this.#nodes;
    const costTo = this.#costTo;
    const newNodes = this.#newNodes;
    const newCosts = this.#newCosts;
    const newHops = this.#newHops;
    let tail = -1;
    let cost = 0;
    let hops = 0;
    for (let i = 0; i < draft.count; i++) {
      const begin = this.#begin[draft.route[i]!]!;
      const from = begin + draft.from[i]!;
      const to = begin + draft.to[i]!;
      const step = from <= to ? 1 : -1;
      for (let j = from; ; j += step) {
        const v = nodes[j]!;
        if (metric.isWeighted) {
          // Not by differences, which would accumulate rounding errors.
          if (tail >= 0) {
            cost += metric.costBetween(tail, v);
            hops += metric.hopsBetween(tail, v);
          }
          newHops[at] = hops;
        } else if (j !== from) cost += Math.abs(costTo[j]! - costTo[j - step]!);
        else if (tail >= 0) cost += metric.costBetween(tail, v);
        newCosts[at] = cost;
        newNodes[at++] = v;
        tail = v;
        if (j === to) break;
      }
    }
    return at;
  }

  /** Makes two drafts the routes `s` and `t`; `b` is left alone if `s` is `t`. */
  make(s: number, a: Draft, t: number, b: Draft): void {
    const middle = this.#write(a, 0);
    const end = s === t ? middle : this.#write(b, middle);
    this.#put(s, 0, middle);
    if (s !== t) this.#put(t, middle, end);
  }
}
