import type {
  Action,
  ControlInstance,
  DataType,
  Expression,
  ExternInstance,
  IrFunction,
  IrProgram,
  IrTransition,
  ParserInstance,
  Statement,
  Table,
} from '../ir/program.js';
import { forEachExpression, walkStatement, walkStates } from '../ir/walk.js';
import { Diagnostics } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';
import { tablesApart } from './table-places.js';

/** Most errors kept. */
const MAX_ERRORS = 200;
/** Most bits of a shift amount that p4c accepts for BMv2. */
const SHIFT_BITS = 8;

type Part = 'parser' | 'ingress' | 'egress' | 'checksum' | 'deparser';
type Callee = Action | IrFunction | ControlInstance | ParserInstance;

/**
 * Finds the places where a program exceeds the limits of p4c (as of August 2026) for simple_switch, as errors. This
 * package runs such programs nevertheless. The README lists the limits.
 *
 * @param program a program made by `buildProgram` or `loadProgram`
 */
export function bmv2Limits(program: IrProgram): Diagnostics {
  const limits = new Limits();
  limits.instance(program.parser, 'parser');
  limits.instance(program.verifyChecksum, 'checksum');
  limits.instance(program.ingress, 'ingress');
  limits.instance(program.egress, 'egress');
  limits.instance(program.computeChecksum, 'checksum');
  limits.instance(program.deparser, 'deparser');
  for (const control of [program.ingress, program.egress]) limits.places(control);
  for (const table of program.tables) limits.keys(table);
  for (const extern of program.externs) limits.register(extern);
  return limits.diagnostics;
}

/** Walks through the code of a program, part by part. */
class Limits {
  readonly diagnostics = new Diagnostics(MAX_ERRORS);
  readonly #seen = new Map<Part, Set<Callee>>();
  readonly #tables = new Set<Table>();

  #refuse(code: string, span: Span, message: string): void {
    if (this.diagnostics.errors < MAX_ERRORS) this.diagnostics.error('target', code, span, message);
  }

  /** Whether this is the first visit of a callee in a part. */
  #isNew(callee: Callee, part: Part): boolean {
    const seen = this.#seen.get(part) ?? new Set();
    this.#seen.set(part, seen);
    if (seen.has(callee)) return false;
    seen.add(callee);
    return true;
  }

  instance(instance: ControlInstance | ParserInstance, part: Part): void {
    if (!this.#isNew(instance, part)) return;
    for (const each of instance.initial) this.#statement(each, part);
    if (instance.kind === 'control') {
      this.#statement(instance.body, part);
      return;
    }
    walkStates(instance, this.#visitor(part));
    for (const { span } of instance.states.flatMap(({ transition }) => runtimeBounds(transition))) {
      this.#refuse('bmv2-select-range', span, 'p4c takes only constants as bounds of a range in a select');
    }
  }

  keys({ name, keys }: Table): void {
    const prefixes = keys.filter(({ matchKind }) => matchKind === 'lpm');
    const second = prefixes[1];
    if (second === undefined) return;
    this.#refuse(
      'bmv2-lpm-keys',
      second.expression.span,
      `table ${name} has ${prefixes.length} lpm keys: BMv2 takes one`,
    );
  }

  places(control: ControlInstance): void {
    for (const { table, span } of tablesApart(control)) {
      const message = `table ${table.name} is applied in two places after which other things come: BMv2 knows one`;
      this.#refuse('bmv2-table-twice', span, message);
    }
  }

  register({ type, typeArguments: [element], span }: ExternInstance): void {
    if (type !== 'register' || element === undefined || isNumber(element)) return;
    this.#refuse('bmv2-register', span, 'p4c takes only registers of bit<> and int<>');
  }

  #visitor(part: Part, inAction = false): Parameters<typeof walkStatement>[1] {
    return {
      expression: (expression) => forEachExpression(expression, (each) => this.#expression(each, part)),
      statement: (statement) => {
        this.#loop(statement, inAction);
        if (statement.kind === 'switch-action') this.#table(statement.table, part);
      },
    };
  }

  #statement(statement: Statement, part: Part, inAction = false): void {
    walkStatement(statement, this.#visitor(part, inAction));
  }

  #loop(statement: Statement, inAction: boolean): void {
    if (statement.kind === 'for-range' || statement.kind === 'for-elements')
      this.#refuse('bmv2-loop', statement.span, 'p4c takes no loops over ranges or elements');
    if (statement.kind === 'for' && !inAction)
      this.#refuse('bmv2-loop', statement.span, 'p4c takes loops in actions only');
  }

  #table(table: Table, part: Part): void {
    if (this.#tables.has(table)) return;
    this.#tables.add(table);
    for (const key of table.keys) forEachExpression(key.expression, (each) => this.#expression(each, part));
    for (const { action } of table.actions) {
      for (const { variable, direction } of action.parameters) {
        if (direction !== 'none' || isNumber(variable.type) || variable.type.kind === 'enum') continue;
        const message = `p4c takes only bit<>, int<> and enums as parameters that entries give: not "${variable.name}"`;
        this.#refuse('bmv2-action-parameter', action.span, message);
      }
      this.#action(action, part);
    }
  }

  #action(action: Action, part: Part): void {
    if (this.#isNew(action, part)) this.#statement(action.body, part, true);
  }

  #expression(expression: Expression, part: Part): void {
    switch (expression.kind) {
      case 'binary':
        this.#binary(expression);
        break;
      case 'apply-table':
        this.#table(expression.table, part);
        break;
      case 'apply-instance':
        this.instance(expression.target, part);
        break;
      case 'call-action':
        this.#action(expression.target, part);
        break;
      case 'call-function':
        if (this.#isNew(expression.target, part)) this.#statement(expression.target.body, part, true);
        break;
      case 'call-extern': {
        const home = homeOf(expression);
        if (home === null || home === part) break;
        const what = expression.name.startsWith('clone') ? `a clone of ${home}` : expression.name;
        this.#refuse('bmv2-place', expression.span, `${what} can only be asked for in ${home}`);
      }
    }
  }

  #binary({ operator, right, span }: Expression<'binary'>): void {
    if ((operator === '/' || operator === '%') && !isPowerOfTwo(right)) {
      this.#refuse('bmv2-division', span, 'BMv2 divides at run time by powers of two only');
    }
    if ((operator === '<<' || operator === '>>') && right.kind !== 'constant') {
      const width = right.type.kind === 'bits' ? right.type.width : 0;
      if (width > SHIFT_BITS) {
        this.#refuse('bmv2-shift', span, `BMv2 shifts by at most ${SHIFT_BITS} bits, not by a value of ${width}`);
      }
    }
  }
}

/** The bounds of ranges in a select that are not constant. */
export function runtimeBounds(transition: IrTransition): readonly Expression[] {
  const cases = transition.kind === 'goto' ? [] : transition.cases;
  const bounds = cases.flatMap(({ labels }) =>
    labels.flatMap((label) => (label.kind === 'range' ? [label.low, label.high] : [])),
  );
  return bounds.filter(({ kind }) => kind !== 'constant');
}

function isPowerOfTwo(expression: Expression): boolean {
  return expression.kind === 'constant' && expression.value > 0n && (expression.value & (expression.value - 1n)) === 0n;
}

function isNumber({ kind }: DataType): boolean {
  return kind === 'bits';
}

/** The only part that may call an extern function; null: any part. */
function homeOf({ name, arguments: [first] }: Expression<'call-extern'>): Part | null {
  if (name.startsWith('resubmit')) return 'ingress';
  if (name.startsWith('recirculate')) return 'egress';
  if (!name.startsWith('clone') || first?.value?.kind !== 'constant') return null;
  return first.value.value === 0n ? 'ingress' : 'egress';
}
