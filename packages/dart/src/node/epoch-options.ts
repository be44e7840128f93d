import type { DartStoreOptions } from '../store/options.js';
import type { Policy } from '../store/policy.js';
import type { Answer } from '../store/single.js';
import type { CheckpointSummary } from './checkpointer.js';

/** Options for opening a directory. Geometry and hashes default to those of the directory. */
export interface EpochStoreOptions extends Omit<DartStoreOptions, 'buffers'> {
  /**
   * Milliseconds from one checkpoint to the next, default 1000. With 0, only {@link EpochStore.checkpoint} writes
   * checkpoints.
   */
  checkpointMs?: number;
  /** Ends the live epoch automatically: every `everyMs` milliseconds, or at this load (keys written / slots). */
  rotate?: { everyMs?: number; load?: number };
  /** Returns the time in ns since 1970, which must never go back. Default: the system's clock, to the microsecond. */
  clock?: () => bigint;
  /** Most finished epochs kept on disk, and most bytes of their files; default all. The newest one is always kept. */
  keepEpochs?: number;
  keepBytes?: number;
  /** Whether to verify every byte of the history on opening, not only at a file's first query; default false. */
  verifyHistory?: boolean;
  /** Settings of DuckDB. Default: `threads` 2 and `memory_limit` 512MB. */
  duckdb?: Readonly<Record<string, string>>;
  /** Called when a checkpoint is durable. */
  onCheckpoint?: (checkpoint: CheckpointSummary) => void;
  /**
   * Called when a checkpoint or a flush has failed, which is then retried, and when a file of the history is found
   * damaged.
   */
  onError?: (error: Error) => void;
}

/**
 * The epochs to query: those that include a time, or that overlap a range. Times are in ns since 1970. Default: the
 * live epoch.
 */
export interface HistoryQuery {
  at?: bigint;
  /** Start of the range, inclusive; default the beginning. */
  from?: bigint;
  /** End of the range, exclusive; default the end. */
  to?: bigint;
  /** Default `plurality`. */
  policy?: Policy;
}

/** The location of an epoch: being written, finished but still in memory, or in a file. */
export type EpochSource = 'live' | 'flushing' | 'disk';

/** An epoch. */
export interface EpochInfo {
  readonly epoch: bigint;
  /** Time range in ns since 1970: `from` inclusive, `to` exclusive; `to` is null for the live epoch. */
  readonly from: bigint;
  readonly to: bigint | null;
  readonly source: EpochSource;
  readonly keyWrites: number;
  readonly slotWrites: number;
  /** Size in bytes and path of its Parquet file; null while there is none. */
  readonly bytes: number | null;
  readonly path: string | null;
}

/** An epoch's answer for a key. */
export interface EpochAnswer extends Pick<EpochInfo, 'epoch' | 'from' | 'to' | 'source'> {
  /** Whether files of the epoch are damaged, so that an absent value may have been lost. */
  readonly incomplete: boolean;
  readonly answer: Answer;
}

/** A completed rotation: the next epoch is live. */
export interface Rotation {
  /** The epoch that has ended. */
  readonly epoch: bigint;
  /** Resolves when it is durable on disk and its memory is free; rejects if the store is closed before. */
  readonly finished: Promise<void>;
}

/** Counters and times since a store was opened. */
export interface EpochStatistics {
  checkpoints: number;
  /** Checkpoints that need no earlier ones. */
  bases: number;
  checkpointBytes: number;
  checkpointFailures: number;
  /** Duration of the last checkpoint and of the longest one, in milliseconds. */
  checkpointMs: number;
  longestCheckpointMs: number;
  /** Milliseconds since a checkpoint contained everything written; infinite before the first checkpoint. */
  checkpointAgeMs: number;
  rotations: number;
  /** Rotations postponed because the previous epoch was still being flushed. */
  rotationsPostponed: number;
  flushes: number;
  flushRows: number;
  flushBytes: number;
  flushFailures: number;
  flushMs: number;
  longestFlushMs: number;
  /** Longest time for which a checkpoint, a flush or a clearing blocked the thread, in milliseconds. */
  longestPauseMs: number;
  /** Damaged checkpoints and Parquet files that were found and set aside. */
  damagedCheckpoints: number;
  damagedHistory: number;
  /** Unfinished files found on opening. */
  unfinishedFiles: number;
  /** Epochs, live or finished, recovered from checkpoints. */
  epochsRecovered: number;
}

export function emptyStatistics(): EpochStatistics {
  return {
    checkpoints: 0,
    bases: 0,
    checkpointBytes: 0,
    checkpointFailures: 0,
    checkpointMs: 0,
    longestCheckpointMs: 0,
    checkpointAgeMs: Number.POSITIVE_INFINITY,
    rotations: 0,
    rotationsPostponed: 0,
    flushes: 0,
    flushRows: 0,
    flushBytes: 0,
    flushFailures: 0,
    flushMs: 0,
    longestFlushMs: 0,
    longestPauseMs: 0,
    damagedCheckpoints: 0,
    damagedHistory: 0,
    unfinishedFiles: 0,
    epochsRecovered: 0,
  };
}

/** The longest time that timers accept. */
const MOST_MS = 2 ** 31 - 1;

/** @throws RangeError for a number out of its range */
export function checkEpochOptions(options: EpochStoreOptions): void {
  const { checkpointMs = 1000, rotate = {}, keepEpochs = 1, keepBytes = 0 } = options;
  const { everyMs = 1, load = 1 } = rotate;
  if (!(checkpointMs >= 0 && checkpointMs <= MOST_MS)) {
    throw new RangeError(`checkpointMs must be from 0 to ${MOST_MS}, not ${checkpointMs}`);
  }
  if (!(everyMs >= 1 && everyMs <= MOST_MS)) {
    throw new RangeError(`rotate.everyMs must be from 1 to ${MOST_MS}, not ${everyMs}`);
  }
  if (!(load > 0)) throw new RangeError(`rotate.load must be more than 0, not ${load}`);
  if (!(keepEpochs >= 1)) throw new RangeError(`keepEpochs must be 1 or more, not ${keepEpochs}`);
  if (!(keepBytes >= 0)) throw new RangeError(`keepBytes must be 0 or more, not ${keepBytes}`);
}
