import type { DataType } from '@int/p4vm';

/* Values of the interpreter: every scalar is a bigint. */

export interface ObjectValue {
  readonly kind: 'object';
  readonly type: Extract<DataType, { readonly kind: 'struct' | 'header' | 'union' }>;
  valid: boolean;
  readonly fields: Map<string, Value>;
}
export interface StackValue {
  readonly kind: 'stack';
  readonly type: Extract<DataType, { readonly kind: 'stack' }>;
  readonly items: ObjectValue[];
  next: number;
}
export interface VarbitValue {
  readonly kind: 'varbit';
  readonly maxWidth: number;
  bits: number;
  value: bigint;
}
export type Value = bigint | ObjectValue | StackValue | VarbitValue;

export function zeroOf(type: DataType): Value {
  switch (type.kind) {
    case 'struct':
    case 'header':
    case 'union':
      return {
        kind: 'object',
        type,
        valid: false,
        fields: new Map(type.fields.map((field) => [field.name, zeroOf(field.type)])),
      };
    case 'stack':
      return {
        kind: 'stack',
        type,
        items: Array.from({ length: type.size }, () => zeroOf(type.element) as ObjectValue),
        next: 0,
      };
    case 'varbit':
      return { kind: 'varbit', maxWidth: type.maxWidth, bits: 0, value: 0n };
    default:
      return 0n;
  }
}

export function clone(value: Value): Value {
  if (typeof value === 'bigint') return value;
  if (value.kind === 'varbit') return { ...value };
  if (value.kind === 'stack') return { ...value, items: value.items.map((each) => clone(each) as ObjectValue) };
  return { ...value, fields: new Map([...value.fields].map(([name, each]) => [name, clone(each)])) };
}

/** Assignment into an existing object: fields of a header that becomes invalid stay. */
export function store(into: Value, from: Value): void {
  if (typeof into === 'bigint' || typeof from === 'bigint') throw new Error('scalars are not stored into');
  if (into.kind === 'varbit' && from.kind === 'varbit') {
    into.bits = from.bits;
    into.value = from.value;
  } else if (into.kind === 'stack' && from.kind === 'stack') {
    for (const [index, each] of into.items.entries()) store(each, from.items[index]!);
    into.next = from.next;
  } else if (into.kind === 'object' && from.kind === 'object') {
    if (into.type.kind === 'header') {
      into.valid = from.valid;
      if (!from.valid) return;
    }
    for (const [name, value] of from.fields) {
      if (typeof value === 'bigint') into.fields.set(name, value);
      else store(into.fields.get(name)!, value);
    }
  }
}

/** As `store`, but of invalid headers too: what calls copy out. */
export function move(into: Value, from: Value): void {
  if (typeof into === 'bigint' || typeof from === 'bigint') throw new Error('scalars are not moved');
  if (into.kind === 'stack' && from.kind === 'stack') {
    for (const [index, each] of into.items.entries()) move(each, from.items[index]!);
    into.next = from.next;
  } else if (into.kind === 'object' && from.kind === 'object') {
    into.valid = from.valid;
    for (const [name, value] of from.fields) {
      if (typeof value === 'bigint') into.fields.set(name, value);
      else move(into.fields.get(name)!, value);
    }
  } else store(into, from);
}

/** Zeros; headers become invalid and keep their fields. */
export function clear(value: ObjectValue): void {
  for (const [name, each] of value.fields) {
    if (typeof each === 'bigint') value.fields.set(name, 0n);
    else if (each.kind === 'object' && each.type.kind === 'struct') clear(each);
    else invalidate(each);
  }
}

export function invalidate(value: Value): void {
  if (typeof value === 'bigint' || value.kind === 'varbit') return;
  if (value.kind === 'stack') {
    value.items.forEach(invalidate);
    value.next = 0;
  } else {
    value.valid = false;
    if (value.type.kind !== 'header') for (const each of value.fields.values()) invalidate(each);
  }
}

export function equal(a: Value, b: Value): boolean {
  if (typeof a === 'bigint' || typeof b === 'bigint') return a === b;
  if (a.kind === 'varbit' && b.kind === 'varbit') return a.bits === b.bits && a.value === b.value;
  if (a.kind === 'stack' && b.kind === 'stack') return a.items.every((each, index) => equal(each, b.items[index]!));
  if (a.kind !== 'object' || b.kind !== 'object') return false;
  if (a.type.kind === 'header' && (!a.valid || !b.valid)) return a.valid === b.valid;
  return [...a.fields].every(([name, each]) => equal(each, b.fields.get(name)!));
}

export function widthOf(type: DataType): number {
  if (type.kind === 'bits') return type.width;
  if (type.kind === 'bool') return 1;
  if (type.kind === 'struct' || type.kind === 'header')
    return type.fields.reduce((sum, each) => sum + widthOf(each.type), 0);
  if (type.kind === 'stack') return type.size * widthOf(type.element);
  return 0;
}

export function cut(value: bigint, type: DataType): bigint {
  if (type.kind !== 'bits') return value;
  return type.isSigned ? BigInt.asIntN(type.width, value) : BigInt.asUintN(type.width, value);
}
