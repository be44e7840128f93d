import { TextFormatError, type TextFormatErrorCode } from './text-format-error.js';

/** A token of the text format. `text` is as written, without the quotes' contents decoded. */
export interface Token {
  readonly kind: 'name' | 'number' | 'string' | 'symbol' | 'end';
  readonly text: string;
  readonly start: number;
}

const SPACE = /(?:[\s\0]|#[^\n]*)*/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
// A number ends where no letter, digit or point follows; "1.5f" and "1e3" are whole.
const NUMBER = /(?:0[xX][0-9A-Fa-f]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?)(?![A-Za-z0-9_.])/y;
const STRING = /"(?:[^"\\\n\0]|\\[^\n\0])*"|'(?:[^'\\\n\0]|\\[^\n\0])*'/y;
const SYMBOLS = '{}<>[],;:-./';

/** The tokens of a text, one ahead. */
export class Tokens {
  #offset = 0;
  token: Token = { kind: 'end', text: '', start: 0 };

  constructor(readonly text: string) {
    this.advance();
  }

  /** The current token; moves on. */
  advance(): Token {
    const before = this.token;
    this.token = this.#next();
    return before;
  }

  at(symbol: string): boolean {
    return this.token.kind === 'symbol' && this.token.text === symbol;
  }

  accept(symbol: string): boolean {
    if (!this.at(symbol)) return false;
    this.advance();
    return true;
  }

  expect(symbol: string): void {
    if (!this.accept(symbol)) this.fail('ERR_TEXT_SYNTAX', `"${symbol}" is needed here, not ${this.found()}`);
  }

  /** The current token for a message. */
  found(): string {
    const { kind, text } = this.token;
    return kind === 'end' ? 'the end' : text.length > 40 ? `${text.slice(0, 40)}...` : text;
  }

  fail(code: TextFormatErrorCode, message: string, start = this.token.start): never {
    const before = this.text.slice(0, start);
    const line = before.split('\n').length;
    throw new TextFormatError(code, message, start, line, start - before.lastIndexOf('\n'));
  }

  #next(): Token {
    const { text } = this;
    SPACE.lastIndex = this.#offset;
    SPACE.exec(text);
    const start = SPACE.lastIndex;
    if (start >= text.length) return { kind: 'end', text: '', start: text.length };
    const char = text[start]!;
    if (char === '"' || char === "'") return this.#match('string', STRING, start, 'a string without an end');
    // A point begins a number only before a digit.
    if ((char >= '0' && char <= '9') || (char === '.' && /\d/.test(text[start + 1] ?? ''))) {
      return this.#match('number', NUMBER, start, 'this is no number');
    }
    if (SYMBOLS.includes(char)) {
      this.#offset = start + 1;
      return { kind: 'symbol', text: char, start };
    }
    return this.#match('name', NAME, start, `the character ${JSON.stringify(char)} begins nothing`);
  }

  #match(kind: Token['kind'], pattern: RegExp, start: number, otherwise: string): Token {
    pattern.lastIndex = start;
    const [found] = pattern.exec(this.text) ?? this.fail('ERR_TEXT_SYNTAX', otherwise, start);
    this.#offset = start + found.length;
    return { kind, text: found, start };
  }
}
