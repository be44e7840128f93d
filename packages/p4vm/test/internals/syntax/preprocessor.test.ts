import { describe, expect, it } from 'vitest';
import { Diagnostics } from '../../../src/source/diagnostics.js';
import { lineColumn } from '../../../src/source/position.js';
import { preprocess } from '../../../src/syntax/preprocessor.js';
import { isWord, type Token } from '../../../src/syntax/tokens.js';
import { parse } from './parsing.js';

interface Setup {
  readonly files?: Readonly<Record<string, string>>;
  readonly defines?: Readonly<Record<string, string>>;
}

function run(text: string, setup: Setup = {}): Token[] {
  const diagnostics = new Diagnostics();
  const files = new Map(Object.entries(setup.files ?? {}).map(([name, content]) => [name, { name, text: content }]));
  const tokens = preprocess(
    { name: 'main.p4', text },
    { diagnostics, defines: setup.defines, resolve: (path) => files.get(path) },
  );
  expect(diagnostics.list).toEqual([]);
  return tokens.slice(0, -1);
}

/** The tokens with a space between. */
const expand = (text: string, setup?: Setup): string =>
  run(text, setup)
    .map((token) => (token.kind === 'text' ? `"${token.text}"` : token.text))
    .join(' ');

/** `text@line:column` of each token. */
const places = (text: string, setup?: Setup): string[] =>
  run(text, setup).map((token) => {
    const { line, column } = lineColumn(token.span.file, token.span.start);
    return `${token.text}@${token.span.file.name}:${line}:${column}`;
  });

describe('macros', () => {
  it('are replaced, and what they are replaced by again', () => {
    expect(expand('#define A B\n#define B 1 + C\nA A')).toBe('1 + C 1 + C');
    expect(expand('#define bit int\nbit<8> x')).toBe('int < 8 > x');
  });

  it('are not replaced within themselves', () => {
    expect(expand('#define A A + B\n#define B A\nA')).toBe('A + A');
    expect(expand('#define F(p) p C\n#define C A\n#define A A F(1) x\nF(A)')).toBe('A 1 A x A F ( 1 ) x');
    expect(expand('#define f(x) f(x + 1)\nf(f(2))')).toBe('f ( f ( 2 + 1 ) + 1 )');
  });

  it('take arguments with commas in parentheses, which are expanded first', () => {
    expect(expand('#define MAX(a, b) ((a) > (b) ? (a) : (b))\nMAX(f(1, 2), 3)')).toBe(
      '( ( f ( 1 , 2 ) ) > ( 3 ) ? ( f ( 1 , 2 ) ) : ( 3 ) )',
    );
    expect(expand('#define ONE 1\n#define F(x) x x\nF(ONE)')).toBe('1 1');
    expect(expand('#define F() x\nF() F ( )')).toBe('x x');
    expect(expand('#define F(x) [x]\nF()')).toBe('[ ]');
  });

  it('with parameters stay as they are without arguments', () => {
    expect(expand('#define F(x) x\nF ; F\n(1)')).toBe('F ; 1');
  });

  it('with a space before the parenthesis have no parameters', () => {
    expect(expand('#define F (x)\nF')).toBe('( x )');
  });

  it('make strings with # and tokens with ##', () => {
    expect(expand('#define S(x) #x\nS(a  +  "q\\n")')).toBe('"a + \\"q\\\\n\\""');
    expect(expand('#define STR(x) _STR(x)\n#define _STR(x) #x\n#define V 12\nSTR(V)')).toBe('"12"');
    expect(expand('#define P(a, b) a ## b\nP(x, 1) P(, y) P(8, w5)')).toBe('x1 y 8w5');
    expect(expand('#define M(x) hdr.##x.y\nM(z)')).toBe('hdr . z . y');
    expect(expand('#define W(x) 32w##x\nW(7)')).toBe('32w7');
    expect(run('#define SHR > ## >=\nSHR').map((token) => token.kind)).toEqual(['>>=']);
    expect(run('#define S(x) #x\nS(a)')).toMatchObject([{ kind: 'text', text: 'a' }]);
    expect(run('#define S(x) #x\nS(a)')[0]!.problem).toBeUndefined();
  });

  it('take any number of arguments with ...', () => {
    expect(expand('#define L(f, ...) f(__VA_ARGS__)\nL(g, 1, 2) L(g)')).toBe('g ( 1 , 2 ) g ( )');
  });

  it('are forgotten with #undef', () => {
    expect(expand('#define A 1\nA\n#undef A\nA')).toBe('1 A');
  });

  it('come from the caller too, and the compiler defines some', () => {
    expect(expand('A F(2) __p4c__ __TARGET_BMV2__', { defines: { A: '5', 'F(x)': 'x + x' } })).toBe('5 2 + 2 1 1');
    expect(expand('\n__LINE__ __FILE__')).toBe('2 "main.p4"');
  });

  it('are not replaced in strings and comments', () => {
    expect(expand('#define A 1\n"A" // A\n/* A */ A')).toBe('"A" 1');
  });

  it('may go over lines that are continued', () => {
    expect(expand('#define A 1 + \\\n  2\nA')).toBe('1 + 2');
  });
});

describe('conditions', () => {
  const holds = (condition: string): boolean => expand(`#define V 20200408\n#if ${condition}\nyes\n#endif`) === 'yes';

  it('calculate as in C', () => {
    const cases: Readonly<Record<string, boolean>> = {
      'V >= 20200408': true,
      'V >= 20200408L && V < 0x7fffffff': true,
      'defined(V) && !defined W': true,
      'defined V == 0': false,
      '1 + 2 * 3 == 7': true,
      '(1 + 2) * 3 == 9': true,
      '-7 / 2 == -3 && -7 % 2 == -1': true,
      '010 == 8': true,
      '1 << 4 >> 2 == 4': true,
      '1 ? 0 : 1': false,
      '0 ? 1 : 0 ? 2 : 3': true,
      '~0 == -1': true,
      UNKNOWN: false,
      '0 && 1 / 0': false,
      '1 || 1 / 0': true,
      '(6 ^ 3) == 5 && (6 | 1) == 7 && (6 & 3) == 2': true,
      '9223372036854775807 + 1 < 0': true,
    };
    for (const [condition, value] of Object.entries(cases))
      expect([condition, holds(condition)]).toEqual([condition, value]);
  });

  it('take the first branch that holds', () => {
    const text = (n: number): string => `#define N ${n}\n#if N == 1\na\n#elif N == 2\nb\n#else\nc\n#endif\nd`;
    expect([1, 2, 3].map((n) => expand(text(n)))).toEqual(['a d', 'b d', 'c d']);
  });

  it('skip what is in between, whatever it is', () => {
    expect(expand('#if 0\n" \' /* #endif */ $ #endif\n#if 1\n#else\n#endif\n#unknown\n#endif\nx')).toBe('x');
    expect(expand('#ifdef A\n#include "none"\n#define B 1\n#else\nB\n#endif')).toBe('B');
    expect(expand('#ifndef A\n#define A\n#endif\n#ifdef A\nx\n#endif')).toBe('x');
    expect(expand('#if 0\n#elif 1\n#if 0\n#endif\nx\n#else\ny\n#endif')).toBe('x');
  });

  it('may stand in lists', () => {
    expect(expand('enum E {\n#if 0\n a,\n#endif\n b,\n}')).toBe('enum E { b , }');
  });
});

describe('includes', () => {
  it('put the text of other files in place', () => {
    const files = { 'a.p4': 'a\n#include "b.p4"\nc', 'b.p4': 'b' };
    expect(expand('#include "a.p4"\nd', { files })).toBe('a b c d');
    expect(expand('#define FILE "b.p4"\n#include FILE\n# include <a.p4>', { files })).toBe('b a b c');
    expect(expand('#define NAME b\n#define IN(x) <x.p4>\n#include IN(NAME)', { files })).toBe('b');
  });

  it('find the standard files by themselves, once', () => {
    const { program, found } = parse('#include <v1model.p4>\n#include <core.p4>\n#include "v1model.p4"\n');
    expect(found).toEqual([]);
    const names = program.declarations.map((declaration) => declaration.name.text);
    expect(names.filter((name) => name === 'packet_in' || name === 'V1Switch')).toEqual(['packet_in', 'V1Switch']);
  });

  it('prefer a file of the caller for the form with quotes only', () => {
    const files = { 'core.p4': 'mine' };
    expect(expand('#include "core.p4"', { files })).toBe('mine');
    expect(expand('#include <core.p4>', { files })).not.toContain('mine');
  });

  it('tell the resolver where they stand and how they are written', () => {
    const asked: string[] = [];
    const main = { name: 'main.p4', text: '#include <a.p4>\n' };
    preprocess(main, {
      diagnostics: new Diagnostics(),
      resolve: (path, { isSystem, from }) => {
        asked.push(`${from.name} ${isSystem} ${path}`);
        return path === 'a.p4' ? { name: 'lib/a.p4', text: '#include "b.p4"\n' } : { name: 'lib/b.p4', text: '' };
      },
    });
    expect(asked).toEqual(['main.p4 true a.p4', 'lib/a.p4 false b.p4']);
  });

  it('may include each other if they are guarded', () => {
    const files = {
      'a.p4': '#ifndef A\n#define A\n#include "b.p4"\na\n#endif',
      'b.p4': '#pragma once\n#include "a.p4"\n#include "b.p4"\nb',
    };
    expect(expand('#include "a.p4"\n#include "a.p4"', { files })).toBe('b a');
  });

  it('ignore line numbers and pragmas', () => {
    expect(expand('#line 5 "x"\n# 7 "y"\n#\n#pragma pack\na')).toBe('a');
  });
});

describe('positions', () => {
  it('are those of the file a token stands in', () => {
    const files = { 'a.p4': '\n  a' };
    expect(places('x\n#include "a.p4"\n y', { files })).toEqual(['x@main.p4:1:1', 'a@a.p4:2:3', 'y@main.p4:3:2']);
  });

  it('are those of the use for what comes out of a macro, and their own for arguments', () => {
    const text = '#define F(x) x + 1\n#define G F(2)\n F(3) G';
    expect(places(text)).toEqual([
      '3@main.p4:3:4',
      '+@main.p4:3:2',
      '1@main.p4:3:2',
      '2@main.p4:3:7',
      '+@main.p4:3:7',
      '1@main.p4:3:7',
    ]);
    const plus = run(text)[1];
    expect(plus?.span.file.text.slice(plus.span.start, plus.span.end)).toBe('F(3)');
  });

  it('stay right behind continued lines', () => {
    expect(places('#define A \\\n 1 \\\n 2\nx \\\n y')).toEqual(['x@main.p4:4:1', 'y@main.p4:5:2']);
  });

  it('tell words from the rest', () => {
    expect(run('a _ bit 1 + "s"').map(isWord)).toEqual([true, true, true, false, false, false]);
  });
});
