import { MAX_BITS } from '../budget/limits.js';
import type {
  BinaryExpression,
  BinaryOperator,
  ConditionalExpression,
  Expression,
  SliceExpression,
  UnaryExpression,
} from '../syntax/ast.js';
import { sameType } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { leafCount } from '../types/measure.js';
import { BOOL, bit, INTEGER, STRING, UNKNOWN } from '../types/primitives.js';
import type { Type } from '../types/type.js';
import type { Checker } from './checker.js';
import { inheritKnown } from './constants.js';
import { chosenValue, coerce, enumToNumber, isImplicit, isLiteral, isOpenLiteral } from './convert.js';
import { infer } from './expressions.js';
import { foldBinary, foldSlice, foldUnary, isFailure } from './fold.js';
import { constantInteger } from './type-nodes.js';
import { isComparable } from './type-rules.js';
import { constantSize, integerValue } from './values.js';

function undefinedFor(c: Checker, expression: Expression, operator: string, type: Type): Type {
  if (type.kind !== 'unknown') {
    c.error('operand-type', expression.span, `"${operator}" is not defined for ${describeType(type)}`);
  }
  return UNKNOWN;
}

/**
 * Converts one of two expressions so that both have one type, and returns this type. Returns undefined, after a
 * diagnostic, if they have none in common, and the unknown type if one of them is wrong already.
 */
function unifyTwo(c: Checker, left: Expression, right: Expression, at: Expression, what: string): Type {
  const first = c.found.types.get(left) ?? UNKNOWN;
  const second = c.found.types.get(right) ?? UNKNOWN;
  if (first.kind === 'unknown' || second.kind === 'unknown') return UNKNOWN;
  if (sameType(first, second)) {
    if (left.kind === 'list' && right.kind !== 'list') return coerce(c, left, second) ? second : UNKNOWN;
    return first;
  }
  if (isLiteral(left) && !isLiteral(right)) return coerce(c, left, second) ? second : UNKNOWN;
  if (isLiteral(right)) return coerce(c, right, first) ? first : UNKNOWN;
  if (isImplicit(first, second)) return coerce(c, left, second) ? second : UNKNOWN;
  if (isImplicit(second, first)) return coerce(c, right, first) ? first : UNKNOWN;
  if (first.kind === 'serializable-enum' && (second.kind === 'integer' || second.kind === 'serializable-enum')) {
    const number = enumToNumber(c, left);
    if (second.kind === 'integer' || sameType(second.underlying, number))
      return coerce(c, right, number) ? number : UNKNOWN;
  } else if (second.kind === 'serializable-enum' && first.kind === 'integer') {
    const number = enumToNumber(c, right);
    return coerce(c, left, number) ? number : UNKNOWN;
  }
  if (isOpenLiteral(first) && coerceQuietly(first, second)) return coerce(c, left, second) ? second : UNKNOWN;
  if (isOpenLiteral(second) && coerceQuietly(second, first)) return coerce(c, right, first) ? first : UNKNOWN;
  const types = `${describeType(first)} and ${describeType(second)}`;
  return c.wrong('operand-types', at.span, `the operands of "${what}" have different types: ${types}`);
}

/** Whether it is worth trying to convert a conditional of literals to `target`. */
function coerceQuietly(type: Type, target: Type): boolean {
  return type.kind !== 'integer' && (target.kind === 'struct' || target.kind === 'header' || target.kind === 'tuple');
}

function fold(c: Checker, e: BinaryExpression, type: Type, rightWidth = 0): void {
  const left = c.found.constants.get(e.left);
  const right = c.found.constants.get(e.right);
  if (left === undefined || right === undefined) {
    inheritKnown(c, e, [e.left, e.right]);
    // The divisor alone decides.
    if ((e.operator === '/' || e.operator === '%') && right?.kind === 'integer' && right.value === 0n) {
      c.error('division-by-zero', e.span, `${e.operator === '/' ? 'division' : 'modulo'} by zero`);
    }
    return;
  }
  const result = foldBinary(e.operator, left, right, type, rightWidth);
  if (isFailure(result)) c.error(result.code, e.span, result.message);
  else if (result !== undefined) {
    c.spend(constantSize(result), e.span);
    c.found.constants.set(e, result);
  }
}

function inferShift(c: Checker, e: BinaryExpression): Type {
  const left = enumToNumber(c, e.left);
  const right = enumToNumber(c, e.right);
  if (left.kind === 'unknown' || right.kind === 'unknown') return left.kind === 'integer' ? UNKNOWN : left;
  if (left.kind !== 'bits' && left.kind !== 'integer') return undefinedFor(c, e, e.operator, left);
  const amount = c.found.constants.get(e.right);
  if (right.kind === 'bits' && right.isSigned && amount === undefined) {
    c.error('shift-amount', e.right.span, `the amount of a shift must be unsigned, not ${describeType(right)}`);
    return left;
  }
  if (right.kind !== 'bits' && right.kind !== 'integer') {
    c.error('shift-amount', e.right.span, `the amount of a shift must be a number, not ${describeType(right)}`);
    return left;
  }
  if (amount?.kind === 'integer' && amount.value < 0n) {
    c.error('negative-shift', e.right.span, `shift by a negative amount, ${amount.value}`);
    return left;
  }
  if (left.kind === 'integer' && !c.isKnown(e.right)) {
    const message = 'the width of the shifted number is not known: write it as in 32w1 << x';
    return c.wrong('width-unknown', e.left.span, message);
  }
  if (amount?.kind === 'integer' && left.kind === 'bits' && amount.value >= BigInt(Math.max(left.width, 1))) {
    c.warn('large-shift', e.span, `shift of ${describeType(left)} by ${amount.value}: nothing of the value is left`);
  }
  fold(c, e, left);
  return left;
}

function inferConcatenation(c: Checker, e: BinaryExpression): Type {
  const left = enumToNumber(c, e.left);
  const right = enumToNumber(c, e.right);
  if (left.kind === 'unknown' || right.kind === 'unknown') return UNKNOWN;
  if (left.kind === 'string' && right.kind === 'string') {
    fold(c, e, left);
    return STRING;
  }
  for (const side of [e.left, e.right]) {
    const type = c.found.types.get(side)!;
    if (type.kind === 'integer') {
      const message = 'the width of a number that is concatenated must be known: write it as in 8w1';
      return c.wrong('width-unknown', side.span, message);
    }
    if (type.kind !== 'bits') return undefinedFor(c, side, '++', type);
  }
  if (left.kind !== 'bits' || right.kind !== 'bits') return UNKNOWN;
  const width = left.width + right.width;
  if (width > MAX_BITS) {
    return c.wrong('type-width', e.span, `a number of ${width} bits: at most ${MAX_BITS} are supported`);
  }
  fold(c, e, left, right.width);
  return { kind: 'bits', width, isSigned: left.isSigned };
}

/** Whether an operator whose result has its operands' type is defined for this type. */
function isDefined(operator: BinaryOperator, type: Type): boolean {
  // The language has no bitwise operations on `int`, but programs write constants with them.
  if (type.kind === 'integer') return operator !== '|+|' && operator !== '|-|';
  if (type.kind !== 'bits') return false;
  return operator === '/' || operator === '%' ? !type.isSigned : true;
}

/** Reports a division by or of a negative number before the number is cut to a positive one. */
function isNegative(c: Checker, e: BinaryExpression): boolean {
  for (const side of [e.left, e.right]) {
    const value = c.found.constants.get(side);
    if (value?.kind !== 'integer' || value.value >= 0n) continue;
    const what = e.operator === '/' ? 'division' : 'modulo';
    c.error('negative-division', e.span, `${what} is not defined for negative numbers, such as ${value.value}`);
    return true;
  }
  return false;
}

/** `left operator right`, both inferred. */
export function inferOperation(c: Checker, e: BinaryExpression): Type {
  const { operator } = e;
  switch (operator) {
    case '&&':
    case '||': {
      let isBool = true;
      for (const side of [e.left, e.right]) {
        const type = c.found.types.get(side)!;
        if (type.kind === 'bool') continue;
        undefinedFor(c, side, operator, type);
        isBool = false;
      }
      if (isBool) fold(c, e, BOOL);
      return BOOL;
    }
    case '<<':
    case '>>':
      return inferShift(c, e);
    case '++':
      return inferConcatenation(c, e);
    case '==':
    case '!=': {
      const type = unifyTwo(c, e.left, e.right, e, operator);
      if (type.kind === 'unknown') return BOOL;
      c.spend(leafCount(type), e.span);
      if (!isComparable(type)) undefinedFor(c, e, operator, type);
      else fold(c, e, type);
      return BOOL;
    }
    case '<':
    case '<=':
    case '>':
    case '>=': {
      enumToNumber(c, e.left);
      enumToNumber(c, e.right);
      const type = unifyTwo(c, e.left, e.right, e, operator);
      if (type.kind === 'unknown') return BOOL;
      if (type.kind !== 'bits' && type.kind !== 'integer') undefinedFor(c, e, operator, type);
      else fold(c, e, type);
      return BOOL;
    }
    default: {
      enumToNumber(c, e.left);
      enumToNumber(c, e.right);
      if ((operator === '/' || operator === '%') && isNegative(c, e)) return UNKNOWN;
      const type = unifyTwo(c, e.left, e.right, e, operator);
      if (type.kind === 'unknown') return UNKNOWN;
      if (!isDefined(operator, type)) return undefinedFor(c, e, operator, type);
      fold(c, e, type);
      return type;
    }
  }
}

export function inferBinary(c: Checker, e: BinaryExpression): Type {
  infer(c, e.left);
  infer(c, e.right);
  return inferOperation(c, e);
}

export function inferUnary(c: Checker, e: UnaryExpression): Type {
  infer(c, e.operand);
  const type = enumToNumber(c, e.operand);
  if (type.kind === 'unknown') return e.operator === '!' ? BOOL : UNKNOWN;
  const kinds = { '!': ['bool'], '~': ['bits'], '-': ['bits', 'integer'], '+': ['bits', 'integer'] }[e.operator];
  if (!kinds.includes(type.kind)) {
    undefinedFor(c, e, e.operator, type);
    return e.operator === '!' ? BOOL : UNKNOWN;
  }
  const value = c.found.constants.get(e.operand);
  const result = value && foldUnary(e.operator, value, type);
  if (result !== undefined) c.found.constants.set(e, result);
  else inheritKnown(c, e, [e.operand]);
  return type;
}

/** Infers a condition, and reports one that is not boolean. */
export function inferCondition(c: Checker, condition: Expression): void {
  const type = infer(c, condition);
  if (type.kind === 'bool' || type.kind === 'unknown') return;
  c.error('type-mismatch', condition.span, `a condition must be bool, not ${describeType(type)}`);
}

export function inferConditional(c: Checker, e: ConditionalExpression): Type {
  inferCondition(c, e.condition);
  infer(c, e.whenTrue);
  infer(c, e.whenFalse);
  const type = unifyTwo(c, e.whenTrue, e.whenFalse, e, '?:');
  if (type.kind === 'unknown') return UNKNOWN;
  if (type.kind === 'void' || type.kind === 'table-result' || type.kind === 'action-enum') {
    return undefinedFor(c, e, '?:', type);
  }
  if (type === INTEGER && !c.isKnown(e.condition)) {
    return c.wrong('width-unknown', e.span, 'the width of one of these numbers must be known: write it as in 8w1');
  }
  const chosen = chosenValue(c, e);
  if (chosen !== undefined) c.found.constants.set(e, chosen);
  else inheritKnown(c, e, [e.condition, e.whenTrue, e.whenFalse]);
  return type;
}

function sliceOf(c: Checker, e: SliceExpression, base: Type, high: bigint, low: bigint): Type {
  if (low < 0n || high < low) {
    const rule = 'the first must not be less than the second, nor negative';
    return c.wrong('slice-bounds', e.span, `bits ${high} to ${low} are not a slice: ${rule}`);
  }
  if (base.kind === 'bits' && high >= BigInt(base.width)) {
    return c.wrong('slice-bounds', e.span, `bit ${high} is beyond ${describeType(base)}`);
  }
  if (high - low >= BigInt(MAX_BITS) || high > 1n << 20n) {
    return c.wrong('slice-bounds', e.span, `bits ${high} to ${low} are too many, or too high`);
  }
  const value = c.found.constants.get(e.base);
  if (value?.kind === 'integer') {
    c.found.constants.set(e, integerValue(foldSlice(value.value, Number(high), Number(low))));
  } else inheritKnown(c, e, [e.base]);
  return bit(Number(high - low) + 1);
}

export function inferSlice(c: Checker, e: SliceExpression): Type {
  infer(c, e.base);
  const base = enumToNumber(c, e.base);
  if (base.kind !== 'bits' && base.kind !== 'integer') {
    infer(c, e.high);
    infer(c, e.low);
    if (base.kind !== 'unknown') c.error('slice-base', e.base.span, `${describeType(base)} has no slices`);
    return UNKNOWN;
  }
  if (base.kind === 'integer' && !c.isKnown(e.base)) return UNKNOWN;
  if (!e.isPlus) {
    const high = constantInteger(c, e.high, 'the first bit of a slice');
    const low = constantInteger(c, e.low, 'the last bit of a slice');
    return high === undefined || low === undefined ? UNKNOWN : sliceOf(c, e, base, high, low);
  }
  infer(c, e.high);
  const index = enumToNumber(c, e.high);
  const width = constantInteger(c, e.low, 'the width of a slice');
  if (width === undefined || index.kind === 'unknown') return UNKNOWN;
  if (width < 1n) {
    return c.wrong('slice-bounds', e.low.span, `${width} is not the width of a slice`);
  }
  const low = c.found.constants.get(e.high);
  if (low?.kind === 'integer') return sliceOf(c, e, base, low.value + width - 1n, low.value);
  if (index.kind !== 'bits' || index.isSigned || base.kind !== 'bits') {
    const message = `the lowest bit of a slice must be unsigned, not ${describeType(index)}`;
    return c.wrong('slice-bounds', e.high.span, message);
  }
  if (width > BigInt(base.width)) {
    return c.wrong('slice-bounds', e.low.span, `a slice of ${width} bits is wider than ${describeType(base)}`);
  }
  return bit(Number(width));
}
