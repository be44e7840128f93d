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

/** Traffic of a network that is not so tidy: 1 to 6 hops, and six bitmaps, in random order. */
export const MIXED: readonly Shape[] = [1, 2, 3, 4, 5, 6].flatMap((hops) => [
  ...[1, 2, 4, 8].map((items) => shape(hops, items)),
  { name: `${hops}x3`, hops, bitmap: 0x9100, items: 3 },
  { name: `${hops}x5`, hops, bitmap: 0xf100, items: 5 },
]);

/** UDP destination port that marks INT in the monitored packets. */
export const INT_PORT = 5000;

/** Where a report's parts begin, in bytes: IPv4 (behind report headers of 20 and Ethernet), shim, stack. */
const IPV4 = 34;
const SHIM = IPV4 + 28;
const STACK = IPV4 + 44;

/** Bytes of one report: headers, stack, and two bytes to make it whole words. */
export function reportBytes(one: Shape): number {
  return STACK + 4 * one.hops * one.items + 2;
}

/** Reports behind one another in `bytes`. */
export interface Reports {
  readonly shapes: readonly Shape[];
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
}

/** Fills the reports' memory with noise: whatever a report leaves free to vary is random. */
function fillNoise(bytes: Uint8Array): void {
  const noise = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
  let x = 0x9e3779b9;
  for (let k = 0; k < noise.length; k++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    noise[k] = x;
  }
}

/**
 * Makes a report out of the noise at `at`: a telemetry report v2.0 that carries INT-MD over UDP over IPv4 in an
 * Ethernet frame. Ids, sequence number, flags, addresses, ports and all values on the stack stay random.
 */
function makeReport(view: DataView, at: number, one: Shape): void {
  const size = reportBytes(one);
  view.setUint8(at, 0x20 | (view.getUint8(at) & 15));
  view.setUint8(at + 8, 0x13);
  view.setUint8(at + 9, (size - 12) / 4);
  view.setUint8(at + 10, 0);
  view.setUint8(at + 11, (view.getUint8(at + 11) & 0xf0) | 0x20);
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
  view.setUint8(at + SHIM + 1, 3 + one.hops * one.items);
  view.setUint8(at + SHIM + 4, 0x20);
  view.setUint8(at + SHIM + 5, 0);
  view.setUint8(at + SHIM + 6, one.items);
  view.setUint16(at + SHIM + 8, one.bitmap);
  view.setUint16(at + SHIM + 10, 0);
  view.setUint32(at + SHIM + 12, 0);
}

/**
 * Fills memory with reports of the given shapes: of one, or of several in random order.
 *
 * @param offsets receives the first byte of each; as many as there shall be
 * @param lengths receives the bytes of each
 */
export function fillReports(
  shapes: readonly Shape[],
  bytes: Uint8Array,
  offsets: Uint32Array,
  lengths: Uint32Array,
): Reports {
  fillNoise(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const count = offsets.length;
  let at = 0;
  for (let k = 0; k < count; k++) {
    const one = shapes[shapes.length === 1 ? 0 : view.getUint32(at) % shapes.length]!;
    offsets[k] = at;
    lengths[k] = reportBytes(one);
    makeReport(view, at, one);
    at += reportBytes(one);
  }
  return { shapes, count, bytes, offsets, lengths };
}
