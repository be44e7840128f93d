import type {
  Action,
  ControlInstance,
  Expression,
  IrFunction,
  IrProgram,
  ParserInstance,
  Table,
  Variable,
} from '../ir/program.js';
import {
  forEachExpression,
  isCall,
  type StatementVisitor,
  someExpression,
  walkStatement,
  walkStates,
} from '../ir/walk.js';

/** A declaration that becomes one JavaScript function. */
export type Callable = Action | IrFunction | ControlInstance | ParserInstance | Table;

interface Facts {
  readonly calls: Set<Callable>;
  /** Variables declared by statements in it. */
  readonly declared: Set<Variable>;
  exits: boolean;
}

/**
 * Facts about the program's callables, collected before code is written: the variables that each names, and whether it
 * may `exit`.
 */
export class Analysis {
  readonly #facts = new Map<Callable, Facts>();
  readonly #owners = new Map<Variable, Set<Callable>>();
  readonly #exits = new Map<Callable, boolean>();
  readonly #applications = new Map<ControlInstance | ParserInstance, number>();
  /** Callables still to be analysed. A list instead of recursion: calls may be nested deeper than the stack allows. */
  readonly #pending: (() => void)[] = [];

  readonly #work: () => void;

  /** @param work called with each statement and expression */
  constructor(program: IrProgram, work: () => void = () => {}) {
    this.#work = work;
    const { parser, verifyChecksum, ingress, egress, computeChecksum, deparser } = program;
    for (const part of [parser, verifyChecksum, ingress, egress, computeChecksum, deparser]) this.#instance(part);
    for (let look = this.#pending.pop(); look !== undefined; look = this.#pending.pop()) look();
  }

  /** The callables that name a variable. */
  ownersOf(variable: Variable): ReadonlySet<Callable> {
    return this.#owners.get(variable) ?? new Set();
  }

  /** Variables that statements of a callable declare, loop variables included. */
  declaredIn(callable: Callable): ReadonlySet<Variable> {
    return this.#facts.get(callable)?.declared ?? new Set();
  }

  /** Whether a call may end in `exit`. */
  mayExit(callable: Callable): boolean {
    const known = this.#exits.get(callable);
    if (known !== undefined) return known;
    const facts = this.#facts.get(callable);
    if (facts === undefined) return false;
    // P4 has no recursion. The entry stops the analysis of a wrong program that has.
    this.#exits.set(callable, facts.exits);
    const result = facts.exits || [...facts.calls].some((each) => this.mayExit(each));
    this.#exits.set(callable, result);
    return result;
  }

  /**
   * Whether out parameters begin as zero. They do in actions and functions, and in controls and parsers that are
   * applied in several places. In others the argument keeps its value until the parameter is written. The language
   * leaves this open; the reference compiler behaves so because it inlines callees.
   */
  beginsAtZero(callable: Callable): boolean {
    return !isInstance(callable) || (this.#applications.get(callable) ?? 0) > 1;
  }

  /**
   * Whether a callable or one of its callees names a variable.
   *
   * @param looked called with the number of calls that were followed
   */
  reaches(callable: Callable, variable: Variable, looked: (calls: number) => void): boolean {
    const owners = this.ownersOf(variable);
    const seen = new Set<Callable>([callable]);
    for (const each of seen) {
      if (owners.has(each)) return true;
      const calls = this.#facts.get(each)?.calls ?? new Set();
      looked(1 + calls.size);
      for (const callee of calls) seen.add(callee);
    }
    return false;
  }

  /** Puts off the analysis of a callable, unless it is known. */
  #later(callable: Callable, look: (facts: Facts) => void): void {
    if (this.#facts.has(callable)) return;
    const facts: Facts = { calls: new Set(), declared: new Set(), exits: false };
    this.#facts.set(callable, facts);
    this.#pending.push(() => look(facts));
  }

  #name(callable: Callable, variable: Variable): void {
    const owners = this.#owners.get(variable) ?? new Set();
    this.#owners.set(variable, owners.add(callable));
  }

  #visitor(callable: Callable, facts: Facts): StatementVisitor {
    return {
      expression: (expression) => this.#expression(callable, facts, expression),
      statement: (statement) => {
        this.#work();
        if (statement.kind === 'declare') {
          facts.declared.add(statement.variable);
          this.#name(callable, statement.variable);
        } else if (statement.kind === 'exit') facts.exits = true;
        else if (statement.kind === 'switch-action') {
          facts.calls.add(statement.table);
          this.#table(statement.table);
        }
      },
    };
  }

  #expression(callable: Callable, facts: Facts, expression: Expression): void {
    this.#work();
    forEachExpression(expression, (each) => {
      switch (each.kind) {
        case 'variable':
          return this.#name(callable, each.variable);
        case 'call-function':
        case 'call-action':
          facts.calls.add(each.target);
          return this.#routine(each.target);
        case 'apply-instance':
          this.#applications.set(each.target, (this.#applications.get(each.target) ?? 0) + 1);
          facts.calls.add(each.target);
          return this.#instance(each.target);
        case 'apply-table':
          facts.calls.add(each.table);
          return this.#table(each.table);
      }
    });
  }

  #routine(routine: Action | IrFunction): void {
    this.#later(routine, (facts) => {
      for (const { variable } of routine.parameters) this.#name(routine, variable);
      walkStatement(routine.body, this.#visitor(routine, facts));
    });
  }

  #instance(instance: ControlInstance | ParserInstance): void {
    this.#later(instance, (facts) => {
      for (const { variable } of instance.parameters) this.#name(instance, variable);
      for (const variable of instance.locals) this.#name(instance, variable);
      const visitor = this.#visitor(instance, facts);
      for (const statement of instance.initial) walkStatement(statement, visitor);
      if (instance.kind === 'control') walkStatement(instance.body, visitor);
      else {
        for (const variable of instance.states.flatMap(({ locals }) => locals)) {
          facts.declared.add(variable);
          this.#name(instance, variable);
        }
        walkStates(instance, visitor);
      }
    });
  }

  #table(table: Table): void {
    this.#later(table, (facts) => {
      for (const key of table.keys) this.#expression(table, facts, key.expression);
      for (const { action, bound } of table.actions) {
        facts.calls.add(action);
        this.#routine(action);
        for (const each of bound) this.#expression(table, facts, each);
      }
    });
  }
}

/** Whether a callable is a control or parser. */
export function isInstance(callable: Callable): callable is ControlInstance | ParserInstance {
  return 'states' in callable || ('tables' in callable && 'actions' in callable);
}

/** Whether evaluating an expression may change a variable, or anything else. */
export function hasEffects(expression: Expression): boolean {
  return someExpression(expression, (each) =>
    each.kind === 'call-packet' ? each.method !== 'lookahead' && each.method !== 'length' : isCall(each),
  );
}
