import type { DataType, Expression, LValue } from '../ir/program.js';
import { isLValue } from '../ir/walk.js';
import type { Span } from '../source/position.js';
import type {
  BinaryExpression,
  BinaryOperator,
  CastExpression,
  ConditionalExpression,
  IndexExpression,
  ListExpression,
  MemberExpression,
  PathExpression,
  SliceExpression,
  StructExpression,
  Expression as Syntax,
  UnaryExpression,
} from '../syntax/ast.js';
import type { Type } from '../types/type.js';
import { lowerCall } from './calls.js';
import {
  booleanConstant,
  constant,
  constantExpression,
  constantNumber,
  countConstant,
  defaultOf,
} from './constants.js';
import { copyOf } from './copies.js';
import { BIT32, BOOL, sameDataType } from './data-types.js';
import { hasEffects, isInOrder } from './effects.js';
import { componentsOf, Evaluator, numberValue, orderedElements } from './evaluate.js';
import type { Lowering } from './lowering.js';
import type { Scope } from './scope.js';

/** Lowers an expression to its type after implicit conversions, as a constant if possible. */
export function lowerExpression(lowering: Lowering, scope: Scope, expression: Syntax): Expression {
  const { budget } = lowering;
  lowering.spend(1, expression.span);
  budget.enter(expression.span);
  const lowered = lowerKnown(lowering, scope, expression);
  budget.leave();
  return lowered;
}

function lowerKnown(lowering: Lowering, scope: Scope, expression: Syntax): Expression {
  const type = lowering.typeOf(expression);
  const value = new Evaluator(lowering, scope).value(expression);
  if (value !== undefined) return constantExpression(lowering, value, type, expression.span);
  const before = lowering.checked.implicitCasts.get(expression);
  const lowered = lowerValue(lowering, scope, expression, before ?? type);
  return before === undefined ? lowered : convert(lowering, lowered, type, expression.span);
}

/** A value for a place of a type. `...` is the type's default value. */
export function lowerInitial(lowering: Lowering, scope: Scope, expression: Syntax, type: DataType): Expression {
  return expression.kind === 'dots' ? defaultOf(type, expression.span) : lowerExpression(lowering, scope, expression);
}

/** The place an expression names. */
export function lowerPlace(lowering: Lowering, scope: Scope, expression: Syntax): LValue {
  const type = lowering.typeOf(expression);
  const lowered = lowerValue(lowering, scope, expression, type);
  if (isLValue(lowered)) return lowered;
  return lowered.kind === 'dynamic-slice'
    ? lowering.refuse(expression.span, 'a slice whose position is known only at run time cannot be written here')
    : lowering.missing(expression.span, 'this expression is not a place to write to');
}

/** The value of an expression known at compile time, as a number. */
export function knownNumber(lowering: Lowering, scope: Scope, expression: Syntax): bigint | undefined {
  const value = new Evaluator(lowering, scope).value(expression);
  return value === undefined ? undefined : constantNumber(value);
}

function lowerValue(lowering: Lowering, scope: Scope, expression: Syntax, type: Type): Expression {
  const { span } = expression;
  switch (expression.kind) {
    case 'integer':
      return constant(numberValue(expression.value, type), lowering.dataType(type, span), span);
    case 'boolean':
      return booleanConstant(expression.value, span);
    case 'string':
      return { kind: 'string', type: lowering.dataType(type, span), value: expression.value, span };
    case 'path':
      return lowerPath(lowering, scope, expression);
    case 'member':
      return lowerMember(lowering, scope, expression, type);
    case 'index':
      return lowerIndex(lowering, scope, expression, type);
    case 'slice':
      return lowerSlice(lowering, scope, expression, type);
    case 'call':
      return lowerCall(lowering, scope, expression);
    case 'unary':
      return lowerUnary(lowering, scope, expression, type);
    case 'binary':
      return lowerBinary(lowering, scope, expression, type);
    case 'conditional':
      return lowerConditional(lowering, scope, expression, type);
    case 'cast':
      return lowerCast(lowering, scope, expression, type);
    case 'list':
    case 'struct-expression':
      return lowerAggregate(lowering, scope, expression, type);
    case 'invalid':
    case 'dots':
      return defaultOf(lowering.dataType(type, span), span);
    case 'this':
      return lowering.refuse(span, 'methods of extern objects written in the program are not supported');
    default:
      return lowering.missing(span, `an expression of kind ${expression.kind} has no value`);
  }
}

function lowerPath(lowering: Lowering, scope: Scope, expression: PathExpression): Expression {
  const { span } = expression;
  const symbol = lowering.checked.references.get(expression);
  switch (symbol?.kind) {
    case 'variable':
    case 'parameter': {
      const variable = scope.variable(symbol.declaration);
      if (variable === undefined) return lowering.missing(span, `${expression.name.text} has no place here`);
      return { kind: 'variable', type: variable.type, variable, span };
    }
    case 'constant':
      // A constant without a constant value, such as an element of `list<T>` used as a whole.
      return lowerExpression(lowering, scope, symbol.declaration.value);
    case 'constructor-parameter':
      return lowering.missing(span, `${expression.name.text} has no value`);
    default:
      return lowering.missing(span, `${expression.name.text} is not a value`);
  }
}

function lowerMember(lowering: Lowering, scope: Scope, expression: MemberExpression, type: Type): Expression {
  const { span } = expression;
  const member = lowering.checked.members.get(expression);
  if (member === undefined) return lowering.missing(span, 'this member is not resolved');
  if (member.kind === 'constant') return lowering.missing(span, 'this member has no value');
  if (member.kind === 'table-result') {
    const base = lowerExpression(lowering, scope, expression.base);
    if (base.kind !== 'apply-table' || member.property === 'action_run') {
      return lowering.refuse(span, `${member.property} stands only directly behind a table's apply()`);
    }
    return { ...base, type: BOOL, result: member.property };
  }
  const base = lowerExpression(lowering, scope, expression.base);
  if (member.kind === 'field') {
    return { kind: 'member', type: lowering.dataType(type, span), base, field: member.field.name, span };
  }
  if (base.type.kind !== 'stack') return lowering.missing(span, `${member.property} of what is no stack`);
  switch (member.property) {
    case 'size':
      return countConstant(BigInt(base.type.size), span);
    case 'lastIndex':
      return { kind: 'stack-last-index', type: BIT32, base, span };
    case 'next':
      return { kind: 'stack-next', type: base.type.element, base, span };
    case 'last':
      return { kind: 'stack-last', type: base.type.element, base, span };
  }
}

function lowerIndex(lowering: Lowering, scope: Scope, expression: IndexExpression, type: Type): Expression {
  const { span } = expression;
  const data = lowering.dataType(type, span);
  const base = lowerExpression(lowering, scope, expression.base);
  const known = knownNumber(lowering, scope, expression.index);
  if (base.type.kind === 'struct') {
    if (known === undefined) return lowering.missing(span, 'the index of a tuple is not known');
    return { kind: 'member', type: data, base, field: `f${known}`, span };
  }
  const index =
    known === undefined
      ? lowerExpression(lowering, scope, expression.index)
      : countConstant(known, expression.index.span);
  return { kind: 'element', type: data, base, index, span };
}

function lowerSlice(lowering: Lowering, scope: Scope, expression: SliceExpression, type: Type): Expression {
  const { span } = expression;
  const data = lowering.dataType(type, span);
  const base = lowerExpression(lowering, scope, expression.base);
  const first = knownNumber(lowering, scope, expression.high);
  const second = knownNumber(lowering, scope, expression.low);
  if (second === undefined) return lowering.missing(span, 'the bounds of this slice are not known');
  if (first === undefined) {
    if (!expression.isPlus) return lowering.missing(span, 'the bounds of this slice are not known');
    return { kind: 'dynamic-slice', type: data, base, low: lowerExpression(lowering, scope, expression.high), span };
  }
  const low = Number(expression.isPlus ? first : second);
  const high = expression.isPlus ? low + Number(second) - 1 : Number(first);
  return { kind: 'slice', type: data, base, high, low, span };
}

function lowerUnary(lowering: Lowering, scope: Scope, expression: UnaryExpression, type: Type): Expression {
  const operand = lowerExpression(lowering, scope, expression.operand);
  if (expression.operator === '+') return operand;
  const data = lowering.dataType(type, expression.span);
  return { kind: 'unary', type: data, operator: expression.operator, operand, span: expression.span };
}

function lowerBinary(lowering: Lowering, scope: Scope, expression: BinaryExpression, type: Type): Expression {
  const { operator, span } = expression;
  if (operator === '&&' || operator === '||') {
    const left = lowerExpression(lowering, scope, expression.left);
    if (left.kind === 'constant') {
      const decides = (left.value === 1n) === (operator === '||');
      return decides ? left : lowerExpression(lowering, scope, expression.right);
    }
    return binary(operator, left, lowerExpression(lowering, scope, expression.right), BOOL, span);
  }
  const [left, right] = lowerOperands(lowering, scope, expression);
  return binary(operator, left, right, lowering.dataType(type, span), span);
}

function lowerOperands(lowering: Lowering, scope: Scope, expression: BinaryExpression): [Expression, Expression] {
  // `h == {#}`, where the checker left the literal without the header's type.
  if (expression.left.kind === 'invalid') {
    const other = lowerExpression(lowering, scope, expression.right);
    return [{ kind: 'default', type: other.type, span: expression.left.span }, other];
  }
  const left = lowerExpression(lowering, scope, expression.left);
  if (expression.right.kind === 'invalid') {
    return [left, { kind: 'default', type: left.type, span: expression.right.span }];
  }
  return [left, lowerRight(lowering, scope, expression.operator, expression.right)];
}

/** The right operand. Only the value counts of a shift amount written as `int`. */
export function lowerRight(
  lowering: Lowering,
  scope: Scope,
  operator: BinaryExpression['operator'],
  expression: Syntax,
): Expression {
  if ((operator === '<<' || operator === '>>') && lowering.typeOf(expression).kind === 'integer') {
    const amount = knownNumber(lowering, scope, expression);
    if (amount !== undefined) return countConstant(amount, expression.span);
  }
  return lowerExpression(lowering, scope, expression);
}

/** A binary operation. A comparison has type bool, other operations have `type`. */
export function binary(
  operator: BinaryOperator,
  left: Expression,
  right: Expression,
  type: DataType,
  span: Span,
): Expression {
  return { kind: 'binary', type, operator, left, right, span };
}

function lowerConditional(lowering: Lowering, scope: Scope, expression: ConditionalExpression, type: Type): Expression {
  const condition = lowerExpression(lowering, scope, expression.condition);
  if (condition.kind === 'constant') {
    return lowerExpression(lowering, scope, condition.value === 1n ? expression.whenTrue : expression.whenFalse);
  }
  return {
    kind: 'conditional',
    type: lowering.dataType(type, expression.span),
    condition,
    whenTrue: lowerExpression(lowering, scope, expression.whenTrue),
    whenFalse: lowerExpression(lowering, scope, expression.whenFalse),
    span: expression.span,
  };
}

function lowerCast(lowering: Lowering, scope: Scope, expression: CastExpression, type: Type): Expression {
  const { operand, span } = expression;
  if (operand.kind === 'conditional' && lowering.typeOf(operand).kind === 'integer') {
    const arm = (each: Syntax): Expression =>
      lowerCast(lowering, scope, { kind: 'cast', type: expression.type, operand: each, span }, type);
    const condition = lowerExpression(lowering, scope, operand.condition);
    const data = lowering.dataType(type, span);
    const [whenTrue, whenFalse] = [arm(operand.whenTrue), arm(operand.whenFalse)];
    return { kind: 'conditional', type: data, condition, whenTrue, whenFalse, span };
  }
  const known = new Evaluator(lowering, scope).value(operand);
  if (known !== undefined && lowering.typeOf(operand).kind === 'integer') {
    const number = constantNumber(known) ?? 0n;
    return constant(numberValue(number, type), lowering.dataType(type, span), span);
  }
  return convert(lowering, lowerExpression(lowering, scope, operand), type, span);
}

/** True if an expression may be repeated: it has no side effects, and no index that other code may change. */
function isRepeatable(expression: Expression): boolean {
  return (
    expression.kind === 'variable' ||
    (expression.kind === 'member' && isRepeatable(expression.base)) ||
    (expression.kind === 'element' && expression.index.kind === 'constant' && isRepeatable(expression.base))
  );
}

/** The value converted to a type. */
export function convert(lowering: Lowering, operand: Expression, type: Type, span: Span): Expression {
  const data = lowering.dataType(type, span);
  if (sameDataType(operand.type, data)) return operand;
  if (operand.kind === 'default') return { ...operand, type: data };
  const components = componentsOf(type);
  if (components === undefined) return { kind: 'cast', type: data, operand, span };
  const source = operand.type;
  if (operand.kind === 'aggregate') {
    const elements = operand.elements.map((each, index) => {
      const component = components[index];
      return component === undefined ? each : convert(lowering, each, component.type, span);
    });
    return { kind: 'aggregate', type: data, elements, span };
  }
  if (source.kind !== 'struct' || !isRepeatable(operand)) {
    const message = 'a structure that is computed cannot be converted to another; assign it to a variable';
    return lowering.refuse(span, message);
  }
  lowering.spend(components.length, span);
  const byName = new Map(source.fields.map((each) => [each.name, each]));
  const elements = components.map((component, index) => {
    const field = byName.get(component.name) ?? source.fields[index];
    if (field === undefined) return lowering.missing(span, `${component.name} is not in ${source.name}`);
    const value: Expression = { kind: 'member', type: field.type, base: copyOf(operand), field: field.name, span };
    return convert(lowering, value, component.type, span);
  });
  return { kind: 'aggregate', type: data, elements, span };
}

function lowerAggregate(
  lowering: Lowering,
  scope: Scope,
  expression: ListExpression | StructExpression,
  type: Type,
): Expression {
  const { span } = expression;
  const components = componentsOf(type);
  const ordered = orderedElements(expression, type);
  if (components === undefined || ordered === undefined) {
    return lowering.refuse(span, 'a list whose type is not that of a structure cannot be held at run time');
  }
  lowering.spend(components.length, span);
  const elements = components.map((component, index): Expression => {
    const element = ordered[index];
    return element === undefined
      ? defaultOf(lowering.dataType(component.type, span), span)
      : lowerExpression(lowering, scope, element);
  });
  const written = expression.kind === 'list' ? [] : expression.fields.map((field) => field.value);
  if (!isInOrder(written, ordered) && elements.some(hasEffects)) {
    lowering.refuse(span, 'fields whose values are calls must be given in the order of their declaration');
  }
  return { kind: 'aggregate', type: lowering.dataType(type, span), elements, span };
}
