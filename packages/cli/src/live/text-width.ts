/** Texts by the columns of a terminal that they take. */
import { printable } from '../output/printable.js';

/** First and last code points of characters that take two columns: East Asian ones and pictures (Unicode TR 11). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f000, 0x1faff],
  [0x20000, 0x3fffd],
];

/** Columns of a character. One that joins the character before it counts as one: the text is then narrower. */
function columnsOf(character: string): number {
  const code = character.codePointAt(0)!;
  if (code < 0x1100) return 1;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

/** Columns that a text takes, at most. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += columnsOf(character);
  return width;
}

/** Cuts a text to a width; the cut is marked. Control characters are replaced. */
export function fit(text: string, width: number): string {
  const clean = printable(text);
  if (widthOf(clean) <= width) return clean;
  if (width < 1) return '';
  let taken = '';
  let columns = 0;
  for (const character of clean) {
    columns += columnsOf(character);
    if (columns > width - 1) break;
    taken += character;
  }
  return `${taken}…`;
}

const blanks = (text: string, width: number): string => ' '.repeat(Math.max(0, width - widthOf(text)));

/** A text of exactly a width, with its beginning at the left. */
export function left(text: string, width: number): string {
  const cut = fit(text, width);
  return cut + blanks(cut, width);
}

/** A text of exactly a width, with its end at the right. */
export function right(text: string, width: number): string {
  const cut = fit(text, width);
  return blanks(cut, width) + cut;
}

/** Puts pieces into lines: as many in a line as fit with two blanks between. A piece that is longer than a line is cut. */
export function inLines(pieces: readonly string[], width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces) {
    const longer = line === '' ? piece : `${line}  ${piece}`;
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line);
      line = fit(indent + piece, width);
    } else line = fit(longer, width);
  }
  return line === '' ? lines : [...lines, line];
}
