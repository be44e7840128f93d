/** A frame to write. The results of the reading functions are valid inputs. */
export interface FrameInput {
  /** The captured bytes. */
  readonly data: Uint8Array;
  /** Nanoseconds since 1970-01-01 00:00:00 UTC, 0 to 2^64 - 1. */
  readonly timeNs: bigint;
  /** Length of the frame on the wire in bytes, 0 to 2^32 - 1. Default: `data.length`. */
  readonly originalLength?: number;
  /** pcapng: index of the interface. Default: 0. pcap has one interface and ignores it. */
  readonly interfaceId?: number;
  /** Link type. If given, it must equal that of the file or interface. */
  readonly linkType?: number;
}

/**
 * The interface of both writers. A capture consists of `header()`, then one `record` per frame.
 *
 * Frames longer than the snapshot length are cut to it; the original length keeps the length on the wire.
 */
export interface CaptureWriter {
  /** The first bytes of a capture. */
  header(): Uint8Array;

  /**
   * Encodes one frame as a record in a new array.
   * @throws RangeError for a time or length that the format cannot hold, or an interface that does not exist
   * @throws TypeError if the frame's link type is not that of the file or interface
   */
  record(frame: FrameInput): Uint8Array;

  /** Bytes that `recordInto` writes for a frame of `dataLength` bytes. */
  recordLength(dataLength: number, interfaceId?: number): number;

  /**
   * Writes one frame into a buffer; allocates nothing.
   * @param out buffer to write to
   * @param offset first byte to write
   * @param data the captured bytes
   * @param timestampHigh upper 32 bits of the time in nanoseconds since 1970-01-01 00:00:00 UTC
   * @param timestampLow lower 32 bits
   * @param originalLength bytes on the wire, 0 to 2^32 - 1. Default: `data.length`
   * @param interfaceId pcapng: index of the interface. Default: 0
   * @returns bytes written
   * @throws RangeError if the record does not fit `out`, or as for `record`
   */
  recordInto(
    out: Uint8Array,
    offset: number,
    data: Uint8Array,
    timestampHigh: number,
    timestampLow: number,
    originalLength?: number,
    interfaceId?: number,
  ): number;
}

const MAX_U32 = 0xffff_ffff;

/** @throws RangeError if `value` is not an integer from `minimum` to `maximum` */
export function checkInteger(name: string, value: number, minimum: number, maximum: number = MAX_U32): number {
  if (!Number.isInteger(value) || value < minimum || value > maximum) {
    throw new RangeError(`${name} must be an integer from ${minimum} to ${maximum}, not ${value}`);
  }
  return value;
}

/** @throws RangeError if `length` bytes at `offset` are not inside `out` */
export function checkRoom(out: Uint8Array, offset: number, length: number): void {
  if (!Number.isInteger(offset) || offset < 0 || offset + length > out.length) {
    throw new RangeError(`a record of ${length} bytes at ${offset} does not fit a buffer of ${out.length}`);
  }
}

/** @throws TypeError if the frame names another link type than `expected` */
export function checkLinkType(frame: FrameInput, expected: number): void {
  if (frame.linkType !== undefined && frame.linkType !== expected) {
    throw new TypeError(`a frame of link type ${frame.linkType} cannot be written as link type ${expected}`);
  }
}

/** Encodes one frame with `recordInto`. */
export function recordOf(writer: CaptureWriter, frame: FrameInput): Uint8Array {
  const { data, timeNs, interfaceId = 0 } = frame;
  if (timeNs < 0n || timeNs >> 64n !== 0n) throw new RangeError(`timeNs must be from 0 to 2^64 - 1, not ${timeNs}`);
  const out = new Uint8Array(writer.recordLength(data.length, interfaceId));
  const high = Number(timeNs >> 32n);
  const low = Number(timeNs & 0xffff_ffffn);
  writer.recordInto(out, 0, data, high, low, frame.originalLength ?? data.length, interfaceId);
  return out;
}
