import type { RecordConsumer } from '@int/flowcache';

/** How records are handed over. */
export interface HandoverOptions<T> {
  readonly recordWords: number;
  readonly read: (words: Int32Array, at: number) => T;
  readonly sink: RecordConsumer | undefined;
  readonly listener: ((record: T) => void) | undefined;
  /** Called with the records that the sink took; must not throw. */
  readonly forward?: (words: Int32Array, at: number, records: number) => void;
}

/**
 * Hands records to a sink, then those it took to a listener as objects. Neither may throw into the cache, whose
 * counters would then miss the remaining records. {@link rethrow} throws the error afterwards.
 */
export class Handover<T> implements RecordConsumer {
  readonly #options: HandoverOptions<T>;
  #failure: { readonly error: unknown } | null = null;

  constructor(options: HandoverOptions<T>) {
    this.#options = options;
  }

  /** A sink that throws has taken nothing. */
  push(words: Int32Array, at: number, records: number): number {
    const { recordWords, read, sink, listener, forward } = this.#options;
    let taken = records;
    try {
      if (sink !== undefined) taken = sink.push(words, at, records);
    } catch (error) {
      this.#failure ??= { error };
      return 0;
    }
    for (let record = 0; listener !== undefined && record < taken; record++) {
      try {
        listener(read(words, at + record * recordWords));
      } catch (error) {
        this.#failure ??= { error };
      }
    }
    if (taken > 0) forward?.(words, at, taken);
    return taken;
  }

  /** Throws the first thing that was thrown since the last call, if any. */
  rethrow(): void {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure.error;
  }
}
