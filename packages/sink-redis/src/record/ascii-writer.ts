import { formatIpv6 } from '@int/codec';

const ZERO = 0x30;
const MILLION = 1_000_000;
const BILLION = 1_000_000_000;

/**
 * Writes short ASCII texts into bytes, each after its length in one byte, without making strings. Write the parts of a
 * text between {@link AsciiWriter.open} and {@link AsciiWriter.close}.
 */
export class AsciiWriter {
  bytes: Uint8Array;
  at = 0;
  #start = 0;
  #lengthBytes = 1;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** Begins a text of at most 255 bytes. */
  open(): void {
    this.#start = this.at;
    this.#lengthBytes = 1;
    this.at += 1;
  }

  /** Begins a text of at most 65,535 bytes; its length takes two bytes, the lower one first. */
  openLong(): void {
    this.#start = this.at;
    this.#lengthBytes = 2;
    this.at += 2;
  }

  close(): void {
    const length = this.at - this.#start - this.#lengthBytes;
    this.bytes[this.#start] = length & 0xff;
    if (this.#lengthBytes === 2) this.bytes[this.#start + 1] = length >>> 8;
  }

  /** A text made earlier, such as one of a constant table. */
  text(text: Uint8Array): void {
    this.open();
    const { bytes } = this;
    let { at } = this;
    for (let k = 0; k < text.length; k++) bytes[at++] = text[k]!;
    this.at = at;
    this.close();
  }

  /** A 32-bit word as a text, which is empty if the number is not known. */
  number(word: number, isKnown = true): void {
    this.open();
    if (isKnown) this.uint32(word);
    this.close();
  }

  /** A 64-bit number, whose lower word comes first, as a text. */
  number64(words: Int32Array, at: number): void {
    this.open();
    this.uint64(words[at]!, words[at + 1]!);
    this.close();
  }

  byte(code: number): void {
    this.bytes[this.at++] = code;
  }

  ascii(text: string): void {
    for (let k = 0; k < text.length; k++) this.bytes[this.at++] = text.charCodeAt(k);
  }

  /** Decimal digits of a 32-bit word, read as unsigned. */
  uint32(word: number): void {
    const value = word >>> 0;
    if (value >= BILLION) {
      const high = Math.floor(value / BILLION);
      this.byte(ZERO + high);
      this.#digits(value - high * BILLION, 9);
    } else {
      this.#digits(value, lengthOf(value));
    }
  }

  /** Decimal digits of a 64-bit number in two words. */
  uint64(low: number, high: number): void {
    // Divide by 10^9, 16 bits at a time, so that nothing exceeds 2^46.
    let rest = high >>> 16;
    let step = rest * 65536 + (high & 0xffff);
    const q2 = Math.floor(step / BILLION);
    rest = step - q2 * BILLION;
    step = rest * 65536 + (low >>> 16);
    const q1 = Math.floor(step / BILLION);
    rest = step - q1 * BILLION;
    step = rest * 65536 + (low & 0xffff);
    const q0 = Math.floor(step / BILLION);
    rest = step - q0 * BILLION;
    const upper = (q2 * 65536 + q1) * 65536 + q0;
    if (upper === 0) {
      this.#digits(rest, lengthOf(rest));
      return;
    }
    const top = Math.floor(upper / BILLION);
    const middle = upper - top * BILLION;
    if (top > 0) {
      this.#digits(top, lengthOf(top));
      this.#digits(middle, 9);
    } else {
      this.#digits(middle, lengthOf(middle));
    }
    this.#digits(rest, 9);
  }

  /** A number from 0 to below 2^32 - 1, rounded to 6 decimals, which are omitted if they are 0. */
  decimal(value: number): void {
    let whole = Math.floor(value);
    let millionths = Math.round((value - whole) * MILLION);
    if (millionths === MILLION) {
      whole += 1;
      millionths = 0;
    }
    this.uint32(whole);
    if (millionths === 0) return;
    this.byte(0x2e);
    this.#digits(millionths, 6);
    while (this.bytes[this.at - 1] === ZERO) this.at -= 1;
  }

  ipv4(word: number): void {
    this.uint32(word >>> 24);
    this.byte(0x2e);
    this.uint32((word >>> 16) & 0xff);
    this.byte(0x2e);
    this.uint32((word >>> 8) & 0xff);
    this.byte(0x2e);
    this.uint32(word & 0xff);
  }

  /** `count` digits of a number below 10^9. */
  #digits(number: number, count: number): void {
    const { bytes } = this;
    let rest = number | 0;
    for (let at = this.at + count - 1; at >= this.at; at--) {
      const next = (rest / 10) | 0;
      bytes[at] = ZERO + rest - next * 10;
      rest = next;
    }
    this.at += count;
  }

  /** The name of a flow, see `flowText`. @param ports source port << 16 | destination port */
  flow(words: Int32Array, source: number, destination: number, ports: number, protocol: number, isIpv6: boolean): void {
    this.#address(words, source, isIpv6);
    this.byte(0x3a);
    this.uint32(ports >>> 16);
    this.byte(0x2d);
    this.#address(words, destination, isIpv6);
    this.byte(0x3a);
    this.uint32(ports & 0xffff);
    this.byte(0x2f);
    this.uint32(protocol);
  }

  #address(words: Int32Array, at: number, isIpv6: boolean): void {
    if (!isIpv6) {
      this.ipv4(words[at]!);
      return;
    }
    this.byte(0x5b);
    this.ascii(formatIpv6(words[at]! >>> 0, words[at + 1]! >>> 0, words[at + 2]! >>> 0, words[at + 3]! >>> 0));
    this.byte(0x5d);
  }
}

/** Decimal digits of a number below 10^9. */
function lengthOf(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4;
  if (value < 1_000_000) return value < 100_000 ? 5 : 6;
  return value < 10_000_000 ? 7 : value < 100_000_000 ? 8 : 9;
}
