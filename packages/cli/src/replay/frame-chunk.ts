import type { CaptureBatch } from '@int/pcap';
import type { Selection } from './selection.js';
import type { SkipReason } from './skip-reason.js';

/** Successive frames of a capture, ready to be sent. */
export interface FrameChunk {
  readonly bytes: Uint8Array;
  /** Offset of each frame in `bytes`. */
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  /** Capture time of each frame, in milliseconds since the first sent frame; it never decreases. */
  readonly timesMs: Float64Array;
  readonly count: number;
  /** Frames of this part of the capture that are not sent, by reason. */
  readonly skipped: ReadonlyMap<SkipReason, number>;
}

/** Approximate memory of a chunk, in bytes. */
export function chunkBytes(chunk: FrameChunk): number {
  return chunk.bytes.length + 16 * chunk.count;
}

/** Milliseconds in 2^32 nanoseconds. */
const MS_PER_HIGH_WORD = 4294.967296;

export class ChunkMaker {
  readonly #selection: Selection;
  #offsets = new Uint32Array(0);
  #lengths = new Uint32Array(0);
  #times = new Float64Array(0);
  #isFirst = true;
  #firstHigh = 0;
  #firstLow = 0;
  #lastMs = 0;

  constructor(selection: Selection) {
    this.#selection = selection;
  }

  make(batch: CaptureBatch): FrameChunk {
    if (this.#offsets.length < batch.count) {
      this.#offsets = new Uint32Array(batch.capacity);
      this.#lengths = new Uint32Array(batch.capacity);
      this.#times = new Float64Array(batch.capacity);
    }
    const selection = this.#selection;
    const skipped = new Map<SkipReason, number>();
    let count = 0;
    let size = 0;
    for (let row = 0; row < batch.count; row++) {
      const reason = selection.choose(batch, row);
      if (reason !== null) {
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
        continue;
      }
      this.#offsets[count] = selection.offset;
      this.#lengths[count] = selection.length;
      this.#times[count] = this.#timeOf(batch, row);
      size += selection.length;
      count++;
    }
    return { ...this.#copy(batch.bytes, count, size), count, skipped };
  }

  #copy(from: Uint8Array, count: number, size: number): Omit<FrameChunk, 'count' | 'skipped'> {
    const bytes = new Uint8Array(size);
    const offsets = new Uint32Array(count);
    const lengths = this.#lengths.slice(0, count);
    let at = 0;
    for (let row = 0; row < count; row++) {
      const offset = this.#offsets[row]!;
      bytes.set(from.subarray(offset, offset + lengths[row]!), at);
      this.#selection.rewrite(bytes, at);
      offsets[row] = at;
      at += lengths[row]!;
    }
    return { bytes, offsets, lengths, timesMs: this.#times.slice(0, count) };
  }

  #timeOf(batch: CaptureBatch, row: number): number {
    const high = batch.timestampsHigh[row]!;
    const low = batch.timestampsLow[row]!;
    if (this.#isFirst) {
      this.#isFirst = false;
      this.#firstHigh = high;
      this.#firstLow = low;
    }
    // Frames keep their order, even if the clock of the capture went back.
    this.#lastMs = Math.max(this.#lastMs, (high - this.#firstHigh) * MS_PER_HIGH_WORD + (low - this.#firstLow) / 1e6);
    return this.#lastMs;
  }
}
