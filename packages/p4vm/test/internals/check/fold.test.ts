import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldBinary, foldSlice, foldUnary, isFailure } from '../../../src/check/fold.js';
import { integerValue, wrapInteger } from '../../../src/check/values.js';
import type { BinaryOperator } from '../../../src/syntax/ast.js';
import { bit, INTEGER, int } from '../../../src/types/primitives.js';
import type { BitsType } from '../../../src/types/type.js';
import { check, SEED, withTop } from './checking.js';

const bits = fc
  .record({ width: fc.integer({ min: 1, max: 130 }), isSigned: fc.boolean() })
  .map(({ width, isSigned }): BitsType => (isSigned ? int(width) : bit(width)));

/** A type and two of its values, the ends of its range among them. */
const operands = bits.chain((type) => {
  const low = type.isSigned ? -(1n << BigInt(type.width - 1)) : 0n;
  const high = (1n << BigInt(type.isSigned ? type.width - 1 : type.width)) - 1n;
  const value = fc.oneof(fc.constantFrom(low, high, 0n), fc.bigInt({ min: low, max: high }));
  return fc.record({ type: fc.constant(type), left: value, right: value });
});

function number(operator: BinaryOperator, left: bigint, right: bigint, type: BitsType | typeof INTEGER): bigint {
  const result = foldBinary(operator, integerValue(left), integerValue(right), type);
  if (result === undefined || isFailure(result) || result.kind !== 'integer') throw new Error('no number');
  return result.value;
}

/** The bit pattern of a value, least significant bit first, from which the laws are stated without BigInt.asUintN. */
function pattern(value: bigint, width: number): boolean[] {
  return Array.from({ length: width }, (_, i) => ((value >> BigInt(i)) & 1n) === 1n);
}

function valueOfPattern(pattern: readonly boolean[], isSigned: boolean): bigint {
  let value = 0n;
  pattern.forEach((each, i) => {
    if (each) value += isSigned && i === pattern.length - 1 ? -(1n << BigInt(i)) : 1n << BigInt(i);
  });
  return value;
}

describe('folding of constants', () => {
  it('keeps values of fixed width in their range', () => {
    fc.assert(
      fc.property(
        operands,
        fc.constantFrom('+', '-', '*', '|+|', '|-|', '&', '|', '^'),
        ({ type, left, right }, op) => {
          const value = number(op, left, right, type);
          expect(value).toBe(wrapInteger(value, type.width, type.isSigned));
        },
      ),
      { seed: SEED },
    );
  });

  it('adds, subtracts and multiplies modulo the width', () => {
    fc.assert(
      fc.property(operands, ({ type, left, right }) => {
        const modulus = 1n << BigInt(type.width);
        const isSame = (a: bigint, b: bigint): boolean => (a - b) % modulus === 0n;
        expect(isSame(number('+', left, right, type), left + right)).toBe(true);
        expect(isSame(number('-', left, right, type), left - right)).toBe(true);
        expect(isSame(number('*', left, right, type), left * right)).toBe(true);
      }),
      { seed: SEED },
    );
  });

  it('saturates at the ends of the range and nowhere else', () => {
    fc.assert(
      fc.property(operands, ({ type, left, right }) => {
        const low = type.isSigned ? -(1n << BigInt(type.width - 1)) : 0n;
        const high = (1n << BigInt(type.isSigned ? type.width - 1 : type.width)) - 1n;
        for (const [operator, exact] of [
          ['|+|', left + right],
          ['|-|', left - right],
        ] as const) {
          const value = number(operator, left, right, type);
          expect(value).toBe(exact > high ? high : exact < low ? low : exact);
        }
      }),
      { seed: SEED },
    );
  });

  it('combines bit patterns bit by bit', () => {
    fc.assert(
      fc.property(operands, ({ type, left, right }) => {
        const a = pattern(left, type.width);
        const b = pattern(right, type.width);
        const combine = (f: (x: boolean, y: boolean) => boolean): bigint =>
          valueOfPattern(
            a.map((each, i) => f(each, b[i]!)),
            type.isSigned,
          );
        expect(number('&', left, right, type)).toBe(combine((x, y) => x && y));
        expect(number('|', left, right, type)).toBe(combine((x, y) => x || y));
        expect(number('^', left, right, type)).toBe(combine((x, y) => x !== y));
        expect(foldUnary('~', integerValue(left), type)).toEqual(integerValue(combine((x) => !x)));
      }),
      { seed: SEED },
    );
  });

  it('shifts bit patterns, filling with zeros from the right and with the sign from the left', () => {
    fc.assert(
      fc.property(operands, fc.nat({ max: 200 }), ({ type, left }, amount) => {
        const bitsOf = pattern(left, type.width);
        const sign = type.isSigned && left < 0n;
        const toLeft = bitsOf.map((_, i) => (i >= amount ? bitsOf[i - amount]! : false));
        const toRight = bitsOf.map((_, i) => (i + amount < type.width ? bitsOf[i + amount]! : sign));
        expect(number('<<', left, BigInt(amount), type)).toBe(valueOfPattern(toLeft, type.isSigned));
        expect(number('>>', left, BigInt(amount), type)).toBe(valueOfPattern(toRight, type.isSigned));
      }),
      { seed: SEED },
    );
  });

  it('puts the left operand of a concatenation above the right one', () => {
    fc.assert(
      fc.property(operands, operands, (first, second) => {
        const { type } = first;
        const other = second.type;
        const result = foldBinary('++', integerValue(first.left), integerValue(second.left), type, other.width);
        const whole = [...pattern(second.left, other.width), ...pattern(first.left, type.width)];
        expect(result).toEqual(integerValue(valueOfPattern(whole, type.isSigned)));
        const top = foldSlice(first.left, type.width - 1, 0);
        expect(top).toBe(valueOfPattern(pattern(first.left, type.width), false));
      }),
      { seed: SEED },
    );
  });

  it('divides positive numbers of any size so that quotient and remainder give the dividend', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 1n << 200n }), fc.bigInt({ min: 1n, max: 1n << 100n }), (left, right) => {
        const quotient = number('/', left, right, INTEGER);
        const rest = number('%', left, right, INTEGER);
        expect(quotient * right + rest).toBe(left);
        expect(rest >= 0n && rest < right).toBe(true);
      }),
      { seed: SEED },
    );
  });

  it('refuses to divide by zero, to divide negative numbers and to shift by negative amounts', () => {
    const failure = (operator: BinaryOperator, left: bigint, right: bigint): string | undefined => {
      const result = foldBinary(operator, integerValue(left), integerValue(right), INTEGER);
      return isFailure(result) ? result.code : undefined;
    };
    expect(failure('/', 1n, 0n)).toBe('division-by-zero');
    expect(failure('%', 1n, 0n)).toBe('division-by-zero');
    expect(failure('/', -1n, 2n)).toBe('negative-division');
    expect(failure('%', 1n, -2n)).toBe('negative-division');
    expect(failure('<<', 1n, -1n)).toBe('negative-shift');
    expect(failure('<<', 1n, 1n << 40n)).toBe('value-too-large');
  });

  it('evaluates expressions of int in programs as BigInt does', () => {
    const leaf = fc.bigInt({ min: 0n, max: 1n << 70n }).map((value) => ({ text: `${value}`, value }));
    const tree = fc.letrec<{ readonly e: { readonly text: string; readonly value: bigint } }>((tie) => ({
      e: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        leaf,
        fc.tuple(fc.constantFrom('+', '-', '*', '<<', '>>'), tie('e'), tie('e')).map(([operator, a, b]) => {
          if (operator === '<<' || operator === '>>') {
            const amount = BigInt.asUintN(5, b.value);
            const value = operator === '<<' ? a.value << amount : a.value >> amount;
            return { text: `(${a.text} ${operator} ${amount})`, value };
          }
          const value = operator === '+' ? a.value + b.value : operator === '-' ? a.value - b.value : a.value * b.value;
          return { text: `(${a.text} ${operator} ${b.text})`, value };
        }),
      ),
    })).e;
    fc.assert(
      fc.property(tree, ({ text, value }) => {
        const { checked } = check(withTop(`const int theValue = ${text};`));
        const declaration = checked?.program.declarations.find(
          (each) => each.kind === 'constant' && each.name.text === 'theValue',
        );
        if (declaration?.kind !== 'constant') throw new Error('not checked');
        expect(checked?.constants.get(declaration.value)).toEqual(integerValue(value));
      }),
      { seed: SEED, numRuns: 60 },
    );
  });
});
