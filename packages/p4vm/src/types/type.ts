import type { Span } from '../source/position.js';
import type { Direction } from '../syntax/ast.js';

/**
 * Types of the checker. A nominal type (struct, header, union, enum, newtype, extern, ...) is one object per declaration
 * and type arguments, so that it is compared by identity; bit, int, tuple, stack, ... are compared by structure
 * (`sameType`). Source: P4_16 language specification, chapter 7.
 */
export type Type =
  | PlainType
  | BitsType
  | { readonly kind: 'varbit'; readonly maxWidth: number }
  | StructType
  | StackType
  | TupleType
  /** `list<T>`, compile-time only. */
  | { readonly kind: 'list'; readonly element: Type }
  | EnumType
  | SerializableEnumType
  | NewType
  /** Type of labels in select and entries: a set of values of the element type. */
  | { readonly kind: 'set'; readonly element: Type }
  | TypeVariable
  | ExternType
  | ApplicableType
  | PackageType
  | FunctionType
  | { readonly kind: 'table'; readonly name: string }
  /** Type of `t.apply().action_run`; of `t.apply()`: hit, miss, action_run. */
  | { readonly kind: 'action-enum' | 'table-result'; readonly table: string };

const PLAIN_KINDS = [
  'bool',
  'error',
  'string',
  'match-kind',
  'void',
  'integer',
  'any',
  'invalid-header',
  'unknown',
] as const;

type PlainKind = (typeof PLAIN_KINDS)[number];

/**
 * A type without parts. `integer` is `int`: compile-time only, of any size. `any` is the type of `_`, `default` and
 * `...`: compatible with all types. `invalid-header` is that of `{#}` before it is known which header it stands for.
 * `unknown` is that of an expression with a reported error: compatible with all types, so that no further errors follow.
 */
export type PlainType<Kind extends PlainKind = PlainKind> = Kind extends PlainKind ? { readonly kind: Kind } : never;

export function isPlain(type: Type): type is PlainType {
  return (PLAIN_KINDS as readonly string[]).includes(type.kind);
}

/** `bit<width>` or, signed, `int<width>`. Width 0 is allowed for bit. */
export interface BitsType {
  readonly kind: 'bits';
  readonly width: number;
  readonly isSigned: boolean;
}
export interface Field {
  readonly name: string;
  readonly type: Type;
  readonly annotations: ReadonlyMap<string, string>;
  readonly span: Span;
}
/** A struct, header or header union. Nominal. */
export interface StructType {
  readonly kind: 'struct' | 'header' | 'union';
  readonly name: string;
  readonly typeArguments: readonly Type[];
  /**
   * In order of declaration. Filled after the object exists, because a type may be named while its fields are resolved.
   */
  readonly fields: readonly Field[];
}
/** A stack of headers or header unions. */
export interface StackType {
  readonly kind: 'stack';
  readonly element: Type;
  readonly size: number;
}
/** The type of `{a, b}` too. */
export interface TupleType {
  readonly kind: 'tuple';
  readonly elements: readonly Type[];
}
/** An enum whose members have no values. The position of a member represents it. */
export interface EnumType {
  readonly kind: 'enum';
  readonly name: string;
  readonly members: readonly string[];
}
export interface SerializableEnumType {
  readonly kind: 'serializable-enum';
  readonly name: string;
  readonly underlying: BitsType;
  readonly members: ReadonlyMap<string, bigint>;
}
/** `type T name`. */
export interface NewType {
  readonly kind: 'newtype';
  readonly name: string;
  readonly underlying: Type;
}
export interface TypeVariable {
  readonly kind: 'variable';
  readonly name: string;
}
export interface ExternType {
  readonly kind: 'extern';
  readonly name: string;
  readonly typeArguments: readonly Type[];
}
export interface ParameterType {
  readonly name: string;
  readonly direction: Direction;
  readonly type: Type;
  readonly isOptional: boolean;
}
/** A parser or control. */
export interface ApplicableType {
  readonly kind: 'parser' | 'control';
  readonly name: string;
  readonly parameters: readonly ParameterType[];
}
export interface PackageType {
  readonly kind: 'package';
  readonly name: string;
  readonly typeArguments: readonly Type[];
  readonly parameters: readonly ParameterType[];
}
export interface FunctionType {
  readonly kind: 'function';
  readonly typeParameters: readonly TypeVariable[];
  readonly parameters: readonly ParameterType[];
  readonly returnType: Type;
}
