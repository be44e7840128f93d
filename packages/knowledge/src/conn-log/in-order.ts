import type { ConnectionObservation } from '../observation.js';

/**
 * Puts connections into the order of their beginnings, as far as so many can be held: a flow log is in the order in which
 * they ended.
 */
export class InOrder {
  readonly #most: number;
  readonly #heap: ConnectionObservation[] = [];

  /** @param most connections to hold; one that is later than the ones held by more comes out of order */
  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a connection. @returns the earliest of those held, when there are enough */
  push(connection: ConnectionObservation): ConnectionObservation | null {
    const heap = this.#heap;
    let at = heap.push(connection) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.timeMs <= connection.timeMs) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = connection;
    return heap.length > this.#most ? this.#pop() : null;
  }

  /** The rest, in order. */
  *rest(): Generator<ConnectionObservation> {
    while (this.#heap.length > 0) yield this.#pop();
  }

  #pop(): ConnectionObservation {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.timeMs < heap[child]!.timeMs) child++;
      if (heap[child]!.timeMs >= last.timeMs) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
