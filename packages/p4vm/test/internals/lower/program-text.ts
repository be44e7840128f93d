import type {
  Action,
  ActionCall,
  Block,
  ControlInstance,
  ExternArgument,
  ExternInstance,
  IrFunction,
  IrProgram,
  KeyMatch,
  ParserInstance,
  State,
  Statement,
  StateTarget,
  Table,
  ValueSet,
  Variable,
} from '../../../src/ir/program.js';
import { printType } from '../../../src/lower/data-types.js';
import { ExpressionPrinter } from './expression-text.js';

/** The program as text close to P4, for people and tests. Instances and tables have their control-plane names. */
export function printProgram(program: IrProgram): string {
  const printer = new ProgramPrinter(new ExpressionPrinter(program.errors));
  const parts = [
    program.parser,
    program.verifyChecksum,
    program.ingress,
    program.egress,
    program.computeChecksum,
    program.deparser,
  ];
  return [
    ...program.externs.map(printExtern),
    ...program.valueSets.map(printValueSet),
    ...program.functions.map((each) => printer.function(each)),
    ...program.actions.map((each) => printer.action(each)),
    ...program.tables.map((each) => printer.table(each)),
    ...reachable(parts).map((each) => (each.kind === 'parser' ? printer.parser(each) : printer.control(each))),
    ...[...program.fieldLists].map(([number, paths]) => `field_list ${number}: ${printPaths(paths)}\n`),
  ].join('');
}

/** One instance, or the text of a statement: see `printProgram`. */
export function printInstance(instance: ControlInstance | ParserInstance, errors: readonly string[] = []): string {
  const printer = new ProgramPrinter(new ExpressionPrinter(errors));
  return instance.kind === 'parser' ? printer.parser(instance) : printer.control(instance);
}

function printPaths(paths: readonly (readonly string[])[]): string {
  return paths.map((path) => path.join('.')).join(', ');
}

type Instance = ControlInstance | ParserInstance;

/** Instances in the order of use: an instance follows those that it applies. */
function reachable(parts: readonly Instance[]): Instance[] {
  const found = new Set<Instance>();
  const visit = (instance: Instance): void => {
    if (found.has(instance)) return;
    for (const each of applied(instance)) visit(each);
    found.add(instance);
  };
  for (const part of parts) visit(part);
  return [...found];
}

/** The instances that an instance applies, found in all its nodes. */
function applied(instance: Instance): Instance[] {
  const found: Instance[] = [];
  const seen = new Set<object>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    if (Array.isArray(node)) {
      for (const each of node) visit(each);
      return;
    }
    if ('kind' in node && node.kind === 'apply-instance' && 'target' in node) {
      found.push(node.target as Instance);
    }
    for (const [key, value] of Object.entries(node)) {
      // These members refer to other declarations, or to no code.
      if (key !== 'target' && key !== 'span' && key !== 'type' && key !== 'table') visit(value);
    }
  };
  visit(instance.initial);
  visit(instance.kind === 'parser' ? instance.states : instance.body);
  return found;
}

function printExternArgument(argument: ExternArgument): string {
  switch (argument.kind) {
    case 'enum':
      return `${argument.name}.${argument.member}`;
    case 'string':
      return JSON.stringify(argument.value);
    default:
      return `${argument.value}`;
  }
}

function printExtern({ type, name, typeArguments, arguments: list }: ExternInstance): string {
  const types = typeArguments.length === 0 ? '' : `<${typeArguments.map(printType).join(', ')}>`;
  return `${type}${types}(${list.map(printExternArgument).join(', ')}) ${name};\n`;
}

function printValueSet({ name, type, keys, size }: ValueSet): string {
  const kinds = keys.map((key) => `${key.name}: ${key.matchKind}`).join(', ');
  return `value_set<${printType(type)}>(${size}) ${name} [${kinds}];\n`;
}

function printMatch(match: KeyMatch): string {
  switch (match.kind) {
    case 'exact':
      return `${match.value}`;
    case 'mask':
      return `0x${match.value.toString(16)} &&& 0x${match.mask.toString(16)}`;
    case 'prefix':
      return `0x${match.value.toString(16)}/${match.length}`;
    case 'range':
      return `${match.low}..${match.high}`;
    case 'any':
      return '_';
  }
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

function braces(lines: readonly string[]): string {
  return lines.length === 0 ? '{ }\n' : `{\n${indented(lines.join(''))}}\n`;
}

class ProgramPrinter {
  constructor(readonly expressions: ExpressionPrinter) {}

  function({ name, parameters, returnType, body }: IrFunction): string {
    return `function ${printType(returnType)} ${name}${this.expressions.parameters(parameters)} ${this.#block(body)}`;
  }

  action({ name, parameters, body }: Action): string {
    return `action ${name}${this.expressions.parameters(parameters)} ${this.#block(body)}`;
  }

  table(table: Table): string {
    const { expressions } = this;
    const lines = table.keys.map(({ expression, matchKind, name }) => {
      const text = expressions.expression(expression);
      return `key ${text}: ${matchKind}${name === text ? '' : ` @name(${JSON.stringify(name)})`};\n`;
    });
    for (const { action, bound, isTableOnly, isDefaultOnly } of table.actions) {
      const args = bound.length === 0 ? '' : `(${bound.map((each) => expressions.expression(each)).join(', ')})`;
      const only = `${isTableOnly ? ' @tableonly' : ''}${isDefaultOnly ? ' @defaultonly' : ''}`;
      lines.push(`action ${action.name}${args}${only};\n`);
    }
    if (table.defaultAction !== undefined) {
      lines.push(`${table.isDefaultConst ? 'const ' : ''}default ${this.#actionCall(table, table.defaultAction)};\n`);
    }
    for (const entry of table.entries) {
      const keys = entry.keys.map(printMatch).join(', ');
      const prefix = `${entry.isConst ? 'const ' : ''}entry ${entry.priority}`;
      lines.push(`${prefix}: (${keys}) -> ${this.#actionCall(table, entry.call)};\n`);
    }
    lines.push(`size ${table.size};\n`);
    for (const name of ['implementation', 'counter', 'meter'] as const) {
      const object = table[name];
      if (object !== undefined) lines.push(`${name} ${object.name};\n`);
    }
    if (table.supportsTimeout) lines.push('support_timeout;\n');
    return `table ${table.name} ${braces(lines)}`;
  }

  control(control: ControlInstance): string {
    const lines = [...this.#locals(control), `apply ${this.#block(control.body)}`];
    return `control ${control.name}${this.expressions.parameters(control.parameters)} ${braces(lines)}`;
  }

  parser(parser: ParserInstance): string {
    const lines = [...this.#locals(parser), ...parser.states.map((state) => this.#state(parser, state))];
    return `parser ${parser.name}${this.expressions.parameters(parser.parameters)} ${braces(lines)}`;
  }

  #actionCall(table: Table, call: ActionCall): string {
    const action = table.actions[call.action]?.action;
    const types = action?.parameters.filter(({ direction }) => direction === 'none') ?? [];
    const data = call.data.map((value, index) => {
      const type = types[index]?.variable.type;
      return type === undefined ? `${value}` : this.expressions.constant(type, value);
    });
    return `${action?.name ?? '?'}(${data.join(', ')})`;
  }

  #locals({ locals, initial }: Instance): string[] {
    return [
      ...locals.map((variable) => `${this.#declaration(variable)};\n`),
      ...initial.map((statement) => this.#statement(statement)),
    ];
  }

  #declaration(variable: Variable): string {
    return `${printType(variable.type)} ${variable.name}`;
  }

  #state(parser: ParserInstance, { name, body, transition }: State): string {
    const target = (to: StateTarget): string => (typeof to === 'number' ? (parser.states[to]?.name ?? '?') : to);
    const lines = body.map((statement) => this.#statement(statement));
    if (transition.kind === 'goto') {
      lines.push(`transition ${target(transition.target)};\n`);
    } else {
      const keys = transition.keys.map((key) => this.expressions.expression(key)).join(', ');
      const cases = transition.cases.map((each) => {
        const labels = each.labels.map((label) => this.expressions.label(label)).join(', ');
        return `(${labels}): ${target(each.target)};\n`;
      });
      lines.push(`transition select(${keys}) ${braces(cases)}`);
    }
    return `state ${name} ${braces(lines)}`;
  }

  #block(block: Block): string {
    return braces(block.statements.map((statement) => this.#statement(statement)));
  }

  /** The body of `if (...)` and the like, always in braces. */
  #body(statement: Statement): string {
    return statement.kind === 'block' ? this.#block(statement) : braces([this.#statement(statement)]);
  }

  #statement(statement: Statement): string {
    const { expressions } = this;
    switch (statement.kind) {
      case 'block':
        return this.#block(statement);
      case 'declare': {
        const value = statement.value === undefined ? '' : ` = ${expressions.expression(statement.value)}`;
        return `${this.#declaration(statement.variable)}${value};\n`;
      }
      case 'assign':
        return `${expressions.expression(statement.target)} = ${expressions.expression(statement.value)};\n`;
      case 'evaluate':
        return `${expressions.expression(statement.expression)};\n`;
      case 'if': {
        const text = `if (${expressions.expression(statement.condition)}) ${this.#body(statement.whenTrue)}`;
        return statement.whenFalse === undefined ? text : `${text}else ${this.#body(statement.whenFalse)}`;
      }
      case 'return':
        return statement.value === undefined ? 'return;\n' : `return ${expressions.expression(statement.value)};\n`;
      case 'exit':
      case 'break':
      case 'continue':
        return `${statement.kind};\n`;
      default:
        return this.#compound(statement);
    }
  }

  #compound(
    statement: Extract<
      Statement,
      { readonly kind: 'switch-action' | 'switch-value' | 'for' | 'for-range' | 'for-elements' }
    >,
  ): string {
    const { expressions } = this;
    switch (statement.kind) {
      case 'switch-action': {
        const { table } = statement;
        const cases = statement.cases.map(
          ({ action, body }) => `${table.actions[action]?.action.name ?? '?'}: ${this.#block(body)}`,
        );
        return `switch (${table.name}.apply().action_run) ${braces([...cases, ...this.#otherwise(statement)])}`;
      }
      case 'switch-value': {
        const cases = statement.cases.map(({ values, body }) => {
          const labels = values.map((value) => expressions.expression(value)).join(', ');
          return `${labels}: ${this.#block(body)}`;
        });
        return `switch (${expressions.expression(statement.subject)}) ${braces([...cases, ...this.#otherwise(statement)])}`;
      }
      case 'for': {
        const list = (statements: readonly Statement[]): string =>
          statements.map((each) => this.#statement(each).replace(/;\n$/, '')).join(', ');
        const condition = expressions.expression(statement.condition);
        const head = `for (${list(statement.initial)}; ${condition}; ${list(statement.update)})`;
        return `${head} ${this.#body(statement.body)}`;
      }
      case 'for-range': {
        const range = `${expressions.expression(statement.low)} .. ${expressions.expression(statement.high)}`;
        return `for (${expressions.expression(statement.variable)} in ${range}) ${this.#body(statement.body)}`;
      }
      case 'for-elements': {
        const head = `${expressions.expression(statement.variable)} in ${expressions.expression(statement.collection)}`;
        return `for (${head}) ${this.#body(statement.body)}`;
      }
    }
  }

  #otherwise({ otherwise }: { readonly otherwise: Block | undefined }): string[] {
    return otherwise === undefined ? [] : [`default: ${this.#block(otherwise)}`];
  }
}
