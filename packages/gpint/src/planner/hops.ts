import type { Graph } from '../graph/graph.js';

/** Shortest paths by number of links, by breadth-first search from both ends at once. */
export class Hops {
  readonly #graph: Graph;
  /** Query in which each node was reached, from `a` (twice its number) or from `b` (twice its number, plus 1). */
  readonly #mark: Float64Array;
  readonly #parent: Int32Array;
  readonly #queueA: Int32Array;
  readonly #queueB: Int32Array;
  #query = 0;
  #meetA = -1;
  #meetB = -1;

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#mark = new Float64Array(graph.nodeCount);
    this.#parent = new Int32Array(graph.nodeCount);
    this.#queueA = new Int32Array(graph.nodeCount);
    this.#queueB = new Int32Array(graph.nodeCount);
  }

  /** Links on a shortest way from `a` to `b`; -1 if there is none. */
  between(a: number, b: number): number {
    this.#meetA = a;
    this.#meetB = -1;
    if (a === b) return 0;
    this.#query++;
    this.#mark[a] = 2 * this.#query;
    this.#mark[b] = 2 * this.#query + 1;
    const sides = [this.#begin(a, this.#queueA), this.#begin(b, this.#queueB)] as const;
    const [one, other] = sides;
    // One layer at a time, on the side with fewer links. The first meeting is on a shortest path.
    for (let depth = 1; one.begin < one.end && other.begin < other.end; depth++) {
      const side = one.work <= other.work ? one : other;
      const end = this.#layer(side.queue, side.begin, side.end, 2 * this.#query + sides.indexOf(side), side === other);
      if (end < 0) return depth;
      side.begin = side.end;
      side.end = end;
      side.work = this.#linksOf(side.queue, side.begin, end);
    }
    return -1;
  }

  /** A side of the search: its queue, the layer reached last, and the links of that layer. */
  #begin(start: number, queue: Int32Array): { queue: Int32Array; begin: number; end: number; work: number } {
    this.#parent[start] = -1;
    queue[0] = start;
    return { queue, begin: 0, end: 1, work: this.#linksOf(queue, 0, 1) };
  }

  #linksOf(queue: Int32Array, begin: number, end: number): number {
    const { first } = this.#graph;
    let links = 0;
    for (let i = begin; i < end; i++) links += first[queue[i]! + 1]! - first[queue[i]!]!;
    return links;
  }

  /** Reaches the neighbours of a layer. Returns the end of the new layer, or -1 if it meets the other side. */
  #layer(queue: Int32Array, begin: number, end: number, own: number, fromB: boolean): number {
    const { first, neighbours } = this.#graph;
    const mark = this.#mark;
    const parent = this.#parent;
    const other = fromB ? own - 1 : own + 1;
    let tail = end;
    for (let i = begin; i < end; i++) {
      const v = queue[i]!;
      for (let j = first[v]!; j < first[v + 1]!; j++) {
        const u = neighbours[j]!;
        if (mark[u] === own) continue;
        if (mark[u] === other) {
          this.#meetA = fromB ? u : v;
          this.#meetB = fromB ? v : u;
          return -1;
        }
        mark[u] = own;
        parent[u] = v;
        queue[tail++] = u;
      }
    }
    return tail;
  }

  /** Appends the inner nodes of the path that the last call of {@link between} found. */
  appendInner(out: number[]): void {
    const begin = out.length;
    for (let x = this.#meetA; x >= 0 && this.#parent[x]! >= 0; x = this.#parent[x]!) out.push(x);
    for (let i = begin, j = out.length - 1; i < j; i++, j--) {
      const x = out[i]!;
      out[i] = out[j]!;
      out[j] = x;
    }
    for (let x = this.#meetB; x >= 0 && this.#parent[x]! >= 0; x = this.#parent[x]!) out.push(x);
  }
}
