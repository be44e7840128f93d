import type { DataType, Expression, LValue, Statement, Variable } from '../ir/program.js';
import { isLValue } from '../ir/walk.js';
import type { Span } from '../source/position.js';
import type { AssignmentStatement, BinaryOperator } from '../syntax/ast.js';
import { constant } from './constants.js';
import { copyOf } from './copies.js';
import { BIT32, sameDataType } from './data-types.js';
import { binary, lowerExpression, lowerPlace, lowerRight } from './expressions.js';
import type { Lowering } from './lowering.js';
import type { Scope } from './scope.js';

/** Keeps values in variables, so that they are evaluated once and in order. */
class Once {
  readonly statements: Statement[] = [];

  constructor(readonly lowering: Lowering) {}

  keep(value: Expression, name: string): Expression {
    if (value.kind === 'constant') return value;
    const variable: Variable = this.lowering.variable(name, value.type);
    this.statements.push({ kind: 'declare', variable, value, span: value.span });
    return { kind: 'variable', type: value.type, variable, span: value.span };
  }

  /** The same place, with every index that is not constant in a variable. */
  place(place: LValue): LValue {
    switch (place.kind) {
      case 'variable':
        return place;
      case 'element': {
        const base = this.base(place.base);
        return { ...place, base, index: this.keep(place.index, 'index') };
      }
      default:
        return { ...place, base: this.base(place.base) };
    }
  }

  base(base: Expression): Expression {
    return isLValue(base) ? this.place(base) : base;
  }

  block(last: Statement): Statement[] {
    return this.statements.length === 0
      ? [last]
      : [{ kind: 'block', statements: [...this.statements, last], span: last.span }];
  }
}

/** `target op= value`: evaluates the target's indices once, and reads its value before it evaluates `value`. */
export function assignWith(
  lowering: Lowering,
  scope: Scope,
  statement: AssignmentStatement,
  operator: BinaryOperator,
): Statement[] {
  const { span } = statement;
  const once = new Once(lowering);
  const lowered = lowerTarget(lowering, scope, statement);
  if (lowered.kind === 'dynamic-slice') return assignDynamic(lowering, scope, statement, lowered, operator);
  const target = once.place(lowered);
  const right = lowerRight(lowering, scope, operator, statement.value);
  return once.block({ kind: 'assign', target, value: combine(operator, copyOf(target), right, span), span });
}

/** `target[low +: width] = value` with a position known only at run time. */
export function assignSlice(lowering: Lowering, scope: Scope, statement: AssignmentStatement): Statement[] {
  const lowered = lowerTarget(lowering, scope, statement);
  if (lowered.kind !== 'dynamic-slice') return lowering.missing(statement.span, 'this is no slice');
  return assignDynamic(lowering, scope, statement, lowered, undefined);
}

type DynamicSlice = Expression<'dynamic-slice'>;

function lowerTarget(lowering: Lowering, scope: Scope, { target }: AssignmentStatement): LValue | DynamicSlice {
  if (target.kind === 'slice') {
    const lowered = lowerExpression(lowering, scope, target);
    if (lowered.kind === 'dynamic-slice') return lowered;
  }
  return lowerPlace(lowering, scope, target);
}

function combine(operator: BinaryOperator, left: Expression, right: Expression, span: Span): Expression {
  return binary(operator, left, right, left.type, span);
}

/** Writes the slice with masks, so that the bits around it stay. Bits beyond the end of the target are lost. */
function assignDynamic(
  lowering: Lowering,
  scope: Scope,
  statement: AssignmentStatement,
  slice: DynamicSlice,
  operator: BinaryOperator | undefined,
): Statement[] {
  const { span } = statement;
  const { base, type } = slice;
  if (!isLValue(base) || base.type.kind !== 'bits' || type.kind !== 'bits') {
    return lowering.missing(span, 'this slice is not a place to write to');
  }
  const once = new Once(lowering);
  const whole = once.place(base);
  const low = once.keep(slice.low, 'low');
  const right =
    operator === undefined
      ? lowerExpression(lowering, scope, statement.value)
      : combine(
          operator,
          { ...slice, base: copyOf(whole), low: copyOf(low) },
          lowerRight(lowering, scope, operator, statement.value),
          span,
        );
  const value = once.keep(right, 'value');
  const bits: DataType = { kind: 'bits', width: base.type.width, isSigned: false };
  const cast = (operand: Expression, to: DataType): Expression =>
    sameDataType(operand.type, to) ? operand : { kind: 'cast', type: to, operand, span };
  const amount = (): Expression =>
    low.type.kind === 'bits' && low.type.isSigned ? cast(copyOf(low), BIT32) : copyOf(low);
  const ones = constant(BigInt.asUintN(base.type.width, (1n << BigInt(type.width)) - 1n), bits, span);
  const outside: Expression = {
    kind: 'unary',
    type: bits,
    operator: '~',
    operand: binary('<<', ones, amount(), bits, span),
    span,
  };
  const kept = binary('&', cast(copyOf(whole), bits), outside, bits, span);
  const placed = binary('<<', cast(value, bits), amount(), bits, span);
  const result = cast(binary('|', kept, placed, bits, span), base.type);
  return once.block({ kind: 'assign', target: whole, value: result, span });
}
