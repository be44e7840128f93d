import type { Checkpointer, CheckpointSummary } from './checkpointer.js';
import type { EpochStatistics } from './epoch-options.js';

/** Writes checkpoints at intervals, and counts them. */
export class Saver {
  /** Start of the last checkpoint that has all of the live epoch, by `performance.now`. */
  savedAt = Number.NEGATIVE_INFINITY;
  readonly #statistics: EpochStatistics;
  readonly #report: (error: unknown) => void;
  readonly #saved: ((checkpoint: CheckpointSummary) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(
    statistics: EpochStatistics,
    report: (error: unknown) => void,
    saved: ((checkpoint: CheckpointSummary) => void) | undefined,
  ) {
    this.#statistics = statistics;
    this.#report = report;
    this.#saved = saved;
  }

  /** See `Checkpointer.run`. */
  async save(epoch: Checkpointer, time: bigint, isFinal: boolean): Promise<CheckpointSummary | null> {
    const statistics = this.#statistics;
    let summary: CheckpointSummary | null;
    try {
      summary = await epoch.run(time, isFinal);
    } catch (error) {
      statistics.checkpointFailures++;
      throw error;
    }
    if (summary === null) return null;
    statistics.checkpoints++;
    if (summary.kind === 'base') statistics.bases++;
    statistics.checkpointBytes += summary.bytes;
    statistics.checkpointMs = summary.milliseconds;
    statistics.longestCheckpointMs = Math.max(statistics.longestCheckpointMs, summary.milliseconds);
    statistics.longestPauseMs = Math.max(statistics.longestPauseMs, summary.longestSlice);
    this.#saved?.(summary);
    return summary;
  }

  /** Calls `checkpoint` every `everyMs` milliseconds, or less often if it takes longer. */
  start(everyMs: number, checkpoint: () => Promise<unknown>, delay: number = everyMs): void {
    this.#timer = setTimeout(async () => {
      const started = performance.now();
      await checkpoint().catch(this.#report);
      if (this.#isStopped) return;
      const took = performance.now() - started;
      // A disk that is too slow gets a pause, at most as long as the interval.
      this.start(everyMs, checkpoint, Math.max(everyMs - took, Math.min(took, everyMs)));
    }, delay).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
