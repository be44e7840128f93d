/** Slots: batches in shared memory that the main thread fills and a worker reads. */
import { Arena, TelemetryBatch } from '@int/codec';

/** Rows of one slot. */
export interface SlotCapacity {
  readonly reports: number;
  /** Hop rows, at least 256: the deepest report. */
  readonly hops: number;
}

const LINE = 64;

const batchCapacity = ({ reports, hops }: SlotCapacity) => ({ frames: reports, reports, hops });

/**
 * Bytes from one slot to the next.
 * @throws RangeError for a capacity out of range
 */
export function slotBytes(capacity: SlotCapacity): number {
  return Math.ceil(TelemetryBatch.byteLength(batchCapacity(capacity)) / LINE) * LINE;
}

/**
 * Slots one behind the other. Both threads make them over the same bytes. Making them empties them, so the reader makes
 * his first.
 */
export function makeSlots(
  capacity: SlotCapacity,
  count: number,
  buffer: ArrayBufferLike,
  byteOffset: number,
): TelemetryBatch[] {
  const bytes = slotBytes(capacity);
  return Array.from(
    { length: count },
    (_, index) => new TelemetryBatch(batchCapacity(capacity), new Arena(buffer, byteOffset + index * bytes, bytes)),
  );
}
