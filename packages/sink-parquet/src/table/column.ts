import type { DictionaryName } from '../memory/segment.js';
import { SLAB_ROWS, SLAB_STRIDE, type Slab } from '../memory/slab.js';

/** Types of columns as the engine has them. `ENUM` holds the number of a text. */
export const COLUMN_TYPES = ['BOOLEAN', 'UINTEGER', 'UBIGINT', 'TIMESTAMP_NS', 'DOUBLE', 'ENUM', 'VARCHAR'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** Where a column's values are put together before the engine copies them. Bit r of `valid`: row r has a value. */
export class ColumnBuffer {
  readonly words = new Uint32Array(SLAB_ROWS);
  readonly pairs = new Uint32Array(2 * SLAB_ROWS);
  readonly bytes = new Uint8Array(SLAB_ROWS);
  readonly halves = new Uint16Array(SLAB_ROWS);
  readonly valid = new Uint32Array(SLAB_ROWS / 32);
}

/** What a column holds of a slab's rows. */
export const CONTENT = {
  /** No row has a value: neither values nor `valid` were written. */
  NONE: 0,
  /** Some rows have none: `valid` says which. */
  SOME: 1,
  /** All have; `valid` was not written. */
  ALL: 2,
} as const;
export type Content = (typeof CONTENT)[keyof typeof CONTENT];

/** Puts the first `rows` values of a slab into the part of the buffer that the type says: words, pairs or bytes. */
export type Fill = (slab: Slab, rows: number, to: ColumnBuffer) => Content;

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly fill: Fill;
  /** The values are those of records, not of rows. */
  readonly isOfRecord?: true;
  /** ENUM: its texts, or the dictionary of the segment that has them. */
  readonly texts?: readonly string[] | DictionaryName;
  /** VARCHAR: which of the slab's columns of texts. */
  readonly text?: number;
}

const MISSING = 0xffffffff;

/** Writes `valid`: rows of `words` from `at` on that are not all ones. */
function present(words: Uint32Array, at: number, rows: number, valid: Uint32Array): Content {
  let all = true;
  for (let base = 0; base < rows; base += 32) {
    const end = Math.min(32, rows - base);
    let bits = 0;
    for (let bit = 0; bit < end; bit++) if (words[at + base + bit] !== MISSING) bits |= 1 << bit;
    valid[base >>> 5] = bits;
    if (bits !== (end === 32 ? -1 : (1 << end) - 1)) all = false;
  }
  return all ? CONTENT.ALL : CONTENT.SOME;
}

/** The same column, with values that belong to records, which may have several rows. */
export function ofRecord(column: Column): Column {
  return { ...column, isOfRecord: true };
}

/** A word as it is; all ones is no value. */
export function word(name: string, column: number): Column {
  const at = column * SLAB_STRIDE;
  const fill: Fill = (slab, rows, to) => {
    if (slab.used[column] === 0) return CONTENT.NONE;
    to.words.set(slab.words.subarray(at, at + rows));
    return present(slab.words, at, rows, to.valid);
  };
  return { name, type: 'UINTEGER', fill };
}

/** Part of a word; a word of all ones is no value. */
export function part(name: string, column: number, shift: number, mask: number): Column {
  const at = column * SLAB_STRIDE;
  const fill: Fill = (slab, rows, to) => {
    if (slab.used[column] === 0) return CONTENT.NONE;
    const { words } = slab;
    for (let row = 0; row < rows; row++) to.words[row] = (words[at + row]! >>> shift) & mask;
    return present(words, at, rows, to.valid);
  };
  return { name, type: 'UINTEGER', fill };
}

/** Part of a word that has a value in every row. */
export function field(name: string, column: number, shift: number, mask: number): Column {
  const at = column * SLAB_STRIDE;
  const fill: Fill = ({ words }, rows, to) => {
    for (let row = 0; row < rows; row++) to.words[row] = (words[at + row]! >>> shift) & mask;
    return CONTENT.ALL;
  };
  return { name, type: 'UINTEGER', fill };
}

/** A bit of a word that has a value in every row. */
export function flag(name: string, column: number, bit: number): Column {
  const at = column * SLAB_STRIDE;
  const fill: Fill = ({ words }, rows, to) => {
    for (let row = 0; row < rows; row++) to.bytes[row] = (words[at + row]! & bit) === 0 ? 0 : 1;
    return CONTENT.ALL;
  };
  return { name, type: 'BOOLEAN', fill };
}

/** A word that is 0 or 1; all ones is no value. */
export function flagIf(name: string, column: number): Column {
  const at = column * SLAB_STRIDE;
  const fill: Fill = ({ words }, rows, to) => {
    for (let row = 0; row < rows; row++) to.bytes[row] = words[at + row]! & 1;
    return present(words, at, rows, to.valid);
  };
  return { name, type: 'BOOLEAN', fill };
}

/**
 * 64 bits of two columns, the lower word's first; both all ones is no value.
 * @param type UBIGINT, TIMESTAMP_NS or DOUBLE
 */
export function pair(name: string, column: number, type: 'UBIGINT' | 'TIMESTAMP_NS' | 'DOUBLE' = 'UBIGINT'): Column {
  const low = column * SLAB_STRIDE;
  const high = low + SLAB_STRIDE;
  const fill: Fill = (slab, rows, to) => {
    if (slab.used[column] === 0 && slab.used[column + 1] === 0) return CONTENT.NONE;
    const { words } = slab;
    const { pairs, valid } = to;
    let all = true;
    valid.fill(0);
    for (let row = 0; row < rows; row++) {
      const l = words[low + row]!;
      const h = words[high + row]!;
      pairs[2 * row] = l;
      pairs[2 * row + 1] = h;
      if (l === MISSING && h === MISSING) all = false;
      else valid[row >>> 5]! |= 1 << (row & 31);
    }
    return all ? CONTENT.ALL : CONTENT.SOME;
  };
  return { name, type, fill };
}

/**
 * A text out of a closed list, by a number computed from the row.
 * @param names texts by number; `null` is no value
 * @param index the number for a row, by words of the slab
 */
export function name(
  columnName: string,
  names: readonly (string | null)[],
  index: (words: Uint32Array, row: number) => number,
): Column {
  const texts = [...new Set(names.filter((each) => each !== null))];
  const numbers = names.map((each) => (each === null ? -1 : texts.indexOf(each)));
  const fill: Fill = ({ words }, rows, to) => {
    let all = true;
    to.valid.fill(0);
    for (let row = 0; row < rows; row++) {
      const number = numbers[index(words, row)] ?? -1;
      to.words[row] = Math.max(number, 0);
      if (number < 0) all = false;
      else to.valid[row >>> 5]! |= 1 << (row & 31);
    }
    return all ? CONTENT.ALL : CONTENT.SOME;
  };
  return { name: columnName, type: 'ENUM', texts, fill };
}

/** A text of a dictionary, by its number; all ones is no value. */
export function entry(columnName: string, column: number, dictionary: DictionaryName): Column {
  return { ...word(columnName, column), type: 'ENUM', texts: dictionary };
}

export function text(columnName: string, index: number): Column {
  return { name: columnName, type: 'VARCHAR', text: index, fill: () => CONTENT.ALL };
}

/** Computes the words of the first `rows` rows of a slab. */
export type WordsOf = (words: Uint32Array, rows: number, to: Uint32Array) => void;

/**
 * Words computed from those of `columns`; all ones is no value.
 * @param values has the loop over the rows in it: a function for each row could not be compiled into the loop
 */
export function computed(columnName: string, columns: readonly number[], values: WordsOf): Column {
  const fill: Fill = (slab, rows, to) => {
    if (columns.every((column) => slab.used[column] === 0)) return CONTENT.NONE;
    values(slab.words, rows, to.words);
    return present(to.words, 0, rows, to.valid);
  };
  return { name: columnName, type: 'UINTEGER', fill };
}

/** A word of a column where `has` says that the row has it; here all ones is a value. */
export function wordIf(columnName: string, column: number, has: (words: Uint32Array, row: number) => boolean): Column {
  const at = column * SLAB_STRIDE;
  const fill: Fill = (slab, rows, to) => {
    const { words } = slab;
    let all = true;
    to.valid.fill(0);
    to.words.set(words.subarray(at, at + rows));
    for (let row = 0; row < rows; row++) {
      if (has(words, row)) to.valid[row >>> 5]! |= 1 << (row & 31);
      else all = false;
    }
    return all ? CONTENT.ALL : CONTENT.SOME;
  };
  return { name: columnName, type: 'UINTEGER', fill };
}

/** A truth computed from a row: 0 or 1. @param values has the loop over the rows in it, as that of {@link computed} */
export function truth(columnName: string, values: (words: Uint32Array, rows: number, to: Uint8Array) => void): Column {
  const fill: Fill = ({ words }, rows, to) => {
    values(words, rows, to.bytes);
    return CONTENT.ALL;
  };
  return { name: columnName, type: 'BOOLEAN', fill };
}
