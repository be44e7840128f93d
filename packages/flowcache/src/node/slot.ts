/** Where reports travel from the main thread to a worker: batches in shared memory, filled by one and read by the other. */
import { Arena, type BatchInput, STATE, TelemetryBatch } from '@int/codec';
import { BatchColumns } from '../cache/batch-columns.js';

/** Rows of one slot. */
export interface SlotCapacity {
  readonly reports: number;
  /** Hop rows, at least 256: the deepest report. */
  readonly hops: number;
}

const LINE = 64;

const lines = (bytes: number): number => Math.ceil(bytes / LINE) * LINE;

/**
 * Bytes from one slot to the next.
 * @throws RangeError for a capacity out of range
 */
export function slotBytes({ reports, hops }: SlotCapacity): number {
  return lines(TelemetryBatch.byteLength({ frames: reports, reports, hops }) + 2 * lines(4 * reports));
}

/**
 * A batch and the times of its reports, in memory that two threads share. Row r is of frame r: `input` gives its time.
 *
 * Only reports come into it: its column of codes stays 0.
 *
 * Both threads make one over the same bytes. Making it empties it: the reader makes his first, then the writer.
 */
export class Slot {
  readonly batch: TelemetryBatch;
  readonly input: BatchInput;
  readonly columns: BatchColumns;
  /** Times as signed words, for the reason given at BatchColumns. */
  readonly timesHigh: Int32Array;
  readonly timesLow: Int32Array;
  /** Rows filled so far; the batch itself is told by {@link seal}. */
  reports = 0;
  hops = 0;

  constructor(capacity: SlotCapacity, buffer: ArrayBufferLike, byteOffset: number) {
    const arena = new Arena(buffer, byteOffset, slotBytes(capacity));
    const { reports, hops } = capacity;
    this.batch = new TelemetryBatch({ frames: reports, reports, hops }, arena);
    this.columns = new BatchColumns(this.batch);
    const timestampsHigh = arena.words(reports);
    const timestampsLow = arena.words(reports);
    this.input = { timestampsHigh, timestampsLow, first: 0 };
    this.timesHigh = new Int32Array(timestampsHigh.buffer, timestampsHigh.byteOffset, reports);
    this.timesLow = new Int32Array(timestampsLow.buffer, timestampsLow.byteOffset, reports);
  }

  /** Writes the counts into the batch, for the thread that reads it. */
  seal(): void {
    const { state } = this.batch;
    state[STATE.FRAMES] = this.reports;
    state[STATE.REPORTS] = this.reports;
    state[STATE.HOPS] = this.hops;
    // Whatever is in a column that is read has been copied there.
    state[STATE.WRITTEN] = -1;
  }

  /** Empties the slot, to be filled anew. */
  reset(): void {
    this.reports = 0;
    this.hops = 0;
  }
}

/** Slots one behind the other. */
export function makeSlots(capacity: SlotCapacity, count: number, buffer: ArrayBufferLike, byteOffset: number): Slot[] {
  const bytes = slotBytes(capacity);
  return Array.from({ length: count }, (_, index) => new Slot(capacity, buffer, byteOffset + index * bytes));
}
