import type { Span } from '../source/position.js';
import type { Direction } from '../syntax/ast.js';

/**
 * Types of the checker. A nominal type (struct, header, union, enum, newtype, extern, ...) is one object per declaration
 * and type arguments, so that it is compared by identity; bit, int, tuple, stack, ... are compared by structure
 * (`sameType`). Source: P4_16 language specification, chapter 7.
 */
export type Type =
  | BoolType
  | ErrorType
  | StringType
  | MatchKindType
  | VoidType
  | IntegerType
  | BitsType
  | VarbitType
  | StructType
  | StackType
  | TupleType
  | ListType
  | EnumType
  | SerializableEnumType
  | NewType
  | SetType
  | TypeVariable
  | ExternType
  | ParserType
  | ControlType
  | PackageType
  | FunctionType
  | ActionType
  | TableType
  | ActionEnumType
  | TableResultType
  | AnyType
  | InvalidHeaderType
  | UnknownType;

export interface BoolType {
  readonly kind: 'bool';
}
export interface ErrorType {
  readonly kind: 'error';
}
export interface StringType {
  readonly kind: 'string';
}
export interface MatchKindType {
  readonly kind: 'match-kind';
}
export interface VoidType {
  readonly kind: 'void';
}
/** `int`: compile-time only, of any size. */
export interface IntegerType {
  readonly kind: 'integer';
}
/** `bit<width>` or, signed, `int<width>`. Width 0 is allowed for bit. */
export interface BitsType {
  readonly kind: 'bits';
  readonly width: number;
  readonly isSigned: boolean;
}
export interface VarbitType {
  readonly kind: 'varbit';
  readonly maxWidth: number;
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
/** `list<T>`, compile-time only. */
export interface ListType {
  readonly kind: 'list';
  readonly element: Type;
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
/** Type of labels in select and entries: a set of values of the element type. */
export interface SetType {
  readonly kind: 'set';
  readonly element: Type;
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
export interface ParserType {
  readonly kind: 'parser';
  readonly name: string;
  readonly typeParameters: readonly TypeVariable[];
  readonly parameters: readonly ParameterType[];
}
export interface ControlType {
  readonly kind: 'control';
  readonly name: string;
  readonly typeParameters: readonly TypeVariable[];
  readonly parameters: readonly ParameterType[];
}
export interface PackageType {
  readonly kind: 'package';
  readonly name: string;
  readonly typeParameters: readonly TypeVariable[];
  readonly typeArguments: readonly Type[];
  readonly parameters: readonly ParameterType[];
}
export interface FunctionType {
  readonly kind: 'function';
  readonly typeParameters: readonly TypeVariable[];
  readonly parameters: readonly ParameterType[];
  readonly returnType: Type;
}
export interface ActionType {
  readonly kind: 'action';
  readonly parameters: readonly ParameterType[];
}
export interface TableType {
  readonly kind: 'table';
  readonly name: string;
}
/** Type of `t.apply().action_run`. */
export interface ActionEnumType {
  readonly kind: 'action-enum';
  readonly table: string;
}
/** Type of `t.apply()`: hit, miss, action_run. */
export interface TableResultType {
  readonly kind: 'table-result';
  readonly table: string;
}
/** Type of `_`, `default` and `...`: compatible with all types. */
export interface AnyType {
  readonly kind: 'any';
}
/** Type of `{#}` before it is known which header it stands for. */
export interface InvalidHeaderType {
  readonly kind: 'invalid-header';
}
/** Type of an expression with a reported error: compatible with all types, so that no further errors follow. */
export interface UnknownType {
  readonly kind: 'unknown';
}
