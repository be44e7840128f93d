import type { ConstantValue } from '../check/checked-program.js';
import type {
  Action,
  ControlInstance,
  ExternInstance,
  ParserInstance,
  Table,
  ValueSet,
  Variable,
} from '../ir/program.js';
import type { Span } from '../source/position.js';
import type {
  ActionDeclaration,
  CallExpression,
  ConstantDeclaration,
  ControlDeclaration,
  InstanceDeclaration,
  Parameter,
  ParserDeclaration,
  TableDeclaration,
  ValueSetDeclaration,
  VariableDeclaration,
} from '../syntax/ast.js';

/** A value of a name that is known before the first packet: of a constructor parameter, or an object. */
export type StaticValue =
  | { readonly kind: 'value'; readonly value: ConstantValue }
  | { readonly kind: 'extern'; readonly instance: ExternInstance }
  /** packet_in and packet_out: there is one of each, so it needs no identity. */
  | { readonly kind: 'packet' }
  | { readonly kind: 'instance'; readonly handle: InstanceHandle };

/** An instance of a parser or control. Its code is made on first application. */
export interface InstanceHandle {
  /** Fully qualified control-plane name. */
  readonly name: string;
  readonly declaration: ParserDeclaration | ControlDeclaration;
  readonly scope: Scope;
  readonly span: Span;
  /** Its code, with the extern objects that it was applied to. */
  lowered:
    | { readonly instance: ControlInstance | ParserInstance; readonly objects: readonly StaticValue[] }
    | undefined;
}

/**
 * The meaning of the declarations of the program, an instance or a function. Declarations are compared by identity, so
 * blocks need no scope.
 */
export class Scope {
  readonly variables = new Map<VariableDeclaration | Parameter, Variable>();
  readonly instances = new Map<InstanceDeclaration | CallExpression, StaticValue>();
  readonly actions = new Map<ActionDeclaration, Action>();
  readonly tables = new Map<TableDeclaration, Table>();
  readonly valueSets = new Map<ValueSetDeclaration, ValueSet>();
  /** Values of constants that depend on constructor parameters; undefined for those that are not known. */
  readonly constants = new Map<ConstantDeclaration, ConstantValue | undefined>();
  readonly #statics = new Map<Parameter, StaticValue>();
  #hasValues = false;

  /** `prefix` precedes the control-plane names of the declarations here. It is empty or ends with a dot. */
  constructor(
    readonly parent: Scope | undefined,
    readonly prefix: string,
  ) {}

  /** True if a constructor parameter has a value here, so that more expressions are constant than in the checker. */
  get hasValues(): boolean {
    return this.#hasValues || (this.parent?.hasValues ?? false);
  }

  static(parameter: Parameter): StaticValue | undefined {
    return this.#statics.get(parameter) ?? this.parent?.static(parameter);
  }

  setStatic(parameter: Parameter, value: StaticValue): void {
    this.#statics.set(parameter, value);
    if (value.kind === 'value') this.#hasValues = true;
  }

  variable(declaration: VariableDeclaration | Parameter): Variable | undefined {
    return this.variables.get(declaration) ?? this.parent?.variable(declaration);
  }

  instance(node: InstanceDeclaration | CallExpression): StaticValue | undefined {
    return this.instances.get(node) ?? this.parent?.instance(node);
  }

  action(declaration: ActionDeclaration): Action | undefined {
    return this.actions.get(declaration) ?? this.parent?.action(declaration);
  }

  table(declaration: TableDeclaration): Table | undefined {
    return this.tables.get(declaration) ?? this.parent?.table(declaration);
  }
}
