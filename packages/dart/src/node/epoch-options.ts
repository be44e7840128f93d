import type { DartStoreOptions } from '../store/options.js';
import type { Policy } from '../store/policy.js';
import type { Answer } from '../store/single.js';
import type { CheckpointSummary } from './checkpointer.js';

/** How a directory of a store is opened. What is left out of the geometry and the hashes is taken from the directory. */
export interface EpochStoreOptions extends Omit<DartStoreOptions, 'buffers'> {
  /** Milliseconds from one checkpoint to the next, default 1000; 0: only when {@link EpochStore.checkpoint} is called. */
  checkpointMs?: number;
  /** When the live epoch ends by itself: after so many milliseconds, or at this load (keys written / slots). */
  rotate?: { everyMs?: number; load?: number };
  /** The time in ns since 1970; never goes back. Default: that of the system, to a microsecond. */
  clock?: () => bigint;
  /** Finished epochs kept on disk, and bytes of their files; default all. The newest one is kept always. */
  keepEpochs?: number;
  keepBytes?: number;
  /** Reads every byte of the history when it is opened, not only when a file is first asked; default false. */
  verifyHistory?: boolean;
  /** Settings of DuckDB, over `threads` 2 and `memory_limit` 512MB. */
  duckdb?: Readonly<Record<string, string>>;
  /** Called when a checkpoint is durable. */
  onCheckpoint?: (checkpoint: CheckpointSummary) => void;
  /** Called when a checkpoint or a flush has failed, which is tried again, or a file of the history is found damaged. */
  onError?: (error: Error) => void;
}

/** Which epochs a question is for: those that include a time, or that overlap a range. In ns; default the live one. */
export interface HistoryQuery {
  at?: bigint;
  /** In the range, default the beginning. */
  from?: bigint;
  /** Not in the range, default the end. */
  to?: bigint;
  /** Default `plurality`. */
  policy?: Policy;
}

/** Where an epoch is: being written, finished but still in memory, or in a file. */
export type EpochSource = 'live' | 'flushing' | 'disk';

/** An epoch. */
export interface EpochInfo {
  readonly epoch: bigint;
  /** Time range in ns: `from` is in it, `to` is not; null for the live one. */
  readonly from: bigint;
  readonly to: bigint | null;
  readonly source: EpochSource;
  readonly keyWrites: number;
  readonly slotWrites: number;
  /** Bytes of its Parquet file, and where that is; null while there is none. */
  readonly bytes: number | null;
  readonly path: string | null;
}

/** What an epoch knows of a key. */
export interface EpochAnswer {
  readonly epoch: bigint;
  readonly from: bigint;
  readonly to: bigint | null;
  readonly source: EpochSource;
  /** Whether files of the epoch are damaged: what is not found may have been lost. */
  readonly incomplete: boolean;
  readonly answer: Answer;
}

/** A rotation that has been done: the next epoch is live. */
export interface Rotation {
  /** The epoch that is over. */
  readonly epoch: bigint;
  /** Resolves when it is on disk for good and its memory is free; rejects if the store is closed before. */
  readonly finished: Promise<void>;
}

/** What a store has done since it was opened. */
export interface EpochStatistics {
  checkpoints: number;
  /** Checkpoints that stand alone. */
  bases: number;
  checkpointBytes: number;
  checkpointFailures: number;
  /** Milliseconds of the last checkpoint, and of the longest. */
  checkpointMs: number;
  longestCheckpointMs: number;
  /** Milliseconds since everything written was in a checkpoint; infinite before the first. */
  checkpointAgeMs: number;
  rotations: number;
  /** Rotations that were due while the previous epoch was still being flushed. */
  rotationsPostponed: number;
  flushes: number;
  flushRows: number;
  flushBytes: number;
  flushFailures: number;
  flushMs: number;
  longestFlushMs: number;
  /** Longest time, in milliseconds, for which a checkpoint, a flush or a clearing kept the thread from other work. */
  longestPauseMs: number;
  /** Found and set aside: checkpoints and Parquet files that are not as they were written. */
  damagedCheckpoints: number;
  damagedHistory: number;
  /** Found when it was opened. */
  unfinishedFiles: number;
  /** Epochs, live or finished, that were read back from checkpoints. */
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

/** Timers count no further. */
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
