/** Strings of the text format: bytes between quotes, with the escapes of C. */

const SIMPLE: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  '?': 63,
  '\\': 92,
  "'": 39,
  '"': 34,
};

const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * The bytes of a string as written, quotes included; characters are UTF-8.
 *
 * @returns the position of an escape that is not valid, relative to the string
 */
export function bytesOfString(written: string): Uint8Array<ArrayBuffer> | number {
  const bytes: number[] = [];
  const end = written.length - 1;
  let at = 1;
  while (at < end) {
    const next = written.indexOf('\\', at);
    const stop = next === -1 || next >= end ? end : next;
    for (const byte of encoder.encode(written.slice(at, stop))) bytes.push(byte);
    if (stop === end) break;
    at = readEscape(written, stop, bytes);
    if (at < 0) return stop;
  }
  return Uint8Array.from(bytes);
}

/** Reads the escape at a position. @returns the position behind it, or -1 */
function readEscape(written: string, at: number, bytes: number[]): number {
  const char = written[at + 1] ?? '';
  const simple = SIMPLE[char];
  if (simple !== undefined) {
    bytes.push(simple);
    return at + 2;
  }
  const rest = written.slice(at + 1, Math.min(written.length - 1, at + 10));
  const octal = /^[0-7]{1,3}/.exec(rest)?.[0];
  if (octal !== undefined) {
    const value = Number.parseInt(octal, 8);
    if (value > 255) return -1;
    bytes.push(value);
    return at + 1 + octal.length;
  }
  const hex = /^[xX]([0-9A-Fa-f]{1,2})/.exec(rest)?.[1];
  if (hex !== undefined) {
    bytes.push(Number.parseInt(hex, 16));
    return at + 2 + hex.length;
  }
  const unicode = /^(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))/.exec(rest);
  if (unicode === null) return -1;
  const digits = unicode[1] ?? unicode[2]!;
  const point = Number.parseInt(digits, 16);
  if (point > 0x10_ffff || (point >= 0xd800 && point <= 0xdfff)) return -1;
  for (const byte of encoder.encode(String.fromCodePoint(point))) bytes.push(byte);
  return at + 2 + digits.length;
}

/** Bytes as a string in double quotes, printable ASCII as it is. */
export function writtenBytes(bytes: Uint8Array): string {
  let text = '"';
  for (const byte of bytes) text += WRITTEN[byte]!;
  return `${text}"`;
}

const WRITTEN: readonly string[] = /* @__PURE__ */ Array.from({ length: 256 }, (_, byte) => {
  switch (byte) {
    case 9:
      return '\\t';
    case 10:
      return '\\n';
    case 13:
      return '\\r';
    case 34:
      return '\\"';
    case 39:
      return "\\'";
    case 92:
      return '\\\\';
    default:
      return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  }
});
