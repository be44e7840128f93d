import type { Type } from '../types/type.js';
import type { ConstantValue } from './checked-program.js';

export function integerValue(value: bigint): ConstantValue {
  return { kind: 'integer', value };
}

export function booleanValue(value: boolean): ConstantValue {
  return { kind: 'boolean', value };
}

/** The value of `width` bits that is congruent to `value`: what a conversion to `bit<width>` or `int<width>` gives. */
export function wrapInteger(value: bigint, width: number, isSigned: boolean): bigint {
  if (width === 0) return 0n;
  return isSigned ? BigInt.asIntN(width, value) : BigInt.asUintN(width, value);
}

/** Whether two values of one type are equal; aggregates element by element. */
export function sameValue(first: ConstantValue, second: ConstantValue): boolean {
  if (first.kind !== second.kind) return false;
  switch (first.kind) {
    case 'integer':
    case 'boolean':
    case 'string':
      return first.value === (second as typeof first).value;
    case 'enum':
    case 'error':
      return first.position === (second as typeof first).position;
    case 'aggregate': {
      const others = (second as typeof first).elements;
      return first.elements.length === others.length && first.elements.every((each, i) => sameValue(each, others[i]!));
    }
    case 'invalid-header':
      return true;
  }
}

/**
 * The value `...` stands for, or undefined if the type has none that can be written down (varbits, externs, ...).
 * Source: P4_16 language specification, "Default values".
 */
export function defaultValue(type: Type): ConstantValue | undefined {
  switch (type.kind) {
    case 'integer':
    case 'bits':
    case 'serializable-enum':
      return { kind: 'integer', value: 0n };
    case 'newtype':
      return defaultValue(type.underlying);
    case 'bool':
      return { kind: 'boolean', value: false };
    case 'string':
      return { kind: 'string', value: '' };
    case 'error':
      return { kind: 'error', name: 'NoError', position: 0 };
    case 'enum':
      return { kind: 'enum', member: type.members[0] ?? '', position: 0 };
    case 'header':
    case 'union':
      return { kind: 'invalid-header' };
    case 'stack': {
      const element = defaultValue(type.element);
      return element && { kind: 'aggregate', elements: Array.from({ length: type.size }, () => element) };
    }
    case 'struct':
      return aggregate(type.fields.map((field) => defaultValue(field.type)));
    case 'tuple':
      return aggregate(type.elements.map(defaultValue));
    default:
      return undefined;
  }
}

/** Whether `...` can stand for a value of the type. */
export function hasDefault(type: Type): boolean {
  switch (type.kind) {
    case 'unknown':
    case 'any':
    case 'varbit':
    case 'variable':
      return true;
    case 'struct':
      return type.fields.every((field) => hasDefault(field.type));
    case 'tuple':
      return type.elements.every(hasDefault);
    case 'stack':
      return hasDefault(type.element);
    default:
      return defaultValue(type) !== undefined;
  }
}

/** Elements put together, if all are known. */
export function aggregate(elements: readonly (ConstantValue | undefined)[]): ConstantValue | undefined {
  const known: ConstantValue[] = [];
  for (const element of elements) {
    if (element === undefined) return undefined;
    known.push(element);
  }
  return { kind: 'aggregate', elements: known };
}
