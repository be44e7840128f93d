import { type Budget, CALL_DEPTH } from '../budget/budget.js';
import type { Limits } from '../budget/limits.js';
import { nameCalculations } from '../externs/calculation-names.js';
import type { DataType, Expression, IrProgram, Table, Variable } from '../ir/program.js';
import { objectBytes } from '../ir/state-bytes.js';
import type * as machine from '../machine/machine.js';
import type { ReadPlace } from '../poison/poison.js';
import { P4Error } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';
import { Analysis, type Callable } from './analysis.js';
import { Code, type CodeMeter } from './code.js';
import { Costs } from './costs.js';
import { Names } from './names.js';
import { type AggregateType, isAggregate, isKeptSigned, scalarNames, zeroOf } from './storage.js';
import { TypeCode } from './type-code.js';
import { UndefinedValues } from './undefined-values.js';

export interface CompileOptions {
  /** Reports each step to the runtime's trace sink. Slower; off by default. */
  readonly trace?: boolean;
  /**
   * A select without a match sets `error.NoMatch`, as the language demands. Otherwise `NoError`, as in the reference
   * switch.
   */
  readonly noMatchError?: boolean;
  /** Undefined values are random, and the code runs twice for comparison: see `Poison`. Slower; off by default. */
  readonly poison?: boolean;
  /** Limits of the program, with defaults for those that are not given. */
  readonly limits?: Partial<Limits> | undefined;
  /** Called again and again during the work. */
  readonly onWork?: (() => void) | undefined;
}

/** Name of a function of the machine, which generated code calls. */
export type MachineName = keyof typeof machine;

/** The storage of a variable. */
export type Home =
  | ScalarHome
  /** `isFixed`: `name` always refers to the same object. */
  | { readonly kind: 'aggregate'; readonly name: string; readonly isFixed: boolean };

export interface ScalarHome {
  readonly kind: 'scalar';
  readonly names: readonly string[];
  readonly isKeptSigned: boolean;
}

/** Refuses a construct that generated code cannot run correctly. */
export function refuse(code: string, span: Span, message: string): never {
  throw new P4Error([{ severity: 'error', code, layer: 'target', message, span }]);
}

/** The source while it is written, shared by all its functions. */
export class Unit {
  readonly names = new Names();
  readonly meter: CodeMeter;
  readonly types: TypeCode;
  /** In poison mode: codes of values that nothing has defined. Elsewhere these are zeros. */
  readonly undefinedValues: UndefinedValues | undefined;
  readonly analysis: Analysis;
  /** Declarations of the program's variables and objects. */
  readonly state: Code;
  readonly functions: Code;
  readonly costs: Costs;
  readonly #helpers = new Set<MachineName>();
  readonly #homes = new Map<Variable, Home>();
  readonly #callables = new Map<Callable, string>();
  readonly #once = new Map<string, string>();
  readonly #readPlaces: ReadPlace[] = [];
  #calculations: ReadonlyMap<Expression, string> | undefined;
  #serial = 0;

  constructor(
    readonly program: IrProgram,
    readonly options: CompileOptions,
    readonly budget: Budget,
  ) {
    const { span } = program.ingress;
    this.meter = (characters) => budget.spend('codeCharacters', characters, span);
    this.state = new Code(this.meter);
    this.functions = new Code(this.meter);
    const { poison = false } = options;
    this.undefinedValues = poison ? new UndefinedValues(program.errors.length) : undefined;
    this.types = new TypeCode(
      this.names,
      program.standardMetadata,
      (name) => this.helper(name),
      this.meter,
      this.undefinedValues,
    );
    const work = (): void => budget.work();
    this.analysis = new Analysis(program, work);
    this.costs = new Costs(budget.limits.packetBytes, work);
  }

  /** Name of a function of the machine, which becomes a constant of the source. */
  helper(name: MachineName): string {
    this.#helpers.add(name);
    return `m$${name}`;
  }

  get helpers(): ReadonlySet<MachineName> {
    return this.#helpers;
  }

  /** Registers a place where poison mode observes a value, and returns its number. */
  readPlace(place: ReadPlace): number {
    return this.#readPlaces.push(place) - 1;
  }

  get readPlaces(): readonly ReadPlace[] {
    return this.#readPlaces;
  }

  /** Initial values of a type's variables: one code per word. */
  initialCodes(type: DataType): readonly string[] {
    if (this.undefinedValues !== undefined) return this.undefinedValues.codes(type, isKeptSigned(type));
    return scalarNames('', type).map(() => zeroOf(type));
  }

  /** A name for a temporary that is assigned once. */
  temporary(): string {
    return `$${++this.#serial}`;
  }

  /** Name of the JavaScript function of a callable. The first request calls `write`. */
  callable(callable: Callable, wish: string, write: (name: string) => void): string {
    const known = this.#callables.get(callable);
    if (known !== undefined) return known;
    const name = this.names.take(wish);
    this.#callables.set(callable, name);
    this.budget.enter(callable.span, CALL_DEPTH);
    write(name);
    this.budget.leave(CALL_DEPTH);
    return name;
  }

  /** A constant of the source, by key. */
  constant(key: string, wish: string, code: string): string {
    const known = this.#once.get(key);
    if (known !== undefined) return known;
    const name = this.names.take(wish);
    this.#once.set(key, name);
    this.state.line(`const ${name} = ${code};`);
    return name;
  }

  /** A name for a member of an object that is never replaced. */
  fixedMember(base: string, member: string): string {
    const wish = member.startsWith('items[') ? `${base}_${member.slice(6, -1)}` : `${base}_${member}`;
    return this.constant(`${base}.${member}`, wish, `${base}.${member}`);
  }

  /** A new object of the closure, as room for a temporary value. */
  temporaryObject(type: AggregateType, wish = 'temporary'): string {
    const name = this.names.take(wish);
    this.budget.spend('stateBytes', objectBytes(type), this.program.ingress.span);
    this.state.line(`const ${name} = ${this.types.create(type)};`);
    return name;
  }

  setHome<T extends Home>(variable: Variable, home: T): T {
    this.#homes.set(variable, home);
    return home;
  }

  /** A place of the closure for a variable. */
  closureHome(variable: Variable, wish: string): Home {
    if (isAggregate(variable.type)) {
      const name = this.temporaryObject(variable.type, wish);
      return this.setHome(variable, { kind: 'aggregate', name, isFixed: true });
    }
    const names = scalarNames(this.names.take(wish), variable.type);
    for (const name of names) this.state.line(`let ${name} = ${zeroOf(variable.type)};`);
    return this.setHome(variable, { kind: 'scalar', names, isKeptSigned: isKeptSigned(variable.type) });
  }

  /** A variable of the closure that refers to an aggregate parameter's object. */
  referenceHome(variable: Variable, wish: string): Home {
    const name = this.names.take(wish);
    this.state.line(`let ${name} = undefined;`);
    return this.setHome(variable, { kind: 'aggregate', name, isFixed: false });
  }

  homeOf(variable: Variable): Home {
    const home = this.#homes.get(variable);
    // Lowering put the variable into no list of declarations: give it a place in the closure.
    return home ?? this.closureHome(variable, variable.name);
  }

  hasHome(variable: Variable): boolean {
    return this.#homes.has(variable);
  }

  /** Position of an error, or of `NoError` if the program has none of that name. */
  errorOf(name: string): number {
    return Math.max(0, this.program.errors.indexOf(name));
  }

  /** The name of the calculation of a call of `hash` or of a checksum's, as the control plane knows it. */
  calculationName(call: Expression): string | undefined {
    this.#calculations ??= new Map(nameCalculations(this.program).map((each) => [each.call, each.name]));
    return this.#calculations.get(call);
  }

  tableName(table: Table): string {
    return this.constant(`table ${table.id}`, `${shortName(table.name)}_table`, `runtime.tables[${table.id}]`);
  }
}

/** The last two parts of a fully qualified name, as a wish for a JavaScript name. */
export function shortName(name: string): string {
  return name.split('.').slice(-2).join('_');
}
