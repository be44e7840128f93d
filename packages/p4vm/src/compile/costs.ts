import type {
  Block,
  ControlInstance,
  DataType,
  Expression,
  IrArgument,
  IrParameter,
  ParserInstance,
  State,
  Statement,
  Table,
} from '../ir/program.js';
import { forEachExpression, transitionExpressions } from '../ir/walk.js';
import type { Callable } from './analysis.js';
import { fixedWidth, isAggregate } from './storage.js';

/*
 * The most steps that code takes with one turn of each loop: about one per statement and operation. Each further turn
 * of a loop takes its steps from the packet's budget. So only loops count steps at run time, and all code in them,
 * calls included, is bounded.
 */

/** Steps of a log message, which is passed to a listener. */
const LOG = 1024;
const DIGEST = 256;
const CALCULATION = 32;
const LOOKUP = 32;

const sizes = /* @__PURE__ */ new WeakMap<DataType, number>();

/** Scalars of a value: the cost of copying or comparing it. */
function sizeOf(type: DataType): number {
  switch (type.kind) {
    case 'bits':
      return Math.max(1, Math.ceil(type.width / 64));
    case 'varbit':
      return 1 + Math.ceil(type.maxWidth / 64);
    case 'stack':
      return 1 + type.size * sizeOf(type.element);
    case 'struct':
    case 'header':
    case 'union': {
      let size = sizes.get(type);
      if (size === undefined) {
        size = 1;
        for (const field of type.fields) size += sizeOf(field.type);
        sizes.set(type, size);
      }
      return size;
    }
    default:
      return 1;
  }
}

function aggregateSize(type: DataType): number {
  return isAggregate(type) ? sizeOf(type) : 0;
}

/** Aggregates among the parameters may be copied on the way in and out. */
function passing(parameters: readonly IrParameter[]): number {
  return parameters.reduce((sum, { variable }) => sum + 1 + 2 * aggregateSize(variable.type), 2);
}

/** A cost as the number that code subtracts from the steps of a packet. */
export function steps(cost: number): number {
  return Math.ceil(Math.min(cost, 2 ** 40));
}

export class Costs {
  readonly #callables = new Map<Callable, number>();
  readonly #payload: number;

  readonly #work: () => void;

  /**
   * @param packetBytes length of the longest packet
   * @param work called with each statement
   */
  constructor(packetBytes: number, work: () => void) {
    this.#payload = packetBytes / 8;
    this.#work = work;
  }

  /** Of one call. */
  callable(callable: Callable): number {
    const known = this.#callables.get(callable);
    if (known !== undefined) return known;
    // P4 has no recursion; the entry keeps a wrong program from running forever here.
    this.#callables.set(callable, 0);
    const cost = this.#callable(callable);
    this.#callables.set(callable, cost);
    return cost;
  }

  /** Of the statements of a body, one after the other. */
  statements(statements: readonly Statement[]): number {
    return statements.reduce((sum, each) => sum + this.statement(each), 0);
  }

  /** Of one turn of a loop; of other statements of running once. */
  statement(statement: Statement): number {
    this.#work();
    switch (statement.kind) {
      case 'block':
        return this.statements(statement.statements);
      case 'declare':
        return 1 + aggregateSize(statement.variable.type) + this.#sum([statement.value]);
      case 'assign':
        return 1 + aggregateSize(statement.target.type) + this.#sum([statement.target, statement.value]);
      case 'evaluate':
        return this.expression(statement.expression);
      case 'return':
        return 1 + this.#sum([statement.value]);
      case 'if':
        return this.expression(statement.condition) + this.#branches([statement.whenTrue, statement.whenFalse]);
      case 'switch-action':
        return this.callable(statement.table) + this.#branches(bodiesOf(statement));
      case 'switch-value': {
        const labels = statement.cases.flatMap(({ values }) => values);
        return labels.length + this.#sum([statement.subject, ...labels]) + this.#branches(bodiesOf(statement));
      }
      case 'for':
        return this.statements(statement.initial) + this.turn(statement);
      case 'for-range':
        return this.#sum([statement.low, statement.high]) + this.turn(statement);
      case 'for-elements':
        return this.expression(statement.collection) + this.turn(statement);
      default:
        return 1;
    }
  }

  /** Of one turn of a loop. */
  turn(loop: Statement<'for' | 'for-range' | 'for-elements'>): number {
    const body = 2 + this.statement(loop.body);
    if (loop.kind === 'for') return body + this.expression(loop.condition) + this.statements(loop.update);
    return body + this.expression(loop.variable) + sizeOf(loop.variable.type);
  }

  /** Of one state and its transition. */
  state({ body, transition }: State): number {
    if (transition.kind === 'goto') return 1 + this.statements(body);
    const { keys, cases } = transition;
    const valueSets = cases.filter(({ labels: [first] }) => first?.kind === 'value-set').length;
    return (
      1 +
      this.statements(body) +
      this.#sum(transitionExpressions(transition)) +
      keys.length +
      cases.length +
      LOOKUP * valueSets
    );
  }

  expression(expression: Expression): number {
    let cost = 0;
    forEachExpression(expression, (each) => {
      cost += this.#node(each);
    });
    return cost;
  }

  #sum(expressions: readonly (Expression | undefined)[]): number {
    return expressions.reduce((sum, each) => sum + (each === undefined ? 0 : this.expression(each)), 0);
  }

  /** Of the costliest of several ways, one of which may have no statement. */
  #branches(ways: readonly (Statement | undefined)[]): number {
    return 1 + ways.reduce((most, each) => Math.max(most, each === undefined ? 0 : this.statement(each)), 0);
  }

  #callable(callable: Callable): number {
    if ('states' in callable) return this.#parser(callable);
    if ('keys' in callable) return this.#table(callable);
    const locals = 'locals' in callable ? this.#begin(callable) : 0;
    return passing(callable.parameters) + locals + this.statement(callable.body);
  }

  #begin({ locals, initial }: ControlInstance | ParserInstance): number {
    return locals.reduce((sum, { type }) => sum + sizeOf(type), 0) + this.statements(initial);
  }

  /** A parser without cycles enters each state once at most. A parser with cycles counts its steps as it runs. */
  #parser(parser: ParserInstance): number {
    const states = parser.states.reduce((sum, each) => sum + this.state(each), 0);
    return passing(parser.parameters) + this.#begin(parser) + states;
  }

  #table({ keys, actions }: Table): number {
    const lookup = keys.reduce((sum, { expression, type }) => sum + this.expression(expression) + 2 * sizeOf(type), 0);
    const most = actions.reduce((max, { action, bound }) => Math.max(max, this.#sum(bound) + this.callable(action)), 0);
    return LOOKUP + lookup + most;
  }

  /** Of one node, without those in it; with what it calls. */
  #node(expression: Expression): number {
    switch (expression.kind) {
      case 'binary': {
        const size = Math.max(sizeOf(expression.left.type), sizeOf(expression.type));
        const isProduct = expression.operator === '*' || expression.operator === '/' || expression.operator === '%';
        return isProduct && !isAggregate(expression.left.type) ? size * size : size;
      }
      case 'aggregate':
      case 'default':
        return sizeOf(expression.type);
      case 'call-function':
      case 'call-action':
      case 'apply-instance':
        return 2 + aggregateSize(expression.type) + this.callable(expression.target);
      case 'apply-table':
        return this.callable(expression.table);
      case 'push-pop':
        return sizeOf(expression.stack.type);
      case 'call-packet':
        return 4 + expression.arguments.reduce((sum, each) => sum + argumentSize(each), sizeOf(expression.type));
      case 'call-extern':
        return this.#extern(expression);
      case 'call-method':
        return LOOKUP + expression.arguments.reduce((sum, each) => sum + argumentSize(each), 0);
      default:
        // Naming an aggregate is free; the operation on it counts.
        return isAggregate(expression.type) ? 1 : sizeOf(expression.type);
    }
  }

  #extern({ name, arguments: given }: Expression<'call-extern'>): number {
    const data = given.reduce((sum, each) => sum + argumentSize(each), 0);
    switch (name) {
      case 'hash':
      case 'verify_checksum':
      case 'update_checksum':
        return CALCULATION + 4 * data;
      case 'verify_checksum_with_payload':
      case 'update_checksum_with_payload':
        return CALCULATION + 4 * data + this.#payload;
      case 'digest':
        return DIGEST + 32 * data;
      case 'log_msg':
        return LOG + 64 * data;
      default:
        return CALCULATION + data;
    }
  }
}

/** The ways of a switch. */
function bodiesOf({ cases, otherwise }: Statement<'switch-action' | 'switch-value'>): readonly (Block | undefined)[] {
  return [otherwise, ...cases.map(({ body }) => body)];
}

/** A text counts by its length. */
function argumentSize({ value }: IrArgument): number {
  if (value === undefined) return 0;
  if (value.kind === 'string') return value.value.length / 64;
  return isAggregate(value.type) ? sizeOf(value.type) + fixedWidth(value.type) / 64 : 1;
}
