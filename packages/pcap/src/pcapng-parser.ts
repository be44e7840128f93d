import { CaptureError, type CaptureErrorCode } from './capture-error.js';
import type { ChunkWindow } from './chunk-window.js';
import { type ByteOrder, type CaptureLimits, type FormatParser, readU16, readU32 } from './format-parser.js';
import type { CaptureBatch, CaptureInterface } from './frame.js';
import { Nanoseconds, type TickScale, tickScale } from './nanoseconds.js';

/** Block types and option codes of pcapng (draft-ietf-opsawg-pcapng, Block Definition). */
export const SECTION_HEADER = 0x0a0d_0d0a;
export const INTERFACE_DESCRIPTION = 1;
const OBSOLETE_PACKET = 2;
const SIMPLE_PACKET = 3;
export const ENHANCED_PACKET = 6;
export const BYTE_ORDER_MAGIC = 0x1a2b_3c4d;
const BYTE_ORDER_MAGIC_SWAPPED = 0x4d3c_2b1a;
const OPTION_END = 0;
export const IF_NAME = 2;
export const IF_TSRESOL = 9;
const IF_FCSLEN = 13;
const IF_TSOFFSET = 14;

const DEFAULT_RESOLUTION = 6;
const MAX_NAME_LENGTH = 256;

/**
 * pcapng, draft-ietf-opsawg-pcapng.
 *
 * ```text
 * block               type 32 | total length 32 | body | total length 32
 * section header      byte-order magic 32 | major 16 | minor 16 | section length 64 | options
 * interface           link type 16 | 0 16 | snap length 32 | options
 * enhanced packet     interface 32 | ticks high 32 | ticks low 32 | captured 32 | original 32 | data, padded | options
 * packet (obsolete)   interface 16 | drops 16 | as enhanced packet
 * simple packet       original 32 | data, padded
 * ```
 *
 * All other blocks are skipped; their bytes are not kept.
 */
export class PcapngParser implements FormatParser {
  interfaces: CaptureInterface[] = [];
  unitOffset = 0;
  isBetweenUnits = false;
  readonly #limits: CaptureLimits;
  readonly #time = new Nanoseconds();
  #scales: TickScale[] = [];
  #little = true;
  /** Bytes of the current block's body still to skip. */
  #skip = 0;
  /** Total length that the block being skipped must repeat, or 0. */
  #trailer = 0;

  constructor(limits: CaptureLimits) {
    this.#limits = limits;
  }

  get byteOrder(): ByteOrder {
    return this.#little ? 'little' : 'big';
  }

  fill(window: ChunkWindow, batch: CaptureBatch): number {
    let count = 0;
    try {
      while (count < batch.capacity && this.#next(window, batch, count)) {
        window.pinned = true;
        count += 1;
        if (count < batch.capacity) count = this.#fillRun(window, batch, count);
      }
    } catch (error) {
      // The wrong unit stays in the window, so the next call meets it again.
      if (count === 0) throw error;
    }
    return count;
  }

  /** The usual case in one loop: consecutive valid enhanced packets. Leaves anything else to `#next`. */
  #fillRun(window: ChunkWindow, batch: CaptureBatch, from: number): number {
    const { bytes, end } = window;
    const { capacity, linkType, offsets, lengths, originalLengths, interfaceIds, timestampsHigh, timestampsLow } =
      batch;
    const { maxFrameLength, maxBlockLength } = this.#limits;
    const interfaces = this.interfaces;
    const scales = this.#scales;
    const time = this.#time;
    const little = this.#little;
    let at = window.position;
    let count = from;
    while (count < capacity && end - at >= 32) {
      const length = readU32(bytes, at + 4, little);
      const captured = readU32(bytes, at + 20, little);
      const id = readU32(bytes, at + 8, little);
      if (
        readU32(bytes, at, little) !== ENHANCED_PACKET ||
        length > end - at ||
        length % 4 !== 0 ||
        length > maxBlockLength ||
        captured > length - 32 ||
        captured > maxFrameLength ||
        id >= interfaces.length ||
        interfaces[id]!.linkType !== linkType ||
        readU32(bytes, at + length - 4, little) !== length
      ) {
        break;
      }
      const ticksHigh = readU32(bytes, at + 12, little);
      const ticksLow = readU32(bytes, at + 16, little);
      if (!time.putTicks(timestampsHigh, timestampsLow, count, ticksHigh, ticksLow, scales[id]!)) break;
      offsets[count] = at + 28;
      lengths[count] = captured;
      originalLengths[count] = readU32(bytes, at + 24, little);
      interfaceIds[count] = id;
      at += length;
      count += 1;
    }
    window.position = at;
    return count;
  }

  /** Fills row `row` with the next frame. Returns false if it is incomplete or does not fit the batch. */
  #next(window: ChunkWindow, batch: CaptureBatch, row: number): boolean {
    for (;;) {
      if (this.#trailer !== 0 && !this.#finishSkipping(window)) return false;
      this.unitOffset = window.offset;
      if (!window.need(8)) return false;
      const type = readU32(window.bytes, window.position, this.#little);
      if (type === SECTION_HEADER) {
        if (!this.#section(window)) return false;
        continue;
      }
      const length = readU32(window.bytes, window.position + 4, this.#little);
      this.#checkLength(window, length, 12);
      switch (type) {
        case ENHANCED_PACKET:
        case OBSOLETE_PACKET:
          return this.#packet(window, batch, row, type, length);
        case SIMPLE_PACKET:
          return this.#simplePacket(window, batch, row, length);
        case INTERFACE_DESCRIPTION:
          if (!this.#interface(window, length)) return false;
          break;
        default:
          this.#startSkipping(window, 8, length);
      }
    }
  }

  /** A batch has one link type. */
  #belongs(batch: CaptureBatch, row: number, linkType: number): boolean {
    if (row === 0) batch.linkType = linkType;
    return batch.linkType === linkType;
  }

  #fail(code: CaptureErrorCode, window: ChunkWindow, field: number, message: string): never {
    throw new CaptureError(code, window.offset + field, message);
  }

  #checkLength(window: ChunkWindow, length: number, minimum: number): void {
    if (length < minimum || length % 4 !== 0) {
      this.#fail('ERR_CAPTURE_LENGTH', window, 4, `block length ${length} is below ${minimum} or no multiple of 4`);
    }
    if (length > this.#limits.maxBlockLength) {
      const limit = this.#limits.maxBlockLength;
      this.#fail('ERR_CAPTURE_TOO_LARGE', window, 4, `block length ${length} exceeds the limit of ${limit} bytes`);
    }
  }

  #checkTrailer(window: ChunkWindow, at: number, length: number): void {
    const repeated = readU32(window.bytes, window.position + at, this.#little);
    if (repeated !== length) {
      this.#fail('ERR_CAPTURE_LENGTH', window, at, `block length is ${length} at its start and ${repeated} at its end`);
    }
  }

  /** The block has been read up to `done`; drops its rest, in this call or in later ones. */
  #startSkipping(window: ChunkWindow, done: number, length: number): void {
    window.position += done;
    this.#skip = length - done - 4;
    this.#trailer = length;
    this.isBetweenUnits = false;
  }

  #finishSkipping(window: ChunkWindow): boolean {
    this.#skip -= window.discard(this.#skip);
    if (this.#skip !== 0 || !window.need(4)) return false;
    this.#checkTrailer(window, 0, this.#trailer);
    window.position += 4;
    this.#trailer = 0;
    this.isBetweenUnits = true;
    return true;
  }

  #section(window: ChunkWindow): boolean {
    // A batch ends here, because interface numbers change their meaning.
    if (window.pinned || !window.need(12)) return false;
    const magic = readU32(window.bytes, window.position + 8, false);
    if (magic !== BYTE_ORDER_MAGIC && magic !== BYTE_ORDER_MAGIC_SWAPPED) {
      this.#fail('ERR_CAPTURE_MAGIC', window, 8, `section header with byte-order magic 0x${magic.toString(16)}`);
    }
    const little = magic === BYTE_ORDER_MAGIC_SWAPPED;
    const length = readU32(window.bytes, window.position + 4, little);
    this.#checkLength(window, length, 28);
    if (!window.need(24)) return false;
    const major = readU16(window.bytes, window.position + 12, little);
    const minor = readU16(window.bytes, window.position + 14, little);
    if (major !== 1 || (minor !== 0 && minor !== 2)) {
      this.#fail('ERR_CAPTURE_VERSION', window, 12, `pcapng version ${major}.${minor}, expected 1.0 or 1.2`);
    }
    this.#little = little;
    this.interfaces = [];
    this.#scales = [];
    // The section length only serves to skip sections, and some writers leave it 0.
    this.#startSkipping(window, 24, length);
    return true;
  }

  #packet(window: ChunkWindow, batch: CaptureBatch, row: number, type: number, length: number): boolean {
    this.#checkLength(window, length, 32);
    if (!window.need(28)) return false;
    const little = this.#little;
    const head = window.position + 8;
    const id = type === ENHANCED_PACKET ? readU32(window.bytes, head, little) : readU16(window.bytes, head, little);
    const description = this.interfaces[id];
    const scale = this.#scales[id];
    if (description === undefined || scale === undefined) {
      this.#fail(
        'ERR_CAPTURE_INTERFACE',
        window,
        8,
        `interface ${id}, but the section describes ${this.interfaces.length}`,
      );
    }
    const captured = readU32(window.bytes, window.position + 20, little);
    this.#checkCaptured(window, 20, captured, length - 32);
    if (!window.need(length)) return false;
    this.#checkTrailer(window, length - 4, length);
    const bytes = window.bytes;
    const start = window.position;
    const ticksHigh = readU32(bytes, start + 12, little);
    const ticksLow = readU32(bytes, start + 16, little);
    if (!this.#time.putTicks(batch.timestampsHigh, batch.timestampsLow, row, ticksHigh, ticksLow, scale)) {
      this.#fail('ERR_CAPTURE_BLOCK', window, 12, 'the time is before 1970 or does not fit 64 bits of nanoseconds');
    }
    if (!this.#belongs(batch, row, description.linkType)) return false;
    batch.offsets[row] = start + 28;
    batch.lengths[row] = captured;
    batch.originalLengths[row] = readU32(bytes, start + 24, little);
    batch.interfaceIds[row] = id;
    window.position = start + length;
    return true;
  }

  #simplePacket(window: ChunkWindow, batch: CaptureBatch, row: number, length: number): boolean {
    this.#checkLength(window, length, 16);
    const description = this.interfaces[0];
    if (description === undefined) {
      this.#fail('ERR_CAPTURE_INTERFACE', window, 0, 'a simple packet block before any interface');
    }
    if (!window.need(12)) return false;
    const original = readU32(window.bytes, window.position + 8, this.#little);
    const snapLength = description.snapLength;
    const captured = snapLength === 0 ? original : Math.min(original, snapLength);
    this.#checkCaptured(window, 8, captured, length - 16);
    if (!window.need(length)) return false;
    this.#checkTrailer(window, length - 4, length);
    if (!this.#belongs(batch, row, description.linkType)) return false;
    batch.timestampsHigh[row] = 0;
    batch.timestampsLow[row] = 0;
    batch.offsets[row] = window.position + 12;
    batch.lengths[row] = captured;
    batch.originalLengths[row] = original;
    batch.interfaceIds[row] = 0;
    window.position += length;
    return true;
  }

  #checkCaptured(window: ChunkWindow, field: number, captured: number, room: number): void {
    if (captured > room) {
      this.#fail(
        'ERR_CAPTURE_LENGTH',
        window,
        field,
        `captured length ${captured} in a block with room for ${room} bytes`,
      );
    }
    if (captured > this.#limits.maxFrameLength) {
      const limit = this.#limits.maxFrameLength;
      this.#fail(
        'ERR_CAPTURE_TOO_LARGE',
        window,
        field,
        `captured length ${captured} exceeds the limit of ${limit} bytes`,
      );
    }
  }

  #interface(window: ChunkWindow, length: number): boolean {
    this.#checkLength(window, length, 20);
    if (this.interfaces.length >= this.#limits.maxInterfaces) {
      this.#fail('ERR_CAPTURE_TOO_LARGE', window, 0, `more than ${this.#limits.maxInterfaces} interfaces in a section`);
    }
    if (!window.need(length)) return false;
    this.#checkTrailer(window, length - 4, length);
    const { bytes, position } = window;
    const little = this.#little;
    let resolution = DEFAULT_RESOLUTION;
    let offsetSeconds = 0n;
    let fcsLength: number | undefined;
    let name: string | undefined;
    let at = 16;
    const end = length - 4;
    while (end - at >= 4) {
      const code = readU16(bytes, position + at, little);
      const size = readU16(bytes, position + at + 2, little);
      if (code === OPTION_END) break;
      const value = position + at + 4;
      if (size > end - at - 4)
        this.#fail('ERR_CAPTURE_BLOCK', window, at + 2, `option ${code} of ${size} bytes exceeds the block`);
      switch (code) {
        case IF_NAME:
          name = new TextDecoder().decode(bytes.subarray(value, value + Math.min(size, MAX_NAME_LENGTH)));
          break;
        case IF_TSRESOL:
          this.#checkOption(window, at, code, size, 1);
          resolution = bytes[value]!;
          break;
        case IF_FCSLEN:
          this.#checkOption(window, at, code, size, 1);
          fcsLength = bytes[value]!;
          break;
        case IF_TSOFFSET: {
          this.#checkOption(window, at, code, size, 8);
          const first = BigInt(readU32(bytes, value, little));
          const second = BigInt(readU32(bytes, value + 4, little));
          offsetSeconds = BigInt.asIntN(64, little ? (second << 32n) | first : (first << 32n) | second);
          break;
        }
      }
      at += 4 + Math.ceil(size / 4) * 4;
    }
    this.interfaces.push({
      linkType: readU16(bytes, position + 8, little),
      snapLength: readU32(bytes, position + 12, little),
      timestampResolution: resolution,
      fcsLength,
      name,
    });
    this.#scales.push(tickScale(resolution, offsetSeconds));
    window.position += length;
    return true;
  }

  #checkOption(window: ChunkWindow, at: number, code: number, size: number, expected: number): void {
    if (size !== expected) {
      this.#fail('ERR_CAPTURE_BLOCK', window, at + 2, `option ${code} of ${size} bytes, expected ${expected}`);
    }
  }
}
