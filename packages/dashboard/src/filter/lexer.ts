import { FilterError } from './errors.js';

/** A piece of a filter's text. */
export interface Token {
  /** `word`: a name, a number, an address; `text`: in quotes; `end`: behind the last character. */
  readonly type: 'word' | 'text' | 'symbol' | 'end';
  /** As meant: without quotes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Characters of a filter at most. */
const LONGEST_FILTER = 1000;
/** Pieces of a filter at most. */
const MOST_TOKENS = 256;

const BLANKS = /\s*/y;
const SYMBOL = /&&|\|\||<=|>=|==|!=|!~|<>|[()<>=~!,]/y;
/** A word ends where a symbol, a blank or a quote begins. Addresses hold colons and slashes, names anything else. */
const WORD = /[^\s()<>=~!,&|"']+/y;

/**
 * The pieces of a filter; the last one is the end.
 * @throws FilterError for an open quote, a lone `&`, or a text that is too long
 */
export function tokensOf(text: string): Token[] {
  if (text.length > LONGEST_FILTER) {
    throw new FilterError(`a filter has at most ${LONGEST_FILTER} characters`, {
      start: LONGEST_FILTER,
      end: text.length,
    });
  }
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at += match(BLANKS, text, at).length;
    if (at === text.length) return [...tokens, { type: 'end', text: '', start: at, end: at }];
    const token = tokenAt(text, at);
    tokens.push(token);
    if (tokens.length > MOST_TOKENS) throw new FilterError(`a filter has at most ${MOST_TOKENS} words`, token);
    at = token.end;
  }
}

function tokenAt(text: string, start: number): Token {
  const quote = text[start];
  if (quote === '"' || quote === "'") {
    const close = text.indexOf(quote, start + 1);
    if (close < 0) throw new FilterError(`the quote is not closed: ${quote} is missing`, { start, end: text.length });
    return { type: 'text', text: text.slice(start + 1, close), start, end: close + 1 };
  }
  const symbol = match(SYMBOL, text, start);
  if (symbol !== '') return { type: 'symbol', text: symbol, start, end: start + symbol.length };
  const word = match(WORD, text, start);
  if (word !== '') return { type: 'word', text: word, start, end: start + word.length };
  throw new FilterError(`write ${quote === '&' ? 'and' : 'or'}, or ${quote}${quote}`, { start, end: start + 1 });
}

/** What a sticky pattern matches at a position, or empty text. */
function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}
