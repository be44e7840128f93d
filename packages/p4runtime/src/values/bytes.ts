/**
 * Numbers as P4Runtime carries them: bytes of an unsigned number, most significant first. Source: P4Runtime specification
 * 1.5, "Bytestrings".
 */

/** The shortest bytes of a number from 0; one byte for 0. */
export function shortestBytes(value: bigint): Uint8Array<ArrayBuffer> {
  if (value < 0n) throw new RangeError(`a bytestring holds no negative number, such as ${value}`);
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
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return value;
}
