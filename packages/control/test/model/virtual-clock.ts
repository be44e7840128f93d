import type { Clock } from '@int/control';

/** Time that passes only when it is told to. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  #sequence = 0;
  readonly #events: { readonly atMs: number; readonly sequence: number; readonly callback: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const event = { atMs: this.#nowMs + Math.max(0, delayMs), sequence: this.#sequence++, callback };
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.atMs <= event.atMs) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, event);
    return () => {
      const index = this.#events.indexOf(event);
      if (index !== -1) this.#events.splice(index, 1);
    };
  }

  /** Lets time pass, with everything that is to happen in it. */
  async advance(ms: number, isEnough: () => boolean = () => false): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await settle();
    while (!isEnough() && this.#events.length > 0 && this.#events[0]!.atMs <= untilMs) {
      const event = this.#events.shift()!;
      this.#nowMs = event.atMs;
      event.callback();
      await settle();
    }
    if (!isEnough()) this.#nowMs = untilMs;
  }
}

/** After all that promises have led to. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
