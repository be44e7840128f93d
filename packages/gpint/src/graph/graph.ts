/**
 * An undirected graph of switches and links in compressed sparse rows: the neighbours of node v are
 * `neighbours[first[v]]` to `neighbours[first[v + 1] - 1]`, in ascending order. No node is its own neighbour, and two
 * nodes share at most one link. Nodes and links are numbered from 0.
 *
 * Hot paths read the arrays directly. Do not write to them.
 */
import { GpintError } from '../errors.js';

/** The parts of a graph; {@link GraphBuilder} makes them from names and links. */
export interface GraphParts {
  /** Names of the nodes, each one once. */
  readonly names: readonly string[];
  /** Index of each node's first neighbour; one entry more than nodes. */
  readonly first: Uint32Array;
  /** Neighbours of all nodes, two entries per link. */
  readonly neighbours: Uint32Array;
  /** Link of each entry of `neighbours`. */
  readonly links: Uint32Array;
  /** Cost (latency, in any unit, positive) of each link; `null` if all links cost the same. */
  readonly weights: Float64Array | null;
}

export class Graph implements GraphParts {
  readonly names: readonly string[];
  readonly first: Uint32Array;
  readonly neighbours: Uint32Array;
  readonly links: Uint32Array;
  readonly weights: Float64Array | null;
  readonly nodeCount: number;
  readonly linkCount: number;
  #numbers: Map<string, number> | null = null;

  /** Uses the parts without checks. */
  constructor(parts: GraphParts) {
    this.names = parts.names;
    this.first = parts.first;
    this.neighbours = parts.neighbours;
    this.links = parts.links;
    this.weights = parts.weights;
    this.nodeCount = parts.first.length - 1;
    this.linkCount = parts.neighbours.length / 2;
  }

  /** Number of neighbours. */
  degree(node: number): number {
    return this.first[node + 1]! - this.first[node]!;
  }

  /** Position of `b` among the neighbours of `a`, from 0; -1 if they share no link. Binary search. */
  positionOf(a: number, b: number): number {
    let low = this.first[a]!;
    const begin = low;
    let high = this.first[a + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.neighbours[middle]! < b) low = middle + 1;
      else high = middle;
    }
    return low < this.first[a + 1]! && this.neighbours[low] === b ? low - begin : -1;
  }

  /** Number of the link between two nodes; -1 if there is none. */
  linkBetween(a: number, b: number): number {
    const position = this.positionOf(a, b);
    return position < 0 ? -1 : this.links[this.first[a]! + position]!;
  }

  /** Cost of a link: its weight, or 1. */
  cost(link: number): number {
    return this.weights === null ? 1 : this.weights[link]!;
  }

  /** The two nodes of each link, the lower first, by number of the link. */
  pairs(): [number, number][] {
    const pairs: [number, number][] = new Array(this.linkCount);
    for (let a = 0; a < this.nodeCount; a++) {
      for (let i = this.first[a]!; i < this.first[a + 1]!; i++) {
        const b = this.neighbours[i]!;
        if (a < b) pairs[this.links[i]!] = [a, b];
      }
    }
    return pairs;
  }

  /** Number of the node with a name. @throws {@link GpintError} `ERR_GPINT_UNKNOWN_NODE` */
  nodeOf(name: string): number {
    this.#numbers ??= new Map(this.names.map((each, node) => [each, node]));
    const node = this.#numbers.get(name);
    if (node === undefined) throw new GpintError('ERR_GPINT_UNKNOWN_NODE', `no node is called "${name}"`);
    return node;
  }
}
