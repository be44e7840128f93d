/** The wire format of Protobuf, as far as the messages here use it. Each `put` returns the position behind what it wrote. */

export const WIRE = { VARINT: 0, FIXED64: 1, BYTES: 2, FIXED32: 5 } as const;

const WORD = 0x1_0000_0000;

/** A 32-bit word, taken as unsigned, as a varint: at most 5 bytes. */
export function putVarint(bytes: Uint8Array, start: number, word: number): number {
  let at = start;
  let rest = word;
  while ((rest & ~0x7f) !== 0) {
    bytes[at++] = rest | 0x80;
    rest >>>= 7;
  }
  bytes[at] = rest;
  return at + 1;
}

/** An integer from 0 to 2^53 - 1 as a varint: at most 8 bytes. */
export function putVarint53(bytes: Uint8Array, start: number, value: number): number {
  if (value < WORD) return putVarint(bytes, start, value | 0);
  let at = start;
  let rest = value;
  while (rest >= WORD) {
    // The lower 7 bits: a double's remainder modulo 128.
    bytes[at++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  return putVarint(bytes, at, rest | 0);
}

/** A field of one tag byte and a varint. */
export function putField(bytes: Uint8Array, at: number, tag: number, word: number): number {
  bytes[at] = tag;
  return putVarint(bytes, at + 1, word);
}

/** A field of one tag byte and 64 bits. */
export function putFixed64(view: DataView, at: number, tag: number, high: number, low: number): number {
  view.setUint8(at, tag);
  view.setInt32(at + 1, low, true);
  view.setInt32(at + 5, high, true);
  return at + 9;
}

/** The tag of field `number`: one byte for numbers up to 15, else to be written as a varint. */
export function tagOf(number: number, wire: number): number {
  return (number << 3) | wire;
}

/**
 * Closes a field whose tag and one byte for the length stand in front of `body`: writes the length, and moves the body if
 * that takes two bytes.
 * @returns the position behind the field
 */
export function closeField(bytes: Uint8Array, body: number, end: number): number {
  const length = end - body;
  if (length < 0x80) {
    bytes[body - 1] = length;
    return end;
  }
  const extra = length < 0x4000 ? 1 : 2;
  bytes.copyWithin(body + extra, body, end);
  putVarint(bytes, body - 1, length);
  return end + extra;
}

/** A field of a text, whose tag may have two bytes; nothing without one. */
export function putTextField(bytes: Uint8Array, start: number, field: number, text: Uint8Array | undefined): number {
  if (text === undefined) return start;
  const at = putVarint(bytes, putVarint(bytes, start, tagOf(field, WIRE.BYTES)), text.length);
  bytes.set(text, at);
  return at + text.length;
}
