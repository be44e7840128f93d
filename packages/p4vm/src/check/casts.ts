import type { CastExpression, Expression } from '../syntax/ast.js';
import { sameType } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { UNKNOWN } from '../types/primitives.js';
import type { Type } from '../types/type.js';
import type { ConstantValue } from './checked-program.js';
import type { Checker } from './checker.js';
import { inheritKnown } from './constants.js';
import { coerce, isLiteral } from './convert.js';
import { infer } from './expressions.js';
import { resolveDefiniteType } from './type-nodes.js';
import { isValueType } from './type-rules.js';
import { booleanValue, integerValue, wrapInteger } from './values.js';

/** The type that represents values: for a newtype and a serializable enum the underlying type. */
function representation(type: Type): Type {
  return type.kind === 'newtype' || type.kind === 'serializable-enum' ? representation(type.underlying) : type;
}

function isBit(type: Type): boolean {
  return type.kind === 'bits' && !type.isSigned && type.width === 1;
}

/** Whether `(target) value` is defined for two types that are no newtypes and no serializable enums. */
function isPlainCast(c: Checker, operand: Expression, source: Type, target: Type): boolean {
  if (sameType(source, target)) return true;
  if (source.kind === 'bits') {
    if (target.kind === 'bits') return source.isSigned === target.isSigned || source.width === target.width;
    if (target.kind === 'bool') return isBit(source);
    return target.kind === 'integer';
  }
  if (source.kind === 'bool') return isBit(target);
  if (source.kind === 'integer') {
    if (target.kind === 'bits') return true;
    const value = c.found.constants.get(operand);
    return target.kind === 'bool' && (value?.kind !== 'integer' || value.value === 0n || value.value === 1n);
  }
  return false;
}

function castValue(value: ConstantValue, target: Type): ConstantValue | undefined {
  if (value.kind === 'integer') {
    if (target.kind === 'bool') return booleanValue(value.value !== 0n);
    if (target.kind === 'bits') return integerValue(wrapInteger(value.value, target.width, target.isSigned));
    return target.kind === 'integer' ? value : undefined;
  }
  if (value.kind === 'boolean' && target.kind === 'bits') return integerValue(value.value ? 1n : 0n);
  return value;
}

/** `(type) operand`. Source: P4_16 language specification, "Explicit casts". */
export function inferCast(c: Checker, e: CastExpression): Type {
  const target = resolveDefiniteType(c, e.type);
  const source = infer(c, e.operand);
  if (source.kind === 'unknown' || target.kind === 'unknown') return target;
  const value = (): void => {
    const constant = c.found.constants.get(e.operand);
    const result = constant && castValue(constant, representation(target));
    if (result !== undefined) c.found.constants.set(e, result);
    else inheritKnown(c, e, [e.operand]);
  };
  if (isLiteral(e.operand)) {
    if (!coerce(c, e.operand, target)) return UNKNOWN;
    value();
    return target;
  }
  const from = representation(source);
  const to = representation(target);
  // A literal gets the type at once, so that a value that does not fit is reported.
  if (source.kind === 'integer' && to.kind === 'bits') coerce(c, e.operand, to);
  else if (sameType(source, target) ? !isValueType(target) : !isPlainCast(c, e.operand, from, to)) {
    c.error('cast', e.span, `${describeType(source)} cannot be cast to ${describeType(target)}`);
    return target;
  }
  value();
  return target;
}
