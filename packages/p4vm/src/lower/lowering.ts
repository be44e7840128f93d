import { type Budget, CALL_DEPTH, MAX_DEPTH, tooDeep } from '../budget/budget.js';
import type { CheckedProgram } from '../check/checked-program.js';
import type { Action, DataType, ExternInstance, IrFunction, Table, ValueSet, Variable } from '../ir/program.js';
import type { Diagnostics } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';
import { isPrintable } from '../source/printable.js';
import type {
  ActionDeclaration,
  Annotation,
  Declaration,
  Expression,
  FunctionDeclaration,
  TypeNode,
} from '../syntax/ast.js';
import { describeType } from '../types/describe.js';
import type { Type } from '../types/type.js';
import { SurfaceNotes } from './control-surface.js';
import { DataTypes } from './data-types.js';
import { Scope, type StaticValue } from './scope.js';

/** Steps of work per node made, because it must be kept and compiled. */
const NODE_WORK = 8;
/** Longest control-plane name in characters. */
const MAX_CONTROL_NAME = 4096;

/** Ends the lowering of one statement or declaration after a diagnostic. */
class Refused extends Error {}

/** What has a control-plane name. */
type Declared = Pick<ActionDeclaration, 'name' | 'annotations' | 'span'>;

/** The data of the stage: facts about the whole program, and the results so far. */
export class Lowering {
  readonly types = new DataTypes();
  readonly global = new Scope(undefined, '');
  readonly externs: ExternInstance[] = [];
  readonly tables: Table[] = [];
  readonly actions: Action[] = [];
  readonly functions: IrFunction[] = [];
  readonly valueSets: ValueSet[] = [];
  readonly notes = new SurfaceNotes();
  /** The specialisations of functions, one per list of extern objects. */
  readonly specialised = new Map<FunctionDeclaration, { objects: readonly StaticValue[]; made: IrFunction }[]>();
  /** Tables by the direct counters and meters that are theirs. */
  readonly owners = new Map<ExternInstance, string>();
  /** Positions of reads of direct meters. */
  readonly meterReads = new Map<ExternInstance, Span>();
  readonly #global: ReadonlySet<object>;
  readonly #names = new Set<string>();
  /** Number of instances per name, to find the next free name quickly. */
  readonly #counts = new Map<string, number>();
  /** Nesting depth of each callable's code, callees included. */
  readonly #depths = new Map<object, number>();
  #depth = 0;
  #start = 0;
  #variables = 0;
  readonly #numbered = new Map<string, number>();

  constructor(
    readonly checked: CheckedProgram,
    readonly diagnostics: Diagnostics,
    readonly budget: Budget,
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

  /** The name, followed by a number if another instance has it. */
  instanceName(name: string): string {
    let free = name;
    let count = this.#counts.get(name) ?? 0;
    for (; this.#names.has(free); free = `${name}_${count}`) count++;
    this.#counts.set(name, count);
    this.#names.add(free);
    return free;
  }

  /** Control-plane name of a declaration: below `prefix`, unless a `@name` begins with a dot. */
  controlName(prefix: string, { name, annotations, span }: Declared): string {
    return this.nameBelow(prefix, givenName(annotations) ?? name.text, span);
  }

  /** A control-plane name: `name` below `prefix`, or `name` alone if it begins with a dot. */
  nameBelow(prefix: string, name: string, span: Span): string {
    const full = name.startsWith('.') ? name.slice(1) : prefix + name;
    if (full.length > MAX_CONTROL_NAME) {
      return this.refuse(span, `a control-plane name of more than ${MAX_CONTROL_NAME} characters`, 'name-too-long');
    }
    if (!isPrintable(full))
      return this.refuse(span, 'a control-plane name with control characters', 'unprintable-name');
    return full;
  }

  /** A name for an object without one: `base_0`, then `base_1`, ... */
  numberedName(base: string): string {
    const count = this.#numbered.get(base) ?? 0;
    this.#numbered.set(base, count + 1);
    return `${base}_${count}`;
  }

  /** Reports a construct that cannot run as the language demands, and leaves the statement or declaration. */
  refuse(span: Span, message: string, code = 'unsupported-construct'): never {
    this.diagnostics.error('target', code, span, message);
    throw new Refused(message);
  }

  /** Reports a fact or an error that the checker should have found. */
  missing(span: Span, what: string): never {
    this.diagnostics.error('program', 'internal-error', span, `internal error: ${what}`);
    throw new Refused(what);
  }

  /** Runs a step. If it is refused, returns `otherwise`, to find more errors. */
  attempt<T>(step: () => T, otherwise: T): T {
    const { depth } = this.budget;
    try {
      return step();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.budget.depth = depth;
      return otherwise;
    }
  }

  /** Takes steps for `nodes` nodes of the specialised program. */
  spend(nodes: number, span: Span): void {
    this.budget.spend('work', nodes * NODE_WORK, span);
  }

  /** Makes a callable, such as an action: counts it and its nesting depth. */
  callable<T extends object>(span: Span, make: () => T): T {
    const { budget } = this;
    const [depth, start] = [this.#depth, this.#start];
    budget.spend('instances', 1, span);
    budget.enter(span, CALL_DEPTH);
    this.#depth = 0;
    this.#start = budget.depth;
    const made = make();
    this.#depths.set(made, this.#depth + CALL_DEPTH);
    this.#depth = depth;
    this.#start = start;
    budget.leave(CALL_DEPTH);
    return made;
  }

  /** Notes a call in the current code. Later stages recurse through calls, so the depth counts. */
  called<T extends object>(callee: T, span: Span): T {
    const within = this.budget.depth - this.#start;
    const depth = within + (this.#depths.get(callee) ?? 0);
    if (depth > MAX_DEPTH) throw tooDeep(span);
    this.#depth = Math.max(this.#depth, depth);
    return callee;
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

/** The innermost part of a type without values at run time, for a message. */
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

const textsOf = /* @__PURE__ */ new WeakMap<readonly Annotation[], ReadonlyMap<string, string>>();

/** Annotations by name, with the text between their brackets. The first of a name counts. */
export function annotationTexts(annotations: readonly Annotation[]): ReadonlyMap<string, string> {
  const known = textsOf.get(annotations);
  if (known !== undefined) return known;
  const texts = new Map<string, string>();
  for (const each of annotations) if (!texts.has(each.name)) texts.set(each.name, each.text.trim());
  textsOf.set(annotations, texts);
  return texts;
}

/** The string of a `@name("...")`. */
export function givenName(annotations: readonly Annotation[]): string | undefined {
  const value = annotations.find((each) => each.name === 'name')?.values[0];
  return value?.kind === 'string' ? value.value : undefined;
}
