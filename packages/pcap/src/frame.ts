import { joinWords } from './nanoseconds.js';

/** A captured frame, as the convenience functions return it. */
export interface Frame {
  /** The captured bytes, from the first byte of the link layer on. */
  readonly data: Uint8Array;
  /** Nanoseconds since 1970-01-01 00:00:00 UTC, 0 to 2^64 - 1. 0 for pcapng's simple packet blocks, which have no time. */
  readonly timeNs: bigint;
  /** Length of the frame on the wire in bytes, as stored; more than `data.length` if the capture cut it. */
  readonly originalLength: number;
  /** Link type: the first header of `data`; see `LinkType`. */
  readonly linkType: number;
  /** Index of the interface in its section, from 0; always 0 in pcap. */
  readonly interfaceId: number;
}

/** An interface that a capture describes. A pcap file counts as one interface. */
export interface CaptureInterface {
  /** 0 to 65535; see `LinkType`. */
  readonly linkType: number;
  /** Most bytes captured of a frame, as stored. In pcapng, 0 means no limit. */
  readonly snapLength: number;
  /** Resolution of times as in pcapng's if_tsresol: 10^-n seconds, or 2^-(n - 128) from 128 on. pcap: 6 or 9. */
  readonly timestampResolution: number;
  /**
   * Length of the frame check sequence at the end of each frame. pcap: bytes. pcapng: if_fcslen as stored; the
   * specification says bits, its example and common tools bytes. undefined if absent.
   */
  readonly fcsLength: number | undefined;
  /** pcapng's if_name, at most its first 256 bytes. */
  readonly name: string | undefined;
}

/**
 * A record for `CaptureReader.next`, to be reused.
 *
 * `bytes` is memory of the reader or of a fed chunk. The frame is `bytes[offset]` to `bytes[offset + length - 1]`. It
 * is valid until the next call of `next`, `readBatch` or `end`, as long as the caller does not change that chunk. Use
 * {@link copy} to keep it.
 */
export class CaptureFrame {
  bytes: Uint8Array = new Uint8Array(0);
  /** Start of the frame in `bytes`. */
  offset = 0;
  /** Captured bytes. */
  length = 0;
  /** Bytes on the wire, as stored, 0 to 2^32 - 1. */
  originalLength = 0;
  /** See `LinkType`. */
  linkType = 0;
  /** Index of the interface in its section, from 0. */
  interfaceId = 0;
  /** Upper 32 bits of the time in nanoseconds since 1970-01-01 00:00:00 UTC. */
  timestampHigh = 0;
  /** Lower 32 bits. */
  timestampLow = 0;

  /** The time in nanoseconds since 1970-01-01 00:00:00 UTC as one number, computed on each access. */
  get timeNs(): bigint {
    return joinWords(this.timestampHigh, this.timestampLow);
  }

  /** The frame as a view, made on each access. It is valid as long as `bytes`. */
  get data(): Uint8Array {
    return this.bytes.subarray(this.offset, this.offset + this.length);
  }

  /** A copy of the frame with its own bytes. */
  copy(): Frame {
    return frameOf(this, this.data.slice());
  }
}

/** The values of a record, with `data` as its bytes. */
export function frameOf({ timeNs, originalLength, linkType, interfaceId }: CaptureFrame, data: Uint8Array): Frame {
  return { data, timeNs, originalLength, linkType, interfaceId };
}

/**
 * Columns that `CaptureReader.readBatch` fills: frames that lie in one buffer and have one link type.
 *
 * Frame i is `bytes[offsets[i]]` to `bytes[offsets[i] + lengths[i] - 1]`, for i from 0 to `count - 1`. The bytes are
 * valid as long as those of a {@link CaptureFrame}. Nothing is allocated after construction.
 */
export class CaptureBatch {
  /** Most frames in a batch. */
  readonly capacity: number;
  /** The bytes with the frames of this batch. */
  bytes: Uint8Array = new Uint8Array(0);
  /** Frames in this batch. */
  count = 0;
  /** Link type of all frames in this batch. */
  linkType = 0;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  readonly originalLengths: Uint32Array;
  readonly interfaceIds: Uint32Array;
  /** Upper 32 bits of the times in nanoseconds since 1970-01-01 00:00:00 UTC. */
  readonly timestampsHigh: Uint32Array;
  /** Lower 32 bits of the times. */
  readonly timestampsLow: Uint32Array;

  /**
   * @param capacity frames, 1 to 2^24
   * @throws RangeError for another capacity
   */
  constructor(capacity: number) {
    if (!Number.isInteger(capacity) || capacity < 1 || capacity > 1 << 24) {
      throw new RangeError(`batch capacity must be an integer from 1 to 2^24, not ${capacity}`);
    }
    this.capacity = capacity;
    this.offsets = new Uint32Array(capacity);
    this.lengths = new Uint32Array(capacity);
    this.originalLengths = new Uint32Array(capacity);
    this.interfaceIds = new Uint32Array(capacity);
    this.timestampsHigh = new Uint32Array(capacity);
    this.timestampsLow = new Uint32Array(capacity);
  }
}
