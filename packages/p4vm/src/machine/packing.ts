import type { PacketOutput } from './runtime.js';

/** Bytes for a hash or a checksum, collected bit by bit. */
export class BitBuffer {
  bytes = new Uint8Array(256);
  /** Bits written. */
  bits = 0;

  /** Makes room for `count` more bytes after `at`. Bytes not written yet are 0. */
  reserve(at: number, count: number): void {
    if (at + count <= this.bytes.length) return;
    const bytes = new Uint8Array(Math.max(at + count, this.bytes.length * 2));
    bytes.set(this.bytes);
    this.bytes = bytes;
  }

  /** Appends the low `width` bits (1 to 32) of a word. */
  put(value: number, width: number): void {
    this.reserve(this.bits >>> 3, 6);
    const { bytes } = this;
    for (let left = width; left > 0; ) {
      const at = this.bits >>> 3;
      const phase = this.bits & 7;
      const count = Math.min(8 - phase, left);
      const piece = (value >>> (left - count)) & (0xff >>> (8 - count));
      if (phase === 0) bytes[at] = 0;
      bytes[at] = bytes[at]! | (piece << (8 - phase - count));
      this.bits += count;
      left -= count;
    }
  }
}

/**
 * Makes room for `count` more bytes in an output. Replaces the array by a larger one if needed, within the output's
 * limit. Returns the array.
 */
export function growOutput(output: PacketOutput, at: number, count: number): Uint8Array {
  if (at + count > output.bytes.length && output.bytes.length < output.most) {
    const bytes = new Uint8Array(Math.min(output.most, Math.max(at + count, output.bytes.length * 2)));
    bytes.set(output.bytes.subarray(0, at));
    output.bytes = bytes;
  }
  return output.bytes;
}

/** Ones' complement of the ones' complement sum (RFC 1071) of the first `length` bytes; an odd last byte is the high one. */
export function sum16(bytes: Uint8Array, length: number): number {
  let sum = 0;
  const end = length & ~1;
  for (let at = 0; at < end; at += 2) sum += (bytes[at]! << 8) | bytes[at + 1]!;
  if ((length & 1) !== 0) sum += bytes[end]! << 8;
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return ~sum & 0xffff;
}
