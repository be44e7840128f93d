import type { LinkLayer, TelemetryBatch } from '@int/codec';

/**
 * What a source hands to the pipeline: the bytes of many frames, and where each of them lies.
 *
 * The memory is the source's own and is used again: it is valid until `push` returns or, if that returned a promise,
 * until the promise settles. Whoever wants to keep something copies it.
 */
export interface FrameBatch {
  /** What each frame starts with; `null` is a link type that no decoder here knows. */
  readonly linkType: LinkLayer | null;
  readonly bytes: Uint8Array;
  /** First byte of each frame in `bytes`. Rows from `count` on are undefined. */
  readonly offsets: Uint32Array;
  /** Bytes of each frame. */
  readonly lengths: Uint32Array;
  /** Capture or arrival time in nanoseconds since 1970-01-01 00:00:00 UTC, upper 32 bits. */
  readonly timestampsHigh: Uint32Array;
  /** Lower 32 bits. */
  readonly timestampsLow: Uint32Array;
  /** Frames held. */
  readonly count: number;
  /**
   * What the source has decoded of these frames itself: the frames 0 to `decoded.frames - 1`, in the columns that a
   * `BatchDecoder` with this `linkType`, these `bytes` and the collector's own decode options gives. The pipeline counts
   * them, shows them to the stages and gives them to the sinks as they are, and decodes the frames that are left. It is
   * the source's own and used again, as the bytes are.
   */
  readonly decoded?: TelemetryBatch;
}

/**
 * Takes a batch of frames. Returns `undefined` if it is done with them, or a promise if it is still busy: the source
 * must leave the batch alone until then.
 */
export type Push = (frames: FrameBatch) => Promise<void> | undefined;

/** Milliseconds in 2^32 nanoseconds. */
const MS_PER_HIGH_WORD = 4294.967296;

/** The time of frame `row` in milliseconds since the epoch; exact to a microsecond. */
export function frameTimeMs(frames: FrameBatch, row: number): number {
  return frames.timestampsHigh[row]! * MS_PER_HIGH_WORD + frames.timestampsLow[row]! / 1e6;
}

/**
 * Writes one time into rows `from` to `to - 1` of a batch's time columns.
 * @param timeMs milliseconds since the epoch, fractions allowed
 */
export function fillFrameTimes(
  { timestampsHigh, timestampsLow }: Pick<FrameBatch, 'timestampsHigh' | 'timestampsLow'>,
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

/** A frame batch that a source copies frames into, sends off and fills again. Allocates nothing after construction. */
export class FrameSlab implements FrameBatch {
  linkType: LinkLayer | null;
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  readonly timestampsHigh: Uint32Array;
  readonly timestampsLow: Uint32Array;
  count = 0;
  /** Bytes in use. */
  used = 0;

  /**
   * @param buffer where to put it, {@link FrameSlab.byteLength} bytes: shared memory, for another thread. Default: its own
   * @throws RangeError if a capacity is not a positive integer, or the buffer too small
   */
  constructor({ frames, bytes }: SlabCapacity, linkType: LinkLayer | null, buffer?: ArrayBufferLike) {
    for (const [name, value] of Object.entries({ frames, bytes })) {
      if (!Number.isInteger(value) || value < 1) {
        throw new RangeError(`slab capacity: ${name} must be a positive integer, not ${String(value)}`);
      }
    }
    const memory = buffer ?? new ArrayBuffer(FrameSlab.byteLength({ frames, bytes }));
    const column = (index: number): Uint32Array => new Uint32Array(memory, index * frames * WORD_BYTES, frames);
    this.linkType = linkType;
    this.offsets = column(0);
    this.lengths = column(1);
    this.timestampsHigh = column(2);
    this.timestampsLow = column(3);
    this.bytes = new Uint8Array(memory, SLAB_COLUMNS * frames * WORD_BYTES, bytes);
  }

  /** Bytes of memory that a slab takes: four columns of words, then the frames' bytes. */
  static byteLength({ frames, bytes }: SlabCapacity): number {
    return SLAB_COLUMNS * frames * WORD_BYTES + bytes;
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

  /** Copies frame `row` of another batch in, with its time. The caller has asked {@link fits}. */
  appendFrom(frames: FrameBatch, row: number): void {
    const to = this.count;
    const start = frames.offsets[row]!;
    const length = frames.lengths[row]!;
    this.bytes.set(frames.bytes.subarray(start, start + length), this.used);
    this.offsets[to] = this.used;
    this.lengths[to] = length;
    this.timestampsHigh[to] = frames.timestampsHigh[row]!;
    this.timestampsLow[to] = frames.timestampsLow[row]!;
    this.used += length;
    this.count = to + 1;
  }

  clear(): void {
    this.count = 0;
    this.used = 0;
  }
}
