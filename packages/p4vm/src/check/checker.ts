import type { Budget } from '../budget/budget.js';
import type { Diagnostic, DiagnosticLayer, Diagnostics } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';
import type {
  ControlDeclaration,
  Declaration,
  Expression,
  ExternDeclaration,
  FunctionDeclaration,
  Identifier,
  ObjectTypeDeclaration,
  ParserDeclaration,
} from '../syntax/ast.js';
import { UNKNOWN } from '../types/primitives.js';
import type { FunctionType, ParameterType, Type, TypeVariable } from '../types/type.js';
import { Found, type ValueSymbol } from './checked-program.js';
import { type Entry, Scope, type TypeEntry, type ValueTraits } from './scope.js';
import { closest } from './spelling.js';

/** The checker's place in a program. It decides what may be called and declared there. */
export interface Place {
  readonly kind:
    | 'top'
    /** Among the locals of a parser, a control. */
    | 'parser'
    | 'control'
    | 'state'
    | 'apply'
    | 'action'
    | 'function'
    /** Actions and properties of a table. */
    | 'table'
    /** Keys of a table: evaluated where the table is applied. */
    | 'key';
  /** Of a function. */
  readonly returnType?: Type;
  /** Number of loops around the place. */
  readonly loops: number;
  /** The parser, control, action or function. */
  readonly owner: Declaration | undefined;
}

/** The declaration of a nominal object type, with its type arguments. */
export interface ObjectType {
  readonly declaration: ExternDeclaration | ParserDeclaration | ControlDeclaration | ObjectTypeDeclaration;
  /** Values of the declaration's type parameters. */
  readonly bindings: ReadonlyMap<TypeVariable, Type>;
}

/** State of one check of a program. */
export class Checker {
  found: Found = new Found();
  scope: Scope = new Scope(undefined);
  place: Place = { kind: 'top', loops: 0, owner: undefined };

  /** Errors and match kinds as declared, with their places. */
  readonly errors = new Map<string, Identifier>();
  readonly matchKinds = new Map<string, Identifier>();

  /** Declarations behind types of externs, parsers, controls and packages. */
  readonly objects = new Map<Type, ObjectType>();
  /** Types of extern methods and constructors, in their declaration's type variables. */
  readonly methodTypes = new Map<object, FunctionType>();
  /** Type variables of a generic declaration. */
  readonly variables = new Map<object, readonly TypeVariable[]>();
  /** The generic types of which structs and the like are specialisations. */
  readonly origins = new Map<Type, TypeEntry>();
  /** Parameters of constructors, by parser and control declaration. */
  readonly constructorTypes = new Map<object, readonly ParameterType[]>();
  /** Copies of generic functions, by type arguments. */
  readonly copies = new Map<FunctionDeclaration, Map<string, FunctionDeclaration>>();
  /** Expressions without a value here that are known when instances are made. */
  readonly known = new Set<Expression>();
  /** More than 0: within arguments of a constructor, where constructors may be called. */
  constructing = 0;
  /** Declarations whose bodies are being checked: uses of them are recursive. */
  readonly open = new Set<Declaration>();

  constructor(
    readonly diagnostics: Diagnostics,
    readonly budget: Budget,
  ) {}

  /** Takes steps from the budget. @throws Stopped if too few are left */
  spend(steps: number, span: Span): void {
    this.budget.spend('work', steps, span);
  }

  error(code: string, span: Span, message: string, related?: Diagnostic['related']): undefined {
    return this.report('types', code, span, message, related);
  }

  /** Reports an error in an expression or in a type as written. It is then of unknown type. */
  wrong(code: string, span: Span, message: string, related?: Diagnostic['related']): Type {
    this.report('types', code, span, message, related);
    return UNKNOWN;
  }

  report(
    layer: DiagnosticLayer,
    code: string,
    span: Span,
    message: string,
    related?: Diagnostic['related'],
  ): undefined {
    this.diagnostics.error(layer, code, span, message, related);
  }

  warn(code: string, span: Span, message: string): void {
    this.diagnostics.warning('types', code, span, message);
  }

  /** Runs `body` with names of its own. */
  within<T>(scope: Scope, place: Place, body: () => T): T {
    const { scope: outerScope, place: outerPlace } = this;
    this.scope = scope;
    this.place = place;
    try {
      return body();
    } finally {
      this.scope = outerScope;
      this.place = outerPlace;
    }
  }

  inBlock<T>(body: () => T): T {
    return this.within(new Scope(this.scope), this.place, body);
  }

  /** Runs `body` for its diagnostics and its result, without what it finds out about nodes. */
  discarding<T>(body: () => T): T {
    const kept = this.found;
    this.found = new Found();
    try {
      return body();
    } finally {
      this.found = kept;
    }
  }

  /** Adds a name to the scope; a name that is there already is an error (functions may be overloaded). */
  declare(entry: Entry): void {
    const previous = this.scope.local(entry.name.text);
    if (previous === undefined) this.scope.add(entry);
    else this.duplicate('', entry.name, previous.name);
  }

  /** Adds the name of a value to the scope. */
  declareValue(symbol: ValueSymbol, type: Type, more: ValueTraits = {}): void {
    this.declare({ kind: 'value', name: symbol.declaration.name, symbol, type, ...more });
  }

  /** Reports a name that was declared before. `what`: `field `, for example, or nothing. */
  duplicate(what: string, name: Identifier, first: Identifier, how = ''): void {
    this.error('duplicate-name', name.span, `${what}"${name.text}" is declared already${how}`, {
      message: 'first declared here',
      span: first.span,
    });
  }

  /** Looks up a name; an absolute one only in the outermost scope. Reports an unknown name. */
  lookup(name: Identifier, isAbsolute: boolean, what: string): Entry | undefined {
    const scope = isAbsolute ? this.scope.root : this.scope;
    const entry = scope.lookup(name.text);
    if (entry === undefined) {
      const hint = this.hint(name, scope.names());
      this.error('unknown-name', name.span, `no ${what} "${name.text}" is declared here${hint}`);
    }
    return entry;
  }

  /** Ends a message with a similar name; empty if there is none, or if the message would not be shown. */
  hint({ text, span }: Identifier, candidates: Iterable<string>): string {
    const guess = this.diagnostics.isOpen ? closest(text, candidates, (names) => this.spend(names, span)) : undefined;
    return guess === undefined ? '' : `; did you mean "${guess}"?`;
  }

  /** Whether an expression has a value at compile time, at the latest when instances are made. */
  isKnown(expression: Expression): boolean {
    return this.found.constants.has(expression) || this.known.has(expression);
  }
}
