import type { TelemetryBatch } from '@int/codec';

/** Times of a source's frames, and which of them is the batch's first. */
export interface Times {
  readonly timestampsHigh: Uint32Array;
  readonly timestampsLow: Uint32Array;
  readonly first: number;
}

/** Has the frames of a batch refer to these times; without them the batch has none. */
export function withTimes(batch: TelemetryBatch, times: Times | undefined): TelemetryBatch {
  batch.isTimed = times !== undefined;
  if (times !== undefined) {
    batch.frameTimeHigh = times.timestampsHigh.subarray(times.first);
    batch.frameTimeLow = times.timestampsLow.subarray(times.first);
  }
  return batch;
}
