import type { ConditionalExpression, Expression, ListExpression, StructExpression } from '../syntax/ast.js';
import { sameType } from '../types/compare.js';
import { describeType } from '../types/describe.js';
import { leafCount } from '../types/measure.js';
import type { BitsType, Field, StructType, Type } from '../types/type.js';
import type { ConstantValue } from './checked-program.js';
import type { Checker } from './checker.js';
import { infer } from './expressions.js';
import { isHeader } from './type-rules.js';
import { aggregate, defaultValue, hasDefault, integerValue, wrapInteger } from './values.js';

/** Gives an expression its type, and its value if it has one. */
export function settle(c: Checker, expression: Expression, type: Type, value: ConstantValue | undefined): void {
  c.found.types.set(expression, type);
  if (value === undefined) c.found.constants.delete(expression);
  else c.found.constants.set(expression, value);
}

function mismatch(c: Checker, expression: Expression, target: Type): false {
  const type = c.found.types.get(expression);
  const found = type === undefined ? '' : `, but this is ${describeType(type)}`;
  c.error('type-mismatch', expression.span, `${describeType(target)} is needed here${found}`);
  return false;
}

/** An `int` becomes a number of fixed width: cut, with a warning, if it does not fit. */
function convertInteger(c: Checker, expression: Expression, target: Type, bits: BitsType): true {
  const value = c.found.constants.get(expression);
  const source = c.found.types.get(expression)!;
  if (value?.kind !== 'integer') {
    c.found.implicitCasts.set(expression, source);
    c.found.types.set(expression, target);
    return true;
  }
  const cut = wrapInteger(value.value, bits.width, bits.isSigned);
  if (cut !== value.value) {
    c.warn('value-cut', expression.span, `${value.value} does not fit ${describeType(target)}: it is cut to ${cut}`);
  }
  settle(c, expression, target, integerValue(cut));
  return true;
}

function noDefault(c: Checker, expression: Expression, what: string): false {
  c.error('no-default', expression.span, `"..." cannot stand for ${what}: it has no default value`);
  return false;
}

function convertList(c: Checker, list: ListExpression, target: Type): boolean {
  const { elements, hasDots } = list;
  let types: Type[];
  switch (target.kind) {
    case 'struct':
    case 'header':
      types = target.fields.map((field) => field.type);
      break;
    case 'tuple':
      types = [...target.elements];
      break;
    case 'stack':
      types = Array.from({ length: target.size }, () => target.element);
      break;
    case 'list':
      types = elements.map(() => target.element);
      break;
    default:
      return mismatch(c, list, target);
  }
  if (hasDots ? elements.length > types.length : elements.length !== types.length) {
    const message = `${describeType(target)} has ${types.length} parts, but ${elements.length} are given here`;
    c.error('element-count', list.span, message);
    return false;
  }
  let isConverted = true;
  elements.forEach((element, i) => {
    if (!coerce(c, element, types[i]!)) isConverted = false;
  });
  const rest = types.slice(elements.length);
  const bare = rest.find((type) => !hasDefault(type));
  if (bare !== undefined) return noDefault(c, list, describeType(bare));
  const values = [...elements.map((element) => c.found.constants.get(element)), ...rest.map(defaultValue)];
  settle(c, list, target, aggregate(values));
  if (elements.every((element) => c.isKnown(element))) c.known.add(list);
  return isConverted;
}

function convertFields(c: Checker, struct: StructExpression, fields: readonly Field[], target: Type): boolean {
  let isConverted = true;
  const byName = new Map(fields.map((field) => [field.name, field]));
  const given = new Map<string, Expression>();
  for (const { name, value } of struct.fields) {
    const field = byName.get(name.text);
    if (field === undefined) {
      c.error('unknown-field', name.span, `${describeType(target)} has no field "${name.text}"`);
      isConverted = false;
    } else if (!coerce(c, value, field.type)) isConverted = false;
    given.set(name.text, value);
  }
  const missing = fields.filter((field) => !given.has(field.name));
  if (missing.length > 0 && !struct.hasDots) {
    const names = missing.map((field) => `"${field.name}"`).join(', ');
    c.error('missing-field', struct.span, `no value is given for ${names} of ${describeType(target)}`);
    return false;
  }
  const bare = missing.find((field) => !hasDefault(field.type));
  if (bare !== undefined) return noDefault(c, struct, `"${bare.name}"`);
  const values = fields.map((field) => {
    const own = given.get(field.name);
    return own === undefined ? defaultValue(field.type) : c.found.constants.get(own);
  });
  settle(c, struct, target, aggregate(values));
  if (struct.fields.every((each) => c.isKnown(each.value))) c.known.add(struct);
  return isConverted;
}

/** The value of a conditional, if its condition and the branch that it chooses are known. */
export function chosenValue(c: Checker, e: ConditionalExpression): ConstantValue | undefined {
  const condition = c.found.constants.get(e.condition);
  if (condition?.kind !== 'boolean') return undefined;
  return c.found.constants.get(condition.value ? e.whenTrue : e.whenFalse);
}

/** Whether an expression is converted part by part, or stands for all parts of a value. */
export function isLiteral({ kind }: Expression): boolean {
  return kind === 'list' || kind === 'struct-expression' || kind === 'invalid' || kind === 'dots';
}

function isAnonymous(type: Type): type is StructType {
  return type.kind === 'struct' && type.name === '';
}

/**
 * Converts an expression of known type to the type that its place needs, if no cast is needed. Literals and their parts
 * get the type itself. Otherwise reports the expression and returns false.
 */
export function coerce(c: Checker, expression: Expression, target: Type): boolean {
  const type = c.found.types.get(expression);
  if (type === undefined || type.kind === 'unknown') return false;
  if (target.kind === 'unknown' || target.kind === 'any') return true;
  if (isLiteral(expression)) c.spend(leafCount(target), expression.span);
  switch (expression.kind) {
    case 'dots':
      if (!hasDefault(target)) return noDefault(c, expression, describeType(target));
      settle(c, expression, target, defaultValue(target));
      c.known.add(expression);
      return true;
    case 'list':
      return convertList(c, expression, target);
    case 'struct-expression':
      return target.kind === 'struct' || target.kind === 'header'
        ? convertFields(c, expression, target.fields, target)
        : mismatch(c, expression, target);
    case 'invalid':
      if (!isHeader(target)) return mismatch(c, expression, target);
      settle(c, expression, target, { kind: 'invalid-header' });
      return true;
    case 'conditional':
      if (sameType(type, target)) return true;
      if (!isOpenLiteral(type) && !isImplicit(type, target)) return mismatch(c, expression, target);
      if (!coerce(c, expression.whenTrue, target) || !coerce(c, expression.whenFalse, target)) return false;
      settle(c, expression, target, chosenValue(c, expression));
      return true;
    default:
      break;
  }
  if (sameType(type, target)) return true;
  if (type.kind === 'integer') {
    // This includes newtypes: compilers accept `type bit<9> P; P p = 1;`, and programs use it.
    const bits = representation(target);
    if (bits.kind === 'bits' && target.kind !== 'serializable-enum') return convertInteger(c, expression, target, bits);
  }
  // Constants are folded, so a number of known width serves as an `int`.
  if (type.kind === 'bits' && target.kind === 'integer' && c.found.constants.has(expression)) {
    c.found.types.set(expression, target);
    return true;
  }
  if (type.kind === 'serializable-enum' && sameType(type.underlying, target)) {
    c.found.implicitCasts.set(expression, type);
    c.found.types.set(expression, target);
    return true;
  }
  return mismatch(c, expression, target);
}

/** The type of a newtype's values. */
function representation(type: Type): Type {
  return type.kind === 'newtype' ? representation(type.underlying) : type;
}

/** Whether a type is that of a literal that takes the type of its place. */
export function isOpenLiteral(type: Type): boolean {
  return type.kind === 'integer' || type.kind === 'tuple' || type.kind === 'invalid-header' || isAnonymous(type);
}

/** Whether a value of one type can stand for one of another without a cast, literals in braces aside. */
export function isImplicit(type: Type, target: Type): boolean {
  return (
    sameType(type, target) ||
    (type.kind === 'integer' && target.kind === 'bits') ||
    (type.kind === 'serializable-enum' && sameType(type.underlying, target))
  );
}

/** Infers an expression's type and converts it to the one needed. */
export function check(c: Checker, expression: Expression, target: Type): boolean {
  infer(c, expression);
  return coerce(c, expression, target);
}

/** Converts a serializable enum to its number, and returns the type after that. */
export function enumToNumber(c: Checker, expression: Expression): Type {
  const type = c.found.types.get(expression)!;
  if (type.kind !== 'serializable-enum') return type;
  coerce(c, expression, type.underlying);
  return type.underlying;
}
