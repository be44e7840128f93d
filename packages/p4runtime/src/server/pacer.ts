import { setImmediate } from 'node:timers/promises';

/** Longest time in milliseconds for which a request keeps the thread to itself: packets share the thread. */
const SLICE_MS = 0.5;
/** Steps between two looks at the clock. */
const STEPS = 4;

/** Divides the work of a request into short slices, between which packets and other events have their turn. */
export class Pacer {
  #steps = 0;
  #sinceMs = performance.now();

  /** Counts a step. @returns whether the slice is over, so that {@link rest} is due */
  isDue(): boolean {
    if (++this.#steps % STEPS !== 0) return false;
    return performance.now() - this.#sinceMs >= SLICE_MS;
  }

  async rest(): Promise<void> {
    await setImmediate();
    this.#sinceMs = performance.now();
  }
}
