/** What all readers are given that ask in the meantime. */
interface Waiting<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

/**
 * An answer of another thread that all readers share: it is asked for when somebody wants it and the last one is too old,
 * and never twice at a time.
 */
export class SharedAnswer<T> {
  readonly #ask: () => void;
  readonly #freshMs: number;
  readonly #patienceMs: number;
  #last: { readonly value: T; readonly at: number } | null = null;
  #waiting: Waiting<T> | null = null;
  /** When the question was asked that is not answered yet. */
  #askedAt: number | null = null;

  /**
   * @param ask asks for it; the answer comes to {@link settle} or {@link fail}
   * @param freshMs how old an answer may be
   * @param patienceMs how long a reader waits for one
   */
  constructor(ask: () => void, freshMs: number, patienceMs: number) {
    this.#ask = ask;
    this.#freshMs = freshMs;
    this.#patienceMs = patienceMs;
  }

  /** @throws Error (rejects) if it cannot be had, or takes too long */
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

  /** The question could not be answered. */
  fail(message: string): void {
    this.#askedAt = null;
    this.#waiting?.reject(new Error(message));
  }

  #wait(): Waiting<T> {
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

/** The other thread does something else. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

function deferred<T>(): Waiting<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((accept, refuse) => {
    resolve = accept;
    reject = refuse;
  });
  return { promise, resolve, reject };
}
