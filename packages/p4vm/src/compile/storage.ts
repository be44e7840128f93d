import type { DataType } from '../ir/program.js';

/** A type whose values are objects that are copied on assignment. */
export type AggregateType = Extract<DataType, { readonly kind: 'struct' | 'header' | 'union' | 'stack' | 'varbit' }>;

/** Values of up to this many bits are JavaScript numbers. */
export const NUMBER_WIDTH = 32;
/** Values of up to this many bits are kept as 32-bit words; wider ones as bigints. */
export const WORDS_WIDTH = 128;

/** Number of JavaScript variables or properties of a scalar of this width. */
export function wordCount(width: number): number {
  return width <= NUMBER_WIDTH || width > WORDS_WIDTH ? 1 : (width + 31) >>> 5;
}

export function isAggregate(type: DataType): type is AggregateType {
  switch (type.kind) {
    case 'struct':
    case 'header':
    case 'union':
    case 'stack':
    case 'varbit':
      return true;
    default:
      return false;
  }
}

/** Width and signedness of a scalar that is kept as bits; enums and errors count as 32 bits, bool as 1. */
export function bitsOf(type: DataType): { readonly width: number; readonly isSigned: boolean } {
  switch (type.kind) {
    case 'bits':
      return type;
    case 'bool':
      return { width: 1, isSigned: false };
    default:
      return { width: 32, isSigned: false };
  }
}

/** Names of the variables or properties that keep a scalar called `name`: one, or `name$0`, `name$1`, ... */
export function scalarNames(name: string, type: DataType): readonly string[] {
  const count = type.kind === 'bits' ? wordCount(type.width) : 1;
  return count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}$${index}`);
}

/** The initial value of a scalar's variable. */
export function zeroOf(type: DataType): string {
  if (type.kind === 'bool') return 'false';
  if (type.kind === 'string') return "''";
  return type.kind === 'bits' && type.width > WORDS_WIDTH ? '0n' : '0';
}

/**
 * Whether an unsigned 32-bit value in a closure or an object is kept as a signed number, which V8 stores without
 * allocating. Not in standard metadata, which the switch reads.
 */
export function isKeptSigned(type: DataType): boolean {
  return type.kind === 'bits' && type.width === 32 && !type.isSigned;
}

/** Key of a type: the same for types whose values have one representation. */
export function typeKey(type: AggregateType): string {
  switch (type.kind) {
    case 'stack':
      return `${typeKey(type.element)}_x${type.size}`;
    case 'varbit':
      return `varbit_${type.maxWidth}`;
    default:
      return type.id;
  }
}

/** Bits of a type of fixed size; a varbit counts as 0. */
export function fixedWidth(type: DataType): number {
  switch (type.kind) {
    case 'bits':
      return type.width;
    case 'bool':
      return 1;
    case 'struct':
    case 'header':
      return type.fields.reduce((sum, field) => sum + fixedWidth(field.type), 0);
    case 'union':
      return type.fields.reduce((most, field) => Math.max(most, fixedWidth(field.type)), 0);
    case 'stack':
      return fixedWidth(type.element) * type.size;
    default:
      return 0;
  }
}

/** Whether a value of the type has headers in it. */
export function hasHeaders(type: DataType): boolean {
  switch (type.kind) {
    case 'header':
    case 'union':
    case 'stack':
      return true;
    case 'struct':
      return type.fields.some((field) => hasHeaders(field.type));
    default:
      return false;
  }
}
