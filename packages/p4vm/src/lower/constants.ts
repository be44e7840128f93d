import type { ConstantValue } from '../check/checked-program.js';
import type { DataType, Expression } from '../ir/program.js';
import type { Span } from '../source/position.js';
import type { Type } from '../types/type.js';
import { BIT32, BOOL } from './data-types.js';
import { componentsOf } from './evaluate.js';
import type { Lowering } from './lowering.js';

/** A constant of bits, bool, enum or error. */
export function constant(value: bigint, type: DataType, span: Span): Expression {
  return { kind: 'constant', type, value, span };
}

/** A constant of type bool. */
export function booleanConstant(value: boolean, span: Span): Expression {
  return constant(value ? 1n : 0n, BOOL, span);
}

/** A constant that the program writes as `int` where only its value counts: an index or a shift amount. */
export function countConstant(value: bigint, span: Span): Expression {
  const fits = value >= 0n && value >> 32n === 0n;
  return constant(
    value,
    fits ? BIT32 : { kind: 'bits', width: value.toString(2).length + 1, isSigned: value < 0n },
    span,
  );
}

/** The default value of a type: the meaning of `...`. */
export function defaultOf(type: DataType, span: Span): Expression {
  switch (type.kind) {
    case 'bits':
    case 'bool':
    case 'enum':
    case 'error':
      return constant(0n, type, span);
    default:
      return { kind: 'default', type, span };
  }
}

/** The value as one number: of an integer, boolean, enum member or error. Undefined for others. */
export function constantNumber(value: ConstantValue): bigint | undefined {
  switch (value.kind) {
    case 'integer':
      return value.value;
    case 'boolean':
      return value.value ? 1n : 0n;
    case 'enum':
    case 'error':
      return BigInt(value.position);
    default:
      return undefined;
  }
}

/** A value known at compile time as an expression of a type. */
export function constantExpression(lowering: Lowering, value: ConstantValue, type: Type, span: Span): Expression {
  const data = lowering.dataType(type, span);
  switch (value.kind) {
    case 'string':
      return { kind: 'string', type: data, value: value.value, span };
    case 'invalid-header':
      return { kind: 'default', type: data, span };
    case 'aggregate': {
      const components = componentsOf(type) ?? lowering.missing(span, 'an aggregate of a type without members');
      lowering.spend(components.length, span);
      const elements = components.map((component, index): Expression => {
        const element = value.elements[index];
        return element === undefined
          ? defaultOf(lowering.dataType(component.type, span), span)
          : constantExpression(lowering, element, component.type, span);
      });
      return { kind: 'aggregate', type: data, elements, span };
    }
    default:
      return constant(constantNumber(value) ?? 0n, data, span);
  }
}
