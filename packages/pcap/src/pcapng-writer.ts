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
  BYTE_ORDER_MAGIC,
  ENHANCED_PACKET,
  IF_NAME,
  IF_TSRESOL,
  INTERFACE_DESCRIPTION,
  SECTION_HEADER,
} from './pcapng-parser.js';

/** An interface to write into a pcapng section. */
export interface PcapngInterface {
  /** Link type of its frames, 0 to 65535. Default: `LinkType.ETHERNET`. */
  readonly linkType?: number;
  /** Most bytes written of a frame, 0 to 2^32 - 1; 0 means no limit. Default: 262,144. */
  readonly snapLength?: number;
  /** Whether times are in nanoseconds; otherwise in microseconds, rounded down. Default: true. */
  readonly nanosecond?: boolean;
  /** For example `eth0`; up to 65,535 bytes of UTF-8. Default: none. */
  readonly name?: string;
}

/** Options of a pcapng file. */
export interface PcapngOptions {
  /** Interfaces that `header` describes, in the order of their indexes. Default: one Ethernet interface. */
  readonly interfaces?: readonly PcapngInterface[];
  /** Byte order of the file. Default: little. */
  readonly byteOrder?: ByteOrder;
}

interface Described {
  readonly linkType: number;
  readonly snapLength: number;
  readonly nanosecond: boolean;
  readonly name: Uint8Array;
}

const BLOCK_OVERHEAD = 12;
const PACKET_OVERHEAD = 32;

/**
 * Writes pcapng, version 1.0 (draft-ietf-opsawg-pcapng): a section header, interface descriptions with if_tsresol, and
 * enhanced packet blocks.
 */
export class PcapngWriter implements CaptureWriter {
  readonly #little: boolean;
  readonly #interfaces: Described[] = [];
  readonly #time = new Nanoseconds();

  /** @throws RangeError for an option out of range */
  constructor(options: PcapngOptions = {}) {
    this.#little = (options.byteOrder ?? 'little') === 'little';
    for (const one of options.interfaces ?? [{}]) this.#interfaces.push(describe(one));
  }

  /** Number of interfaces described so far. The next one gets this index. */
  get interfaceCount(): number {
    return this.#interfaces.length;
  }

  /** The section header, and the descriptions of all interfaces so far. */
  header(): Uint8Array {
    const blocks = [this.#section(), ...this.#interfaces.map((one) => this.#describe(one))];
    const out = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
    let at = 0;
    for (const block of blocks) {
      out.set(block, at);
      at += block.length;
    }
    return out;
  }

  /**
   * Adds an interface after the header has been written. Its index is the previous `interfaceCount`.
   * @returns its description block, to be written before its first frame
   * @throws RangeError for an option out of range
   */
  addInterface(options: PcapngInterface): Uint8Array {
    const one = describe(options);
    this.#interfaces.push(one);
    return this.#describe(one);
  }

  record(frame: FrameInput): Uint8Array {
    checkLinkType(frame, this.#interface(frame.interfaceId ?? 0).linkType);
    return recordOf(this, frame);
  }

  recordLength(dataLength: number, interfaceId = 0): number {
    return PACKET_OVERHEAD + padded(captured(dataLength, this.#interface(interfaceId).snapLength));
  }

  recordInto(
    out: Uint8Array,
    offset: number,
    data: Uint8Array,
    timestampHigh: number,
    timestampLow: number,
    originalLength: number = data.length,
    interfaceId = 0,
  ): number {
    const { snapLength, nanosecond } = this.#interface(interfaceId);
    const dataLength = captured(data.length, snapLength);
    const length = PACKET_OVERHEAD + padded(dataLength);
    checkRoom(out, offset, length);
    checkInteger('originalLength', originalLength, 0);
    const little = this.#little;
    const time = this.#time;
    time.setQuotient(timestampHigh, timestampLow, nanosecond ? 1 : 1000);
    writeU32(out, offset, ENHANCED_PACKET, little);
    writeU32(out, offset + 4, length, little);
    writeU32(out, offset + 8, interfaceId, little);
    writeU32(out, offset + 12, time.high, little);
    writeU32(out, offset + 16, time.low, little);
    writeU32(out, offset + 20, dataLength, little);
    writeU32(out, offset + 24, originalLength, little);
    out.set(dataLength < data.length ? data.subarray(0, dataLength) : data, offset + 28);
    out.fill(0, offset + 28 + dataLength, offset + length - 4);
    writeU32(out, offset + length - 4, length, little);
    return length;
  }

  #interface(id: number): Described {
    const one = this.#interfaces[id];
    if (one === undefined) throw new RangeError(`interface ${id}, but there are ${this.#interfaces.length}`);
    return one;
  }

  #section(): Uint8Array {
    const out = this.#block(SECTION_HEADER, 16);
    writeU32(out, 8, BYTE_ORDER_MAGIC, this.#little);
    writeU16(out, 12, 1, this.#little);
    // Section length: -1, unknown.
    out.fill(0xff, 16, 24);
    return out;
  }

  #describe(one: Described): Uint8Array {
    const little = this.#little;
    const nameLength = one.name.length;
    const out = this.#block(INTERFACE_DESCRIPTION, 8 + (nameLength === 0 ? 0 : 4 + padded(nameLength)) + 8 + 4);
    writeU16(out, 8, one.linkType, little);
    writeU32(out, 12, one.snapLength, little);
    let at = 16;
    if (nameLength > 0) {
      writeU16(out, at, IF_NAME, little);
      writeU16(out, at + 2, nameLength, little);
      out.set(one.name, at + 4);
      at += 4 + padded(nameLength);
    }
    writeU16(out, at, IF_TSRESOL, little);
    writeU16(out, at + 2, 1, little);
    out[at + 4] = one.nanosecond ? 9 : 6;
    // The end of options is four zero bytes, as allocated.
    return out;
  }

  #block(type: number, bodyLength: number): Uint8Array {
    const length = BLOCK_OVERHEAD + bodyLength;
    const out = new Uint8Array(length);
    writeU32(out, 0, type, this.#little);
    writeU32(out, 4, length, this.#little);
    writeU32(out, length - 4, length, this.#little);
    return out;
  }
}

function padded(length: number): number {
  return Math.ceil(length / 4) * 4;
}

function captured(length: number, snapLength: number): number {
  return snapLength === 0 ? length : Math.min(length, snapLength);
}

function describe(options: PcapngInterface): Described {
  const name = new TextEncoder().encode(options.name ?? '');
  checkInteger('bytes of the interface name', name.length, 0, 0xffff);
  return {
    linkType: checkInteger('linkType', options.linkType ?? LinkType.ETHERNET, 0, 0xffff),
    snapLength: checkInteger('snapLength', options.snapLength ?? 1 << 18, 0),
    nanosecond: options.nanosecond ?? true,
    name,
  };
}
