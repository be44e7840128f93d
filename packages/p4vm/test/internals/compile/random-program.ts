import type {
  Action,
  ControlInstance,
  DataType,
  Expression,
  IrFunction,
  IrParameter,
  IrProgram,
  State,
  Statement,
  StructDataType,
  Variable,
} from '../../../src/ir/program.js';
import type { BinaryOperator, Direction } from '../../../src/syntax/ast.js';
import * as p4 from './build.js';
import type { Random } from './compare.js';

/** Types of scalars, so few that places of the same type are common. */
const SCALARS: readonly DataType[] = [
  p4.bit(8),
  p4.bit(16),
  p4.int(8),
  p4.bit(32),
  p4.int(32),
  p4.bit(48),
  p4.int(40),
  p4.bit(128),
  p4.bit(136),
  p4.bool,
];
const ARITHMETIC: readonly BinaryOperator[] = ['+', '-', '*', '&', '|', '^', '|+|', '|-|', '/', '%'];
const COMPARISONS: readonly BinaryOperator[] = ['==', '!=', '<', '<=', '>', '>='];

type Callee = IrFunction | Action | ControlInstance;

function key(type: DataType): string {
  switch (type.kind) {
    case 'bits':
      return `${type.isSigned ? 'int' : 'bit'}${type.width}`;
    case 'struct':
    case 'header':
    case 'union':
      return type.id;
    case 'stack':
      return `${type.element.id}[${type.size}]`;
    default:
      return type.kind;
  }
}

function isStruct(type: DataType): type is StructDataType {
  return type.kind === 'struct' || type.kind === 'header' || type.kind === 'union';
}

/** What code may use where it stands. */
interface Scope {
  /** Variables that may be written. */
  readonly writable: Variable[];
  /** Parameters that may be read only. */
  readonly readable: readonly Variable[];
  readonly callees: readonly Callee[];
  readonly returnType: DataType | undefined;
  readonly mayExit: boolean;
  readonly loops: number;
}

/** Makes programs without sense that use everything the compiler knows but tables and externs. */
export class ProgramGenerator {
  #serial = 0;
  readonly #one: StructDataType;
  readonly #other: StructDataType;
  readonly #inner: StructDataType;
  readonly #union: StructDataType;
  readonly #headers: StructDataType;
  readonly #metadata: StructDataType;

  constructor(readonly random: Random) {
    this.#one = p4.headerType('one_t', { a: p4.bit(8), b: p4.bit(16), c: p4.bit(4), d: p4.bit(4), e: p4.int(8) });
    this.#other = p4.headerType('other_t', { a: p4.bit(48), b: p4.bit(8), c: p4.int(40), w: p4.bit(32) });
    this.#union = p4.unionType('either_t', { one: this.#one, other: this.#other });
    this.#inner = p4.structType('inner_t', { p: p4.bit(16), q: p4.bool, r: p4.bit(48) });
    this.#headers = p4.structType('headers_t', {
      first: this.#one,
      second: this.#other,
      many: p4.stackType(this.#one, 3),
      either: this.#union,
    });
    this.#metadata = p4.structType('metadata_t', {
      ...Object.fromEntries(SCALARS.map((type, index) => [`m${index}`, type])),
      i: this.#inner,
      j: this.#inner,
    });
  }

  program(): IrProgram {
    const functions = Array.from({ length: 3 }, () => this.#function());
    const subs = Array.from({ length: 2 }, () => this.#control(functions));
    return p4.program({
      headers: this.#headers,
      metadata: this.#metadata,
      states: (roots) => this.#states(roots, functions),
      ingress: ({ hdr, meta }) => {
        const locals = this.#locals();
        const base = [hdr, meta, ...locals];
        const actions = this.#actions(base, functions);
        const callees = [...functions, ...subs, ...actions];
        const scope: Scope = { writable: base, readable: [], callees, returnType: undefined, mayExit: true, loops: 0 };
        return { locals, body: this.#statements(scope, 8, 3) };
      },
    });
  }

  #name(wish: string): string {
    return `${wish}${this.#serial++}`;
  }

  #locals(): readonly Variable[] {
    const types = [...Array.from({ length: 3 }, () => this.random.pick(SCALARS)), this.#one, this.#inner, this.#union];
    return types.map((type) => p4.variable(this.#name('local'), type));
  }

  #parameters(directions: readonly Direction[]): readonly IrParameter[] {
    const aggregates = [this.#one, this.#other, this.#inner, p4.stackType(this.#one, 3), this.#union, this.#headers];
    return Array.from({ length: 1 + this.random.below(3) }, () => {
      const type = this.random.chance(35) ? this.random.pick(aggregates) : this.random.pick(SCALARS);
      return p4.parameter(this.random.pick(directions), p4.variable(this.#name('p'), type));
    });
  }

  #scopeOf(
    parameters: readonly IrParameter[],
    rest: Omit<Scope, 'writable' | 'readable'>,
    more: readonly Variable[],
  ): Scope {
    const isIn = ({ direction }: IrParameter): boolean => direction === 'in' || direction === 'none';
    return {
      ...rest,
      writable: [...parameters.filter((each) => !isIn(each)).map((each) => each.variable), ...more],
      readable: parameters.filter(isIn).map((each) => each.variable),
    };
  }

  #function(): IrFunction {
    const parameters = this.#parameters(['in', 'in', 'out', 'inout']);
    const returnType = this.random.chance(25) ? this.random.pick([this.#one, this.#inner]) : this.random.pick(SCALARS);
    const scope = this.#scopeOf(parameters, { callees: [], returnType, mayExit: false, loops: 0 }, []);
    const body = this.#statements(scope, 3, 2);
    return p4.func(
      this.#name('f'),
      returnType,
      parameters,
      ...body,
      p4.giveBack(this.#expression(scope, returnType, 2)),
    );
  }

  #actions(base: readonly Variable[], functions: readonly IrFunction[]): readonly Action[] {
    const actions: Action[] = [];
    for (let count = 0; count < 3; count++) {
      const parameters = this.#parameters(['in', 'out', 'inout']);
      const callees = [...functions, ...actions];
      const scope = this.#scopeOf(parameters, { callees, returnType: undefined, mayExit: true, loops: 0 }, base);
      actions.push(p4.action(this.#name('act'), parameters, ...this.#statements(scope, 3, 2)));
    }
    return actions;
  }

  #control(functions: readonly IrFunction[]): ControlInstance {
    const parameters = this.#parameters(['in', 'out', 'inout', 'inout']);
    const locals = this.#locals();
    const outside = this.#scopeOf(parameters, { callees: [], returnType: undefined, mayExit: true, loops: 0 }, locals);
    const actions = this.#actions(outside.writable, functions);
    const scope = { ...outside, callees: [...functions, ...actions] };
    return p4.control(this.#name('sub'), parameters, locals, ...this.#statements(scope, 5, 2));
  }

  #states({ hdr, meta }: p4.Roots, functions: readonly IrFunction[]): readonly State[] {
    const { random } = this;
    const scope: Scope = {
      writable: [hdr, meta],
      readable: [],
      callees: functions,
      returnType: undefined,
      mayExit: false,
      loops: 0,
    };
    const many = p4.path(hdr, 'many');
    const keys = [p4.path(hdr, 'first', 'a'), p4.slice(p4.path(hdr, 'first', 'b'), 3, 0)];
    const labelOf = (type: DataType): { readonly kind: 'value'; readonly value: Expression } => ({
      kind: 'value',
      value: p4.constant(random.below(8), type),
    });
    return [
      p4.state(
        'start',
        {
          kind: 'select',
          keys,
          cases: [
            { labels: [{ kind: 'any' }, labelOf(p4.bit(4))], target: 1 },
            {
              labels: [
                { kind: 'mask', value: p4.constant(random.word() & 255, p4.bit(8)), mask: p4.constant(1, p4.bit(8)) },
                { kind: 'range', low: p4.constant(2, p4.bit(4)), high: p4.constant(9, p4.bit(4)) },
              ],
              target: 2,
            },
            ...(random.chance(60) ? [{ labels: [{ kind: 'any' }, { kind: 'any' }], target: 3 } as const] : []),
          ],
        },
        p4.packet('extract', p4.path(hdr, 'first')),
        ...this.#statements(scope, 1, 2),
      ),
      p4.state(
        'other',
        p4.goTo(random.pick([2, 3, 'accept', 'reject'])),
        p4.packet('extract', random.chance(50) ? p4.path(hdr, 'second') : p4.path(hdr, 'either', 'other')),
        ...this.#statements(scope, 1, 2),
      ),
      p4.state(
        'loop',
        {
          kind: 'select',
          keys: [p4.lookahead(p4.bit(8))],
          cases: [
            {
              labels: [{ kind: 'range', low: p4.constant(0, p4.bit(8)), high: p4.constant(180, p4.bit(8)) }],
              target: 2,
            },
            { labels: [{ kind: 'any' }], target: 3 },
          ],
        },
        p4.packet('extract', p4.stackEnd('stack-next', many)),
        ...(random.chance(30) ? [p4.packet('extract', p4.stackEnd('stack-next', many))] : []),
        ...(random.chance(50)
          ? [p4.assign(p4.path(meta, 'm0'), p4.member(p4.stackEnd('stack-last', many), 'a'))]
          : this.#statements(scope, 1, 1)),
      ),
      p4.state(
        'last',
        p4.goTo('accept'),
        p4.packet('extract', p4.path(hdr, 'either', 'one')),
        p4.evaluate(
          p4.callExtern(
            'verify',
            p4.argument('in', this.#boolean(scope, 1)),
            p4.argument('in', p4.constant(7, p4.errorType)),
          ),
        ),
        p4.packet('advance', p4.constant(8 * random.below(3), p4.bit(32))),
      ),
    ];
  }

  // Places

  /** All places of a type within variables. */
  #places(variables: readonly Variable[], wanted: string): readonly Expression[] {
    const found: Expression[] = [];
    const visit = (each: Expression): void => {
      const { type } = each;
      if (key(type) === wanted) found.push(each);
      if (isStruct(type)) for (const field of type.fields) visit(p4.member(each, field.name));
      else if (type.kind === 'stack') visit(p4.element(each, this.#index(variables)));
    };
    for (const variable of variables) visit(p4.read(variable));
    return found;
  }

  /** An index: mostly known and within the stack, sometimes read from a variable. */
  #index(variables: readonly Variable[]): Expression {
    if (this.random.chance(60)) return p4.constant(this.random.below(3), p4.bit(32));
    const scalar = variables.find((each) => key(each.type) === 'bit8' || key(each.type) === 'bit48');
    if (scalar !== undefined && this.random.chance(50)) return p4.read(scalar);
    const meta = variables.find((each) => each.type === this.#metadata);
    if (meta === undefined) return p4.constant(this.random.below(3), p4.bit(32));
    return p4.binary('&', p4.path(meta, 'm0'), p4.constant(3, p4.bit(8)));
  }

  #place(variables: readonly Variable[], type: DataType): Expression | undefined {
    const places = this.#places(variables, key(type));
    return places.length === 0 ? undefined : this.random.pick(places);
  }

  // Expressions

  #expression(scope: Scope, type: DataType, depth: number): Expression {
    if (type.kind === 'bool') return this.#boolean(scope, depth);
    if (type.kind !== 'bits') return this.#aggregate(scope, type, depth);
    const { random } = this;
    const place = this.#place([...scope.writable, ...scope.readable], type);
    if (depth <= 0 || random.chance(20)) {
      if (place !== undefined && random.chance(75)) return place;
      return p4.constant(random.bits(type.width), type);
    }
    switch (random.below(9)) {
      case 0:
        return p4.unary(random.pick(['-', '~'] as const), this.#expression(scope, type, depth - 1));
      case 1:
        return p4.conditional(
          this.#boolean(scope, depth - 1),
          this.#expression(scope, type, depth - 1),
          this.#expression(scope, type, depth - 1),
        );
      case 2:
        return p4.cast(type, this.#expression(scope, random.pick(SCALARS.slice(0, -1)), depth - 1));
      case 3: {
        const amount = random.chance(50)
          ? p4.constant(random.below(type.width + 2), p4.bit(8))
          : this.#expression(scope, p4.bit(8), depth - 1);
        return p4.binary(random.pick(['<<', '>>'] as const), this.#expression(scope, type, depth - 1), amount);
      }
      case 4: {
        const wide = this.#expression(scope, p4.bit(136), depth - 1);
        if (type.isSigned) return p4.cast(type, wide);
        const low = random.below(136 - type.width + 1);
        return p4.slice(wide, low + type.width - 1, low);
      }
      case 5:
        return this.#callFor(scope, type, depth) ?? p4.constant(random.bits(type.width), type);
      case 6: {
        if (type.isSigned || type.width < 16) break;
        const low = p4.bit(8);
        return p4.binary(
          '++',
          p4.cast(p4.bit(type.width - 8), this.#expression(scope, type, depth - 1)),
          this.#expression(scope, low, depth - 1),
        );
      }
    }
    const left = this.#expression(scope, type, depth - 1);
    return p4.binary(random.pick(ARITHMETIC), left, this.#expression(scope, type, depth - 1));
  }

  #boolean(scope: Scope, depth: number): Expression {
    const { random } = this;
    const variables = [...scope.writable, ...scope.readable];
    if (depth <= 0) return this.#place(variables, p4.bool) ?? p4.constant(random.below(2), p4.bool);
    switch (random.below(6)) {
      case 0:
        return p4.unary('!', this.#boolean(scope, depth - 1));
      case 1:
      case 2:
        return p4.binary(
          random.pick(['&&', '||'] as const),
          this.#boolean(scope, depth - 1),
          this.#boolean(scope, depth - 1),
        );
      case 3: {
        const header = this.#place(variables, random.pick([this.#one, this.#other, this.#union]));
        if (header !== undefined) return p4.isValid(header);
        break;
      }
      case 4: {
        const type = random.pick([this.#one, this.#inner, this.#union]);
        const place = this.#place(variables, type);
        if (place !== undefined) {
          return p4.binary(random.pick(['==', '!='] as const), place, this.#aggregate(scope, type, depth - 1));
        }
      }
    }
    const type = random.pick(SCALARS.slice(0, -1));
    const left = this.#expression(scope, type, depth - 1);
    return p4.binary(random.pick(COMPARISONS), left, this.#expression(scope, type, depth - 1));
  }

  #aggregate(scope: Scope, type: DataType, depth: number): Expression {
    const { random } = this;
    const place = this.#place([...scope.writable, ...scope.readable], type);
    if (place !== undefined && random.chance(50)) return place;
    if (depth > 0 && random.chance(30)) {
      const call = this.#callFor(scope, type, depth);
      if (call !== undefined) return call;
    }
    if (place !== undefined && depth > 0 && random.chance(20)) {
      return p4.conditional(this.#boolean(scope, depth - 1), place, this.#aggregate(scope, type, depth - 1));
    }
    if (
      isStruct(type) &&
      type.fields.every((each) => each.type.kind === 'bits' || each.type.kind === 'bool') &&
      random.chance(80)
    ) {
      return p4.list(type, ...type.fields.map((each) => this.#expression(scope, each.type, depth - 1)));
    }
    return place ?? { kind: 'default', type, span: p4.span };
  }

  // Calls

  /** Arguments for a callee; undefined if there is no place for one that is written. */
  #arguments(scope: Scope, callee: Callee, depth: number): readonly Expression[] | undefined {
    const values: Expression[] = [];
    for (const { direction, variable } of callee.parameters) {
      if (direction === 'in' || direction === 'none') {
        values.push(this.#expression(scope, variable.type, depth - 1));
        continue;
      }
      const place = this.#place(scope.writable, variable.type);
      if (place === undefined) return undefined;
      values.push(place);
    }
    return values;
  }

  #callFor(scope: Scope, type: DataType, depth: number): Expression | undefined {
    const able = scope.callees.filter(
      (each): each is IrFunction => 'returnType' in each && key(each.returnType) === key(type),
    );
    if (able.length === 0) return undefined;
    const target = this.random.pick(able);
    const values = this.#arguments(scope, target, depth);
    return values && p4.callFunction(target, ...values);
  }

  #callStatement(scope: Scope): Statement | undefined {
    if (scope.callees.length === 0) return undefined;
    const callee = this.random.pick(scope.callees);
    const values = this.#arguments(scope, callee, 2);
    if (values === undefined) return undefined;
    if ('returnType' in callee) return p4.evaluate(p4.callFunction(callee, ...values));
    return p4.evaluate('kind' in callee ? p4.applyInstance(callee, ...values) : p4.callAction(callee, ...values));
  }

  // Statements

  #statements(scope: Scope, count: number, depth: number): readonly Statement[] {
    return Array.from({ length: 1 + this.random.below(count) }, () => this.#statement(scope, depth));
  }

  #statement(scope: Scope, depth: number): Statement {
    const { random } = this;
    const kind = random.below(20);
    if (depth > 0 && kind < 3) {
      const inner = (): Statement => p4.block(...this.#statements(scope, 3, depth - 1));
      return p4.when(this.#boolean(scope, depth), inner(), random.chance(50) ? inner() : undefined);
    }
    if (kind < 6) return this.#callStatement(scope) ?? this.#assignment(scope, depth);
    if (kind < 8) return this.#validity(scope) ?? this.#assignment(scope, depth);
    if (kind === 8) return this.#pushPop(scope) ?? this.#assignment(scope, depth);
    if (kind === 9 && depth > 0) return this.#switch(scope, depth);
    if (kind === 10 && depth > 0) return this.#loop(scope, depth);
    if (kind === 11 && depth > 0) return this.#declaration(scope, depth);
    if (kind === 12 && scope.loops > 0) {
      return p4.when(this.#boolean(scope, 1), { kind: random.pick(['break', 'continue'] as const), span: p4.span });
    }
    if (kind === 13 && scope.mayExit)
      return p4.when(this.#boolean(scope, 2), random.chance(50) ? p4.exit : p4.giveBack());
    if (kind === 14 && scope.returnType !== undefined) {
      return p4.when(this.#boolean(scope, 2), p4.giveBack(this.#expression(scope, scope.returnType, 1)));
    }
    if (kind < 17) return this.#copy(scope, depth) ?? this.#assignment(scope, depth);
    return this.#assignment(scope, depth);
  }

  #assignment(scope: Scope, depth: number): Statement {
    for (let tries = 0; tries < 12; tries++) {
      const type = this.random.pick([...SCALARS, p4.bit(4)]);
      const target = this.#place(scope.writable, type);
      if (target === undefined) continue;
      if (type.kind === 'bits' && type.width > 4 && this.random.chance(15)) {
        const low = this.random.below(type.width - 3);
        const high = low + this.random.below(type.width - low);
        return p4.assign(
          p4.slice(target, high, low),
          p4.cast(p4.bit(high - low + 1), this.#expression(scope, p4.bit(48), depth)),
        );
      }
      return p4.assign(target, this.#expression(scope, type, depth));
    }
    return p4.block();
  }

  #copy(scope: Scope, depth: number): Statement | undefined {
    const type = this.random.pick<DataType>([
      this.#one,
      this.#other,
      this.#inner,
      this.#union,
      p4.stackType(this.#one, 3),
      this.#headers,
    ]);
    const target = this.#place(scope.writable, type);
    return target && p4.assign(target, this.#aggregate(scope, type, depth));
  }

  #validity(scope: Scope): Statement | undefined {
    const header = this.#place(scope.writable, this.random.pick([this.#one, this.#other]));
    return header && p4.setValid(header, this.random.chance(60));
  }

  #pushPop(scope: Scope): Statement | undefined {
    const stack = this.#place(scope.writable, p4.stackType(this.#one, 3));
    if (stack?.kind !== 'member' && stack?.kind !== 'variable') return undefined;
    const method = this.random.pick(['push_front', 'pop_front'] as const);
    return p4.evaluate({
      kind: 'push-pop',
      type: p4.nothing,
      stack,
      method,
      count: 1 + this.random.below(4),
      span: p4.span,
    });
  }

  #switch(scope: Scope, depth: number): Statement {
    const type = this.random.pick([p4.bit(8), p4.bit(48), p4.int(8)]);
    const body = (): ReturnType<typeof p4.block> => p4.block(...this.#statements(scope, 2, depth - 1));
    return {
      kind: 'switch-value',
      subject: this.#expression(scope, type, depth - 1),
      cases: Array.from({ length: 1 + this.random.below(3) }, () => ({
        values: Array.from({ length: 1 + this.random.below(2) }, () => p4.constant(this.random.bits(3), type)),
        body: body(),
      })),
      otherwise: this.random.chance(50) ? body() : undefined,
      span: p4.span,
    };
  }

  #loop(scope: Scope, depth: number): Statement {
    const inner = { ...scope, loops: scope.loops + 1 };
    const type = this.random.pick([p4.bit(8), p4.int(8), p4.bit(48)]);
    const variable = this.#place(scope.writable, type);
    if (variable?.kind !== 'variable' && variable?.kind !== 'member') return p4.block();
    const low = this.random.below(4);
    return {
      kind: 'for-range',
      variable,
      low: p4.constant(low, type),
      high: p4.constant(Math.max(0, low + this.random.below(4) - 1), type),
      body: p4.block(...this.#statements(inner, 3, depth - 1)),
      span: p4.span,
    };
  }

  #declaration(scope: Scope, depth: number): Statement {
    const type = this.random.chance(40) ? this.random.pick([this.#one, this.#inner]) : this.random.pick(SCALARS);
    const variable = p4.variable(this.#name('v'), type);
    const value = this.random.chance(70) ? this.#expression(scope, type, depth - 1) : undefined;
    const inner = { ...scope, writable: [...scope.writable, variable] };
    return p4.block(p4.declare(variable, value), ...this.#statements(inner, 3, depth - 1));
  }
}
