import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import type { BinaryOperator, Expression, TypeNode, UnaryOperator } from '../../../src/syntax/ast.js';
import { PROGRAMS } from '../../syntax/programs.js';
import { parseExpression, parseWell, SEED } from './parsing.js';
import { printExpression, printProgram, withoutSpans } from './program-printer.js';

const span = { file: { name: '', text: '' }, start: 0, end: 0 };
const identifier = (text: string): { text: string; span: typeof span } => ({ text, span });

const BINARY: readonly BinaryOperator[] = [
  '*',
  '/',
  '%',
  '+',
  '-',
  '|+|',
  '|-|',
  '<<',
  '>>',
  '<=',
  '>=',
  '<',
  '>',
  '==',
  '!=',
  '&',
  '^',
  '|',
  '++',
  '&&',
  '||',
];
const UNARY: readonly UnaryOperator[] = ['-', '+', '~', '!'];

const { expression } = fc.letrec<{ expression: Expression; type: TypeNode }>((tie) => {
  const name = fc.constantFrom('v', 'w', 'apply', 'key', 'x1');
  const list = fc.array(tie('expression'), { maxLength: 3 });
  const argument = fc.record({
    kind: fc.constant('argument' as const),
    name: fc.option(name.map(identifier), { nil: undefined }),
    value: fc.oneof(tie('expression'), fc.constant<Expression>({ kind: 'any', span })),
    span: fc.constant(span),
  });
  const leaf: fc.Arbitrary<Expression> = fc.oneof(
    fc
      .record({
        value: fc.bigInt(0n, 1n << 70n),
        width: fc.option(fc.integer({ min: 1, max: 128 }), { nil: undefined }),
        isSigned: fc.boolean(),
      })
      .map(
        ({ value, width, isSigned }): Expression => ({
          kind: 'integer',
          value,
          width,
          isSigned: width !== undefined && isSigned,
          span,
        }),
      ),
    fc.boolean().map((value): Expression => ({ kind: 'boolean', value, span })),
    fc
      .tuple(name, fc.boolean())
      .map(([text, isAbsolute]): Expression => ({ kind: 'path', name: identifier(text), isAbsolute, span })),
    fc.constantFrom<Expression>(
      { kind: 'this', span },
      { kind: 'invalid', span },
      { kind: 'string', value: 'a \\" b', span },
    ),
  );
  return {
    type: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<TypeNode>(
        { kind: 'bool-type', span },
        { kind: 'integer-type', span },
        { kind: 'named-type', name: identifier('T'), isAbsolute: false, arguments: [], span },
      ),
      tie('expression').map((width): TypeNode => ({ kind: 'bits-type', base: 'bit', width, span })),
      fc.array(tie('type'), { maxLength: 2 }).map((elements): TypeNode => ({ kind: 'tuple-type', elements, span })),
      tie('type').map(
        (type): TypeNode => ({ kind: 'named-type', name: identifier('G'), isAbsolute: false, arguments: [type], span }),
      ),
    ),
    expression: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf,
      fc
        .tuple(fc.constantFrom(...BINARY), tie('expression'), tie('expression'))
        .map(([operator, left, right]): Expression => ({ kind: 'binary', operator, left, right, span })),
      fc
        .tuple(fc.constantFrom(...UNARY), tie('expression'))
        .map(([operator, operand]): Expression => ({ kind: 'unary', operator, operand, span })),
      fc.tuple(tie('expression'), tie('expression'), tie('expression')).map(
        ([condition, whenTrue, whenFalse]): Expression => ({
          kind: 'conditional',
          condition,
          whenTrue,
          whenFalse,
          span,
        }),
      ),
      fc
        .tuple(tie('type'), tie('expression'))
        .map(([type, operand]): Expression => ({ kind: 'cast', type, operand, span })),
      fc
        .tuple(tie('expression'), name)
        .map(([base, member]): Expression => ({ kind: 'member', base, member: identifier(member), span })),
      fc
        .tuple(tie('expression'), tie('expression'))
        .map(([base, index]): Expression => ({ kind: 'index', base, index, span })),
      fc
        .tuple(tie('expression'), tie('expression'), tie('expression'), fc.boolean())
        .map(([base, high, low, isPlus]): Expression => ({ kind: 'slice', base, high, low, isPlus, span })),
      fc.tuple(tie('expression'), fc.array(tie('type'), { maxLength: 2 }), fc.array(argument, { maxLength: 3 })).map(
        ([callee, typeArguments, found]): Expression => ({
          kind: 'call',
          callee,
          typeArguments,
          arguments: found,
          span,
        }),
      ),
      fc
        .tuple(list, fc.boolean())
        .map(([elements, hasDots]): Expression => ({ kind: 'list', elements, hasDots, span })),
      fc.tuple(fc.uniqueArray(name, { minLength: 1 }), tie('expression'), fc.boolean()).map(
        ([names, value, hasDots]): Expression => ({
          kind: 'struct-expression',
          fields: names.map((text) => ({ name: identifier(text), value, span })),
          hasDots,
          span,
        }),
      ),
    ),
  };
});

describe('a tree printed and parsed again', () => {
  it.each(Object.keys(PROGRAMS))('is the same: program %s', (name) => {
    const program = parseWell(PROGRAMS[name] ?? '');
    const again = parseWell(printProgram(program));
    expect(withoutSpans(again.declarations)).toEqual(withoutSpans(program.declarations));
  });

  it('is the same for any expression, with as few parentheses as the precedences ask for', () => {
    fc.assert(
      fc.property(expression, (tree) => {
        expect(withoutSpans(parseExpression(printExpression(tree)))).toEqual(withoutSpans(tree));
      }),
      { seed: SEED, numRuns: runs(800) },
    );
  });
});
