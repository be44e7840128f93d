import type { RecordConsumer } from '@int/flowcache';

/**
 * Hands records to a sink, then those it took to a listener as objects. Neither may throw into the cache, whose
 * counters would then miss the remaining records. {@link rethrow} throws the error afterwards.
 */
export class Handover<T> implements RecordConsumer {
  readonly #recordWords: number;
  readonly #read: (words: Int32Array, at: number) => T;
  readonly #sink: RecordConsumer | undefined;
  readonly #listener: ((record: T) => void) | undefined;
  readonly #forward: (words: Int32Array, at: number, records: number) => void;
  #failure: { readonly error: unknown } | null = null;

  /** @param forward called with the records that the sink took; must not throw. Default: none */
  constructor(
    recordWords: number,
    read: (words: Int32Array, at: number) => T,
    sink: RecordConsumer | undefined,
    listener: ((record: T) => void) | undefined,
    forward: (words: Int32Array, at: number, records: number) => void = () => {},
  ) {
    this.#recordWords = recordWords;
    this.#read = read;
    this.#sink = sink;
    this.#listener = listener;
    this.#forward = forward;
  }

  /** A sink that throws has taken nothing. */
  push(words: Int32Array, at: number, records: number): number {
    let taken = records;
    if (this.#sink !== undefined) {
      try {
        taken = this.#sink.push(words, at, records);
      } catch (error) {
        this.#failure ??= { error };
        return 0;
      }
    }
    if (this.#listener !== undefined) this.#tell(this.#listener, words, at, taken);
    if (taken > 0) this.#forward(words, at, taken);
    return taken;
  }

  /** Throws the first thing that was thrown since the last call, if any. */
  rethrow(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.error;
  }

  #tell(listener: (record: T) => void, words: Int32Array, at: number, records: number): void {
    for (let record = 0; record < records; record++) {
      try {
        listener(this.#read(words, at + record * this.#recordWords));
      } catch (error) {
        this.#failure ??= { error };
      }
    }
  }
}
