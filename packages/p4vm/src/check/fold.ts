import type { BinaryOperator, UnaryOperator } from '../syntax/ast.js';
import type { Type } from '../types/type.js';
import type { ConstantValue } from './checked-program.js';
import { booleanValue, integerValue, sameValue, wrapInteger } from './values.js';

/** Why an expression of constants has no value. `code` is that of the diagnostic. */
export interface FoldFailure {
  readonly code: 'division-by-zero' | 'negative-division' | 'negative-shift' | 'value-too-large';
  readonly message: string;
}

export type FoldResult = ConstantValue | FoldFailure | undefined;

/** Largest size of an `int` in bits, and of a string in characters. Larger ones are mistakes that only cost time. */
const LARGEST_SIZE = 8192;
const LARGEST_SHIFT = 8192n;

export function isFailure(result: FoldResult): result is FoldFailure {
  return result !== undefined && 'code' in result;
}

/** A number as a value of a type: cut to the width of `bit<W>` and `int<W>`, unchanged for `int`. */
export function numberOf(value: bigint, type: Type): ConstantValue {
  return integerValue(type.kind === 'bits' ? wrapInteger(value, type.width, type.isSigned) : value);
}

/** Computes `operator operand`; operand and result have one type. */
export function foldUnary(operator: UnaryOperator, operand: ConstantValue, type: Type): ConstantValue | undefined {
  if (operand.kind === 'boolean') return operator === '!' ? booleanValue(!operand.value) : undefined;
  if (operand.kind !== 'integer') return undefined;
  switch (operator) {
    case '-':
      return numberOf(-operand.value, type);
    case '~':
      return numberOf(~operand.value, type);
    case '+':
      return operand;
    case '!':
      return undefined;
  }
}

function saturate(value: bigint, type: Type): bigint {
  if (type.kind !== 'bits' || type.width === 0) return type.kind === 'bits' ? 0n : value;
  const low = type.isSigned ? -(1n << BigInt(type.width - 1)) : 0n;
  const high = (1n << BigInt(type.isSigned ? type.width - 1 : type.width)) - 1n;
  return value < low ? low : value > high ? high : value;
}

function shift(left: bigint, right: bigint, isLeft: boolean, type: Type): FoldResult {
  if (right < 0n) return { code: 'negative-shift', message: `shift by a negative amount, ${right}` };
  if (type.kind === 'bits') {
    // A shift by the width or more leaves only the sign.
    if (right >= BigInt(type.width)) return integerValue(!isLeft && left < 0n ? -1n : 0n);
    return numberOf(isLeft ? left << right : left >> right, type);
  }
  if (isLeft && right > LARGEST_SHIFT) {
    const message = `shift of an int by ${right} bits: at most ${LARGEST_SHIFT} are supported`;
    return { code: 'value-too-large', message };
  }
  if (isLeft) return bounded(left << right, type);
  return integerValue(right > LARGEST_SHIFT ? (left < 0n ? -1n : 0n) : left >> right);
}

function divide(left: bigint, right: bigint, operator: '/' | '%', type: Type): FoldResult {
  const what = operator === '/' ? 'division' : 'modulo';
  if (right === 0n) return { code: 'division-by-zero', message: `${what} by zero` };
  if (left < 0n || right < 0n) {
    const message = `${what} is not defined for negative numbers (${left} ${operator} ${right})`;
    return { code: 'negative-division', message };
  }
  return numberOf(operator === '/' ? left / right : left % right, type);
}

/** As `numberOf`, unless an `int` becomes too large. */
function bounded(value: bigint, type: Type): FoldResult {
  if (type.kind === 'bits' || BigInt.asIntN(LARGEST_SIZE + 1, value) === value) return numberOf(value, type);
  return { code: 'value-too-large', message: `an int of more than ${LARGEST_SIZE} bits is not supported` };
}

/** The operators of two numbers, for the type of the left one. */
const NUMBERS: Partial<Readonly<Record<BinaryOperator, (left: bigint, right: bigint, type: Type) => FoldResult>>> = {
  '+': (left, right, type) => bounded(left + right, type),
  '-': (left, right, type) => bounded(left - right, type),
  '*': (left, right, type) => bounded(left * right, type),
  '/': (left, right, type) => divide(left, right, '/', type),
  '%': (left, right, type) => divide(left, right, '%', type),
  '|+|': (left, right, type) => integerValue(saturate(left + right, type)),
  '|-|': (left, right, type) => integerValue(saturate(left - right, type)),
  '&': (left, right, type) => numberOf(left & right, type),
  '|': (left, right, type) => numberOf(left | right, type),
  '^': (left, right, type) => numberOf(left ^ right, type),
  '<<': (left, right, type) => shift(left, right, true, type),
  '>>': (left, right, type) => shift(left, right, false, type),
  '<': (left, right) => booleanValue(left < right),
  '<=': (left, right) => booleanValue(left <= right),
  '>': (left, right) => booleanValue(left > right),
  '>=': (left, right) => booleanValue(left >= right),
};

/**
 * `left operator right`, both known. `type` is the type of the left operand, for `++` of bits with `rightWidth` the
 * width of the right one. Undefined if the operator is not defined for these values.
 */
export function foldBinary(
  operator: BinaryOperator,
  left: ConstantValue,
  right: ConstantValue,
  type: Type,
  rightWidth = 0,
): FoldResult {
  if (operator === '==') return booleanValue(sameValue(left, right));
  if (operator === '!=') return booleanValue(!sameValue(left, right));
  if (left.kind === 'boolean' && right.kind === 'boolean') {
    if (operator === '&&') return booleanValue(left.value && right.value);
    if (operator === '||') return booleanValue(left.value || right.value);
    return undefined;
  }
  if (left.kind === 'string' && right.kind === 'string') {
    if (operator !== '++') return undefined;
    if (left.value.length + right.value.length > LARGEST_SIZE) {
      return { code: 'value-too-large', message: `a string of more than ${LARGEST_SIZE} characters is not supported` };
    }
    return { kind: 'string', value: left.value + right.value };
  }
  if (left.kind !== 'integer' || right.kind !== 'integer') return undefined;
  if (operator === '++') {
    if (type.kind !== 'bits') return undefined;
    const value = (left.value << BigInt(rightWidth)) | BigInt.asUintN(rightWidth, right.value);
    return integerValue(wrapInteger(value, type.width + rightWidth, type.isSigned));
  }
  return NUMBERS[operator]?.(left.value, right.value, type);
}

/** Bits `high` to `low` of a number, both included, as an unsigned number. */
export function foldSlice(value: bigint, high: number, low: number): bigint {
  return BigInt.asUintN(high - low + 1, value >> BigInt(low));
}
