import { CaptureError } from './capture-error.js';
import type { ChunkWindow } from './chunk-window.js';
import { type ByteOrder, type CaptureLimits, type FormatParser, readU16, readU32 } from './format-parser.js';
import type { CaptureBatch, CaptureInterface } from './frame.js';
import { Second } from './nanoseconds.js';

/** Magic numbers of pcap, in the byte order of the file (draft-ietf-opsawg-pcap, File Header). */
export const PCAP_MICROSECONDS = 0xa1b2c3d4;
export const PCAP_NANOSECONDS = 0xa1b23c4d;
/** A. Kuznetsov's variant: microseconds, and 8 more bytes in each record header. */
const PCAP_MODIFIED = 0xa1b2cd34;
export const PCAP_HEADER_LENGTH = 24;
export const PCAP_RECORD_HEADER_LENGTH = 16;

/** In the link type word: FCS length in 16-bit words, whether it is present, and bits that must be 0. */
const FCS_LENGTH_SHIFT = 28;
export const FCS_PRESENT = 0x0400_0000;
const RESERVED_BITS = 0x0bff_0000;

/** The magic number and byte order of a pcap file whose first four bytes, read big-endian, are `first`. */
function magicOf(first: number): { readonly magic: number; readonly byteOrder: ByteOrder } | undefined {
  for (const magic of [PCAP_MICROSECONDS, PCAP_NANOSECONDS, PCAP_MODIFIED]) {
    if (first === magic) return { magic, byteOrder: 'big' };
    if (first === swapped(magic)) return { magic, byteOrder: 'little' };
  }
  return undefined;
}

function swapped(word: number): number {
  return ((word >>> 24) | ((word >>> 8) & 0xff00) | ((word << 8) & 0xff_0000) | (word << 24)) >>> 0;
}

/** @returns whether the first four bytes, read big-endian, open a pcap file */
export function isPcapMagic(first: number): boolean {
  return magicOf(first) !== undefined;
}

/**
 * pcap, draft-ietf-opsawg-pcap.
 *
 * ```text
 * file header    magic 32 | major 16 | minor 16 | reserved 64 | snap length 32 | FCS 4, 0, P, 0 10 | link type 16
 * record header  seconds 32 | microseconds or nanoseconds 32 | captured length 32 | original length 32
 * ```
 */
export class PcapParser implements FormatParser {
  readonly byteOrder: ByteOrder;
  interfaces: readonly CaptureInterface[] = [];
  unitOffset = 0;
  isBetweenUnits = false;
  readonly #little: boolean;
  readonly #isNanosecond: boolean;
  readonly #recordHeaderLength: number;
  readonly #fractionUnit: number;
  readonly #maxFrameLength: number;
  readonly #second = new Second();
  #linkType = 0;
  #minorVersion = 0;

  /** @param first the first four bytes, read big-endian; {@link isPcapMagic} must hold */
  constructor(first: number, limits: CaptureLimits) {
    const { magic, byteOrder } = magicOf(first)!;
    this.byteOrder = byteOrder;
    this.#little = byteOrder === 'little';
    this.#isNanosecond = magic === PCAP_NANOSECONDS;
    this.#recordHeaderLength = PCAP_RECORD_HEADER_LENGTH + (magic === PCAP_MODIFIED ? 8 : 0);
    this.#fractionUnit = this.#isNanosecond ? 1 : 1000;
    this.#maxFrameLength = limits.maxFrameLength;
  }

  fill(window: ChunkWindow, batch: CaptureBatch): number {
    if (!this.isBetweenUnits && !this.#readHeader(window)) return 0;
    if (!this.#require(window)) return 0;
    // From here on stay in the window, and leave incomplete or wrong records to the next call.
    const { bytes, end } = window;
    const { capacity, offsets, lengths, originalLengths, interfaceIds, timestampsHigh, timestampsLow } = batch;
    const little = this.#little;
    const unit = this.#fractionUnit;
    const headerLength = this.#recordHeaderLength;
    const hasOldLengths = this.#minorVersion < 4;
    const maxFrameLength = this.#maxFrameLength;
    const second = this.#second;
    let at = window.position;
    let count = 0;
    while (count < capacity && end - at >= headerLength) {
      let captured = readU32(bytes, at + 8, little);
      let original = readU32(bytes, at + 12, little);
      if (hasOldLengths && this.#lengthsAreSwapped(captured, original)) {
        const swap = captured;
        captured = original;
        original = swap;
      }
      if (captured > maxFrameLength || captured > end - at - headerLength) break;
      const seconds = readU32(bytes, at, little);
      if (seconds !== second.seconds) second.set(seconds);
      const low = second.low + readU32(bytes, at + 4, little) * unit;
      timestampsLow[count] = low >>> 0;
      timestampsHigh[count] = second.high + Math.floor(low / 0x1_0000_0000);
      offsets[count] = at + headerLength;
      lengths[count] = captured;
      originalLengths[count] = original;
      interfaceIds[count] = 0;
      at += headerLength + captured;
      count += 1;
    }
    window.position = at;
    batch.linkType = this.#linkType;
    return count;
  }

  /** Brings the next record into the window as a whole. Returns false if it is not complete yet. */
  #require(window: ChunkWindow): boolean {
    this.unitOffset = window.offset;
    if (!window.need(this.#recordHeaderLength)) return false;
    let captured = readU32(window.bytes, window.position + 8, this.#little);
    const original = readU32(window.bytes, window.position + 12, this.#little);
    if (this.#minorVersion < 4 && this.#lengthsAreSwapped(captured, original)) captured = original;
    if (captured > this.#maxFrameLength) {
      const limit = this.#maxFrameLength;
      throw new CaptureError(
        'ERR_CAPTURE_TOO_LARGE',
        window.offset + 8,
        `captured length ${captured} exceeds the limit of ${limit} bytes`,
      );
    }
    return window.need(this.#recordHeaderLength + captured);
  }

  /**
   * Before version 2.3 the original length came first. In 2.3 both orders occur, and the captured length is the smaller
   * one.
   */
  #lengthsAreSwapped(captured: number, original: number): boolean {
    return this.#minorVersion < 3 || captured > original;
  }

  #readHeader(window: ChunkWindow): boolean {
    if (!window.need(PCAP_HEADER_LENGTH)) return false;
    const { bytes, position } = window;
    const little = this.#little;
    const major = readU16(bytes, position + 4, little);
    const minor = readU16(bytes, position + 6, little);
    if (major !== 2) {
      throw new CaptureError('ERR_CAPTURE_VERSION', window.offset + 4, `pcap version ${major}.${minor}, expected 2.x`);
    }
    const link = readU32(bytes, position + 20, little);
    if ((link & RESERVED_BITS) !== 0) {
      throw new CaptureError(
        'ERR_CAPTURE_VERSION',
        window.offset + 20,
        `reserved bits of the link type are set: 0x${link.toString(16).padStart(8, '0')}`,
      );
    }
    this.#minorVersion = minor;
    this.#linkType = link & 0xffff;
    this.interfaces = [
      {
        linkType: this.#linkType,
        snapLength: readU32(bytes, position + 16, little),
        timestampResolution: this.#isNanosecond ? 9 : 6,
        fcsLength: (link & FCS_PRESENT) === 0 ? undefined : (link >>> FCS_LENGTH_SHIFT) * 2,
        name: undefined,
      },
    ];
    this.isBetweenUnits = true;
    window.position += PCAP_HEADER_LENGTH;
    return true;
  }
}
