/** Waits for any of several threads. Each counts up one word and wakes the waiters. */

type WaitAsync = (
  words: Int32Array,
  index: number,
  value: number,
  milliseconds: number,
) => { readonly value: Promise<string> | string };

/** Pause where nothing can wake up a promise. */
const POLL_MS = 1;

export class Bell {
  readonly buffer: SharedArrayBuffer = new SharedArrayBuffer(4);
  readonly #word = new Int32Array(this.buffer);
  #heard = 0;

  /** Resolves if it has been rung since the last call or, at the latest, after the time. */
  async wait(timeoutMs: number): Promise<void> {
    const { waitAsync } = Atomics as unknown as { readonly waitAsync?: WaitAsync };
    if (waitAsync === undefined) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    else await waitAsync(this.#word, 0, this.#heard, timeoutMs).value;
    this.#heard = Atomics.load(this.#word, 0);
  }
}
