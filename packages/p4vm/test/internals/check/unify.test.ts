import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { Budget } from '../../../src/budget/budget.js';
import { Checker } from '../../../src/check/checker.js';
import { type Bindings, substitute, unify } from '../../../src/check/generics.js';
import { Diagnostics } from '../../../src/source/diagnostics.js';
import type { Span } from '../../../src/source/position.js';
import { hasVariable, sameType, typeKey } from '../../../src/types/compare.js';
import { describeType } from '../../../src/types/describe.js';
import { BOOL, bit, ERROR, INTEGER, int, STRING } from '../../../src/types/primitives.js';
import type { Type, TypeVariable } from '../../../src/types/type.js';
import { SEED } from './checking.js';

const VARIABLES: readonly TypeVariable[] = ['T', 'U', 'V'].map((name) => ({ kind: 'variable', name }));
const SPAN: Span = { file: { name: 'main.p4', text: '' }, start: 0, end: 0 };

const nominal: readonly Type[] = [
  { kind: 'enum', name: 'E', members: ['a'] },
  { kind: 'header', name: 'H', typeArguments: [], fields: [] },
  { kind: 'newtype', name: 'N', underlying: bit(8) },
];

/** Types made of basic ones, nominal ones and what `leaf` gives. */
function typesOf(leaves: readonly Type[]): fc.Arbitrary<Type> {
  return fc.letrec<{ readonly type: Type }>((tie) => ({
    type: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.constantFrom<Type>(BOOL, ERROR, bit(8), bit(16), int(8), ...nominal, ...leaves),
      fc.array(tie('type'), { maxLength: 3 }).map((elements): Type => ({ kind: 'tuple', elements })),
      fc
        .record({ element: tie('type'), size: fc.integer({ min: 1, max: 3 }) })
        .map(({ element, size }): Type => ({ kind: 'stack', element, size })),
      tie('type').map((element): Type => ({ kind: 'set', element })),
      fc.array(fc.record({ type: tie('type'), direction: fc.constantFrom('in', 'inout') }), { maxLength: 3 }).map(
        (parameters): Type => ({
          kind: 'control',
          name: '',
          parameters: parameters.map(({ type, direction }, i) => ({
            name: `p${i}`,
            direction: direction === 'in' ? 'in' : 'inout',
            type,
            isOptional: false,
          })),
        }),
      ),
    ),
  })).type;
}

const closed = typesOf([]);
const open = typesOf(VARIABLES);

describe('unification', () => {
  it('finds what variables stand for, whatever that is', () => {
    fc.assert(
      fc.property(open, fc.array(closed, { minLength: 3, maxLength: 3 }), (formal, values) => {
        const c = new Checker(new Diagnostics(), new Budget());
        const expected: Bindings = new Map(VARIABLES.map((variable, i) => [variable, values[i]!]));
        const actual = substitute(c, formal, expected, SPAN);
        expect(hasVariable(actual)).toBe(false);
        const found: Bindings = new Map();
        expect(unify(c, formal, actual, new Set(VARIABLES), found)).toBe(true);
        expect(sameType(substitute(c, formal, found, SPAN), actual)).toBe(true);
        for (const [variable, type] of found) expect(sameType(type, expected.get(variable)!)).toBe(true);
      }),
      { seed: SEED },
    );
  });

  it('only says that two types agree if what it found makes them the same', () => {
    fc.assert(
      fc.property(open, closed, (formal, actual) => {
        const c = new Checker(new Diagnostics(), new Budget());
        const found: Bindings = new Map();
        // Without variables nothing is compared, and lists may stand for stacks: that is the conversion's to say.
        const text = describeType(formal);
        fc.pre(hasVariable(formal) && !/tuple|\[/.test(text + describeType(actual)) && formal.kind !== 'control');
        if (!unify(c, formal, actual, new Set(VARIABLES), found)) return;
        expect(sameType(substitute(c, formal, found, SPAN), actual)).toBe(true);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('takes the definite one of two types for a variable', () => {
    const [variable] = VARIABLES;
    const pair: Type = { kind: 'tuple', elements: [variable!, variable!] };
    const bound = (first: Type, second: Type): string | undefined => {
      const bindings: Bindings = new Map();
      const c = new Checker(new Diagnostics(), new Budget());
      const actual: Type = { kind: 'tuple', elements: [first, second] };
      return unify(c, pair, actual, new Set(VARIABLES), bindings) ? describeType(bindings.get(variable!)!) : undefined;
    };
    expect(bound(INTEGER, bit(8))).toBe('bit<8>');
    expect(bound(bit(8), INTEGER)).toBe('bit<8>');
    expect(bound(bit(8), bit(9))).toBeUndefined();
    expect(bound(INTEGER, INTEGER)).toBe('int');
    expect(bound(STRING, BOOL)).toBeUndefined();
  });
});

describe('types', () => {
  it('have one key if and only if they are the same', () => {
    fc.assert(
      fc.property(open, open, (first, second) => {
        expect(typeKey(first) === typeKey(second)).toBe(sameType(first, second));
        expect(sameType(first, first)).toBe(true);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });
});
