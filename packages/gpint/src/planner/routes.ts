/** Walks as orders of the nodes that each covers, with what it takes to judge and make changes to two of them at once. */
import type { Closure } from './distances.js';

/** Segments that a new route is made of, at most. */
const MOST_SEGMENTS = 5;

/** A route in the making: segments of present routes, each from one place to another, backwards if the first is behind. */
export class Draft {
  readonly route = new Int32Array(MOST_SEGMENTS);
  readonly from = new Int32Array(MOST_SEGMENTS);
  readonly to = new Int32Array(MOST_SEGMENTS);
  count = 0;
  cost = 0;
  visits = 0;

  /** Adds the places `from` to `to` of a route in this order, if there are any. */
  forward(route: number, from: number, to: number): void {
    if (from <= to) this.add(route, from, to);
  }

  /** Adds the places `from` down to `to`, if there are any. */
  backward(route: number, from: number, to: number): void {
    if (from >= to) this.add(route, from, to);
  }

  private add(route: number, from: number, to: number): void {
    this.route[this.count] = route;
    this.from[this.count] = from;
    this.to[this.count++] = to;
  }
}

export class Routes {
  readonly closure: Closure;
  readonly count: number;
  readonly length: Int32Array;
  readonly cost: Float64Array;
  readonly visits: Float64Array;
  /** Route and place of each node (index of the closure). */
  readonly of: Int32Array;
  readonly at: Int32Array;
  /** Nodes of route r at `r * capacity` and behind; costs and hops from the first of the route to each. */
  readonly nodes: Int32Array;
  readonly capacity: number;
  private readonly costTo: Float64Array;
  private readonly hopsTo: Float64Array;
  private readonly base: number;
  private readonly scratch: Int32Array;

  constructor(closure: Closure, count: number, orders: readonly (readonly number[])[]) {
    const capacity = closure.size;
    this.closure = closure;
    this.count = count;
    this.capacity = capacity;
    this.base = closure.isWeighted ? 0 : 1;
    this.length = new Int32Array(count);
    this.cost = new Float64Array(count);
    this.visits = new Float64Array(count);
    this.of = new Int32Array(capacity);
    this.at = new Int32Array(capacity);
    this.nodes = new Int32Array(count * capacity);
    this.costTo = new Float64Array(count * capacity);
    this.hopsTo = closure.isWeighted ? new Float64Array(count * capacity) : this.costTo;
    this.scratch = new Int32Array(2 * capacity);
    this.set(orders);
  }

  set(orders: readonly (readonly number[])[]): void {
    for (let r = 0; r < this.count; r++) {
      const order = orders[r] ?? [];
      this.nodes.set(order, r * this.capacity);
      this.measure(r, order.length);
    }
  }

  orders(): number[][] {
    return Array.from({ length: this.count }, (_, r) =>
      Array.from(this.nodes.subarray(r * this.capacity, r * this.capacity + this.length[r]!)),
    );
  }

  private measure(r: number, length: number): void {
    const { closure, nodes, costTo, hopsTo } = this;
    const begin = r * this.capacity;
    this.length[r] = length;
    let cost = 0;
    let hops = 0;
    for (let i = 0; i < length; i++) {
      const v = nodes[begin + i]!;
      if (i > 0) {
        const pair = nodes[begin + i - 1]! * closure.size + v;
        cost += closure.cost[pair]!;
        hops += closure.hops[pair]!;
      }
      costTo[begin + i] = cost;
      hopsTo[begin + i] = hops;
      this.of[v] = r;
      this.at[v] = i;
    }
    this.cost[r] = this.base + cost;
    this.visits[r] = 1 + hops;
    if (length > 0 && closure.hasEntries) {
      const head = nodes[begin]!;
      const tail = nodes[begin + length - 1]!;
      const near = closure.entryCost[head]! <= closure.entryCost[tail]! ? head : tail;
      this.cost[r] = this.cost[r]! + closure.entryCost[near]!;
      this.visits[r] = this.visits[r]! + closure.entryHops[near]!;
    }
  }

  /** Sets the cost and the visits of a draft. */
  judge(draft: Draft): void {
    const { closure, nodes, costTo, hopsTo, capacity } = this;
    let cost = this.base;
    let hops = 0;
    let head = -1;
    let tail = -1;
    for (let i = 0; i < draft.count; i++) {
      const begin = draft.route[i]! * capacity;
      const from = begin + draft.from[i]!;
      const to = begin + draft.to[i]!;
      const v = nodes[from]!;
      cost += Math.abs(costTo[to]! - costTo[from]!);
      hops += Math.abs(hopsTo[to]! - hopsTo[from]!);
      if (tail >= 0) {
        cost += closure.cost[tail * closure.size + v]!;
        hops += closure.hops[tail * closure.size + v]!;
      } else head = v;
      tail = nodes[to]!;
    }
    if (head >= 0 && closure.hasEntries) {
      const near = closure.entryCost[head]! <= closure.entryCost[tail]! ? head : tail;
      cost += closure.entryCost[near]!;
      hops += closure.entryHops[near]!;
    }
    draft.cost = cost;
    draft.visits = 1 + hops;
  }

  private write(draft: Draft, at: number): number {
    for (let i = 0; i < draft.count; i++) {
      const begin = draft.route[i]! * this.capacity;
      const to = draft.to[i]!;
      const step = draft.from[i]! <= to ? 1 : -1;
      for (let j = draft.from[i]!; ; j += step) {
        this.scratch[at++] = this.nodes[begin + j]!;
        if (j === to) break;
      }
    }
    return at;
  }

  /** Makes two drafts the routes `s` and `t`; `b` is left alone if `s` is `t`. */
  make(s: number, a: Draft, t: number, b: Draft): void {
    const middle = this.write(a, 0);
    const end = s === t ? middle : this.write(b, middle);
    this.nodes.set(this.scratch.subarray(0, middle), s * this.capacity);
    this.measure(s, middle);
    if (s === t) return;
    this.nodes.set(this.scratch.subarray(middle, end), t * this.capacity);
    this.measure(t, end - middle);
  }
}
