import type { Span } from '../source/position.js';

/** The words of a text. */
export function words(text: string): ReadonlySet<string> {
  return new Set(text.match(/\S+/g));
}

/** Reserved words of P4_16 version 1.2.5; `CONTEXTUAL_KEYWORDS` of them may also stand where a name is expected. */
const KEYWORDS = /* @__PURE__ */ words(`
  abstract action actions apply bit bool break const continue control default else entries enum error exit
  extern false for header header_union if in inout int key list match_kind out package parser priority
  return select state string struct switch table this transition true tuple type typedef value_set varbit
  void
`);

/** Keywords that count as names where the grammar expects a name (`nonTypeName`, and `list`). */
const CONTEXTUAL_KEYWORDS = /* @__PURE__ */ words('apply key actions state entries type priority list');

/** Binary operators, those that bind weakest first. All group to the left. */
export const BINARY_OPERATORS = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['|'],
  ['^'],
  ['&'],
  ['<<', '>>'],
  ['++', '+', '-', '|+|', '|-|'],
  ['*', '/', '%'],
] as const;

export type BinaryOperator = (typeof BINARY_OPERATORS)[number][number];

/** Operators and punctuation, longest first. A `>` is always one token: see `Token.joined`. */
const OPERATORS = `
  |+|= |-|= <<= >>= &&& ... |+| |-| {#} .. << && || == != >= <= ++ += -= *= /= %= &= |= ^= +: ## + - * / %
  | & ^ ~ ( ) [ ] { } < > ! : , ? . = ; @ #
`;

const OPERATOR = /* @__PURE__ */ operatorPattern();

function operatorPattern(): RegExp {
  return new RegExp(OPERATORS.trim().replace(/\S/g, '\\$&').replace(/\s+/g, '|'), 'y');
}

/** Longest name, number and string literal; macros do not make longer ones either. */
export const MAX_NAME = 1024;
export const MAX_NUMBER = 16_384;
export const MAX_TEXT = 65_536;

/** An error that the lexer found. It is reported only if the token reaches the parser. */
export interface TokenProblem {
  readonly code: string;
  readonly message: string;
}

/** One token. A token from a macro has the span of the macro's use. */
export interface Token {
  /**
   * `name`, `integer`, `text` (a string literal), `end` (of the input), `bad` (characters that are no token, see
   * `problem`), `_`, or the text of a keyword or operator itself.
   */
  readonly kind: string;
  /** The text as written; for a string literal, the text between the quotes. */
  readonly text: string;
  readonly span: Span;
  /** First of its line. */
  readonly lineStart: boolean;
  /** White space or a comment stands before it. */
  readonly spaced: boolean;
  /** Of `>`: another `>` follows without space, so that the two may be a shift. */
  readonly joined: boolean;
  /** The token comes from a macro, so `text` differs from the source at `span`. */
  readonly expanded: boolean;
  readonly problem?: TokenProblem;
}

export function isKeyword(text: string): boolean {
  return KEYWORDS.has(text);
}

/** Whether a token fits the grammar's `name`. */
export function isNameToken(token: Token): boolean {
  return token.kind === 'name' || CONTEXTUAL_KEYWORDS.has(token.kind);
}

/** Whether a token is a word: a name, a keyword, or `_`. Macros may have the name of any of them. */
export function isWord(token: Token): boolean {
  return token.kind === 'name' || token.kind === '_' || KEYWORDS.has(token.kind);
}

/** The longest operator at `at`, or undefined. */
export function operatorAt(text: string, at: number): string | undefined {
  OPERATOR.lastIndex = at;
  return OPERATOR.exec(text)?.[0];
}

/** A token as a message shows it. */
export function describeToken(token: Token): string {
  if (token.kind === 'end') return 'the end of the file';
  if (token.kind === 'text') return 'a string';
  return `'${shown(token.text)}'`;
}

/** A text as a message shows it, cut if it is long. */
export function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}
