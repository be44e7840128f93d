import { setTimeout as sleep } from 'node:timers/promises';
import type { Checkpointer } from './checkpointer.js';
import type { EpochStatistics } from './epoch-options.js';
import type { History } from './history.js';
import { breathe } from './pages.js';

/** Bytes emptied per turn of the event loop. */
const SLICE_BYTES = 512 * 1024;
/** Delay before a failed flush is retried. */
const RETRY_MS = 1000;

/** Writes finished epochs to disk, and frees their memory. */
export class Flusher {
  readonly #history: History;
  readonly #statistics: EpochStatistics;
  readonly #report: (error: unknown) => void;
  readonly #signal: AbortSignal;

  /** @param signal ends the wait between two tries */
  constructor(history: History, statistics: EpochStatistics, report: (error: unknown) => void, signal: AbortSignal) {
    this.#history = history;
    this.#statistics = statistics;
    this.#report = report;
    this.#signal = signal;
  }

  /**
   * Writes an epoch to its file; retries until it succeeds.
   *
   * @throws DartStoreError `ERR_DART_HISTORY` if the store is closed first
   */
  async flush(epoch: Checkpointer, to: bigint): Promise<void> {
    const statistics = this.#statistics;
    for (;;) {
      try {
        const { file, milliseconds, longestSlice } = await this.#history.flush(epoch, to);
        statistics.flushes++;
        statistics.flushRows += file.rows;
        statistics.flushBytes += file.bytes;
        statistics.flushMs = milliseconds;
        statistics.longestFlushMs = Math.max(statistics.longestFlushMs, milliseconds);
        this.#paused(longestSlice);
        return;
      } catch (error) {
        statistics.flushFailures++;
        this.#report(error);
        if (this.#signal.aborted) throw error;
      }
      // The end of the wait comes early if the store is closed.
      await sleep(RETRY_MS, undefined, { signal: this.#signal }).catch(() => undefined);
    }
  }

  /** Empties the memory of an epoch, in slices. */
  async sweep(epoch: Checkpointer): Promise<void> {
    const { pages } = epoch;
    for (let page = 0; page < pages.count; ) {
      const begun = performance.now();
      for (let bytes = 0; page < pages.count && bytes < SLICE_BYTES; page++) {
        if (!epoch.isTouched(page)) continue;
        pages.clear(page);
        bytes += pages.pageBytes;
      }
      this.#paused(performance.now() - begun);
      await breathe();
    }
  }

  #paused(milliseconds: number): void {
    const statistics = this.#statistics;
    statistics.longestPauseMs = Math.max(statistics.longestPauseMs, milliseconds);
  }
}
