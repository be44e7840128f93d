import type { Edge, NetworkGraph } from './network-graph.js';

/** Cost of a link in one direction, above 0; Infinity: it is not used. */
export type LinkCost = (edge: Edge) => number;

export const oneHop: LinkCost = () => 1;

/** Switches by their distance, the nearest first: a binary heap. */
class Queue {
  readonly #ids: number[] = [];
  readonly #costs: number[] = [];

  get size(): number {
    return this.#ids.length;
  }

  push(id: number, cost: number): void {
    let at = this.#ids.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#costs[above]! <= cost) break;
      this.#set(at, this.#ids[above]!, this.#costs[above]!);
      at = above;
    }
    this.#set(at, id, cost);
  }

  pop(): { readonly id: number; readonly cost: number } {
    const top = { id: this.#ids[0]!, cost: this.#costs[0]! };
    const [id, cost] = [this.#ids.pop()!, this.#costs.pop()!];
    const { length } = this.#ids;
    if (length === 0) return top;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= length) break;
      if (below + 1 < length && this.#costs[below + 1]! < this.#costs[below]!) below++;
      if (this.#costs[below]! >= cost) break;
      this.#set(at, this.#ids[below]!, this.#costs[below]!);
      at = below;
    }
    this.#set(at, id, cost);
    return top;
  }

  #set(at: number, id: number, cost: number): void {
    this.#ids[at] = id;
    this.#costs[at] = cost;
  }
}

/** Cheapest ways to a set of switches, from everywhere. */
export class WaysTo {
  readonly #graph: NetworkGraph;
  readonly #cost: LinkCost;
  readonly #distances = new Map<number, number>();
  readonly #nextHops = new Map<number, readonly Edge[]>();

  /** @param targets what does not exist is left out */
  constructor(graph: NetworkGraph, targets: Iterable<number>, cost: LinkCost = oneHop) {
    this.#graph = graph;
    this.#cost = cost;
    const inward = new Map<number, Edge[]>();
    for (const id of graph.switchIds) {
      for (const edge of graph.edges(id)) {
        const edges = inward.get(edge.to);
        if (edges === undefined) inward.set(edge.to, [edge]);
        else edges.push(edge);
      }
    }
    const queue = new Queue();
    const known = new Set(graph.switchIds);
    for (const id of targets) if (known.has(id)) queue.push(id, 0);
    while (queue.size > 0) {
      const { id, cost: distance } = queue.pop();
      if (this.#distances.has(id)) continue;
      this.#distances.set(id, distance);
      for (const edge of inward.get(id) ?? []) {
        const sum = distance + cost(edge);
        if (sum < Number.POSITIVE_INFINITY && !this.#distances.has(edge.from)) queue.push(edge.from, sum);
      }
    }
  }

  /** Cost of the way from a switch; `undefined`: there is none. */
  distance(switchId: number): number | undefined {
    return this.#distances.get(switchId);
  }

  /** All links by which the cheapest ways from a switch begin, by port; none at a target, or where there is no way. */
  nextHops(switchId: number): readonly Edge[] {
    const known = this.#nextHops.get(switchId);
    if (known !== undefined) return known;
    const distance = this.#distances.get(switchId);
    const isOnWay = distance !== undefined && distance > 0;
    const edges = (isOnWay ? this.#graph.edges(switchId) : []).filter((edge) => {
      const rest = this.#distances.get(edge.to);
      return rest !== undefined && rest + this.#cost(edge) === distance;
    });
    this.#nextHops.set(switchId, edges);
    return edges;
  }

  /** Switches of a cheapest way, from the first to a target: of equal ones that by the smallest ports. `null`: none. */
  path(from: number): readonly number[] | null {
    if (!this.#distances.has(from)) return null;
    const path = [from];
    for (let at = from; this.#distances.get(at) !== 0; at = path.at(-1)!) path.push(this.nextHops(at)[0]!.to);
    return path;
  }

  /** All cheapest ways from a switch, at most so many, in the order of their ports. */
  paths(from: number, most: number): readonly (readonly number[])[] {
    const found: number[][] = [];
    const walk = (path: number[]): void => {
      const at = path.at(-1)!;
      if (this.#distances.get(at) === 0) found.push([...path]);
      else {
        for (const to of new Set(this.nextHops(at).map((edge) => edge.to))) {
          if (found.length < most) walk([...path, to]);
        }
      }
    };
    if (this.#distances.has(from)) walk([from]);
    return found;
  }
}
