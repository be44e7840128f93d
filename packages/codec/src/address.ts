/**
 * IPv4, IPv6 and MAC addresses: text to 32-bit words or bytes, and back.
 *
 * Words are big-endian: the first byte of the address is the most significant byte of the first word.
 */

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/codec.AddressError') as never;

/** An IP address as 32-bit words: one for IPv4, four for IPv6. */
export interface ParsedAddress {
  readonly version: 4 | 6;
  readonly words: readonly number[];
}

/** Thrown for text that is no address. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly code = 'ERR_ADDRESS';
  /** The text that is no address. */
  readonly text: string;
  /** Where in `text` it stops being an address, in UTF-16 units. */
  readonly offset: number;

  constructor(kind: string, text: string, offset: number) {
    super(`not ${kind} (character ${offset}): ${JSON.stringify(text.slice(0, 64))}`);
    this.text = text;
    this.offset = offset;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is AddressError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

const COLON = 0x3a;
/** Character codes of the two hexadecimal digits of each byte. */
const HEX: Uint8Array = /* @__PURE__ */ Uint8Array.from({ length: 512 }, (_, k) =>
  '0123456789abcdef'.charCodeAt(k % 2 === 0 ? k >>> 5 : (k >>> 1) & 15),
);

/** All bytes as decimal text, and with a dot in front. To format the numbers each time would take twice as long. */
const DECIMAL: readonly string[] = /* @__PURE__ */ Array.from({ length: 256 }, (_, byte) => String(byte));
const DOTTED: readonly string[] = /* @__PURE__ */ DECIMAL.map((text) => `.${text}`);

/** Dotted text of a 32-bit word: `formatIpv4(0x0a000101)` is `10.0.1.1`. */
export function formatIpv4(word: number): string {
  return DECIMAL[word >>> 24]! + DOTTED[(word >>> 16) & 0xff]! + DOTTED[(word >>> 8) & 0xff]! + DOTTED[word & 0xff]!;
}

/**
 * RFC 5952 text of four 32-bit words: lower case, no leading zeros, the first longest run of two or more zero groups
 * as `::`; an IPv4-mapped address (`::ffff:0:0/96`) ends in dotted form.
 */
export function formatIpv6(w0: number, w1: number, w2: number, w3: number): string {
  if ((w0 | w1) === 0 && w2 >>> 0 === 0xffff) return `::ffff:${formatIpv4(w3)}`;
  const groups = [w0 >>> 16, w0 & 0xffff, w1 >>> 16, w1 & 0xffff, w2 >>> 16, w2 & 0xffff, w3 >>> 16, w3 & 0xffff];
  let bestStart = -1;
  let bestLength = 1;
  for (let start = 0; start < 8; ) {
    let end = start;
    while (end < 8 && groups[end] === 0) end++;
    if (end - start > bestLength) {
      bestStart = start;
      bestLength = end - start;
    }
    start = end + 1;
  }
  const text = (from: number, to: number): string => {
    let out = '';
    for (let i = from; i < to; i++) out += (i > from ? ':' : '') + groups[i]!.toString(16);
    return out;
  };
  return bestStart < 0 ? text(0, 8) : `${text(0, bestStart)}::${text(bestStart + bestLength, 8)}`;
}

const wordAt = (bytes: Uint8Array, offset: number): number =>
  ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>> 0;

/** Text of the 4 bytes at `offset`. */
export function formatIpv4At(bytes: Uint8Array, offset: number): string {
  return formatIpv4(wordAt(bytes, offset));
}

/** Text of the 16 bytes at `offset`. */
export function formatIpv6At(bytes: Uint8Array, offset: number): string {
  return formatIpv6(
    wordAt(bytes, offset),
    wordAt(bytes, offset + 4),
    wordAt(bytes, offset + 8),
    wordAt(bytes, offset + 12),
  );
}

/** Text of the 6 bytes at `offset`: lower case, colons. */
export function formatMac(bytes: Uint8Array, offset = 0): string {
  const a = bytes[offset]! * 2;
  const b = bytes[offset + 1]! * 2;
  const c = bytes[offset + 2]! * 2;
  const d = bytes[offset + 3]! * 2;
  const e = bytes[offset + 4]! * 2;
  const f = bytes[offset + 5]! * 2;
  // One string at once: to join six pieces would take three times as long, and every record has two addresses.
  // biome-ignore format: a byte's two digits and a colon each
  return String.fromCharCode(
    HEX[a]!, HEX[a + 1]!, COLON, HEX[b]!, HEX[b + 1]!, COLON, HEX[c]!, HEX[c + 1]!, COLON,
    HEX[d]!, HEX[d + 1]!, COLON, HEX[e]!, HEX[e + 1]!, COLON, HEX[f]!, HEX[f + 1]!,
  );
}

/** Reads dotted decimal from `start` to the end of `text`. @returns the word, or -1 - (offset of the first error) */
export function scanIpv4(text: string, start: number): number {
  let word = 0;
  let position = start;
  for (let part = 0; part < 4; part++) {
    if (part > 0 && text.charCodeAt(position++) !== 0x2e) return -position;
    const first = position;
    let value = 0;
    for (; position < first + 3; position++) {
      const digit = text.charCodeAt(position) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    // Leading zeros are refused, because some programs read such numbers as octal (RFC 6943 section 3.1.1).
    if (position === first || value > 255 || (position > first + 1 && text.charCodeAt(first) === 0x30)) {
      return -1 - first;
    }
    word = word * 256 + value;
  }
  return position === text.length ? word : -1 - position;
}

/**
 * The 32-bit word of dotted text: four decimal numbers from 0 to 255 without leading zeros.
 *
 * @throws AddressError
 */
export function parseIpv4(text: string): number {
  const word = scanIpv4(text, 0);
  if (word < 0) throw new AddressError('an IPv4 address', text, -1 - word);
  return word;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/**
 * The four 32-bit words of IPv6 text (RFC 4291 section 2.2: upper or lower case, `::`, dotted last 32 bits). No zone.
 *
 * @throws AddressError
 */
export function parseIpv6(text: string): readonly [number, number, number, number] {
  const fail = (offset: number): never => {
    throw new AddressError('an IPv6 address', text, offset);
  };
  const groups: number[] = [];
  let gap = -1;
  let position = 0;
  if (text.startsWith('::')) {
    gap = 0;
    position = 2;
  } else if (text.startsWith(':')) fail(0);
  while (position < text.length) {
    const first = position;
    let value = 0;
    for (; position < first + 4; position++) {
      const digit = hexDigit(text.charCodeAt(position));
      if (digit < 0) break;
      value = value * 16 + digit;
    }
    if (position === first) fail(first);
    if (text.charCodeAt(position) === 0x2e) {
      const word = scanIpv4(text, first);
      if (word < 0) fail(-1 - word);
      groups.push(word >>> 16, word & 0xffff);
      position = text.length;
      break;
    }
    groups.push(value);
    if (groups.length > 8) fail(first);
    if (position === text.length) break;
    if (text.charCodeAt(position) !== 0x3a) fail(position);
    position++;
    if (text.charCodeAt(position) === 0x3a) {
      if (gap >= 0) fail(position);
      gap = groups.length;
      position++;
    } else if (position === text.length) fail(position - 1);
  }
  // `::` stands for at least one group.
  if (gap >= 0 ? groups.length > 7 : groups.length !== 8) fail(text.length);
  if (gap >= 0) groups.splice(gap, 0, ...new Array<number>(8 - groups.length).fill(0));
  const word = (index: number): number => ((groups[index]! << 16) | groups[index + 1]!) >>> 0;
  return [word(0), word(2), word(4), word(6)];
}

/**
 * Reads an IPv4 or IPv6 address; text with a colon is IPv6.
 *
 * @throws AddressError
 */
export function parseAddress(text: string): ParsedAddress {
  return text.includes(':') ? { version: 6, words: parseIpv6(text) } : { version: 4, words: [parseIpv4(text)] };
}

/**
 * Writes an address as 4 or 16 bytes.
 *
 * @returns bytes written
 * @throws AddressError for bad text, RangeError if `out` is too small
 */
export function writeAddress(text: string, out: Uint8Array, offset = 0): number {
  const { words } = parseAddress(text);
  if (!(offset >= 0 && offset + words.length * 4 <= out.length)) {
    throw new RangeError(`an address of ${words.length * 4} bytes at ${offset} exceeds ${out.length} bytes`);
  }
  let position = offset;
  for (const word of words) {
    out[position++] = word >>> 24;
    out[position++] = word >>> 16;
    out[position++] = word >>> 8;
    out[position++] = word;
  }
  return words.length * 4;
}

/**
 * Writes a MAC address of the form `02:00:00:00:00:01` (or with dashes; either case) as 6 bytes.
 *
 * @returns 6
 * @throws AddressError for bad text, RangeError if `out` is too small
 */
export function writeMac(text: string, out: Uint8Array, offset = 0): number {
  if (!(offset >= 0 && offset + 6 <= out.length)) {
    throw new RangeError(`a MAC address at ${offset} exceeds ${out.length} bytes`);
  }
  const separator = text.charCodeAt(2);
  if (separator !== 0x3a && separator !== 0x2d) throw new AddressError('a MAC address', text, Math.min(2, text.length));
  for (let i = 0; i < 6; i++) {
    const high = hexDigit(text.charCodeAt(3 * i));
    const low = hexDigit(text.charCodeAt(3 * i + 1));
    if (high < 0 || low < 0) throw new AddressError('a MAC address', text, 3 * i);
    if (i < 5 && text.charCodeAt(3 * i + 2) !== separator) throw new AddressError('a MAC address', text, 3 * i + 2);
    out[offset + i] = (high << 4) | low;
  }
  if (text.length !== 17) throw new AddressError('a MAC address', text, 17);
  return 6;
}

/**
 * The 6 bytes of a MAC address.
 *
 * @throws AddressError
 */
export function parseMac(text: string): Uint8Array {
  const bytes = new Uint8Array(6);
  writeMac(text, bytes);
  return bytes;
}
