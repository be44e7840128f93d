import type { StackType, StructType, TupleType, Type } from '../types/type.js';
import type { ConstantValue } from './checked-program.js';

export function integerValue(value: bigint): ConstantValue {
  return { kind: 'integer', value };
}

export function booleanValue(value: boolean): ConstantValue {
  return { kind: 'boolean', value };
}

/** The cost of keeping a value, in steps of work: it grows with the value's memory. */
export function constantSize(value: ConstantValue): number {
  if (value.kind === 'integer') return BigInt.asIntN(512, value.value) === value.value ? 1 : 64;
  return value.kind === 'string' && value.value.length > 64 ? 64 : 1;
}

/** Wraps `value` to `width` bits, as a conversion to `bit<width>` or `int<width>` does. */
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

/** A text that is equal for two values of one type if and only if the values are equal. */
export function valueKey(value: ConstantValue): string {
  switch (value.kind) {
    case 'integer':
    case 'boolean':
      return `${value.value}`;
    case 'string':
      return JSON.stringify(value.value);
    case 'enum':
    case 'error':
      return `${value.position}`;
    case 'aggregate':
      return `{${value.elements.map(valueKey).join()}}`;
    case 'invalid-header':
      return '{#}';
  }
}

/**
 * The value that `...` stands for; undefined for types without one (varbits, externs, ...). Source: P4_16 language
 * specification, "Default values".
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
    case 'stack':
    case 'struct':
    case 'tuple': {
      if (!defaults.has(type)) defaults.set(type, defaultAggregate(type));
      return defaults.get(type);
    }
    default:
      return undefined;
  }
}

/** One value per type: values never change, and those of large types are large. */
const defaults = /* @__PURE__ */ new WeakMap<Type, ConstantValue | undefined>();

function defaultAggregate(type: StackType | StructType | TupleType): ConstantValue | undefined {
  switch (type.kind) {
    case 'stack': {
      const element = defaultValue(type.element);
      return element && { kind: 'aggregate', elements: Array.from({ length: type.size }, () => element) };
    }
    case 'tuple':
      return aggregate(type.elements.map(defaultValue));
    default:
      return aggregate(type.fields.map((field) => defaultValue(field.type)));
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

/** The aggregate of some elements, if all are known. */
export function aggregate(elements: readonly (ConstantValue | undefined)[]): ConstantValue | undefined {
  const known: ConstantValue[] = [];
  for (const element of elements) {
    if (element === undefined) return undefined;
    known.push(element);
  }
  return { kind: 'aggregate', elements: known };
}
