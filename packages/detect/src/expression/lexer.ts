import { ExpressionError } from './errors.js';

interface Piece {
  /** As written. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A piece of the text of an expression. */
export type Token =
  /** A word, a symbol of one or more characters, or a character that means nothing. */
  | (Piece & { readonly type: 'name' | 'symbol' | 'stray' })
  /** After the last character; its text is empty. */
  | (Piece & { readonly type: 'end' })
  /** A number and its unit, if any. */
  | (Piece & { readonly type: 'quantity'; readonly number: string; readonly unit: string });

const BLANKS = /\s*/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
/** Symbols of the language, and those of other languages, for which a message says what to write instead. */
const SYMBOL = /===|!==|<=|>=|==|!=|<>|=<|=>|&&|\|\||[<>=!&|()[\]{},+\-*/.\u2264\u2265\u2260\u2227\u2228\u00ac]/y;
const NUMBER = /[0-9]+(?:\.[0-9]+)?/y;
/** Micro has two characters: U+00B5 and U+03BC. */
const UNIT = /%|[A-Za-z\u00b5\u03bc]+/y;
const KEYWORD = /^(?:and|or|not)$/i;
const CALL = /\s*\(/y;

/** Mistakes right after a number, and what a message says of them. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [/[eE][+-]?[0-9]+/y, 'numbers have no exponent: write it out, as 1000 for 1e3'],
  [/[_,'\u2019][0-9]/y, 'numbers have no separators: write 1000000 for a million'],
  [/[xX][0-9a-fA-F]*[0-9]/y, 'numbers are decimal: write 255 for 0xff'],
  [/\.[0-9]/y, 'a number has one decimal point'],
  [/\./y, 'write digits after the decimal point, or none'],
];

/** Reads the text of an expression piece by piece, so that the first mistake in the text is found first. */
export class Lexer {
  readonly #text: string;
  #position = 0;
  #ahead: Token | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** The next piece; does not take it. */
  peek(): Token {
    this.#ahead ??= this.#read();
    return this.#ahead;
  }

  /** Takes the next piece. At the end, it gives the end again. */
  next(): Token {
    const token = this.peek();
    this.#ahead = null;
    return token;
  }

  #read(): Token {
    this.#position += this.#match(BLANKS, this.#position).length;
    const start = this.#position;
    if (start === this.#text.length) return { type: 'end', text: '', start, end: start };
    const name = this.#match(NAME, start);
    if (name !== '') return { type: 'name', ...this.#take(name.length) };
    const number = this.#match(NUMBER, start);
    if (number !== '') return this.#quantity(number);
    const symbol = this.#match(SYMBOL, start);
    if (symbol !== '') return { type: 'symbol', ...this.#take(symbol.length) };
    // A whole code point: half of a surrogate pair cannot be shown.
    const length = this.#text.codePointAt(start)! > 0xffff ? 2 : 1;
    return { type: 'stray', ...this.#take(length) };
  }

  #quantity(number: string): Token {
    const start = this.#position;
    let end = start + number.length;
    for (const [pattern, message] of MISTAKES) {
      const found = this.#match(pattern, end);
      if (found !== '') throw new ExpressionError('BAD_QUANTITY', message, { start, end: end + found.length });
    }
    const unitStart = end + this.#match(BLANKS, end).length;
    let unit = this.#match(UNIT, unitStart);
    // `5 and` has no unit; nor has `5 max(`, which lacks the word between.
    const isCall = unitStart > end && this.#match(CALL, unitStart + unit.length) !== '';
    if (KEYWORD.test(unit) || (isCall && unit !== '%')) unit = '';
    if (unit !== '') end = unitStart + unit.length;
    return { type: 'quantity', number, unit, ...this.#take(end - start) };
  }

  #take(length: number): Piece {
    const start = this.#position;
    this.#position += length;
    return { text: this.#text.slice(start, this.#position), start, end: this.#position };
  }

  /** What a sticky pattern matches at a position, or empty text. */
  #match(pattern: RegExp, position: number): string {
    pattern.lastIndex = position;
    return pattern.exec(this.#text)?.[0] ?? '';
  }
}
