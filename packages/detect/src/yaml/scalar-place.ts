import { Scalar } from 'yaml';

const isBlank = (text: string): boolean => /^\s*$/.test(text);

/** A piece of the text of a scalar, and what it stands for. */
interface Piece {
  readonly length: number;
  readonly value: string;
}

/** YAML 1.2.2 section 5.7; the end of a line escaped is nothing. */
const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  '/': '/',
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
  '\n': '',
  '\r': '',
};
const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** The escape sequence, or character, at `position` of a double-quoted scalar. */
function doubleQuoted(text: string, position: number): Piece {
  const character = text[position]!;
  if (character !== '\\') return { length: 1, value: character };
  const next = text[position + 1] ?? '';
  const digits = HEX_ESCAPES[next];
  if (digits === undefined) return { length: 2, value: ESCAPES[next] ?? next };
  const code = Number.parseInt(text.slice(position + 2, position + 2 + digits), 16);
  return { length: 2 + digits, value: code <= 0x10ffff ? String.fromCodePoint(code) : '' };
}

function singleQuoted(text: string, position: number): Piece {
  const value = text[position]!;
  return { length: value === "'" ? 2 : 1, value };
}

const plain = (text: string, position: number): Piece => ({ length: 1, value: text[position]! });

/**
 * Where the characters of a scalar's value stand in the text.
 *
 * Lines of a scalar are joined without their indentation, so blanks have no place of their own: a blank's place is
 * behind the character before it. All other characters are in the same order in the value and in the text.
 *
 * @param text all of the text
 * @param node a scalar of it
 * @returns for each character (UTF-16 code unit) of the value, and for its end, the offset in `text`; `null` if value
 *   and text do not correspond
 */
export function scalarPlaces(text: string, node: Scalar): Uint32Array | null {
  const value = node.value;
  if (typeof value !== 'string' || !node.range) return null;
  let [position, limit] = node.range;
  let read = plain;
  if (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED) {
    // The header: indicators, perhaps a comment.
    const end = text.indexOf('\n', position);
    position = end < 0 ? limit : end + 1;
  } else if (node.type === Scalar.QUOTE_DOUBLE || node.type === Scalar.QUOTE_SINGLE) {
    read = node.type === Scalar.QUOTE_DOUBLE ? doubleQuoted : singleQuoted;
    position++;
    limit--;
  }
  const places = new Uint32Array(value.length + 1);
  let last = position;
  for (let i = 0; i < value.length; ) {
    if (isBlank(value[i]!)) {
      places[i++] = last;
      // Within a line, each blank has a place; where lines were joined, all have that of the first.
      if (last < limit && isBlank(text[last]!)) last++;
      continue;
    }
    let piece: Piece | null = null;
    while (position < limit) {
      piece = read(text, position);
      if (!isBlank(piece.value)) break;
      position += piece.length;
    }
    if (position >= limit || piece === null || !value.startsWith(piece.value, i)) return null;
    // More than one code unit: an escape of eight digits.
    for (const end = i + piece.value.length; i < end; i++) places[i] = position;
    position += piece.length;
    last = position;
  }
  places[value.length] = last;
  return places;
}
