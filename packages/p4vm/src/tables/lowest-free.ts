/** Allocates numbers from 0, always the lowest free one. Released numbers are in a heap. */
export class LowestFree {
  readonly #heap: number[] = [];
  #next = 0;

  take(): number {
    const heap = this.#heap;
    const lowest = heap[0];
    if (lowest === undefined) return this.#next++;
    const last = heap.pop()!;
    if (heap.length > 0) this.#sink(last);
    return lowest;
  }

  /** Gives back a number that was taken. */
  release(number: number): void {
    const heap = this.#heap;
    let at = heap.push(number) - 1;
    for (let above = (at - 1) >> 1; at > 0 && heap[above]! > number; above = (at - 1) >> 1) {
      heap[at] = heap[above]!;
      at = above;
    }
    heap[at] = number;
  }

  clear(): void {
    this.#heap.length = 0;
    this.#next = 0;
  }

  /** Moves the number at the top down to its place. */
  #sink(number: number): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && heap[below + 1]! < heap[below]!) below++;
      if (heap[below]! >= number) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = number;
  }
}
