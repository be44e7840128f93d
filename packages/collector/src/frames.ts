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

  /** @throws RangeError if a capacity is not a positive integer */
  constructor(capacity: SlabCapacity, linkType: LinkLayer | null) {
    for (const [name, value] of Object.entries(capacity)) {
      if (!Number.isInteger(value) || value < 1) {
        throw new RangeError(`slab capacity: ${name} must be a positive integer, not ${String(value)}`);
      }
    }
    this.linkType = linkType;
    this.bytes = new Uint8Array(capacity.bytes);
    this.offsets = new Uint32Array(capacity.frames);
    this.lengths = new Uint32Array(capacity.frames);
    this.timestampsHigh = new Uint32Array(capacity.frames);
    this.timestampsLow = new Uint32Array(capacity.frames);
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
