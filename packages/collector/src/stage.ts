import type { TelemetryBatch } from '@int/codec';
import type { FrameBatch } from './frames.js';

/**
 * Something that looks at each decoded batch: statistics, detectors, caches. Stages run in the order given, on the
 * same batch, and must be done with it when they return.
 */
export interface Stage {
  readonly name: string;
  /**
   * @param batch reports and hops as columns; rows whose `code` is not 0 are to be left alone
   * @param frames the frames they came from: `batch.frame[r] + first` is the row of report r's frame
   * @param first the row in `frames` of the batch's frame 0
   */
  process(batch: TelemetryBatch, frames: FrameBatch, first: number): void;
}

/**
 * Something that carries decoded batches elsewhere. A sink may take its time: the pipeline waits for it before it uses
 * the batch again, capture sources wait with it, and a UDP source fills its spare slabs and then counts what it has to
 * refuse. A sink that fails is counted and reported; the pipeline goes on.
 */
export interface Sink {
  readonly name: string;
  /** Takes a batch, as {@link Stage.process}. Returns `undefined` if it is done with it. */
  write(batch: TelemetryBatch, frames: FrameBatch, first: number): Promise<void> | undefined;
  /** Writes out what is held back and closes. Called once, when the collector stops. */
  close?(): Promise<void>;
}
