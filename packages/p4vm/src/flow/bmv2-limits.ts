import { forEachExpression, walkStatement, walkStates } from '../compile/walk.js';
import type {
  Action,
  ControlInstance,
  Expression,
  IrFunction,
  IrProgram,
  ParserInstance,
  Statement,
  Table,
} from '../ir/program.js';
import { Diagnostics } from '../source/diagnostics.js';
import type { Span } from '../source/position.js';

/** Errors that are kept. */
const MAX_ERRORS = 200;
/** Bits of a shift amount that p4c takes for BMv2. */
const SHIFT_BITS = 8;

type Part = 'parser' | 'ingress' | 'egress' | 'checksum' | 'deparser';
type Callee = Action | IrFunction | ControlInstance | ParserInstance;

/**
 * Where a program goes beyond what p4c takes for simple_switch, as errors: this machine runs it all the same. The README
 * lists the limits.
 *
 * @param program as `buildProgram` or `loadProgram` made it
 */
export function bmv2Limits(program: IrProgram): Diagnostics {
  const limits = new Limits();
  limits.instance(program.parser, 'parser');
  limits.instance(program.verifyChecksum, 'checksum');
  limits.instance(program.ingress, 'ingress');
  limits.instance(program.egress, 'egress');
  limits.instance(program.computeChecksum, 'checksum');
  limits.instance(program.deparser, 'deparser');
  for (const table of program.tables) limits.keys(table);
  return limits.diagnostics;
}

/** Goes through the code of a program, part by part. */
class Limits {
  readonly diagnostics = new Diagnostics(MAX_ERRORS);
  readonly #seen = new Map<Part, Set<Callee>>();
  readonly #applied = new Map<Table, Span>();

  #refuse(code: string, span: Span, message: string): void {
    if (this.diagnostics.errors < MAX_ERRORS) this.diagnostics.error('target', code, span, message);
  }

  /** Whether something is met for the first time in a part. */
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
    for (const { transition } of instance.states) {
      if (transition.kind === 'goto') continue;
      for (const label of transition.cases.flatMap(({ labels }) => labels)) {
        if (label.kind !== 'range') continue;
        for (const bound of [label.low, label.high]) {
          if (bound.kind === 'constant') continue;
          this.#refuse('bmv2-select-range', bound.span, 'p4c takes only constants as bounds of a range in a select');
        }
      }
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

  #visitor(part: Part): Parameters<typeof walkStatement>[1] {
    return {
      expression: (expression) => forEachExpression(expression, (each) => this.#expression(each, part)),
      statement: (statement) => this.#loop(statement),
    };
  }

  #statement(statement: Statement, part: Part): void {
    walkStatement(statement, {
      ...this.#visitor(part),
      statement: (each) => {
        this.#loop(each);
        if (each.kind === 'switch-action') this.#table(each.table, each.span, part);
      },
    });
  }

  #loop(statement: Statement): void {
    if (statement.kind === 'for' && statement.condition.kind !== 'constant' && !isCounted(statement)) {
      this.#refuse('bmv2-loop', statement.span, 'p4c takes only loops whose number of turns it knows: it unrolls them');
    }
    if (statement.kind !== 'for-range') return;
    if (statement.low.kind === 'constant' && statement.high.kind === 'constant') return;
    this.#refuse('bmv2-loop', statement.span, 'p4c takes only loops between constants: it unrolls them');
  }

  #table(table: Table, span: Span, part: Part): void {
    const first = this.#applied.get(table);
    if (first === undefined) {
      this.#applied.set(table, span);
      for (const key of table.keys) forEachExpression(key.expression, (each) => this.#expression(each, part));
    } else if (first !== span) {
      this.#refuse('bmv2-table-twice', span, `table ${table.name} is applied in two places: BMv2 takes one`);
    }
    for (const { action } of table.actions) this.#action(action, part);
  }

  #action(action: Action, part: Part): void {
    if (!this.#isNew(action, part)) return;
    this.#statement(action.body, part);
    this.#conditions(action.body);
  }

  /** In an action, what a condition decides on may be assignments only. */
  #conditions(statement: Statement): void {
    walkStatement(statement, {
      statement: (each) => {
        if (each.kind !== 'if') return;
        for (const arm of [each.whenTrue, each.whenFalse]) {
          if (arm === undefined) continue;
          walkStatement(arm, {
            statement: (inner) => {
              if (inner.kind !== 'evaluate' && inner.kind !== 'exit') return;
              const message = 'p4c takes only assignments under a condition in an action';
              this.#refuse('bmv2-conditional-call', inner.span, message);
            },
          });
        }
      },
    });
  }

  #expression(expression: Expression, part: Part): void {
    switch (expression.kind) {
      case 'binary':
        this.#binary(expression);
        break;
      case 'apply-table':
        this.#table(expression.table, expression.span, part);
        break;
      case 'apply-instance':
        this.instance(expression.target, part);
        break;
      case 'call-action':
        this.#action(expression.target, part);
        break;
      case 'call-function':
        if (this.#isNew(expression.target, part)) this.#statement(expression.target.body, part);
        break;
      case 'call-extern': {
        const home = expression.name.startsWith('resubmit')
          ? 'ingress'
          : expression.name.startsWith('recirculate')
            ? 'egress'
            : part;
        if (home === part) break;
        this.#refuse('bmv2-place', expression.span, `${expression.name} can only be called in ${home}`);
      }
    }
  }

  #binary({ operator, right, span }: Extract<Expression, { kind: 'binary' }>): void {
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

function isPowerOfTwo(expression: Expression): boolean {
  return expression.kind === 'constant' && expression.value > 0n && (expression.value & (expression.value - 1n)) === 0n;
}

/** `for (v = constant; v < constant; v = v + constant)`. */
function isCounted({ initial, condition, update }: Extract<Statement, { kind: 'for' }>): boolean {
  const [begin, ...others] = initial;
  const starts =
    (begin?.kind === 'declare' && begin.value?.kind === 'constant') ||
    (begin?.kind === 'assign' && begin.value.kind === 'constant');
  const [step, ...more] = update;
  if (!starts || others.length > 0 || more.length > 0 || step?.kind !== 'assign') return false;
  const ends = condition.kind === 'binary' && condition.right.kind === 'constant';
  return ends && step.value.kind === 'binary' && step.value.right.kind === 'constant';
}
