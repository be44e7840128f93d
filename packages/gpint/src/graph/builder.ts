import { GpintError } from '../errors.js';
import type { Graph } from './graph.js';
import { LinkList } from './link-list.js';

/**
 * Builds a {@link Graph} from names and links, in O(nodes + links).
 *
 * Two nodes share at most one link: of several, the first counts, with the smallest weight of all. Links of a node with
 * itself are left out, because no probe needs them. {@link selfLinks} and {@link duplicates} count both cases.
 */
export class GraphBuilder {
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #list = new LinkList();
  #selfLinkCount = 0;
  #duplicateCount = 0;

  /** Number of nodes so far. */
  get nodeCount(): number {
    return this.#names.length;
  }

  /** Number of links of a node with itself, which were left out. */
  get selfLinks(): number {
    return this.#selfLinkCount;
  }

  /** Number of links between nodes that were linked already; known after {@link build}. */
  get duplicates(): number {
    return this.#duplicateCount;
  }

  /** Returns the number of the node with this name, and adds the node if the name is new. Numbers count from 0. */
  addNode(name: string): number {
    let node = this.#numbers.get(name);
    if (node === undefined) {
      node = this.#names.length;
      this.#names.push(name);
      this.#numbers.set(name, node);
    }
    return node;
  }

  /**
   * Links two nodes, given by name (a new name adds a node) or by number.
   *
   * @param weight cost of the link, positive and finite, in any unit; without one it costs 1 if others have a weight
   * @throws {@link GpintError} `ERR_GPINT_UNKNOWN_NODE` for a number that {@link addNode} never returned; RangeError
   *   for a weight that is not positive and finite
   */
  addLink(a: string | number, b: string | number, weight?: number): this {
    if (weight !== undefined && !(weight > 0 && weight < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`weight must be positive and finite, not ${weight}`);
    }
    const from = this.#numberOf(a);
    const to = this.#numberOf(b);
    if (from === to) this.#selfLinkCount++;
    else this.#list.add(from, to, weight);
    return this;
  }

  /** The graph of all nodes and links so far. */
  build(): Graph {
    const { graph, duplicates } = this.#list.assemble([...this.#names]);
    this.#duplicateCount = duplicates;
    return graph;
  }

  #numberOf(node: string | number): number {
    if (typeof node === 'string') return this.addNode(node);
    if (Number.isInteger(node) && node >= 0 && node < this.#names.length) return node;
    throw new GpintError('ERR_GPINT_UNKNOWN_NODE', `there is no node ${node} among ${this.#names.length}`);
  }
}
