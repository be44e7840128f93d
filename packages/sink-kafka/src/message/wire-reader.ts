import { WIRE } from './wire.js';

const NO_BYTES = /* @__PURE__ */ new Uint8Array(0);
/** The longest varint. */
const MOST_BYTES = 10;

/**
 * Reads Protobuf's wire format field by field, within bounds that never lie outside the bytes. What cannot be read sets
 * {@link failure}; reading then goes on with zeros and ends soon.
 */
export class WireReader {
  bytes: Uint8Array = NO_BYTES;
  at = 0;
  /** One past the last byte of the message that is read. */
  end = 0;
  /** 0, or why the message cannot be read. */
  failure: 0 | 'truncated' | 'malformed' = 0;
  /** Number and wire type of the field that {@link next} found. */
  field = 0;
  wire = 0;
  /** Upper 32 bits of the last varint or fixed64 read. */
  high = 0;

  open(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.at = 0;
    this.end = bytes.length;
    this.failure = 0;
  }

  /** Goes to the next field. @returns false at the end of the message, or if it cannot be read */
  next(): boolean {
    if (this.at >= this.end || this.failure !== 0) return false;
    const tag = this.varint();
    this.field = tag >>> 3;
    this.wire = tag & 7;
    if (this.field === 0 || this.high !== 0) this.failure ||= 'malformed';
    return this.failure === 0;
  }

  /** The lower 32 bits of a varint, as a signed word. */
  varint(): number {
    const { at, end } = this;
    if (at < end) {
      const byte = this.bytes[at]!;
      // Most have one byte.
      if (byte < 0x80) {
        this.at = at + 1;
        this.high = 0;
        return byte;
      }
    }
    return this.#longVarint();
  }

  #longVarint(): number {
    const { bytes, end } = this;
    let { at } = this;
    let low = 0;
    let high = 0;
    for (let k = 0; k < MOST_BYTES; k++) {
      if (at >= end) {
        this.failure ||= 'truncated';
        this.at = end;
        return 0;
      }
      const byte = bytes[at++]!;
      const seven = byte & 0x7f;
      if (k < 4) low |= seven << (7 * k);
      else if (k === 4) {
        low |= seven << 28;
        high = seven >>> 4;
      } else if (k < 9) high |= seven << (7 * k - 32);
      else high |= (seven & 1) << 31;
      if (byte < 0x80) {
        this.at = at;
        this.high = high;
        return low;
      }
    }
    this.failure ||= 'malformed';
    this.at = end;
    return 0;
  }

  /** The lower 32 bits of a fixed64, as a signed word. */
  fixed64(): number {
    const low = this.fixed32();
    this.high = this.fixed32();
    return low;
  }

  /** A fixed32, as a signed word. */
  fixed32(): number {
    const { bytes, at } = this;
    if (at + 4 > this.end) {
      this.failure ||= 'truncated';
      this.at = this.end;
      return 0;
    }
    this.at = at + 4;
    return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  }

  /** The length of a field of bytes: they begin at {@link at}. @returns 0 if they do not end within the message */
  length(): number {
    const length = this.varint();
    if (this.high !== 0 || length < 0 || length > this.end - this.at) {
      this.failure ||= 'truncated';
      this.at = this.end;
      return 0;
    }
    return length;
  }

  skip(): void {
    switch (this.wire) {
      case WIRE.VARINT:
        this.varint();
        break;
      case WIRE.FIXED64:
        this.fixed64();
        break;
      case WIRE.FIXED32:
        this.fixed32();
        break;
      case WIRE.BYTES: {
        const length = this.length();
        this.at += length;
        break;
      }
      default:
        // Groups, which no message here has.
        this.failure ||= 'malformed';
    }
  }
}
