import type { DataType, Expression } from '../ir/program.js';
import { hasEffects } from './analysis.js';
import { assignAggregate } from './assign.js';
import { call } from './calls.js';
import type { Code } from './code.js';
import { comparison, decided, observed } from './definedness.js';
import { asBits, combine, compare, complement, concatenate, convert, negate, shift, slice } from './operators.js';
import { aggregatePlace, objectPlace, placeOf, readPlace } from './places.js';
import { constantValue, type Routine } from './routine.js';
import { bitsOf, isAggregate, NUMBER_WIDTH, scalarNames, WORDS_WIDTH, zeroOf } from './storage.js';
import { atom, booleanOf, numberOf, type Value, wordsOf, wrapBig } from './value.js';

/** Longest code of one value, in characters, that is not kept in a constant. */
const MAX_CODE = 1000;

type Binary = Expression<'binary'>;

/** The value of an expression. Its effects are written as statements; the value's code only reads. */
export function expressionValue(routine: Routine, expression: Expression): Value {
  const { budget } = routine.unit;
  budget.enter(expression.span);
  const value = valueCode(routine, expression);
  budget.leave();
  // Long code is kept in a constant: repeated use would double it at each level, and engines parse code recursively.
  return isLong(value) ? routine.keepValue(value) : value;
}

function isLong(value: Value): boolean {
  if (value.kind === 'words') return value.words.some((each) => each.length > MAX_CODE);
  return value.kind !== 'void' && value.kind !== 'string' && value.code.length > MAX_CODE;
}

function valueCode(routine: Routine, expression: Expression): Value {
  switch (expression.kind) {
    case 'constant':
      return constantValue(expression.value, expression.type);
    case 'string':
      return { kind: 'string', code: JSON.stringify(expression.value) };
    case 'variable':
    case 'member':
    case 'element':
    case 'stack-next':
    case 'stack-last': {
      const place = placeOf(routine, expression);
      return observed(routine, expression, place, readPlace(routine, place));
    }
    case 'stack-last-index':
      return numberOf(`${aggregatePlace(routine, expression.base).code}.next - 1 >>> 0`, 32);
    case 'slice': {
      const base = asBits(expressionValue(routine, expression.base));
      const { width, isSigned } = bitsOf(expression.type);
      return convert(routine, asBits(slice(routine, base, expression.high, expression.low)), width, isSigned);
    }
    case 'dynamic-slice': {
      const [base, low] = operands(routine, expression.base, expression.low);
      const { width, isSigned } = bitsOf(expression.type);
      const from = asBits(base);
      const pattern = convert(routine, from, from.width, false);
      return convert(routine, asBits(shift(routine, '>>', asBits(pattern), asBits(low))), width, isSigned);
    }
    case 'unary':
      return unary(routine, expression.operator, expressionValue(routine, expression.operand));
    case 'binary':
      return binary(routine, expression);
    case 'conditional':
      return conditional(routine, expression);
    case 'cast':
      return cast(routine, expressionValue(routine, expression.operand), expression.type);
    case 'aggregate':
    case 'default':
      if (!isAggregate(expression.type)) return zero(expression.type);
      return { kind: 'aggregate', code: fresh(routine, expression) };
    case 'is-valid': {
      const { code, type } = aggregatePlace(routine, expression.header);
      return booleanOf(type.kind === 'union' ? `${routine.unit.types.isValid(type)}(${code})` : `${code}.$valid`);
    }
    default:
      return call(routine, expression);
  }
}

/** A reference to the object of an aggregate's value. Use it at once, and do not change it. */
export function referenceOf(routine: Routine, expression: Expression): string {
  const value = expressionValue(routine, expression);
  if (value.kind !== 'aggregate') throw new TypeError(`a ${value.kind} where an aggregate was expected`);
  return value.code;
}

/** A new object of the closure with the value in it. */
function fresh(routine: Routine, expression: Expression): string {
  if (!isAggregate(expression.type)) throw new TypeError('no aggregate');
  const code = routine.unit.temporaryObject(expression.type);
  const { type } = expression;
  assignAggregate(routine, objectPlace(type, code, true, [], { isTemporary: true }), expression);
  return code;
}

/** A copy of an aggregate's value, which later statements cannot change. */
export function copied(routine: Routine, type: DataType, code: string): string {
  if (!isAggregate(type)) throw new TypeError('no aggregate');
  const object = routine.unit.temporaryObject(type);
  routine.code.line(`${routine.unit.types.functionOf('move', type)}(${object}, ${code});`);
  return object;
}

/** The value as it is now, whatever happens later. */
export function keptValue(routine: Routine, type: DataType, value: Value): Value {
  return value.kind === 'aggregate'
    ? { kind: 'aggregate', code: copied(routine, type, value.code) }
    : routine.keepValue(value);
}

/** Two operands, from left to right: the left one is kept if the right one has effects. */
function operands(routine: Routine, left: Expression, right: Expression): readonly [Value, Value] {
  const first = expressionValue(routine, left);
  const kept = hasEffects(right) ? keptValue(routine, left.type, first) : first;
  return [kept, expressionValue(routine, right)];
}

function zero(type: DataType): Value {
  if (type.kind === 'string') return { kind: 'string', code: zeroOf(type) };
  return constantValue(0n, type);
}

function unary(routine: Routine, operator: '-' | '~' | '!', operand: Value): Value {
  if (operand.kind === 'boolean') return booleanOf(`!${atom(operand.code)}`);
  const bits = asBits(operand);
  if (operator === '-') return negate(routine, bits);
  return complement(bits);
}

function cast(routine: Routine, value: Value, type: DataType): Value {
  if (value.kind === 'boolean') {
    if (type.kind === 'bool') return value;
    const { width, isSigned } = bitsOf(type);
    return numberOf(`${atom(value.code)} ? ${isSigned && width === 1 ? -1 : 1} : 0`, width, isSigned);
  }
  if (type.kind === 'bool') {
    const bits = asBits(value);
    return booleanOf(bits.kind === 'number' ? `${atom(bits.code)} !== 0` : `${routine.big(bits)} !== 0n`);
  }
  if (value.kind === 'aggregate' || value.kind === 'string') return value;
  const { width, isSigned } = bitsOf(type);
  return convert(routine, asBits(value), width, isSigned);
}

function binary(routine: Routine, expression: Binary): Value {
  const { operator, left, right, type } = expression;
  switch (operator) {
    case '&&':
    case '||':
      return shortCircuit(routine, expression);
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=': {
      const [a, b] = operands(routine, left, right);
      if (a.kind === 'aggregate' && b.kind === 'aggregate') {
        if (!isAggregate(left.type)) throw new TypeError('no aggregate');
        const equal = `${routine.unit.types.functionOf('equals', left.type)}(${a.code}, ${b.code})`;
        return booleanOf(operator === '==' ? equal : `!${equal}`);
      }
      if (a.kind === 'boolean' && b.kind === 'boolean') {
        const code = `${atom(a.code)} ${operator === '==' ? '===' : '!=='} ${atom(b.code)}`;
        return booleanOf(comparison(routine, code, a, b));
      }
      if (a.kind === 'string' && b.kind === 'string') {
        return booleanOf(`${a.code} ${operator === '==' ? '===' : '!=='} ${b.code}`);
      }
      return booleanOf(comparison(routine, compare(routine, operator, asBits(a), asBits(b)), a, b));
    }
    case '++': {
      const [a, b] = operands(routine, left, right);
      return concatenate(routine, asBits(a), asBits(b), bitsOf(type).isSigned);
    }
    case '<<':
    case '>>': {
      const [a, b] = operands(routine, left, right);
      return shift(routine, operator, asBits(a), asBits(b));
    }
    default: {
      const [a, b] = operands(routine, left, right);
      if (a.kind === 'boolean' && b.kind === 'boolean') {
        return booleanOf(booleanOperator(operator, a.code, b.code));
      }
      return combine(routine, operator, asBits(a), asBits(b));
    }
  }
}

function booleanOperator(operator: string, left: string, right: string): string {
  if (operator === '^') return `${atom(left)} !== ${atom(right)}`;
  return `${atom(left)} ${operator === '&' ? '&&' : '||'} ${atom(right)}`;
}

function condition(value: Value): string {
  if (value.kind !== 'boolean') throw new TypeError(`a ${value.kind} where bool was expected`);
  return value.code;
}

/** Code of a boolean expression. */
function conditionOf(routine: Routine, expression: Expression): string {
  return condition(expressionValue(routine, expression));
}

/** The value of an expression that a decision (`use`) depends on. */
export function decidedValue(routine: Routine, use: string, expression: Expression): Value {
  return decided(routine, use, expression, expressionValue(routine, expression));
}

/** Code of a condition that decides something. */
export function decidedCondition(routine: Routine, use: string, expression: Expression): string {
  return condition(decided(routine, use, expression, booleanOf(conditionOf(routine, expression))));
}

function shortCircuit(routine: Routine, { operator, left, right }: Binary): Value {
  const first = decidedCondition(routine, 'condition', left);
  const { code, result } = routine.capture(() => conditionOf(routine, right));
  if (code.isEmpty) return booleanOf(`${atom(first)} ${operator} ${atom(result)}`);
  const name = routine.unit.temporary();
  routine.code.line(`let ${name} = ${first};`);
  routine.code.open(operator === '&&' ? `if (${name}) {` : `if (!${name}) {`);
  routine.code.append(code);
  routine.code.line(`${name} = ${result};`);
  routine.code.close();
  return booleanOf(name);
}

/** A value in the representation that its type has in variables: words for 33 to 128 bits. */
function settle(routine: Routine, value: Value): readonly string[] {
  switch (value.kind) {
    case 'words':
      return value.words;
    case 'big':
      return value.width > WORDS_WIDTH ? [value.code] : routine.words(value, value.width);
    case 'number':
      return value.width > NUMBER_WIDTH ? routine.words(value, value.width) : [value.code];
    case 'void':
      return [];
    default:
      return [value.code];
  }
}

function conditional(routine: Routine, expression: Expression<'conditional'>): Value {
  const { type } = expression;
  const test = decidedCondition(routine, 'condition', expression.condition);
  if (isAggregate(type)) return conditionalAggregate(routine, expression, test);
  const one = routine.capture(() => settle(routine, expressionValue(routine, expression.whenTrue)));
  const other = routine.capture(() => settle(routine, expressionValue(routine, expression.whenFalse)));
  const { width, isSigned } = bitsOf(type);
  const valueFrom = (codes: readonly string[]): Value => {
    const [first = '0'] = codes;
    if (type.kind === 'bool') return booleanOf(first);
    if (type.kind === 'string') return { kind: 'string', code: first };
    if (codes.length > 1) return wordsOf(codes, width, isSigned);
    return { kind: width > WORDS_WIDTH ? 'big' : 'number', code: first, width, isSigned };
  };
  if (one.code.isEmpty && other.code.isEmpty) {
    const name = one.result.length > 1 ? routine.keep(test) : test;
    const codes = one.result.map((each, at) => `${atom(name)} ? ${atom(each)} : ${atom(other.result[at] ?? '0')}`);
    return valueFrom(codes.length > 1 ? codes.map((each) => routine.keep(each)) : codes);
  }
  const names = scalarNames(routine.unit.temporary(), type).map((each) => each.replace(/(\d)\$/, '$1_'));
  for (const name of names) routine.code.line(`let ${name} = ${zeroOf(type)};`);
  writeWays(routine, test, names, [one, other]);
  return valueFrom(names);
}

function conditionalAggregate(routine: Routine, expression: Expression<'conditional'>, test: string): Value {
  const one = routine.capture(() => [referenceOf(routine, expression.whenTrue)]);
  const other = routine.capture(() => [referenceOf(routine, expression.whenFalse)]);
  const name = routine.unit.temporary();
  routine.code.line(`let ${name} = undefined;`);
  writeWays(routine, test, [name], [one, other]);
  return { kind: 'aggregate', code: name };
}

/** Code that evaluates one of two expressions into variables. */
function writeWays(
  { code }: Routine,
  test: string,
  names: readonly string[],
  ways: readonly { readonly code: Code; readonly result: readonly string[] }[],
): void {
  for (const [at, way] of ways.entries()) {
    if (at === 0) code.open(`if (${test}) {`);
    else code.turn('} else {');
    code.append(way.code);
    for (const [index, name] of names.entries()) code.line(`${name} = ${way.result[index] ?? '0'};`);
  }
  code.close();
}

/** Code of `value` as an unsigned bigint of 64 bits, for the hash functions. */
export function unsigned64(routine: Routine, value: Value): string {
  const code = routine.big(value);
  return 'isSigned' in value && value.isSigned ? wrapBig(code, 64, false) : code;
}
