/** Most events that wait for their reader. */
const DEFAULT_CAPACITY = 10_000;

/**
 * Events that arrive, for one reader: an async iterable that ends when it is closed. It holds a bounded number of events;
 * one that finds no room is dropped and counted.
 */
export class EventStream<T> implements AsyncIterableIterator<T> {
  readonly #waiting: T[] = [];
  #readers: ((result: IteratorResult<T, undefined>) => void)[] = [];
  #closed = false;
  /** Events that found no room. */
  dropped = 0;
  readonly #onReturn: () => void;

  /** @param onReturn called when the reader ends */
  constructor(
    onReturn: () => void,
    readonly capacity: number = DEFAULT_CAPACITY,
  ) {
    this.#onReturn = onReturn;
  }

  push(event: T): void {
    if (this.#closed) return;
    const reader = this.#readers.shift();
    if (reader !== undefined) reader({ value: event, done: false });
    else if (this.#waiting.length < this.capacity) this.#waiting.push(event);
    else this.dropped++;
  }

  /** Ends the stream, behind the events that wait. */
  close(): void {
    this.#closed = true;
    for (const reader of this.#readers) reader({ value: undefined, done: true });
    this.#readers = [];
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#waiting.length > 0) return Promise.resolve({ value: this.#waiting.shift()!, done: false });
    if (this.#closed) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#onReturn();
    this.close();
    this.#waiting.length = 0;
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
