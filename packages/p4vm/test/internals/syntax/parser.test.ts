import { describe, expect, it } from 'vitest';
import type { Statement } from '../../../src/syntax/ast.js';
import { PROGRAMS } from '../../syntax/programs.js';
import { parseDeclaration, parseExpression, parseStatements, parseWell } from './parsing.js';
import { printExpression, printProgram } from './program-printer.js';

/** An expression with all its operators' operands in parentheses. */
function grouped(text: string): string {
  const show = (e: ReturnType<typeof parseExpression>): string => {
    switch (e.kind) {
      case 'binary':
        return `(${show(e.left)} ${e.operator} ${show(e.right)})`;
      case 'unary':
        return `(${e.operator}${show(e.operand)})`;
      case 'conditional':
        return `(${show(e.condition)} ? ${show(e.whenTrue)} : ${show(e.whenFalse)})`;
      case 'cast':
        return `(cast ${show(e.operand)})`;
      case 'slice':
        return `${show(e.base)}[${show(e.high)}:${show(e.low)}]`;
      default:
        return printExpression(e);
    }
  };
  return show(parseExpression(text));
}

const kinds = (statements: readonly Statement[]): string[] => statements.map((statement) => statement.kind);

describe('expressions', () => {
  it('bind as the grammar says', () => {
    const cases: Readonly<Record<string, string>> = {
      'a + b * c': '(a + (b * c))',
      'a - b - c': '((a - b) - c)',
      'a ++ b + c': '((a ++ b) + c)',
      'a & b ^ c | d': '(((a & b) ^ c) | d)',
      'a & b == c': '((a & b) == c)',
      'a << b + c >> d': '((a << (b + c)) >> d)',
      'a < b == c >= d': '((a < b) == (c >= d))',
      'a || b && c': '(a || (b && c))',
      'a |+| b |-| c': '((a |+| b) |-| c)',
      '-a.b[3]': '(-a.b[3])',
      '- - a': '(-(-a))',
      '!a == b': '((!a) == b)',
      'a ? b : c ? d : e': '((a ? b : c) ? d : e)',
      'a ? b ? c : d : e': '(a ? (b ? c : d) : e)',
      'a || b ? c + d : e + f': '((a || b) ? (c + d) : (e + f))',
      '(bit<8>) a + b': '((cast a) + b)',
      '(bit<8>) -a[7:0]': '(cast (-a[7:0]))',
      '(T) -a': '(cast (-a))',
      '(v) -a': '(v - a)',
      '(bit<8>) (int<8>) a': '(cast (cast a))',
    };
    for (const [text, expected] of Object.entries(cases)) expect([text, grouped(text)]).toEqual([text, expected]);
  });

  it('tell type arguments from comparisons by the names of types', () => {
    expect(parseExpression('f<T>(a)')).toMatchObject({ kind: 'call', typeArguments: [{ kind: 'named-type' }] });
    expect(parseExpression('f<bit<8>>(a)')).toMatchObject({ typeArguments: [{ kind: 'bits-type' }] });
    expect(parseExpression('f<G<G<T>>>(a)')).toMatchObject({ typeArguments: [{ arguments: [{ arguments: [{}] }] }] });
    expect(parseExpression('f<_, T>(a)')).toMatchObject({ typeArguments: [{ kind: 'any-type' }, {}] });
    expect(parseExpression('f<Unknown>(a)')).toMatchObject({ kind: 'call', typeArguments: [{}] });
    expect(grouped('v < w')).toBe('(v < w)');
    expect(grouped('v < T.x')).toBe('(v < T.x)');
    expect(grouped('v < (bit<8>) w')).toBe('(v < (cast w))');
    expect(parseExpression('{ v < w, v > (w) }')).toMatchObject({ kind: 'list', elements: [{}, {}] });
  });

  it('take a value for what hides a type of its name', () => {
    const text = 'struct T { bit<8> x; } action a(in bit<8> T, in bit<8> b, out bit<8> c) { c = (T) - b; }';
    const action = parseWell(text).declarations[1];
    expect(action).toMatchObject({ body: { statements: [{ value: { kind: 'binary', operator: '-' } }] } });
  });

  it('take a cast to a name that is no type for one if it can be nothing else', () => {
    expect(parseExpression('(Unknown) 5')).toMatchObject({ kind: 'cast', type: { name: { text: 'Unknown' } } });
    expect(parseExpression('(Unknown) { 5 }')).toMatchObject({ kind: 'cast' });
  });

  it('name types where a member or a call shows that they are meant', () => {
    expect(parseExpression('error.NoError')).toMatchObject({
      base: { kind: 'type-expression', type: { kind: 'error-type' } },
    });
    expect(parseExpression('bit<8>.minSizeInBits()')).toMatchObject({ callee: { base: { kind: 'type-expression' } } });
    expect(parseExpression('G<T>(v)')).toMatchObject({ callee: { kind: 'type-expression' }, typeArguments: [] });
    expect(parseExpression('T(v)')).toMatchObject({ callee: { kind: 'path' } });
    expect(parseExpression('T.x')).toMatchObject({ base: { kind: 'path' } });
    expect(parseExpression('(G<T>(v).x)')).toMatchObject({ kind: 'member' });
    expect(parseExpression('.T(v)')).toMatchObject({ callee: { kind: 'path', isAbsolute: true } });
  });

  it('have lists and structs, with or without what is left open', () => {
    expect(parseExpression('{}')).toMatchObject({ kind: 'list', elements: [], hasDots: false });
    expect(parseExpression('{ 1, 2, }')).toMatchObject({ elements: [{}, {}], hasDots: false });
    expect(parseExpression('{ 1, ... }')).toMatchObject({ elements: [{}], hasDots: true });
    expect(parseExpression('{ a = 1, ..., }')).toMatchObject({
      kind: 'struct-expression',
      fields: [{}],
      hasDots: true,
    });
    expect(parseExpression('(T) { x = 1 }')).toMatchObject({ kind: 'cast', operand: { kind: 'struct-expression' } });
    expect(parseExpression('{#}')).toMatchObject({ kind: 'invalid' });
    expect(parseExpression('...')).toMatchObject({ kind: 'dots' });
  });

  it('have slices of both forms', () => {
    expect(parseExpression('a[7:0]')).toMatchObject({ kind: 'slice', isPlus: false });
    expect(parseExpression('a[4 +: 8]')).toMatchObject({ kind: 'slice', isPlus: true, high: { value: 4n } });
    expect(parseExpression('a[b ? 1 : 2]')).toMatchObject({ kind: 'index' });
  });

  it('span what was written', () => {
    const text = 'const int x = ( a + b ) * -c[1];';
    const constant = parseDeclaration(text);
    if (constant.kind !== 'constant' || constant.value.kind !== 'binary') throw new Error('no product');
    const shown = [constant.value, constant.value.left, constant.value.right, constant].map(({ span }) =>
      text.slice(span.start, span.end),
    );
    expect(shown).toEqual(['( a + b ) * -c[1]', '( a + b )', '-c[1]', text]);
  });
});

describe('statements', () => {
  it('are declarations if a type stands first', () => {
    expect(kinds(parseStatements('T t; T[4] s; G<T> g; H() i; bit<8> b = 1; const T c = t; U u;'))).toEqual([
      'variable',
      'variable',
      'variable',
      'instance',
      'variable',
      'constant',
      'variable',
    ]);
  });

  it('are calls and assignments otherwise', () => {
    expect(kinds(parseStatements('C.apply(); v.x = 1; f<T>(v); f<x, y>(v); G<T>.f(); .v = w; w[3:0] = 1;'))).toEqual([
      'call-statement',
      'assign',
      'call-statement',
      'call-statement',
      'call-statement',
      'assign',
      'assign',
    ]);
  });

  it('assign with an operator', () => {
    const operators = ['+', '-', '*', '/', '%', '<<', '>>', '&', '|', '^', '|+|', '|-|'];
    const statements = parseStatements(operators.map((operator) => `w ${operator}= 1;`).join('\n'));
    expect(statements.map((s) => (s.kind === 'assign' ? s.operator : s.kind))).toEqual(operators);
    expect(parseStatements('w = 1;')[0]).toMatchObject({ kind: 'assign', operator: undefined });
  });

  it('give an else to the nearest if', () => {
    const [outer] = parseStatements('if (a) if (b) w = 1; else w = 2;');
    expect(outer).toMatchObject({ whenFalse: undefined, whenTrue: { kind: 'if', whenFalse: { kind: 'assign' } } });
  });

  it('chain else and if', () => {
    const [first] = parseStatements('if (a) w = 1; else if (b) w = 2; else if (c) w = 3; else w = 4;');
    expect(first).toMatchObject({
      whenFalse: { kind: 'if', whenFalse: { kind: 'if', whenFalse: { kind: 'assign' } } },
    });
  });

  it('have loops of all forms', () => {
    expect(parseStatements('for (bit<8> i = 0, w = 1; i < 4; i += 1, f(i)) { }')[0]).toMatchObject({
      kind: 'for',
      initial: [{ kind: 'variable' }, { kind: 'assign' }],
      update: [{ kind: 'assign' }, { kind: 'call-statement' }],
    });
    expect(parseStatements('for (; true; ) ;')[0]).toMatchObject({ kind: 'for', initial: [], update: [] });
    expect(parseStatements('@unroll for (@x bit<8> i in 1 .. 4) ;')[0]).toMatchObject({
      kind: 'for-in',
      annotations: [{ name: 'unroll' }],
      variable: { kind: 'variable', annotations: [{ name: 'x' }] },
      collection: { kind: 'range' },
    });
    expect(parseStatements('for (w in s) ;')[0]).toMatchObject({ kind: 'for-in', variable: { kind: 'path' } });
  });

  it('have cases that fall through', () => {
    const [statement] = parseStatements('switch (w) { 1: (2): { } default: { } }');
    if (statement?.kind !== 'switch') throw new Error('no switch');
    expect(statement.cases.map((c) => [c.label.kind, c.body?.kind])).toEqual([
      ['integer', undefined],
      ['integer', 'block'],
      ['default', 'block'],
    ]);
  });
});

describe('declarations', () => {
  it('have types of all kinds', () => {
    const kindsOf = (type: string): unknown => {
      const constant = parseDeclaration(`const ${type} x = 1;`);
      return constant.kind === 'constant' ? constant.type : undefined;
    };
    expect(kindsOf('bit')).toMatchObject({ kind: 'bits-type', width: undefined });
    expect(kindsOf('bit<(1 > 2 ? 3 : 4)>')).toMatchObject({ width: { kind: 'conditional' } });
    expect(kindsOf('int<W + 1>')).toMatchObject({ base: 'int', width: { kind: 'binary' } });
    expect(kindsOf('varbit<8>')).toMatchObject({ base: 'varbit' });
    expect(kindsOf('int')).toMatchObject({ kind: 'integer-type' });
    expect(kindsOf('tuple<bit<8>, tuple<>>')).toMatchObject({ elements: [{}, { kind: 'tuple-type', elements: [] }] });
    expect(kindsOf('list<bit<8>>')).toMatchObject({ kind: 'list-type' });
    expect(kindsOf('A<B<C<D>>>[2][3]')).toMatchObject({ size: { value: 3n }, element: { size: { value: 2n } } });
    expect(kindsOf('.A')).toMatchObject({ kind: 'named-type', isAbsolute: true });
    expect(parseDeclaration('const bit<8> x[4] = 1;')).toMatchObject({ type: { kind: 'stack-type' } });
  });

  it('tell externs, their constructors, methods and functions apart', () => {
    const program = parseWell(
      'extern E<A, B> { E(); @pure abstract void f<T>(in T t); } extern E<bit<8>, T> f<T>();\nextern X;',
    );
    expect(program.declarations).toMatchObject([
      {
        isFunction: false,
        typeParameters: [{}, {}],
        methods: [
          { isConstructor: true, returnType: undefined },
          {
            isConstructor: false,
            isAbstract: true,
            annotations: [{ name: 'pure' }],
            returnType: { kind: 'void-type' },
          },
        ],
      },
      {
        isFunction: true,
        name: { text: 'f' },
        methods: [{ typeParameters: [{}], returnType: { arguments: [{}, {}] } }],
      },
    ]);
  });

  it('tell types of controls and parsers from controls and parsers', () => {
    const text = 'control A<T>(in T t); control B()(bit<8> n) { apply { } } parser C(); parser D() { state start { } }';
    expect(parseWell(text).declarations.map((declaration) => declaration.kind)).toEqual([
      'control-type',
      'control',
      'parser-type',
      'parser',
    ]);
  });

  it('hold the implementations of abstract methods', () => {
    const text = 'E() e = { bit<8> next(in bit<8> x) { return x; } E() other; };';
    expect(parseDeclaration(text)).toMatchObject({
      kind: 'instance',
      initializer: [{ kind: 'function', name: { text: 'next' } }, { kind: 'instance' }],
    });
  });

  it('have annotations with expressions, pairs, or anything', () => {
    const text = '#define N 7\n@a @b(1, "x") @c[k = 1, l = 2] @d(not, an expression;) @e(N + 1) @f(k = 2) struct s { }';
    expect(parseDeclaration(text).annotations).toMatchObject([
      { name: 'a', text: '', values: [] },
      { name: 'b', text: '1, "x"', values: [{ value: 1n }, { value: 'x' }] },
      {
        name: 'c',
        text: 'k = 1, l = 2',
        values: [],
        pairs: new Map([
          ['k', { value: 1n }],
          ['l', { value: 2n }],
        ]),
      },
      { name: 'd', text: 'not, an expression;', values: [] },
      { name: 'e', text: '7 + 1', values: [{ kind: 'binary' }] },
      { name: 'f', pairs: new Map([['k', { value: 2n }]]) },
    ]);
  });

  it('have pragmas that end with their line', () => {
    const text = '@pragma deprecated "x" y\n@pragma z\nstruct s { }';
    expect(parseDeclaration(text).annotations).toMatchObject([
      { name: 'deprecated', text: '"x" y' },
      { name: 'z', text: '' },
    ]);
  });

  it('have keys, actions and entries as tables do', () => {
    const control = parseWell(PROGRAMS.switch ?? '').declarations.find(
      (d) => d.kind === 'control' && d.name.text === 'I',
    );
    const tables = control?.kind === 'control' ? control.locals.filter((local) => local.kind === 'table') : [];
    expect(tables).toMatchObject([
      {
        key: [{ matchKind: { text: 'lpm' }, annotations: [{ name: 'name' }] }, {}, {}, {}],
        actions: [
          { expression: { kind: 'path' } },
          { annotations: [{ name: 'defaultonly' }] },
          { expression: { kind: 'call' } },
        ],
        properties: [{ name: { text: 'default_action' }, isConst: true }, {}, {}, {}],
        entries: {
          isConst: false,
          entries: [
            {
              isConst: true,
              priority: { value: 10n },
              keys: [{ kind: 'mask' }, {}, { kind: 'any' }, { kind: 'range' }],
            },
            { isConst: false, priority: { kind: 'binary' }, keys: [{ kind: 'default' }, {}, {}, {}] },
          ],
        },
      },
      {
        entries: {
          isConst: true,
          entries: [{ keys: [{}] }, { keys: [{}] }, { keys: [{ kind: 'binary', operator: '+' }] }],
        },
      },
    ]);
  });

  it('have names that are keywords elsewhere', () => {
    const text =
      'struct s { bit<8> apply; bit<8> key; bit<8> actions; bit<8> state; bit<8> entries; bit<8> type; bit<8> priority; bit<8> list; }';
    const struct = parseDeclaration(text);
    expect(struct.kind === 'struct' && struct.fields.length).toBe(8);
  });

  it('may be empty between others', () => {
    expect(parseWell(';; struct s { };;').declarations.length).toBe(1);
  });
});

describe('whole programs', () => {
  it.each(Object.keys(PROGRAMS))('parse: %s', (name) => {
    const program = parseWell(PROGRAMS[name] ?? '');
    expect(program.declarations.length).toBeGreaterThan(20);
    // Printed again it is still a program.
    expect(parseWell(printProgram(program)).declarations.length).toBe(program.declarations.length);
  });
});
