import { type Deferred, deferred } from '@int/collector/internals';

/**
 * An answer of another thread that all readers share. It is requested when a reader wants it and the last one is too
 * old. At most one request is pending.
 */
export class SharedAnswer<T> {
  readonly #ask: () => void;
  readonly #freshMs: number;
  readonly #patienceMs: number;
  #last: { readonly value: T; readonly at: number } | null = null;
  /** What all readers share until the answer comes. */
  #waiting: Deferred<T> | null = null;
  /** The time of the pending request. */
  #askedAt: number | null = null;

  /**
   * @param ask sends the request; the answer comes to {@link settle} or {@link fail}
   * @param freshMs the greatest age of an answer
   * @param patienceMs the longest wait of a reader
   */
  constructor(ask: () => void, freshMs: number, patienceMs: number) {
    this.#ask = ask;
    this.#freshMs = freshMs;
    this.#patienceMs = patienceMs;
  }

  /** @throws Error (rejects) if the request fails or takes too long */
  get(): Promise<T> {
    const now = performance.now();
    if (this.#last !== null && now - this.#last.at < this.#freshMs) return Promise.resolve(this.#last.value);
    this.#waiting ??= this.#wait();
    if (this.#askedAt === null) {
      this.#askedAt = now;
      this.#ask();
    }
    return this.#waiting.promise;
  }

  settle(value: T): void {
    this.#askedAt = null;
    this.#last = { value, at: performance.now() };
    this.#waiting?.resolve(value);
  }

  /** The request failed. */
  fail(message: string): void {
    this.#askedAt = null;
    this.#waiting?.reject(new Error(message));
  }

  #wait(): Deferred<T> {
    const waiting = deferred<T>();
    const limit = setTimeout(() => {
      const seconds = Math.round((performance.now() - (this.#askedAt ?? performance.now())) / 1000);
      waiting.reject(new NoAnswer(`no answer for ${seconds} s`));
    }, this.#patienceMs);
    const over = (): void => {
      clearTimeout(limit);
      if (this.#waiting === waiting) this.#waiting = null;
    };
    waiting.promise.then(over, over);
    return waiting;
  }
}

/** The other thread is busy and did not answer in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}
