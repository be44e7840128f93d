import { assemble } from './csr.js';
import type { Graph } from './graph.js';

const FIRST_CAPACITY = 1024;

/** A growing list of links between numbered nodes. */
export class LinkList {
  #from = new Uint32Array(FIRST_CAPACITY);
  #to = new Uint32Array(FIRST_CAPACITY);
  /** Weight of each link, NaN for none. Made when the first link has one. */
  #weights: Float64Array | null = null;
  #count = 0;

  /** `weight`: NaN for none. */
  add(a: number, b: number, weight = Number.NaN): void {
    const at = this.#count;
    if (at === this.#from.length) this.#grow();
    this.#from[at] = a;
    this.#to[at] = b;
    if (!Number.isNaN(weight)) this.#weights ??= new Float64Array(this.#from.length).fill(Number.NaN);
    if (this.#weights !== null) this.#weights[at] = weight;
    this.#count = at + 1;
  }

  /**
   * The graph, and the number of links between nodes already linked. Links without a weight get `missing` if others
   * have one.
   */
  assemble(names: readonly string[], missing = 1): { readonly graph: Graph; readonly duplicates: number } {
    const weights = this.#weights;
    const count = this.#count;
    let filled: Float64Array | null = null;
    if (weights !== null) {
      filled = weights.slice(0, count);
      for (let i = 0; i < count; i++) {
        if (Number.isNaN(filled[i]!)) filled[i] = missing;
      }
    }
    return assemble(names, count, this.#from, this.#to, filled);
  }

  #grow(): void {
    const capacity = this.#from.length * 2;
    const from = new Uint32Array(capacity);
    from.set(this.#from);
    this.#from = from;
    const to = new Uint32Array(capacity);
    to.set(this.#to);
    this.#to = to;
    if (this.#weights !== null) {
      const weights = new Float64Array(capacity).fill(Number.NaN);
      weights.set(this.#weights);
      this.#weights = weights;
    }
  }
}
