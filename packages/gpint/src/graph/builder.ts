import { GpintError } from '../errors.js';
import type { Graph } from './graph.js';
import { LinkList } from './link-list.js';

/**
 * Makes a {@link Graph} of names and links, in O(nodes + links).
 *
 * Two nodes share one link: of several, the first counts, with the smallest weight of them all. A link of a node with
 * itself is left out, for no probe gains by it; {@link selfLinks} and {@link duplicates} say how many there were.
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

  /** Links of a node with itself, which were left out. */
  get selfLinks(): number {
    return this.#selfLinkCount;
  }

  /** Links that joined what was linked already; known once {@link build} has run. */
  get duplicates(): number {
    return this.#duplicateCount;
  }

  /** The number of the node with this name, a new one unless the name is known. Numbers count from 0. */
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
   * Links two nodes, given by name (a new name is a new node) or by number.
   *
   * @param weight cost of the link, positive and finite, in any unit; without one it costs 1 where others have a weight
   * @throws {@link GpintError} `ERR_GPINT_UNKNOWN_NODE` for a number that {@link addNode} never returned; RangeError for a weight
   * that is not positive and finite
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

  /** The graph of what was added so far. */
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
