/** How many hops a report has, and which words each hop pushed. */
export interface Shape {
  readonly name: string;
  readonly hops: number;
  /** Instruction bitmap; every bit in it asks for one word. */
  readonly bitmap: number;
  readonly items: number;
}

/** Instruction bits 0 to 3, 7, 8 and 15, and bit 9, a reserved one: each is one word in INT v2. */
const BITS: readonly number[] = [0, 1, 2, 3, 7, 8, 15, 9];

function shape(hops: number, items: number): Shape {
  const bitmap = BITS.slice(0, items).reduce((bits, bit) => bits | (0x8000 >>> bit), 0);
  return { name: `${hops}x${items}`, hops, bitmap, items };
}

export const SHAPES: readonly Shape[] = [shape(1, 1), shape(1, 4), shape(5, 4), shape(4, 8)];

/** UDP destination port that marks INT in the monitored packets. */
export const INT_PORT = 5000;

/** Where a report's parts begin, in bytes: Ethernet frame, IPv4, shim, stack. */
export const ETHERNET = 20;
export const IPV4 = 34;
export const SHIM = IPV4 + 28;
export const STACK = IPV4 + 44;

/** Bytes of one report: headers, stack, and two bytes to make it whole words. */
export function reportBytes(one: Shape): number {
  return STACK + 4 * one.hops * one.items + 2;
}

/** Reports behind one another in `bytes`. */
export interface Reports {
  readonly shape: Shape;
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
}

/**
 * Fills memory with telemetry reports v2.0 that carry INT-MD over UDP over IPv4 in an Ethernet frame. Whatever is free
 * to vary is random: ids, sequence numbers, flags, addresses, ports, every value on the stack.
 */
export function fillReports(one: Shape, bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array): Reports {
  const size = reportBytes(one);
  const count = offsets.length;
  const words = one.hops * one.items;
  const noise = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  let x = 0x9e3779b9;
  for (let k = 0; k < noise.length; k++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    noise[k] = x;
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let k = 0; k < count; k++) {
    const at = k * size;
    offsets[k] = at;
    lengths[k] = size;
    view.setUint8(at, 0x20 | (bytes[at]! & 15));
    view.setUint8(at + 8, 0x13);
    view.setUint8(at + 9, (size - 12) / 4);
    view.setUint8(at + 10, 0);
    view.setUint8(at + 11, (bytes[at + 11]! & 0xf0) | 0x20);
    view.setUint32(at + 12, 0);
    view.setUint32(at + 16, 0);
    view.setUint16(at + IPV4 - 2, 0x0800);
    view.setUint8(at + IPV4, 0x45);
    view.setUint8(at + IPV4 + 1, 0);
    view.setUint16(at + IPV4 + 2, size - IPV4);
    view.setUint16(at + IPV4 + 6, 0x4000);
    view.setUint8(at + IPV4 + 9, 17);
    view.setUint16(at + IPV4 + 22, INT_PORT);
    view.setUint16(at + IPV4 + 24, size - IPV4 - 20);
    view.setUint8(at + SHIM, 0x14);
    view.setUint8(at + SHIM + 1, 3 + words);
    view.setUint8(at + SHIM + 4, 0x20);
    view.setUint8(at + SHIM + 5, 0);
    view.setUint8(at + SHIM + 6, one.items);
    view.setUint16(at + SHIM + 8, one.bitmap);
    view.setUint16(at + SHIM + 10, 0);
    view.setUint32(at + SHIM + 12, 0);
  }
  return { shape: one, count, bytes, offsets, lengths };
}
