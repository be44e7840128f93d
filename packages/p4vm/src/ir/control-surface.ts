import type { Type } from '../types/type.js';
import type { ExternInstance, Table } from './program.js';

/** An annotation of the program, as P4Runtime's P4Info describes it. */
export interface DeclaredAnnotation {
  readonly name: string;
  /** The text between the brackets, as written. */
  readonly text: string;
  /** True for `@name[...]`, whose values and pairs are known at compile time. */
  readonly isStructured: boolean;
  /** Values that are known: literals, constants and members of enums. */
  readonly values: readonly AnnotationValue[];
  readonly pairs: readonly { readonly key: string; readonly value: AnnotationValue }[];
}

export type AnnotationValue = string | bigint | boolean;

/** A struct, header, union, enum or new type of the program, with what annotations say about it. */
export interface DeclaredType {
  readonly annotations: readonly DeclaredAnnotation[];
  /** In order of declaration; empty for types without fields. `type` is undefined in generic types. */
  readonly fields: readonly DeclaredField[];
}

export interface DeclaredField {
  readonly name: string;
  readonly type: Type | undefined;
  readonly annotations: readonly DeclaredAnnotation[];
}

/**
 * What a control plane may learn of a program beside names and values: annotations, and types as they are written (with
 * the names of new types, which are the underlying types at run time). Maps are from nodes of the program, by identity.
 */
export interface ControlSurface {
  /** By table, table key, action of a table, action, variable of an action's parameter, extern object, value set. */
  readonly annotations: ReadonlyMap<object, readonly DeclaredAnnotation[]>;
  /** By table key, variable of an action's parameter, value set. */
  readonly types: ReadonlyMap<object, Type>;
  /** Type arguments of extern objects. */
  readonly typeArguments: ReadonlyMap<ExternInstance, readonly Type[]>;
  /** Sizes that the program gives to tables, in entries. */
  readonly sizes: ReadonlyMap<Table, number>;
  /** What `digest` sends: one per type, in the order of the calls. */
  readonly digests: readonly { readonly name: string; readonly type: Type }[];
  /** Types of the program by name. */
  readonly declared: ReadonlyMap<string, DeclaredType>;
  /** Names of header types with `@controller_header`, in order of declaration. */
  readonly controllerHeaders: readonly string[];
  /** Annotations of `main`. */
  readonly program: readonly DeclaredAnnotation[];
}
