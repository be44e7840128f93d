/**
 * Numbers and constant texts as ASCII bytes. Each function writes at a position and returns the one behind, so that
 * positions stay in registers.
 *
 * Each may write up to 8 bytes behind the returned position, which the next write covers. Leave {@link SLACK_BYTES}.
 */

/** Room that must follow the longest text written. */
export const SLACK_BYTES = 32;

const ZERO = 0x30;
const DOT = 0x2e;
const COLON = 0x3a;
const BILLION = 1_000_000_000;
const WORD = 0x1_0000_0000;

/** A constant ASCII text, in pieces of 8 bytes: eight times fewer stores than byte by byte. */
export interface PackedText {
  readonly length: number;
  readonly pieces: Float64Array;
}

/** @throws RangeError if the text has a character above 0x7e, which could make a piece 'not a number' */
export function packText(text: string): PackedText {
  const pieces = new Float64Array(Math.max(1, Math.ceil(text.length / 8)));
  const view = new DataView(pieces.buffer);
  for (let k = 0; k < text.length; k++) {
    const code = text.charCodeAt(k);
    if (code > 0x7e) throw new RangeError(`not ASCII: ${text}`);
    view.setUint8(k, code);
  }
  // A piece is written little-endian, whatever the machine.
  for (let k = 0; k < pieces.length; k++) pieces[k] = view.getFloat64(8 * k, true);
  return { length: text.length, pieces };
}

export function putText(view: DataView, at: number, text: PackedText): number {
  const { pieces } = text;
  const count = pieces.length;
  // Keys have two or three pieces.
  view.setFloat64(at, pieces[0]!, true);
  if (count > 1) {
    view.setFloat64(at + 8, pieces[1]!, true);
    for (let k = 2; k < count; k++) view.setFloat64(at + 8 * k, pieces[k]!, true);
  }
  return at + text.length;
}

/** Up to three digits in the lower bytes, first digit lowest; in the upper byte how many there are. */
const DIGITS = /* @__PURE__ */ digitTable(false);
/** Exactly three digits. */
const PADDED = /* @__PURE__ */ digitTable(true);

function digitTable(isPadded: boolean): Int32Array {
  return Int32Array.from({ length: 1000 }, (_, value) => {
    const text = isPadded ? String(value).padStart(3, '0') : String(value);
    let word = text.length << 24;
    for (let k = 0; k < text.length; k++) word |= text.charCodeAt(k) << (8 * k);
    return word;
  });
}

/** Decimal digits of a number below 10^9. */
function putBelowBillion(view: DataView, at: number, value: number): number {
  if (value < 1000) {
    const word = DIGITS[value]!;
    view.setInt32(at, word, true);
    return at + (word >>> 24);
  }
  const thousands = (value / 1000) | 0;
  const rest = value - Math.imul(thousands, 1000);
  if (thousands < 1000) {
    const word = DIGITS[thousands]!;
    view.setInt32(at, word, true);
    const next = at + (word >>> 24);
    view.setInt32(next, PADDED[rest]!, true);
    return next + 3;
  }
  const millions = (thousands / 1000) | 0;
  const word = DIGITS[millions]!;
  view.setInt32(at, word, true);
  const next = at + (word >>> 24);
  view.setInt32(next, PADDED[thousands - Math.imul(millions, 1000)]!, true);
  view.setInt32(next + 3, PADDED[rest]!, true);
  return next + 6;
}

/** Nine digits. */
function putNine(view: DataView, at: number, value: number): number {
  const thousands = (value / 1000) | 0;
  const millions = (thousands / 1000) | 0;
  view.setInt32(at, PADDED[millions]!, true);
  view.setInt32(at + 3, PADDED[thousands - Math.imul(millions, 1000)]!, true);
  view.setInt32(at + 6, PADDED[value - Math.imul(thousands, 1000)]!, true);
  return at + 9;
}

/** Decimal digits of a 32-bit word, taken as unsigned whatever its sign. */
export function putUint32(view: DataView, at: number, word: number): number {
  const value = word | 0;
  if (value >= 0 && value < BILLION) return putBelowBillion(view, at, value);
  const number = value >>> 0;
  const top = Math.floor(number / BILLION);
  view.setUint8(at, ZERO + top);
  return putNine(view, at + 1, (number - top * BILLION) | 0);
}

/** Decimal digits of an integer from 0 to 2^53 - 1. */
export function putInteger(view: DataView, at: number, value: number): number {
  if (value < WORD) return putUint32(view, at, value | 0);
  const upper = Math.floor(value / BILLION);
  return putNine(view, putUint32(view, at, upper | 0), (value - upper * BILLION) | 0);
}

/** Decimal digits of a 64-bit number in two words, each taken as unsigned. */
export function putUint64(view: DataView, at: number, high: number, low: number): number {
  if (high === 0) return putUint32(view, at, low);
  // The quotient is off by one at most. The remainder, exact modulo 2^32, shows it.
  let upper = Math.floor(((high >>> 0) * WORD + (low >>> 0)) / BILLION);
  let rest = (low - Math.imul((upper % WORD) | 0, BILLION)) | 0;
  if (rest < 0) {
    upper--;
    rest += BILLION;
  } else if (rest >= BILLION) {
    upper++;
    rest -= BILLION;
  }
  return putNine(view, putInteger(view, at, upper), rest);
}

function hexDigit(value: number): number {
  return value < 10 ? ZERO + value : 0x57 + value;
}

/** Four lower-case hexadecimal digits. */
export function putHex16(view: DataView, at: number, value: number): number {
  const digits =
    hexDigit((value >>> 12) & 0xf) |
    (hexDigit((value >>> 8) & 0xf) << 8) |
    (hexDigit((value >>> 4) & 0xf) << 16) |
    (hexDigit(value & 0xf) << 24);
  view.setInt32(at, digits, true);
  return at + 4;
}

/** An IPv4 address as dotted decimal. */
export function putIpv4(view: DataView, at: number, word: number): number {
  let next = at;
  for (let shift = 24; shift >= 0; shift -= 8) {
    const digits = DIGITS[(word >>> shift) & 0xff]!;
    view.setInt32(next, digits | 0, true);
    next += digits >>> 24;
    view.setUint8(next++, DOT);
  }
  return next - 1;
}

/** An IPv6 address in the form of RFC 5952. */
export function putIpv6(view: DataView, at: number, w0: number, w1: number, w2: number, w3: number): number {
  if ((w0 | w1) === 0 && w2 >>> 0 === 0xffff) return putIpv4(view, putText(view, at, MAPPED), w3);
  let bestStart = 8;
  let bestLength = 1;
  let length = 0;
  for (let group = 0; group < 8; group++) {
    length = groupOf(w0, w1, w2, w3, group) === 0 ? length + 1 : 0;
    if (length > bestLength) {
      bestLength = length;
      bestStart = group - length + 1;
    }
  }
  const bestEnd = bestStart === 8 ? 8 : bestStart + bestLength;
  let next = at;
  for (let group = 0; group < 8; group++) {
    if (group === bestStart) {
      view.setUint8(next++, COLON);
      if (bestEnd === 8) view.setUint8(next++, COLON);
      group = bestEnd - 1;
      continue;
    }
    if (group > 0) view.setUint8(next++, COLON);
    const value = groupOf(w0, w1, w2, w3, group);
    let shift = value > 0xfff ? 12 : value > 0xff ? 8 : value > 0xf ? 4 : 0;
    for (; shift >= 0; shift -= 4) view.setUint8(next++, hexDigit((value >>> shift) & 0xf));
  }
  return next;
}

const MAPPED = /* @__PURE__ */ packText('::ffff:');

function groupOf(w0: number, w1: number, w2: number, w3: number, group: number): number {
  const word = group < 2 ? w0 : group < 4 ? w1 : group < 6 ? w2 : w3;
  return (group & 1) === 0 ? word >>> 16 : word & 0xffff;
}

/**
 * Puts items between brackets: each item has a comma in front, and the first one's becomes the opening bracket.
 * @param start where the items begin
 * @param at where they end
 */
export function putBrackets(view: DataView, start: number, at: number, open: number, close: number): number {
  const end = at === start ? at + 1 : at;
  view.setUint8(start, open);
  view.setUint8(end, close);
  return end + 1;
}

/** Bytes made before. */
export function putBytes(view: DataView, at: number, bytes: Uint8Array): number {
  for (let k = 0; k < bytes.length; k++) view.setUint8(at + k, bytes[k]!);
  return at + bytes.length;
}

/** The characters of an ASCII string. */
export function putAscii(view: DataView, at: number, text: string): number {
  for (let k = 0; k < text.length; k++) view.setUint8(at + k, text.charCodeAt(k));
  return at + text.length;
}
