import type { Frames, LinkLayer, TelemetryBatch } from '@int/codec';

/**
 * What a source hands to the pipeline for decoding: many frames of one link type, and when they came.
 *
 * The memory is the source's own and is used again: it is valid until `push` returns or, if that returned a promise,
 * until the promise settles. Copy what you want to keep.
 */
export interface SourceFrames extends Frames {
  /** What each frame starts with; `null` is a link type that no decoder here knows. */
  readonly linkType: LinkLayer | null;
  readonly timestampsHigh: Uint32Array;
  readonly timestampsLow: Uint32Array;
  readonly count: number;
}

/**
 * Takes frames, or a batch that the source has decoded itself. Such a batch has frame times and uses the collector's
 * decode options. The pipeline counts its frames and passes it to stages and sinks unchanged.
 *
 * Returns `undefined` when it is done with the input. Otherwise it returns a promise, and the source must not touch
 * that memory until the promise settles.
 */
export type Push = (input: SourceFrames | TelemetryBatch) => Promise<void> | undefined;

/** {@link Push} for a source that does not decode. */
export type PushFrames = (frames: SourceFrames) => Promise<void> | undefined;

/** Whether a source has decoded what it pushes. */
export function isDecoded(input: SourceFrames | TelemetryBatch): input is TelemetryBatch {
  // Works across the ESM and the CommonJS copy of the codec, where `instanceof` does not.
  return 'reportWords' in input;
}

/** Milliseconds in 2^32 nanoseconds. */
const MS_PER_HIGH_WORD = 4294.967296;

/** Converts a time in nanoseconds, as two words, into milliseconds; exact to a microsecond. */
function wordsToMs(high: number, low: number): number {
  return high * MS_PER_HIGH_WORD + low / 1e6;
}

/** The time of frame `frame` of a batch in nanoseconds since the epoch. */
export function frameTimeNs(batch: TelemetryBatch, frame: number): bigint {
  return (BigInt(batch.frameTimeHigh[frame]!) << 32n) | BigInt(batch.frameTimeLow[frame]!);
}

/** The time of frame `frame` of a batch in milliseconds since the epoch; exact to a microsecond. */
export function frameTimeMs(batch: TelemetryBatch, frame: number): number {
  return wordsToMs(batch.frameTimeHigh[frame]!, batch.frameTimeLow[frame]!);
}

/** The time of frame `row` of a source in milliseconds since the epoch; exact to a microsecond. */
export function sourceTimeMs(frames: SourceFrames, row: number): number {
  return wordsToMs(frames.timestampsHigh[row]!, frames.timestampsLow[row]!);
}

/**
 * Writes one time into rows `from` to `to - 1` of a source's time columns.
 * @param timeMs milliseconds since the epoch, fractions allowed
 */
export function fillFrameTimes(
  { timestampsHigh, timestampsLow }: Pick<SourceFrames, 'timestampsHigh' | 'timestampsLow'>,
  from: number,
  to: number,
  timeMs: number,
): void {
  const high = Math.floor(timeMs / MS_PER_HIGH_WORD);
  timestampsHigh.fill(high, from, to);
  timestampsLow.fill((timeMs - high * MS_PER_HIGH_WORD) * 1e6, from, to);
}

const WORD_BYTES = 4;
/** Offsets, lengths and the two halves of times. */
const SLAB_COLUMNS = 4;

/** How much a {@link FrameSlab} holds. */
export interface SlabCapacity {
  /** Frames. */
  readonly frames: number;
  /** Bytes of all frames together. */
  readonly bytes: number;
}

/**
 * A reusable buffer of frames: the source copies frames in, pushes the slab, and fills it again. Allocates nothing
 * after construction.
 */
export class FrameSlab implements SourceFrames {
  linkType: LinkLayer | null;
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  readonly timestampsHigh: Uint32Array;
  readonly timestampsLow: Uint32Array;
  count = 0;
  /** Bytes in use. */
  used = 0;

  /** @throws RangeError if a capacity is not a positive integer */
  constructor({ frames, bytes }: SlabCapacity, linkType: LinkLayer | null) {
    for (const [name, value] of Object.entries({ frames, bytes })) {
      if (!Number.isInteger(value) || value < 1) {
        throw new RangeError(`slab capacity: ${name} must be a positive integer, not ${String(value)}`);
      }
    }
    const memory = new ArrayBuffer(SLAB_COLUMNS * frames * WORD_BYTES + bytes);
    const column = (index: number): Uint32Array => new Uint32Array(memory, index * frames * WORD_BYTES, frames);
    this.linkType = linkType;
    this.offsets = column(0);
    this.lengths = column(1);
    this.timestampsHigh = column(2);
    this.timestampsLow = column(3);
    this.bytes = new Uint8Array(memory, SLAB_COLUMNS * frames * WORD_BYTES, bytes);
  }

  /** Whether a frame of `length` bytes still fits. */
  fits(length: number): boolean {
    return this.count < this.offsets.length && this.used + length <= this.bytes.length;
  }

  /**
   * Copies a frame in. The caller has asked {@link fits}.
   * @param timeMs arrival time, milliseconds since the epoch, fractions allowed
   */
  append(frame: Uint8Array, timeMs: number): void {
    const row = this.count;
    this.bytes.set(frame, this.used);
    this.offsets[row] = this.used;
    this.lengths[row] = frame.length;
    const high = Math.floor(timeMs / MS_PER_HIGH_WORD);
    this.timestampsHigh[row] = high;
    this.timestampsLow[row] = (timeMs - high * MS_PER_HIGH_WORD) * 1e6;
    this.used += frame.length;
    this.count = row + 1;
  }

  clear(): void {
    this.count = 0;
    this.used = 0;
  }
}
