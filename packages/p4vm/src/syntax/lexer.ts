import type { Budget } from '../budget/budget.js';
import type { Diagnostics } from '../source/diagnostics.js';
import type { SourceFile, Span } from '../source/position.js';
import { SplicedText } from './spliced-text.js';
import {
  isKeyword,
  MAX_NAME,
  MAX_NUMBER,
  MAX_TEXT,
  operatorAt,
  shown,
  type Token,
  type TokenProblem,
} from './tokens.js';

const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
/** A number with all letters and digits after it. As in C, it is one token even if it is no valid literal. */
const NUMBER = /[0-9][A-Za-z0-9_]*/y;
/** Optional width and sign, then a base prefix with its digits, or decimal digits. */
const INTEGER =
  /^(?:[0-9]+[ws])?(?:0[xX]_*[0-9a-fA-F][0-9a-fA-F_]*|0[dD]_*[0-9][0-9_]*|0[oO]_*[0-7][0-7_]*|0[bB]_*[01][01_]*|[0-9][0-9_]*)$/;

const NEWLINE = 10;
const QUOTE = 34;
const BACKSLASH = 92;

/** `<path>` (then `isSystem`) or `"path"`. */
export interface HeaderName {
  readonly path: string;
  readonly isSystem: boolean;
  readonly span: Span;
}

/**
 * Splits a file's text into tokens, without comments. Never fails: characters that form no token become tokens of kind
 * `bad`. Only an unterminated comment is reported at once.
 */
export class Lexer {
  readonly #source: SplicedText;
  readonly #text: string;
  #at = 0;
  #lineStart = true;
  #spaced = false;
  /**
   * A string had no end. From then on strings end on their line, to avoid a search from each quote to the end of the
   * file.
   */
  #endless = false;
  /** No quoted text begins before this offset: an earlier search reached the end of its line in vain. */
  #unquoted = 0;

  constructor(
    readonly file: SourceFile,
    readonly diagnostics: Diagnostics,
    readonly budget: Budget,
  ) {
    this.#source = new SplicedText(file);
    this.#text = this.#source.text;
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at = 1;
  }

  /** The next token; at the end of the file a token of kind `end`, again and again. */
  next(): Token {
    this.#skipSpace();
    const text = this.#text;
    const start = this.#at;
    if (start >= text.length) return this.#token('end', '', start);
    const first = text.charCodeAt(start);
    if (first === QUOTE) return this.#string();
    WORD.lastIndex = start;
    const word = WORD.exec(text)?.[0];
    if (word !== undefined) {
      this.#at += word.length;
      if (word.length > MAX_NAME) return this.#tooLong('name', word, MAX_NAME, start);
      return this.#token(word === '_' || isKeyword(word) ? word : 'name', word, start);
    }
    NUMBER.lastIndex = start;
    const number = NUMBER.exec(text)?.[0];
    if (number !== undefined) {
      this.#at += number.length;
      if (number.length > MAX_NUMBER) return this.#tooLong('number', number, MAX_NUMBER, start);
      if (INTEGER.test(number)) return this.#token('integer', number, start);
      return this.#token('bad', number, start, { code: 'bad-number', message: `'${shown(number)}' is no number` });
    }
    const operator = operatorAt(text, start);
    if (operator !== undefined) {
      this.#at += operator.length;
      return this.#token(operator, operator, start, operator.startsWith('#') ? unexpected(operator) : undefined);
    }
    const character = String.fromCodePoint(text.codePointAt(start)!);
    this.#at += character.length;
    return this.#token('bad', character, start, unexpected(character));
  }

  /** `<path>` or `"path"` if it stands next on this line, for an include. */
  headerName(): HeaderName | undefined {
    this.#skipBlanks();
    const match = /^(?:<([^>\n]*)>|"([^"\n]*)")/.exec(this.#restOfLine());
    if (match === null) return undefined;
    const start = this.#at;
    this.#at += match[0].length;
    return { path: match[1] ?? match[2] ?? '', isSystem: match[1] !== undefined, span: this.#span(start, this.#at) };
  }

  /** The word that stands next on this line: a directive's name. */
  directiveWord(): Token | undefined {
    this.#skipBlanks();
    WORD.lastIndex = this.#at;
    return WORD.test(this.#text) ? this.next() : undefined;
  }

  /** What is left of this line, without comments, and its span; the lexer moves behind it. */
  takeLine(): { readonly text: string; readonly span: Span } {
    this.#skipBlanks();
    const start = this.#at;
    let end = start;
    let out = '';
    while (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) !== NEWLINE) {
      if (this.#text.startsWith('//', this.#at)) {
        this.#skipToLineEnd();
      } else if (this.#text.startsWith('/*', this.#at)) {
        this.#skipComment();
        out += ' ';
      } else {
        out += this.#text[this.#at++];
        end = this.#at;
      }
    }
    return { text: out.trim(), span: this.#span(start, Math.max(end, start)) };
  }

  /**
   * Skips lines up to one whose first character but blanks is `#`, and returns that token; `end` if there is none. The
   * text in between is not split into tokens, but its comments count.
   */
  skipToDirective(): Token {
    for (;;) {
      this.#skipSpace();
      const start = this.#at;
      if (start >= this.#text.length) return this.#token('end', '', start);
      if (this.#lineStart && this.#text[start] === '#') {
        this.#at++;
        return this.#token('#', '#', start);
      }
      this.#lineStart = false;
      // A quoted text hides comment signs, if it ends on its line.
      const end = this.#text[start] === '"' && start >= this.#unquoted ? this.#quotedEnd(start) : undefined;
      WORD.lastIndex = start;
      this.#at = end ?? start + (WORD.exec(this.#text)?.[0].length ?? 1);
    }
  }

  /** The offset after the quoted text that begins here; undefined if it does not end on its line. */
  #quotedEnd(start: number): number | undefined {
    const text = this.#text;
    let at = start + 1;
    for (; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) return at + 1;
      if (unit === NEWLINE) break;
      if (unit === BACKSLASH && text.charCodeAt(at + 1) !== NEWLINE) at++;
    }
    this.#unquoted = at;
    return undefined;
  }

  /** A token that is too long. It is reported if it reaches the parser. */
  #tooLong(what: 'name' | 'number' | 'string', text: string, most: number, start: number): Token {
    const message = `a ${what} of ${text.length} characters: at most ${most} are supported`;
    const code = what === 'number' ? 'number-too-large' : `${what}-too-long`;
    return this.#token('bad', text.slice(0, 40), start, { code, message });
  }

  #restOfLine(): string {
    const end = this.#text.indexOf('\n', this.#at);
    return this.#text.slice(this.#at, end === -1 ? undefined : end);
  }

  #string(): Token {
    const start = this.#at;
    const text = this.#text;
    let at = start + 1;
    for (; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === QUOTE) {
        this.#at = at + 1;
        const content = text.slice(start + 1, at);
        if (content.length > MAX_TEXT) return this.#tooLong('string', content, MAX_TEXT, start);
        return this.#token('text', content, start);
      }
      if (unit === NEWLINE && this.#endless) break;
      if (unit === BACKSLASH) at++;
    }
    this.#endless = true;
    // An unterminated text ends with its line, so that the next lines can still be read.
    const lineEnd = text.indexOf('\n', start);
    this.#at = lineEnd === -1 ? text.length : lineEnd;
    const problem = { code: 'unterminated-string', message: 'a string without a closing quote' };
    return this.#token('bad', text.slice(start, this.#at), start, problem);
  }

  #skipBlanks(): void {
    for (;;) {
      if (isBlank(this.#text[this.#at])) this.#at++;
      else if (this.#text.startsWith('/*', this.#at)) this.#skipComment();
      else return;
    }
  }

  #skipToLineEnd(): void {
    const end = this.#text.indexOf('\n', this.#at);
    this.#at = end === -1 ? this.#text.length : end;
  }

  #skipComment(): void {
    const start = this.#at;
    const end = this.#text.indexOf('*/', start + 2);
    if (end === -1) {
      this.#at = this.#text.length;
      this.diagnostics.error('lexer', 'unterminated-comment', this.#span(start, start + 2), "a comment without '*/'");
    } else {
      this.#at = end + 2;
    }
  }

  #skipSpace(): void {
    const text = this.#text;
    for (;;) {
      const unit = text[this.#at];
      if (unit === '\n') {
        this.#lineStart = true;
        this.#at++;
      } else if (isBlank(unit)) this.#at++;
      else if (unit === '/' && text[this.#at + 1] === '/') this.#skipToLineEnd();
      else if (unit === '/' && text[this.#at + 1] === '*') this.#skipComment();
      else return;
      this.#spaced = true;
    }
  }

  #span(start: number, end: number): Span {
    const from = this.#source.original(start);
    return { file: this.file, start: from, end: Math.max(from, this.#source.originalEnd(end)) };
  }

  #token(kind: string, text: string, start: number, problem?: TokenProblem): Token {
    const span = this.#span(start, this.#at);
    this.budget.spend('tokens', 1, span);
    const token: Token = {
      kind,
      text,
      span,
      lineStart: this.#lineStart,
      spaced: this.#spaced,
      joined: kind === '>' && this.#text[this.#at] === '>',
      expanded: false,
      ...(problem && { problem }),
    };
    if (kind !== 'end') this.#lineStart = false;
    this.#spaced = false;
    return token;
  }
}

function isBlank(unit: string | undefined): boolean {
  return unit === ' ' || unit === '\t' || unit === '\r' || unit === '\f' || unit === '\v';
}

function unexpected(character: string): TokenProblem {
  const code = character.codePointAt(0)!;
  const name =
    code < 0x20 || code === 0x7f || code > 0xd7ff ? `U+${code.toString(16).toUpperCase()}` : `'${character}'`;
  return { code: 'unexpected-character', message: `unexpected character ${name}` };
}

/** All tokens of a text that is not a file, such as one made by `##`, without the token of kind `end`. */
export function tokensOf(file: SourceFile, diagnostics: Diagnostics, budget: Budget): Token[] {
  const lexer = new Lexer(file, diagnostics, budget);
  const tokens: Token[] = [];
  for (let token = lexer.next(); token.kind !== 'end'; token = lexer.next()) tokens.push(token);
  return tokens;
}
