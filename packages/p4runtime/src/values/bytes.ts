/**
 * Numbers as P4Runtime carries them: bytes of an unsigned number, most significant first. Source: P4Runtime specification
 * 1.5, "Bytestrings".
 */

/** The shortest bytes of a number from 0; one byte for 0. @throws RangeError for a number below 0 */
export function shortestBytes(value: bigint): Uint8Array<ArrayBuffer> {
  if (value < 0n) throw new RangeError(`a bytestring holds no negative number, such as ${value}`);
  if (value <= 0xffff_ffff_ffffn) {
    let rest = Number(value);
    let length = 1;
    for (let limit = 256; rest >= limit; limit *= 256) length++;
    const bytes = new Uint8Array(length);
    for (let i = length - 1; i >= 0; i--) {
      bytes[i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    return bytes;
  }
  const digits = value.toString(16);
  const text = digits.length % 2 === 0 ? digits : `0${digits}`;
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    bytes[index] = Number.parseInt(text.slice(2 * index, 2 * index + 2), 16);
  }
  return bytes;
}

/** The number in bytes of any length; 0 for none. */
export function numberOfBytes(bytes: Uint8Array): bigint {
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

/** The number of significant bits; 0 for the value 0. */
function bitsOf(bytes: Uint8Array): number {
  let first = 0;
  while (first < bytes.length && bytes[first] === 0) first++;
  if (first === bytes.length) return 0;
  return (bytes.length - first - 1) * 8 + 32 - Math.clz32(bytes[first]!);
}

/** Whether bytes are not empty and their number has at most `width` bits. */
export function fits(bytes: Uint8Array, width: number): boolean {
  const { length } = bytes;
  if (length === 0) return false;
  return length * 8 <= width || bitsOf(bytes) <= width;
}

/** Reads a two's complement number. @returns its bits, as an unsigned pattern of `width`; undefined if it does not fit */
export function signedPattern(bytes: Uint8Array, width: number): bigint | undefined {
  if (bytes.length === 0) return undefined;
  const value = BigInt.asIntN(bytes.length * 8, numberOfBytes(bytes));
  return BigInt.asIntN(width, value) === value ? BigInt.asUintN(width, value) : undefined;
}

/** The shortest two's complement bytes of a pattern of `width` bits. */
export function signedBytes(pattern: bigint, width: number): Uint8Array {
  const value = BigInt.asIntN(width, pattern);
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length++;
  const bytes = new Uint8Array(length);
  let rest = BigInt.asUintN(length * 8, value);
  for (let i = length - 1; i >= 0; i--, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  return bytes;
}
