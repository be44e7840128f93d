import { atom, maskOf } from './value.js';

/**
 * Code of `width` bits (1 to 32) of the array `bytes`, from bit `offset` behind byte `base`: a 32-bit pattern, signed as
 * JavaScript's operators leave it, the unused high bits 0.
 */
export function loadBits(base: string, offset: number, width: number): string {
  const first = offset >> 3;
  const lead = offset & 7;
  const count = (lead + width + 7) >> 3;
  const trail = count * 8 - lead - width;
  const byte = (index: number): string => `bytes[${plus(base, first + index)}]`;
  if (count === 5) {
    const high = [0, 1, 2, 3].map((index) => shifted(byte(index), 24 - 8 * index)).join(' | ');
    const code = `(${high}) << ${8 - trail} | ${byte(4)} >>> ${trail}`;
    return width === 32 ? code : `(${code}) & ${maskOf(width)}`;
  }
  const parts = Array.from({ length: count }, (_, index) => shifted(byte(index), 8 * (count - 1 - index)));
  let code = parts.join(' | ');
  if (trail !== 0) code = `${parts.length > 1 ? `(${code})` : code} >>> ${trail}`;
  if (lead === 0) return code;
  return `${atom(code)} & ${maskOf(width)}`;
}

function shifted(code: string, by: number): string {
  return by === 0 ? code : `${code} << ${by}`;
}

/** `base + offset`, without the offset if that is 0. */
export function plus(base: string, offset: number): string {
  return offset === 0 ? base : `${base} + ${offset}`;
}

/**
 * Bits to be written: the words of a value of `width` bits, least significant first. Bits beyond the width are ignored.
 */
export interface Item {
  readonly words: readonly string[];
  readonly width: number;
  /** The bits beyond `width` of the last word are 0, so that they need not be cut off. */
  readonly isCut: boolean;
}

/**
 * Codes of the bytes of consecutive items, from bit `phase` (0 to 7) of the first byte. The rest of the last byte is 0.
 */
export function packBytes(items: readonly Item[], phase = 0): readonly string[] {
  const pieces: string[][] = [];
  let offset = phase;
  for (const item of items) {
    for (let done = 0; done < item.width; ) {
      const index = (offset + done) >> 3;
      const inByte = (offset + done) & 7;
      const count = Math.min(8 - inByte, item.width - done);
      const piece = bitsOfItem(item, item.width - done - count, count);
      const shift = 8 - inByte - count;
      pieces[index] ??= [];
      pieces[index].push(shift === 0 ? piece : `${atom(piece)} << ${shift}`);
      done += count;
    }
    offset += item.width;
  }
  return Array.from(pieces, (each) =>
    each === undefined ? '0' : each.length === 1 ? (each[0] ?? '0') : each.map(atom).join(' | '),
  );
}

/** `count` (1 to 8) bits of an item from bit `low`. A whole byte is not masked, because byte arrays cut values. */
function bitsOfItem({ words, width, isCut }: Item, low: number, count: number): string {
  const index = low >> 5;
  const shift = low & 31;
  const word = words[index] ?? '0';
  if (/^\d+$/.test(word) && shift + count <= 32) return String((Number(word) >>> shift) & maskOf(count));
  let code = shift === 0 ? word : `${atom(word)} >>> ${shift}`;
  const spans = shift + count > 32;
  if (spans) code = `${code} | ${atom(words[index + 1] ?? '0')} << ${32 - shift}`;
  if (count === 8 || (isCut && !spans && low + count === width)) return code;
  return `${atom(code)} & ${maskOf(count)}`;
}
