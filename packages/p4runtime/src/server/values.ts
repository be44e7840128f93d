/*
 * Byte strings of P4Runtime: unsigned numbers, big-endian, of any length that holds the value; the shortest form when
 * sent. (P4Runtime 1.5, section "Bytestrings")
 */

/** The number of significant bits; 0 for the value 0. */
function bitsOf(bytes: Uint8Array): number {
  let first = 0;
  while (first < bytes.length && bytes[first] === 0) first++;
  if (first === bytes.length) return 0;
  return (bytes.length - first - 1) * 8 + 32 - Math.clz32(bytes[first]!);
}

/** Whether a byte string is not empty and its value has at most `width` bits. */
export function fits(bytes: Uint8Array, width: number): boolean {
  const { length } = bytes;
  if (length === 0) return false;
  return length * 8 <= width || bitsOf(bytes) <= width;
}

/** The unsigned value. */
export function toBigInt(bytes: Uint8Array): bigint {
  const { length } = bytes;
  if (length <= 6) {
    let value = 0;
    for (let i = 0; i < length; i++) value = value * 256 + bytes[i]!;
    return BigInt(value);
  }
  let value = 0n;
  let at = length & 3;
  for (let i = 0; i < at; i++) value = (value << 8n) | BigInt(bytes[i]!);
  for (; at < length; at += 4) {
    const word = ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
    value = (value << 32n) | BigInt(word);
  }
  return value;
}

const SINGLE = /* @__PURE__ */ Array.from({ length: 256 }, (_, value) => Uint8Array.of(value));

/** The shortest byte string of an unsigned value. Do not write to it. */
export function toBytes(value: bigint): Uint8Array {
  if (value <= 0xffff_ffff_ffffn) {
    let rest = Number(value);
    if (rest < 256) return SINGLE[rest]!;
    let length = 1;
    for (let limit = 256; rest >= limit; limit *= 256) length++;
    const bytes = new Uint8Array(length);
    for (let i = length - 1; i >= 0; i--) {
      bytes[i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return bytes;
  }
  const text = value.toString(16);
  const length = (text.length + 1) >> 1;
  const bytes = new Uint8Array(length);
  for (let i = length - 1, end = text.length; i >= 0; i--, end -= 2) {
    bytes[i] = Number.parseInt(text.slice(Math.max(0, end - 2), end), 16);
  }
  return bytes;
}

/** Reads a two's complement byte string. @returns its bits as an unsigned pattern of `width`; undefined if it does not fit */
export function signedPattern(bytes: Uint8Array, width: number): bigint | undefined {
  if (bytes.length === 0) return undefined;
  const value = BigInt.asIntN(bytes.length * 8, toBigInt(bytes));
  return BigInt.asIntN(width, value) === value ? BigInt.asUintN(width, value) : undefined;
}

/** The shortest two's complement byte string of a pattern of `width` bits. */
export function signedBytes(pattern: bigint, width: number): Uint8Array {
  const value = BigInt.asIntN(width, pattern);
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length++;
  const bytes = new Uint8Array(length);
  let rest = BigInt.asUintN(length * 8, value);
  for (let i = length - 1; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  return bytes;
}
