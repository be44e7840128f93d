import type { Span } from '../source/position.js';
import type {
  ActionDeclaration,
  Declaration,
  ExternDeclaration,
  ExternMethod,
  FunctionDeclaration,
  Identifier,
} from '../syntax/ast.js';
import type { FunctionType, ParameterType, Type } from '../types/type.js';
import type { ConstantValue, ValueSymbol } from './checked-program.js';

/** A name of a type. */
export interface TypeEntry {
  readonly kind: 'type';
  readonly name: Identifier;
  /** Undefined for type parameters. */
  readonly declaration: Declaration | undefined;
  /** Number of type arguments. */
  readonly parameters: number;
  /** The type for `parameters` type arguments. Errors are reported at `span`. */
  readonly specialise: (typeArguments: readonly Type[], span: Span) => Type;
}

/** A name of a value: variable, constant, parameter, instance, table, value set. */
export interface ValueEntry extends ValueTraits {
  readonly kind: 'value';
  readonly name: Identifier;
  readonly symbol: ValueSymbol;
  readonly type: Type;
}

export interface ValueTraits {
  readonly constant?: ConstantValue | undefined;
  /** Known when instances are made: constants, constructor parameters, instances. */
  readonly isKnown?: boolean;
  readonly isWritable?: boolean;
}

export interface ActionEntry {
  readonly kind: 'action';
  readonly name: Identifier;
  readonly declaration: ActionDeclaration;
  readonly parameters: readonly ParameterType[];
  /** While its body is checked: calls are recursive. */
  isOpen: boolean;
}

export type Overload =
  | {
      readonly kind: 'function';
      readonly declaration: FunctionDeclaration;
      readonly type: FunctionType;
      isOpen: boolean;
    }
  | {
      readonly kind: 'extern-function';
      readonly declaration: ExternDeclaration;
      readonly method: ExternMethod;
      readonly type: FunctionType;
    };

/** Functions of one name. */
export interface FunctionEntry {
  readonly kind: 'functions';
  readonly name: Identifier;
  readonly overloads: Overload[];
  /** The scope of their declaration: specialisations are checked in it. */
  readonly scope: Scope;
}

export type Entry = TypeEntry | ValueEntry | ActionEntry | FunctionEntry;

/** Names of one block, with the blocks around it. */
export class Scope {
  readonly #entries = new Map<string, Entry>();

  constructor(readonly parent: Scope | undefined) {}

  /** The outermost scope, in which `.name` is looked up. */
  get root(): Scope {
    return this.parent === undefined ? this : this.parent.root;
  }

  local(name: string): Entry | undefined {
    return this.#entries.get(name);
  }

  lookup(name: string): Entry | undefined {
    return this.#entries.get(name) ?? this.parent?.lookup(name);
  }

  add(entry: Entry): void {
    this.#entries.set(entry.name.text, entry);
  }

  /** Names in view, innermost first, for suggestions. */
  *names(): IterableIterator<string> {
    yield* this.#entries.keys();
    if (this.parent !== undefined) yield* this.parent.names();
  }
}
