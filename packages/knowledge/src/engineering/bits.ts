import { formatIpv4, formatIpv6 } from '@int/codec';

/** The first bits of addresses, or of ports: all values that begin with them. Bits behind `length` are 0. */
export interface Bits {
  readonly bytes: Uint8Array;
  readonly length: number;
}

export function bitAt(bytes: Uint8Array, index: number): 0 | 1 {
  return ((bytes[index >>> 3]! >>> (7 - (index & 7))) & 1) as 0 | 1;
}

/** One of the two halves, which together are all of it. */
export function half({ bytes, length }: Bits, bit: 0 | 1): Bits {
  const longer = Uint8Array.from(bytes);
  if (bit === 1) longer[length >>> 3] = longer[length >>> 3]! | (0x80 >>> (length & 7));
  return { bytes: longer, length: length + 1 };
}

/** Whether two have a value in common: then one of them is within the other, the longer one. */
export function meet(a: Bits, b: Bits): boolean {
  if (a.bytes.length !== b.bytes.length) return false;
  const length = Math.min(a.length, b.length);
  for (let k = 0; k < length; k++) if (bitAt(a.bytes, k) !== bitAt(b.bytes, k)) return false;
  return true;
}

export function prefixText({ bytes, length }: Bits): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const words = Array.from({ length: bytes.length / 4 }, (_, k) => view.getUint32(4 * k));
  const [a = 0, b = 0, c = 0, d = 0] = words;
  const address = words.length === 1 ? formatIpv4(a) : formatIpv6(a, b, c, d);
  return length === 8 * bytes.length ? address : `${address}/${length}`;
}

/** Inclusive range of the ports that begin with some bits. */
export function portRange({ bytes, length }: Bits): readonly [low: number, high: number] {
  const low = (bytes[0]! << 8) | bytes[1]!;
  return [low, low + 2 ** (16 - length) - 1];
}

/** The bits with which exactly a range of ports begins; `null`: it is no such range. */
export function portBits([low, high]: readonly [low: number, high: number]): Bits | null {
  const size = high - low + 1;
  const length = 16 - Math.log2(size);
  if (!Number.isInteger(length) || length < 0 || low % size !== 0) return null;
  return { bytes: Uint8Array.of(low >>> 8, low & 255), length };
}
