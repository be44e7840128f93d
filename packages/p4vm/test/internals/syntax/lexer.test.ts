import { describe, expect, it } from 'vitest';
import { Budget } from '../../../src/budget/budget.js';
import { Diagnostics } from '../../../src/source/diagnostics.js';
import { tokensOf } from '../../../src/syntax/lexer.js';
import type { Token } from '../../../src/syntax/tokens.js';
import { parseExpression } from './parsing.js';

function lex(text: string): Token[] {
  return tokensOf({ name: 'main.p4', text }, new Diagnostics(), new Budget());
}

const kinds = (text: string): string[] => lex(text).map((token) => token.kind);
const texts = (text: string): string[] => lex(text).map((token) => token.text);

describe('the lexer', () => {
  it('takes operators as long as they get, but never more than one ">"', () => {
    const text = '|+|= |-|= <<= >>= &&& ... |+| |-| {#} .. << && || == != >= <= ++ += -= *= /= %= &= |= ^= +: +';
    expect(kinds(text)).toEqual(text.split(' '));
    expect(kinds('a>>b')).toEqual(['name', '>', '>', 'name']);
    expect(lex('> >>').map((token) => token.joined)).toEqual([false, true, false]);
    expect(kinds('&&&&')).toEqual(['&&&', '&']);
    expect(kinds('1..2')).toEqual(['integer', '..', 'integer']);
  });

  it('tells keywords, names and the underscore apart', () => {
    expect(kinds('header headers _ _x apply')).toEqual(['header', 'name', '_', 'name', 'apply']);
  });

  it('reads integers with width, sign, base and underscores', () => {
    const cases: readonly [string, bigint, number | undefined, boolean][] = [
      ['0', 0n, undefined, false],
      ['16w0377', 377n, 16, false],
      ['16w0o377', 255n, 16, false],
      ['32w0xFF', 255n, 32, false],
      ['32s0xFF', 255n, 32, true],
      ['8w0b_1010_1010', 170n, 8, false],
      ['8s0b1010_1010', 170n, 8, true],
      ['1_000', 1000n, undefined, false],
      ['0D10', 10n, undefined, false],
      ['0xdead_BEEF', 0xdeadbeefn, undefined, false],
      ['128w0xffffffffffffffffffffffffffffffff', 2n ** 128n - 1n, 128, false],
    ];
    for (const [text, value, width, isSigned] of cases) {
      expect(parseExpression(text)).toMatchObject({ kind: 'integer', value, width, isSigned });
    }
  });

  it('keeps strings as they are written, over several lines and with quotes escaped', () => {
    expect(texts('"a \\" b"')).toEqual(['a \\" b']);
    expect(texts('"a\nb" c')).toEqual(['a\nb', 'c']);
    expect(texts('"\\\\" c')).toEqual(['\\\\', 'c']);
  });

  it('separates tokens at comments, and reads none inside', () => {
    expect(texts('bi/**/t // bit\n/* a * / */ x')).toEqual(['bi', 't', 'x']);
    expect(texts('"// no comment"')).toEqual(['// no comment']);
  });

  it('makes one token of a line continued, with its place in the file', () => {
    const [first, second] = lex('ab\\\ncd\\\r\n x');
    expect(first).toMatchObject({ text: 'abcd', span: { start: 0, end: 6 } });
    expect(second).toMatchObject({ text: 'x', lineStart: false, span: { start: 10, end: 11 } });
  });

  it('makes tokens of what is none, to be reported when they are read', () => {
    expect(lex('8x').map((token) => token.problem?.code)).toEqual(['bad-number']);
    expect(lex('\\').map((token) => token.problem?.code)).toEqual(['unexpected-character']);
    expect(lex('"x\ny').map((token) => token.problem?.code)).toEqual(['unterminated-string', undefined]);
    expect(lex('\u{1F600}').map((token) => [token.text.length, token.problem?.message])).toEqual([
      [2, 'unexpected character U+1F600'],
    ]);
  });

  it('leaves out a byte order mark', () => {
    expect(texts('\ufeffx')).toEqual(['x']);
  });
});
