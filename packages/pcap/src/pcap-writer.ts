import {
  type CaptureWriter,
  checkInteger,
  checkLinkType,
  checkRoom,
  type FrameInput,
  recordOf,
} from './capture-writer.js';
import { type ByteOrder, writeU16, writeU32 } from './format-parser.js';
import { LinkType } from './link-type.js';
import { Nanoseconds } from './nanoseconds.js';
import {
  FCS_PRESENT,
  PCAP_HEADER_LENGTH,
  PCAP_MICROSECONDS,
  PCAP_NANOSECONDS,
  PCAP_RECORD_HEADER_LENGTH,
} from './pcap-parser.js';

/** Options of a pcap file. */
export interface PcapOptions {
  /** Link type of all frames, 0 to 65535. Default: `LinkType.ETHERNET`. */
  readonly linkType?: number;
  /** Whether times are in nanoseconds; otherwise in microseconds, rounded down. Default: true. */
  readonly nanosecond?: boolean;
  /** Most bytes written of a frame, 1 to 2^32 - 1. Default: 262,144. */
  readonly snapLength?: number;
  /** Byte order of the file. Default: little. */
  readonly byteOrder?: ByteOrder;
  /** Bytes of frame check sequence at the end of each frame: even, 0 to 30. Default: not stated. */
  readonly fcsLength?: number;
}

const NS_PER_SECOND = 1_000_000_000;

/** Writes pcap, version 2.4 (draft-ietf-opsawg-pcap). Times from 1970 to 2106: pcap has 32 bits of seconds. */
export class PcapWriter implements CaptureWriter {
  readonly linkType: number;
  readonly #little: boolean;
  readonly #nanosecond: boolean;
  readonly #snapLength: number;
  readonly #linkWord: number;
  readonly #time = new Nanoseconds();

  /** @throws RangeError for an option out of range */
  constructor(options: PcapOptions = {}) {
    this.linkType = checkInteger('linkType', options.linkType ?? LinkType.ETHERNET, 0, 0xffff);
    this.#nanosecond = options.nanosecond ?? true;
    this.#snapLength = checkInteger('snapLength', options.snapLength ?? 1 << 18, 1);
    this.#little = (options.byteOrder ?? 'little') === 'little';
    let fcs = 0;
    if (options.fcsLength !== undefined) {
      const words = checkInteger('fcsLength / 2', options.fcsLength / 2, 0, 15);
      fcs = words * 0x1000_0000 + FCS_PRESENT;
    }
    this.#linkWord = fcs + this.linkType;
  }

  header(): Uint8Array {
    const out = new Uint8Array(PCAP_HEADER_LENGTH);
    const little = this.#little;
    writeU32(out, 0, this.#nanosecond ? PCAP_NANOSECONDS : PCAP_MICROSECONDS, little);
    writeU16(out, 4, 2, little);
    writeU16(out, 6, 4, little);
    writeU32(out, 16, this.#snapLength, little);
    writeU32(out, 20, this.#linkWord, little);
    return out;
  }

  record(frame: FrameInput): Uint8Array {
    checkLinkType(frame, this.linkType);
    return recordOf(this, frame);
  }

  recordLength(dataLength: number): number {
    return PCAP_RECORD_HEADER_LENGTH + Math.min(dataLength, this.#snapLength);
  }

  recordInto(
    out: Uint8Array,
    offset: number,
    data: Uint8Array,
    timestampHigh: number,
    timestampLow: number,
    originalLength: number = data.length,
  ): number {
    const length = this.recordLength(data.length);
    checkRoom(out, offset, length);
    checkInteger('originalLength', originalLength, 0);
    const little = this.#little;
    const time = this.#time;
    const fraction = time.setQuotient(timestampHigh, timestampLow, NS_PER_SECOND);
    if (time.high !== 0) throw new RangeError('the time is after 2106-02-07, which pcap cannot hold');
    writeU32(out, offset, time.low, little);
    writeU32(out, offset + 4, this.#nanosecond ? fraction : Math.floor(fraction / 1000), little);
    writeU32(out, offset + 8, length - PCAP_RECORD_HEADER_LENGTH, little);
    writeU32(out, offset + 12, originalLength, little);
    const isCut = data.length > this.#snapLength;
    out.set(isCut ? data.subarray(0, this.#snapLength) : data, offset + PCAP_RECORD_HEADER_LENGTH);
    return length;
  }
}

/** The header of a pcap file: 24 bytes. @throws RangeError for an option out of range */
export function encodePcapHeader(options?: PcapOptions): Uint8Array {
  return new PcapWriter(options).header();
}

/**
 * Encodes one frame as a pcap record: a 16-byte header and the data.
 * @param options the same as for the header of the file
 * @throws RangeError for an option, time or length out of range
 * @throws TypeError if the frame's link type is not that of the options
 */
export function encodePcapRecord(frame: FrameInput, options?: PcapOptions): Uint8Array {
  return new PcapWriter(options).record(frame);
}
