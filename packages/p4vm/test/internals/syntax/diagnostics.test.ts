import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runStage } from '../../../src/budget/budget.js';
import { Diagnostics, formatDiagnostic } from '../../../src/source/diagnostics.js';
import type { Span } from '../../../src/source/position.js';
import { type ParseSetup, parse } from './parsing.js';

interface Case {
  readonly text: string;
  /** `severity code file:line:column`, all that are to be found. */
  readonly found: readonly string[];
  readonly setup?: ParseSetup;
}

const repeat = (text: string, times: number): string => text.repeat(times);

/** For each diagnostic of the preprocessor, the lexer and the parser, programs that lead to it. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  'unexpected-character': [
    { text: 'struct s {\n  $ bit<8> x;\n}', found: ['error unexpected-character main.p4:2:3'] },
    {
      text: 'const int x = 1 # 2;',
      found: ['error unexpected-character main.p4:1:17', 'error unexpected-token main.p4:1:19'],
    },
    { text: "#define Q '\nQ", found: ['error unexpected-character main.p4:2:1'] },
  ],
  'bad-number': [
    {
      text: 'const bit<8> x =\n  8w0xg + 1;',
      found: ['error bad-number main.p4:2:3'],
    },
  ],
  'number-too-large': [
    { text: `const int x = ${repeat('9', 30_000)};`, found: ['error number-too-large main.p4:1:15'] },
    { text: 'const int x = 99999999w1;', found: ['error number-too-large main.p4:1:15'] },
  ],
  'unterminated-string': [
    { text: '@name("x)\nstruct s { }', found: ['error unexpected-token main.p4:1:6'] },
    {
      text: 'const string x = "abc;\nconst int y = 1;',
      found: ['error unterminated-string main.p4:1:18'],
    },
  ],
  'unterminated-comment': [{ text: 'struct s { }\n /* end', found: ['error unterminated-comment main.p4:2:2'] }],
  'unexpected-token': [
    { text: 'struct s {\n  bit<8> ;\n  bit<8> y;\n}', found: ['error unexpected-token main.p4:2:10'] },
    { text: 'control c(in x) { apply { } }', found: ['error unexpected-token main.p4:1:15'] },
    { text: 'bit<8> x;', found: ['error unexpected-token main.p4:1:9'] },
    { text: '}\nstruct s { }', found: ['error unexpected-token main.p4:1:1'] },
    { text: 'enum { a }', found: ['error unexpected-token main.p4:1:6'] },
    { text: 'error { A, }', found: ['error unexpected-token main.p4:1:12'] },
    { text: 'enum bit<8> E { a }', found: ['error unexpected-token main.p4:1:19'] },
    { text: 'type struct s { };', found: ['error unexpected-token main.p4:1:6'] },
    { text: 'struct s { } @x', found: ['error unexpected-token main.p4:1:16'] },
    { text: 'control c() { apply { a b c; } }', found: ['error unexpected-token main.p4:1:27'] },
    {
      text: 'action a() { 1 = 2; b + c; @x b = 1; }',
      found: [
        'error unexpected-token main.p4:1:14',
        'error unexpected-token main.p4:1:23',
        'error unexpected-token main.p4:1:31',
      ],
    },
    {
      text: 'control c() { table t\n key = { x : exact; } }\n apply { } }',
      found: ['error unexpected-token main.p4:2:2'],
    },
    { text: 'control c() { apply { } bit<8> x; }', found: ['error unexpected-token main.p4:1:25'] },
    {
      text: 'parser p() { state start { transition accept; x = 1; } }',
      found: ['error unexpected-token main.p4:1:47'],
    },
    { text: 'action a() { if x == 1 { } }', found: ['error unexpected-token main.p4:1:17'] },
    { text: 'action a() { switch (x) { { } } }', found: ['error unexpected-token main.p4:1:27'] },
  ],
  'missing-semicolon': [
    {
      text: 'action a() {\n  x = 1\n  y = 2;\n  z = 3\n}',
      found: ['error missing-semicolon main.p4:2:8', 'error missing-semicolon main.p4:4:8'],
    },
    {
      text: 'const int x = 1\nconst int y = 2',
      found: ['error missing-semicolon main.p4:1:16', 'error missing-semicolon main.p4:2:16'],
    },
  ],
  'missing-brace': [
    { text: 'struct s {\n  bit<8> x;\n\nstruct t { }', found: ['error missing-brace main.p4:4:1'] },
    {
      text: 'control c() {\n  action a() {\n    x = 1;\n\n  table t { actions = { a; } }\n  apply { }\n}',
      found: ['error missing-brace main.p4:5:3'],
    },
    { text: 'control c() { apply {', found: ['error missing-brace main.p4:1:22'] },
  ],
  'nesting-too-deep': [
    { text: `const int x = ${repeat('(', 300)}1${repeat(')', 300)};`, found: ['error nesting-too-deep main.p4:1:143'] },
    { text: `const int x = 1${repeat('+1', 600)};`, found: ['error nesting-too-deep main.p4:1:15'] },
    { text: `#if ${repeat('(', 200)}1${repeat(')', 200)}\n#endif`, found: ['error nesting-too-deep main.p4:1:105'] },
    {
      text: `#define F(x) x\nconst int x = ${repeat('F(', 80)}1${repeat(')', 80)};`,
      found: ['error nesting-too-deep main.p4:2:145'],
    },
  ],
  'duplicate-key': [{ text: '@x[a = 1, a = 2] struct s { }', found: ['error duplicate-key main.p4:1:11'] }],
  'mixed-annotation': [{ text: '@x[a = 1, 2] struct s { }', found: ['error mixed-annotation main.p4:1:3'] }],
  'duplicate-property': [
    {
      text: 'control c() { table t {\n key = { }\n key = { }\n size = 1;\n size = 2; }\n apply { } }',
      found: ['error duplicate-property main.p4:3:2', 'error duplicate-property main.p4:5:2'],
    },
  ],
  'not-assignable': [{ text: 'action a() { f(x) = 1; }', found: ['error not-assignable main.p4:1:14'] }],
  'not-in-state': [
    {
      text: 'parser p() { state start {\n x = 1;\n return;\n switch (x) { }\n for (;true;) { }\n transition accept; } }',
      found: ['error not-in-state main.p4:3:2', 'error not-in-state main.p4:4:2', 'error not-in-state main.p4:5:2'],
    },
  ],
  'missing-state': [{ text: 'parser p() { bit<8> x; }', found: ['error missing-state main.p4:1:12'] }],
  'missing-apply': [{ text: 'control c() { bit<8> x; }', found: ['error missing-apply main.p4:1:13'] }],
  'constructor-name': [{ text: 'extern E { E(); get(in bit<8> x); }', found: ['error constructor-name main.p4:1:17'] }],
  'enum-without-type': [{ text: 'enum E { a, b = 1 }', found: ['error enum-without-type main.p4:1:13'] }],
  'unknown-directive': [
    {
      text: '#import "x"\n#includes <x>',
      found: ['warning unknown-directive main.p4:1:1', 'warning unknown-directive main.p4:2:1'],
    },
  ],
  'bad-directive': [
    { text: '#include x', found: ['error bad-directive main.p4:1:10'] },
    { text: '#include', found: ['error bad-directive main.p4:1:1'] },
    { text: '#undef\n#ifdef 1\n#endif', found: ['error bad-directive main.p4:1:1', 'error bad-directive main.p4:2:8'] },
  ],
  'bad-macro': [
    {
      text: '#define\n#define 1\n#define defined',
      found: ['error bad-macro main.p4:1:1', 'error bad-macro main.p4:2:9', 'error bad-macro main.p4:3:9'],
    },
    {
      text: '#define F(x, x)\n#define G(x\n#define H(1)',
      found: ['error bad-macro main.p4:1:14', 'error bad-macro main.p4:2:1', 'error bad-macro main.p4:3:11'],
    },
  ],
  'macro-redefined': [
    {
      text: '#define A 1\n#define A 1\n#define A 2\n#define A(x) 2',
      found: ['warning macro-redefined main.p4:3:9', 'warning macro-redefined main.p4:4:9'],
    },
  ],
  'macro-arguments': [
    {
      text: '#define F(a, b) a\nconst int x = F(1) + F(1, 2, 3);',
      found: ['error macro-arguments main.p4:2:15', 'error macro-arguments main.p4:2:22'],
    },
    { text: '#define F() 1\nconst int x = F(1);', found: ['error macro-arguments main.p4:2:15'] },
  ],
  'unterminated-macro-call': [
    { text: '#define F(x) x\nF(struct s { }', found: ['error unterminated-macro-call main.p4:2:1'] },
  ],
  'missing-include': [{ text: '\n #include "none.p4"\nstruct s { }', found: ['error missing-include main.p4:2:11'] }],
  'include-cycle': [
    {
      text: '#include "a.p4"',
      setup: { files: { 'a.p4': '\n#include "a.p4"\n#include "a.p4"' } },
      found: ['error include-cycle a.p4:2:10'],
    },
    {
      text: '#include "a.p4"',
      setup: { files: { 'a.p4': '#include "b.p4"', 'b.p4': '  #include "a.p4"' } },
      found: ['error include-cycle b.p4:1:12'],
    },
  ],
  'include-too-deep': [
    {
      text: '#include "0"',
      setup: { files: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [String(i), `#include "${i + 1}"`])) },
      found: ['error include-too-deep 63:1:10'],
    },
  ],
  'error-directive': [
    { text: "#if 1\n#error don't\n#endif\n#if 0\n#error no\n#endif", found: ['error error-directive main.p4:2:1'] },
  ],
  'warning-directive': [{ text: '#warning take care', found: ['warning warning-directive main.p4:1:1'] }],
  'unbalanced-conditional': [
    {
      text: '#endif\n#else\n#elif 1',
      found: [
        'error unbalanced-conditional main.p4:1:1',
        'error unbalanced-conditional main.p4:2:1',
        'error unbalanced-conditional main.p4:3:1',
      ],
    },
    { text: '#if 1\n#else\n#else\n#endif', found: ['error unbalanced-conditional main.p4:3:1'] },
    { text: '#if 0\n#else\n#elif 1\n#endif', found: ['error unbalanced-conditional main.p4:3:1'] },
  ],
  'unterminated-conditional': [
    { text: '#if 1\nstruct s { }', found: ['error unterminated-conditional main.p4:1:1'] },
    {
      text: '#include "a"\n#ifdef X',
      setup: { files: { a: '#ifndef X\n' } },
      found: ['error unterminated-conditional a:1:1', 'error unterminated-conditional main.p4:2:1'],
    },
  ],
  'bad-condition': [
    {
      text: '#if\n#endif\n#if 1 +\n#endif\n#if 1 2\n#endif',
      found: ['error bad-condition main.p4:1:1', 'error bad-condition main.p4:3:1', 'error bad-condition main.p4:5:7'],
    },
    {
      text: '#if (1\n#elif "x"\n#endif\n#if 8w1\n#endif',
      found: ['error bad-condition main.p4:1:1', 'error bad-condition main.p4:2:7', 'error bad-condition main.p4:4:5'],
    },
  ],
  'division-by-zero': [{ text: '#if 1 % (2 - 2)\n#endif', found: ['error division-by-zero main.p4:1:7'] }],
  'refused-include': [
    {
      text: '#include "device"',
      setup: { refused: 'it is no regular file' },
      found: ['error refused-include main.p4:1:10'],
    },
  ],
};

describe('diagnostics', () => {
  for (const [code, cases] of Object.entries(CASES)) {
    it(`point at what leads to ${code}`, () => {
      for (const { text, found, setup } of cases) {
        expect([text.slice(0, 200), parse(text, setup).found]).toEqual([text.slice(0, 200), found]);
      }
      expect(cases.some(({ found }) => found.some((one) => one.split(' ')[1] === code))).toBe(true);
    });
  }

  it('are all in the table', () => {
    const folder = new URL('../../../src/syntax/', import.meta.url);
    const sources = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
    const codes = sources.flatMap((source) => {
      const calls = source.matchAll(
        /(?:report\(\s*|Condition\(\s*|(?:error|warning)\('[a-z]+',\s*|#error\(|code: )'([a-z-]+)'/g,
      );
      return [...calls].map((match) => match[1]);
    });
    expect([...new Set(codes)].sort()).toEqual(Object.keys(CASES).sort());
  });

  it('say what was expected and what was found, with the line and a caret', () => {
    const [diagnostic] = parse('struct s {\n\tbit<8> 5x;\n}\nstruct t { bit<8 x; }').diagnostics.list.slice(-1);
    if (diagnostic === undefined) throw new Error('no diagnostic');
    expect(formatDiagnostic(diagnostic)).toBe(
      "main.p4:4:18: error: expected '>', found 'x' [unexpected-token]\nstruct t { bit<8 x; }\n                 ^",
    );
  });

  it('point into included files and behind macros', () => {
    const files = { 'a.p4': '\n\nstruct s { bit<8> }\n' };
    expect(parse('#include "a.p4"\nstruct t {', { files }).found).toEqual([
      'error unexpected-token a.p4:3:19',
      'error missing-brace main.p4:2:11',
    ]);
    expect(parse('#define F bit<8\nstruct t { bit<8> y; F x; }\n').found).toEqual([
      'error unexpected-token main.p4:2:24',
    ]);
    expect(parse('#define F bit<8;\nstruct t { bit<8> y; F }\n').found).toEqual([
      'error unexpected-token main.p4:2:22',
    ]);
  });

  it('are several in one run, one for each mistake', () => {
    const text = `
struct a { bit<8> x y; }
control c(inout bit<8> x) {
  action b() { x = ; x = 1; }
  table t {
    key = { x exact; x : ternary; }
    actions = { b c; d; }
    size 5;
    default_action = b();
  }
  apply {
    if (x == 1 { x = 2; }
    x = 3 +;
    t.apply();
  }
}
parser p() {
  state start { transition select(x) { 1 accept; 2 : start; } }
  state next { transition ; }
}
`;
    expect(parse(text).found).toEqual([
      'error unexpected-token main.p4:2:21',
      'error unexpected-token main.p4:4:20',
      'error unexpected-token main.p4:6:15',
      'error unexpected-token main.p4:7:19',
      'error unexpected-token main.p4:8:10',
      'error unexpected-token main.p4:12:16',
      'error unexpected-token main.p4:13:12',
      'error unexpected-token main.p4:18:42',
      'error unexpected-token main.p4:19:27',
    ]);
  });

  it('leave the rest of the program to be read', () => {
    const { program, found } = parse(
      'struct a { bit<8> x }\nstruct b 5;\nstruct c { bit<8> x; }\naction d() { x = ; y = 1; }',
    );
    expect(found.length).toBe(3);
    expect(program.declarations).toMatchObject([
      { name: { text: 'a' }, fields: [{}] },
      { name: { text: 'c' } },
      { name: { text: 'd' }, body: { statements: [{ kind: 'assign' }] } },
    ]);
  });

  it('end at the limit', () => {
    const { diagnostics } = parse('struct s { bit<8> }\n'.repeat(1000), { limit: 20 });
    expect(diagnostics.list.length).toBe(20);
  });

  it('stop the stage at work after a thousand errors, and say so', () => {
    const diagnostics = new Diagnostics();
    const file = { name: 'main.p4', text: ' '.repeat(5000) };
    runStage(diagnostics, { file, start: 0, end: 5000 }, () => {
      for (let start = 0; start < 5000; start++) diagnostics.error('types', 'e', { file, start, end: start }, 'wrong');
    });
    expect(diagnostics.list).toHaveLength(50);
    expect(diagnostics.list.at(-1)).toMatchObject({ code: 'too-many-errors', span: { start: 999 } });
    expect(diagnostics.errors).toBe(1001);
    expect(diagnostics.errors - diagnostics.suppressed).toBe(50);
  });

  it('show errors rather than warnings', () => {
    const diagnostics = new Diagnostics(2);
    const at = (start: number): Span => ({ file: { name: 'main.p4', text: 'abcdef' }, start, end: start + 1 });
    for (const start of [0, 1, 2]) diagnostics.warning('parser', `w${start}`, at(start), 'doubtful');
    for (const start of [3, 4, 5]) diagnostics.error('parser', `e${start}`, at(start), 'wrong');
    expect(diagnostics.list.map(({ code }) => code)).toEqual(['e3', 'e4']);
    expect([diagnostics.errors, diagnostics.suppressed]).toEqual([3, 4]);
  });
});

describe('diagnostics as text', () => {
  const shown = (text: string): string => parse(text).diagnostics.list.map(formatDiagnostic).join('\n');

  it('show the part of a long line that they are about', () => {
    const text = shown(`${'const bit<8> x = 1; '.repeat(5000)}struct ?; ${'const bit<8> y = 1; '.repeat(5000)}`);
    expect(text.length).toBeLessThan(1000);
    const [, line = '', caret = ''] = text.split('\n');
    expect(line).toMatch(/^\.\.\..{160}\.\.\.$/);
    expect(line[caret.indexOf('^')]).toBe('?');
  });

  it('cut names and texts of any length', () => {
    expect(shown(`const ${'x'.repeat(1000)} y = 1;\nstruct ${'z'.repeat(100_000)} ;`).length).toBeLessThan(3000);
    expect(shown(`#error ${'z'.repeat(100_000)}\n`).length).toBeLessThan(3000);
  });

  it('show nothing that a terminal would obey', () => {
    const obeyed = '\u001b]0;title\u0007\u001b[2J\u202e\u009b31m';
    const text = shown(`#error ${obeyed}\nstruct "${obeyed}" ;\n#include "${obeyed}"\n`);
    expect(text).toContain('[error-directive]');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});
