/** A thread that waits for its turn and then sets a threshold in memory that it shares with others. */
import { workerData } from 'node:worker_threads';
import { DEFAULT_METRICS, Thresholds } from '@int/flowcache';

export interface SetterData {
  readonly buffer: ArrayBufferLike;
  /** 0 while it is the other thread's turn, 1 when it is this one's, 2 to end. */
  readonly turn: Int32Array;
  /** Levels to set, one a turn. */
  readonly levels: readonly (number | null)[];
}

const { buffer, turn, levels } = workerData as SetterData;
const thresholds = new Thresholds(DEFAULT_METRICS, {}, buffer);
for (const level of levels) {
  Atomics.wait(turn, 0, 0);
  if (Atomics.load(turn, 0) === 2) break;
  thresholds.set('hopLatency', { level });
  Atomics.store(turn, 0, 0);
  Atomics.notify(turn, 0);
}
