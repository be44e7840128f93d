import type { CheckedProgram } from '../check/checked-program.js';
import type { Action, DataType, ExternInstance, IrFunction, Table, ValueSet, Variable } from '../ir/program.js';
import type { Diagnostics } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';
import type { Annotation, Declaration, Expression, FunctionDeclaration, TypeNode } from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import type { Type } from '../types/type.js';
import { DataTypes } from './data-types.js';
import { Scope, type StaticValue } from './scope.js';

/** Ends the lowering of one statement or declaration, after a diagnostic has been given. */
class Refused extends Error {}

/** What the stage knows of the program as a whole, and what it has made so far. */
export class Lowering {
  readonly types = new DataTypes();
  readonly global = new Scope(undefined, '');
  readonly externs: ExternInstance[] = [];
  readonly tables: Table[] = [];
  readonly actions: Action[] = [];
  readonly functions: IrFunction[] = [];
  readonly valueSets: ValueSet[] = [];
  /** A function once per list of extern objects that it is given. */
  readonly specialised = new Map<FunctionDeclaration, { objects: readonly StaticValue[]; made: IrFunction }[]>();
  /** Tables by the direct counters and meters that are theirs. */
  readonly owners = new Map<ExternInstance, string>();
  /** Where direct meters are read. */
  readonly meterReads = new Map<ExternInstance, Span>();
  readonly #global: ReadonlySet<object>;
  readonly #names = new Set<string>();
  #variables = 0;
  readonly #numbered = new Map<string, number>();

  constructor(
    readonly checked: CheckedProgram,
    readonly diagnostics: Diagnostics,
  ) {
    this.#global = new Set<Declaration>(checked.program.declarations);
  }

  /** The scope a declaration belongs to: the program's if it stands at top level. */
  home(declaration: object, scope: Scope): Scope {
    return this.#global.has(declaration) ? this.global : scope;
  }

  variable(name: string, type: DataType): Variable {
    return { id: this.#variables++, name, type };
  }

  /** The name, or if another instance has it, with a number behind it. */
  instanceName(name: string): string {
    let free = name;
    for (let count = 1; this.#names.has(free); count++) free = `${name}_${count}`;
    this.#names.add(free);
    return free;
  }

  /** A name for what has none of its own: `base_0`, then `base_1`, ... */
  numberedName(base: string): string {
    const count = this.#numbered.get(base) ?? 0;
    this.#numbered.set(base, count + 1);
    return `${base}_${count}`;
  }

  /** Reports what cannot be run as the language says, and leaves the statement or declaration. */
  refuse(span: Span, message: string, code = 'unsupported-construct'): never {
    this.diagnostics.error('target', code, span, message);
    throw new Refused(message);
  }

  /** Reports that the checker should have found something out, or an error. */
  missing(span: Span, what: string): never {
    this.diagnostics.error('program', 'internal-error', span, `internal error: ${what}`);
    throw new Refused(what);
  }

  /** Runs a step; if it is refused, what follows goes on with `otherwise`, to find more errors. */
  attempt<T>(step: () => T, otherwise: T): T {
    try {
      return step();
    } catch (error) {
      if (error instanceof Refused) return otherwise;
      throw error;
    }
  }

  typeOf(expression: Expression): Type {
    return this.checked.types.get(expression) ?? this.missing(expression.span, 'this expression has no type');
  }

  typeOfNode(node: TypeNode): Type {
    return this.checked.typeNodes.get(node) ?? this.missing(node.span, 'this type is not resolved');
  }

  dataType(type: Type, span: Span): DataType {
    const data = this.types.of(type);
    if (data !== undefined) return data;
    const part = unheldPart(type);
    const where = part === type ? '' : `, a part of ${describeType(type)},`;
    return this.refuse(span, `a value of type ${describeType(part)}${where} cannot be held at run time`);
  }

  dataTypeOfNode(node: TypeNode): DataType {
    return this.dataType(this.typeOfNode(node), node.span);
  }
}

/** The innermost part of a type that has no values at run time: what to name in a message. */
function unheldPart(type: Type): Type {
  if (type.kind === 'newtype') return unheldPart(type.underlying);
  const parts =
    type.kind === 'tuple'
      ? type.elements
      : type.kind === 'struct' || type.kind === 'header' || type.kind === 'union'
        ? type.fields.map((field) => field.type)
        : [];
  const unheld = parts.find((part) => new DataTypes().of(part) === undefined);
  return unheld === undefined ? type : unheldPart(unheld);
}

/** Annotations by name, with the text between their brackets. The first of a name counts. */
export function annotationTexts(annotations: readonly Annotation[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const each of annotations) if (!texts.has(each.name)) texts.set(each.name, each.text.trim());
  return texts;
}

/** The string of a `@name("...")`. */
export function givenName(annotations: readonly Annotation[]): string | undefined {
  const value = annotations.find((each) => each.name === 'name')?.values[0];
  return value?.kind === 'string' ? value.value : undefined;
}

/** Control-plane name: below `prefix`, unless a `@name` begins with a dot. */
export function qualifiedName(prefix: string, name: string, annotations: readonly Annotation[]): string {
  const given = givenName(annotations) ?? name;
  return given.startsWith('.') ? given.slice(1) : prefix + given;
}
