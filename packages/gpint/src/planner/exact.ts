/** Optimal covers of few nodes, by dynamic programming over sets of nodes. */
import type { Closure } from './distances.js';

/** Most nodes for which {@link exactCover} is worth its time: it takes O(paths * 3^nodes). */
export const EXACT_NODES = 11;

/**
 * Cheapest order of each set of nodes (R. Bellman; M. Held, R. M. Karp, 1962): a walk that visits a set costs no less than
 * the distances between its nodes in the order of their first visits.
 */
class Orders {
  readonly cost: Float64Array;
  readonly visits: Float64Array;
  readonly #last: Int32Array;
  readonly #before: Int8Array;
  readonly #size: number;

  constructor(closure: Closure) {
    const { size, cost: far, hops, entryCost, entryHops, isWeighted } = closure;
    const sets = 1 << size;
    this.#size = size;
    const byLast = new Float64Array(sets * size).fill(Number.POSITIVE_INFINITY);
    const visitsByLast = new Float64Array(sets * size).fill(Number.POSITIVE_INFINITY);
    this.#before = new Int8Array(sets * size).fill(-1);
    this.cost = new Float64Array(sets);
    this.visits = new Float64Array(sets);
    this.#last = new Int32Array(sets);
    // A walk that covers no node still has one visit, at an entry.
    this.cost[0] = isWeighted ? 0 : 1;
    this.visits[0] = 1;
    for (let v = 0; v < size; v++) {
      byLast[(1 << v) * size + v] = (isWeighted ? 0 : 1) + entryCost[v]!;
      visitsByLast[(1 << v) * size + v] = 1 + entryHops[v]!;
    }
    for (let set = 1; set < sets; set++) {
      let best = Number.POSITIVE_INFINITY;
      let bestVisits = Number.POSITIVE_INFINITY;
      for (let v = 0; v < size; v++) {
        if ((set & (1 << v)) === 0) continue;
        const own = byLast[set * size + v]!;
        const ownVisits = visitsByLast[set * size + v]!;
        if (own < best || (own === best && ownVisits < bestVisits)) {
          best = own;
          bestVisits = ownVisits;
          this.#last[set] = v;
        }
        for (let u = 0; u < size; u++) {
          if ((set & (1 << u)) !== 0) continue;
          const at = (set | (1 << u)) * size + u;
          const its = own + far[v * size + u]!;
          const itsVisits = ownVisits + hops[v * size + u]!;
          if (its < byLast[at]! || (its === byLast[at]! && itsVisits < visitsByLast[at]!)) {
            byLast[at] = its;
            visitsByLast[at] = itsVisits;
            this.#before[at] = v;
          }
        }
      }
      this.cost[set] = best;
      this.visits[set] = bestVisits;
    }
  }

  /** Nodes of a set in the cheapest order. */
  order(set: number): number[] {
    const out: number[] = [];
    let v = set === 0 ? -1 : this.#last[set]!;
    for (let rest = set; v >= 0; ) {
      out.push(v);
      const before = this.#before[rest * this.#size + v]!;
      rest &= ~(1 << v);
      v = before;
    }
    return out.reverse();
  }
}

/** Fewest sets, each of a cost of `most` at most, that make up all nodes. */
function fewestSets(orders: Orders, size: number, most: number): number {
  const sets = 1 << size;
  const fewest = new Float64Array(sets).fill(Number.POSITIVE_INFINITY);
  fewest[0] = 0;
  for (let set = 1; set < sets; set++) {
    const low = set & -set;
    const rest = set ^ low;
    let best = Number.POSITIVE_INFINITY;
    for (let part = rest; ; part = (part - 1) & rest) {
      if (orders.cost[part | low]! <= most) best = Math.min(best, 1 + fewest[rest ^ part]!);
      if (part === 0) break;
    }
    fewest[set] = best;
  }
  return fewest[sets - 1]!;
}

/** Fewest visits with `paths` sets of a cost from `least` to `most`, and the sets. */
function fewestVisits(
  orders: Orders,
  size: number,
  paths: number,
  least: number,
  most: number,
): { readonly visits: number; readonly parts: readonly number[] } {
  const sets = 1 << size;
  const layers = Math.min(paths, size);
  const visits = new Float64Array((layers + 1) * sets).fill(Number.POSITIVE_INFINITY);
  const choice = new Int32Array((layers + 1) * sets);
  visits[0] = 0;
  for (let layer = 1; layer <= layers; layer++) {
    for (let set = 1; set < sets; set++) {
      const low = set & -set;
      const rest = set ^ low;
      let best = Number.POSITIVE_INFINITY;
      let chosen = 0;
      for (let part = rest; ; part = (part - 1) & rest) {
        const own = part | low;
        const cost = orders.cost[own]!;
        if (cost <= most && cost >= least) {
          const total = orders.visits[own]! + visits[(layer - 1) * sets + (rest ^ part)]!;
          if (total < best) {
            best = total;
            chosen = own;
          }
        }
        if (part === 0) break;
      }
      visits[layer * sets + set] = best;
      choice[layer * sets + set] = chosen;
    }
  }
  let best = Number.POSITIVE_INFINITY;
  let used = layers;
  for (let layer = layers; layer >= 1; layer--) {
    if (layer < paths && orders.cost[0]! < least) continue;
    const total = visits[layer * sets + sets - 1]! + (paths - layer) * orders.visits[0]!;
    if (total < best) {
      best = total;
      used = layer;
    }
  }
  const parts: number[] = [];
  if (best < Number.POSITIVE_INFINITY) {
    for (let layer = used, set = sets - 1; layer > 0; layer--) {
      const part = choice[layer * sets + set]!;
      parts.push(part);
      set ^= part;
    }
    while (parts.length < paths) parts.push(0);
  }
  return { visits: best, parts };
}

/**
 * Orders of nodes (indices of the closure) for `paths` walks, some of which may be empty: first the dearest walk is as
 * cheap as possible, then the visits are as few as possible, then the cheapest walk is as dear as possible. With
 * weights, only one of the equally cheap orders of a set is tried, so the number of visits is not proven to be minimal.
 */
export function exactCover(closure: Closure, paths: number): number[][] {
  const { size } = closure;
  const orders = new Orders(closure);
  const costs = Array.from(new Set(orders.cost)).sort((a, b) => a - b);
  let low = 0;
  let high = costs.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (fewestSets(orders, size, costs[middle]!) <= paths) high = middle;
    else low = middle + 1;
  }
  const most = costs[low]!;
  let best = fewestVisits(orders, size, paths, 0, most);
  // The largest lower limit of the walks that needs no more visits.
  let none = low + 1;
  let some = 0;
  while (none - some > 1) {
    const middle = (none + some) >>> 1;
    const found = fewestVisits(orders, size, paths, costs[middle]!, most);
    if (found.visits <= best.visits) {
      best = found;
      some = middle;
    } else none = middle;
  }
  return best.parts.map((part) => orders.order(part));
}
