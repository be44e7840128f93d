import { Analysis } from '../../../src/compile/analysis.js';
import type {
  Action,
  ControlInstance,
  DataType,
  Expression,
  IrArgument,
  IrFunction,
  IrProgram,
  ParserInstance,
  SelectLabel,
  State,
  Statement,
  StateTarget,
  Variable,
} from '../../../src/ir/program.js';
import {
  clear,
  clone,
  cut,
  equal,
  invalidate,
  move,
  type ObjectValue,
  type StackValue,
  store,
  type Value,
  widthOf,
  zeroOf,
} from '../../compile/interpreter-values.js';
import { arithmetic } from './interpreter-arithmetic.js';

/*
 * A second implementation of the IR's meaning, for tests: it walks the tree, keeps every scalar as a bigint, and copies
 * arguments in and out to the letter. Slow, and without tables and externs.
 */

class ParserError extends Error {
  constructor(readonly error: number) {
    super(`parser error ${error}`);
  }
}
class Return extends Error {
  constructor(readonly value: Value | undefined) {
    super('return');
  }
}
class Exit extends Error {}
class Break extends Error {}
class Continue extends Error {}

/** A place: how to read and write it. */
interface Place {
  get(): Value;
  set(value: Value): void;
  /** The union that a header is a member of. */
  readonly union?: ObjectValue;
  readonly nextOf?: StackValue;
}

/** Runs a program over one packet. */
export class Interpreter {
  readonly hdr: ObjectValue;
  readonly meta: ObjectValue;
  readonly standard: ObjectValue;
  readonly faults = { stackIndex: 0, divisionByZero: 0 };
  #bits = '';
  #cursor = 0;
  output = '';
  lengthChange = 0;
  readonly #values = new Map<Variable, Value>();
  readonly #analysis: Analysis;

  constructor(readonly program: IrProgram) {
    this.#analysis = new Analysis(program);
    this.hdr = zeroOf(program.headers) as ObjectValue;
    this.meta = zeroOf(program.metadata) as ObjectValue;
    this.standard = zeroOf(program.standardMetadata) as ObjectValue;
  }

  /** Parser, ingress, deparser. Gives the parser's error. */
  run(bytes: Uint8Array): number {
    this.#bits = [...bytes].map((each) => each.toString(2).padStart(8, '0')).join('');
    const { parser, ingress, deparser } = this.program;
    let error = 0;
    try {
      this.#pipelinePart(parser);
    } catch (thrown) {
      if (!(thrown instanceof ParserError)) throw thrown;
      error = Math.max(0, thrown.error);
    }
    this.standard.fields.set('parser_error', BigInt(error));
    for (const part of [ingress, deparser]) {
      try {
        this.#pipelinePart(part);
      } catch (thrown) {
        if (!(thrown instanceof Exit)) throw thrown;
      }
    }
    return error;
  }

  get outputBytes(): number[] {
    return (this.output.match(/.{8}/g) ?? []).map((each) => Number.parseInt(each, 2));
  }

  get consumedBits(): number {
    return this.#cursor;
  }

  #pipelinePart(part: ControlInstance | ParserInstance): void {
    const roots = [this.hdr, this.meta, this.standard];
    part.parameters.forEach(({ variable }, index) => {
      this.#values.set(variable, roots[index]!);
    });
    this.#instance(part);
  }

  #instance(instance: ControlInstance | ParserInstance): void {
    for (const variable of instance.locals) this.#values.set(variable, zeroOf(variable.type));
    if (instance.kind === 'parser') {
      for (const state of instance.states) {
        for (const variable of state.locals) this.#values.set(variable, zeroOf(variable.type));
      }
    }
    for (const each of instance.initial) this.#statement(each);
    if (instance.kind === 'parser') this.#states(instance);
    else this.#body(instance.body);
  }

  #body(body: Statement): Value | undefined {
    try {
      this.#statement(body);
    } catch (thrown) {
      if (thrown instanceof Return) return thrown.value;
      throw thrown;
    }
    return undefined;
  }

  #states(parser: ParserInstance): void {
    let target: StateTarget = parser.start;
    while (typeof target === 'number') {
      const state: State = parser.states[target]!;
      for (const each of state.body) this.#statement(each);
      if (state.transition.kind === 'goto') target = state.transition.target;
      else {
        const keys = state.transition.keys.map((each) => this.#value(each));
        const found = state.transition.cases.find(({ labels }) =>
          labels.every((label, index) => this.#matches(label, keys[index]!)),
        );
        if (found === undefined) throw new ParserError(-1);
        target = found.target;
      }
    }
    if (target === 'reject') throw new ParserError(-1);
  }

  #matches(label: SelectLabel, key: Value): boolean {
    switch (label.kind) {
      case 'any':
        return true;
      case 'value':
        return equal(this.#value(label.value), key);
      case 'mask': {
        const mask = this.#number(label.mask);
        return ((key as bigint) & mask) === (this.#number(label.value) & mask);
      }
      case 'range':
        return (key as bigint) >= this.#number(label.low) && (key as bigint) <= this.#number(label.high);
      case 'value-set':
        throw new Error('no value sets here');
    }
  }

  // Statements

  #statement(statement: Statement): void {
    switch (statement.kind) {
      case 'block':
        for (const each of statement.statements) this.#statement(each);
        return;
      case 'declare': {
        const { variable, value } = statement;
        if (value !== undefined) {
          const initial = clone(this.#value(value));
          if (typeof initial === 'bigint') this.#values.set(variable, initial);
          else
            this.#write(
              this.#place({ kind: 'variable', type: variable.type, variable, span: statement.span }),
              initial,
              value,
            );
        }
        if (value === undefined && typeof this.#variable(variable) !== 'bigint') invalidate(this.#variable(variable));
        return;
      }
      case 'assign': {
        const place = this.#place(statement.target);
        this.#write(place, clone(this.#value(statement.value)), statement.value);
        return;
      }
      case 'evaluate':
        this.#value(statement.expression);
        return;
      case 'if':
        if (this.#value(statement.condition) === 1n) this.#statement(statement.whenTrue);
        else if (statement.whenFalse !== undefined) this.#statement(statement.whenFalse);
        return;
      case 'return':
        throw new Return(statement.value === undefined ? undefined : clone(this.#value(statement.value)));
      case 'exit':
        throw new Exit();
      case 'switch-value': {
        const subject = clone(this.#value(statement.subject));
        const found = statement.cases.find(({ values }) => values.some((each) => equal(this.#value(each), subject)));
        const body = found?.body ?? statement.otherwise;
        if (body !== undefined) this.#statement(body);
        return;
      }
      case 'for':
        for (const each of statement.initial) this.#statement(each);
        while (this.#value(statement.condition) === 1n) {
          if (!this.#turn(statement.body)) return;
          for (const each of statement.update) this.#statement(each);
        }
        return;
      case 'for-range': {
        const low = this.#number(statement.low);
        const high = this.#number(statement.high);
        const place = this.#place(statement.variable);
        for (let at = low; at <= high; at++) {
          place.set(at);
          if (!this.#turn(statement.body)) return;
        }
        return;
      }
      case 'for-elements': {
        const stack = clone(this.#value(statement.collection)) as StackValue;
        for (const each of stack.items) {
          store(this.#place(statement.variable).get(), each);
          if (!this.#turn(statement.body)) return;
        }
        return;
      }
      case 'break':
        throw new Break();
      case 'continue':
        throw new Continue();
      case 'switch-action':
        throw new Error('no tables here');
    }
  }

  /** A loop's body; false after `break`. */
  #turn(body: Statement): boolean {
    try {
      this.#statement(body);
    } catch (thrown) {
      if (thrown instanceof Break) return false;
      if (!(thrown instanceof Continue)) throw thrown;
    }
    return true;
  }

  #write(place: Place, value: Value, source?: Expression): void {
    if (typeof value === 'bigint') {
      place.set(value);
      return;
    }
    const object = place.get();
    if (source?.kind === 'default' && (object as { type?: DataType }).type?.kind === 'header') invalidate(object);
    else {
      const wasValid = typeof object !== 'bigint' && object.kind === 'object' && object.valid;
      store(object, value);
      if (source?.kind === 'aggregate') this.#count(object, wasValid);
    }
    this.#leaveUnion(place);
  }

  #count(object: Value, wasValid: boolean): void {
    if (typeof object === 'bigint' || object.kind !== 'object' || object.type.kind !== 'header') return;
    if (!wasValid && object.valid) this.lengthChange += this.#headerBits(object);
  }

  #headerBits(header: ObjectValue): number {
    let sum = widthOf(header.type);
    for (const each of header.fields.values()) if (typeof each !== 'bigint' && each.kind === 'varbit') sum += each.bits;
    return sum;
  }

  /** A member of a union was set: the others are invalid. */
  #leaveUnion(place: Place): void {
    const header = place.get();
    if (place.union === undefined) return;
    for (const each of place.union.fields.values()) if (each !== header) invalidate(each);
  }

  // Places

  #variable(variable: Variable): Value {
    let value = this.#values.get(variable);
    if (value === undefined) {
      value = zeroOf(variable.type);
      this.#values.set(variable, value);
    }
    return value;
  }

  #place(expression: Expression): Place {
    switch (expression.kind) {
      case 'variable':
        return {
          get: () => this.#variable(expression.variable),
          set: (value) => void this.#values.set(expression.variable, value),
        };
      case 'member': {
        const base = this.#place(expression.base);
        const owner = base.get() as ObjectValue;
        return {
          get: () => owner.fields.get(expression.field)!,
          set: (value) => void owner.fields.set(expression.field, value),
          ...(owner.type.kind === 'union' ? { union: owner } : {}),
          ...(base.nextOf === undefined ? {} : { nextOf: base.nextOf }),
        };
      }
      case 'element': {
        const stack = this.#place(expression.base).get() as StackValue;
        const index = this.#number(expression.index);
        const item = index < 0n ? undefined : stack.items[Number(index)];
        if (item === undefined) this.faults.stackIndex++;
        return this.#objectPlace(item ?? (zeroOf(stack.type.element) as ObjectValue));
      }
      case 'stack-next':
      case 'stack-last': {
        const stack = this.#place(expression.base).get() as StackValue;
        const item = stack.items[expression.kind === 'stack-next' ? stack.next : stack.next - 1];
        if (item === undefined) throw new ParserError(this.program.errors.indexOf('StackOutOfBounds'));
        return { ...this.#objectPlace(item), ...(expression.kind === 'stack-next' ? { nextOf: stack } : {}) };
      }
      case 'slice': {
        const base = this.#place(expression.base);
        const { high, low } = expression;
        const baseType = expression.base.type;
        const mask = ((1n << BigInt(high - low + 1)) - 1n) << BigInt(low);
        return {
          get: () => BigInt.asUintN(high - low + 1, (base.get() as bigint) >> BigInt(low)),
          set: (value) => {
            const old = BigInt.asUintN(widthOf(baseType), base.get() as bigint);
            base.set(cut((old & ~mask) | (((value as bigint) << BigInt(low)) & mask), baseType));
          },
        };
      }
      default: {
        const value = this.#value(expression);
        return { get: () => value, set: () => undefined };
      }
    }
  }

  #objectPlace(item: ObjectValue): Place {
    return { get: () => item, set: () => undefined };
  }

  // Expressions

  #number(expression: Expression): bigint {
    const value = this.#value(expression);
    if (typeof value !== 'bigint') throw new Error('no number');
    return value;
  }

  #value(expression: Expression): Value {
    switch (expression.kind) {
      case 'constant':
        return cut(expression.value, expression.type);
      case 'variable':
      case 'member':
      case 'element':
      case 'stack-next':
      case 'stack-last':
        return this.#place(expression).get();
      case 'stack-last-index':
        return BigInt.asUintN(32, BigInt((this.#place(expression.base).get() as StackValue).next) - 1n);
      case 'slice':
        return cut(this.#number(expression.base) >> BigInt(expression.low), expression.type);
      case 'dynamic-slice': {
        const base = BigInt.asUintN(widthOf(expression.base.type), this.#number(expression.base));
        const low = this.#number(expression.low);
        return low > 5000n ? 0n : cut(base >> low, expression.type);
      }
      case 'unary': {
        const value = this.#number(expression.operand);
        if (expression.operator === '!') return 1n - value;
        return cut(expression.operator === '-' ? -value : ~value, expression.type);
      }
      case 'binary':
        return this.#binary(expression);
      case 'conditional':
        return this.#value(this.#value(expression.condition) === 1n ? expression.whenTrue : expression.whenFalse);
      case 'cast':
        return cut(this.#number(expression.operand), expression.type);
      case 'aggregate':
        return this.#list(expression);
      case 'default':
        return zeroOf(expression.type);
      case 'is-valid':
        return this.#isValid(this.#value(expression.header)) ? 1n : 0n;
      case 'set-validity':
        this.#setValidity(this.#place(expression.header), expression.valid);
        return 0n;
      case 'push-pop':
        this.#pushPop(this.#place(expression.stack).get() as StackValue, expression.method, expression.count);
        return 0n;
      case 'call-function':
      case 'call-action':
      case 'apply-instance':
        return this.#call(expression.target, expression.arguments);
      case 'call-packet':
        return this.#packet(expression);
      case 'call-extern':
        if (expression.name === 'verify') {
          const condition = this.#value(expression.arguments[0]!.value!);
          const error = this.#number(expression.arguments[1]!.value!);
          if (condition === 0n) throw new ParserError(error === 0n ? -1 : Number(error));
          return 0n;
        }
        throw new Error(`no extern ${expression.name} here`);
      default:
        throw new Error(`no ${expression.kind} here`);
    }
  }

  #isValid(value: Value): boolean {
    const object = value as ObjectValue;
    return object.type.kind === 'union'
      ? [...object.fields.values()].some((each) => this.#isValid(each))
      : object.valid;
  }

  #list({ type, elements }: Extract<Expression, { readonly kind: 'aggregate' }>): Value {
    const values = elements.map((each) => clone(this.#value(each)));
    const result = zeroOf(type);
    if (typeof result === 'bigint') throw new Error('no aggregate');
    if (result.kind === 'stack') {
      for (const [index, each] of result.items.entries()) store(each, values[index]!);
    } else if (result.kind === 'object') {
      result.valid = result.type.kind === 'header';
      result.type.fields.forEach((field, index) => {
        const value = values[index]!;
        if (typeof value === 'bigint') result.fields.set(field.name, value);
        else store(result.fields.get(field.name)!, value);
      });
    }
    return result;
  }

  #setValidity(place: Place, valid: boolean): void {
    const header = place.get() as ObjectValue;
    if (valid && !header.valid) {
      store(Object.assign(header, { valid: true }), { ...(zeroOf(header.type) as ObjectValue), valid: true });
      this.lengthChange += this.#headerBits(header);
    } else if (!valid && header.valid) {
      header.valid = false;
      this.lengthChange -= this.#headerBits(header);
    }
    this.#leaveUnion(place);
  }

  #pushPop(stack: StackValue, method: 'push_front' | 'pop_front', count: number): void {
    const { items } = stack;
    const before = items.map((each) => clone(each) as ObjectValue);
    const step = method === 'push_front' ? -count : count;
    items.forEach((each, index) => {
      const from = before[index + step];
      if (from === undefined) {
        invalidate(each);
        return;
      }
      Object.assign(each, { valid: from.valid });
      for (const [name, value] of from.fields) each.fields.set(name, value);
    });
    stack.next = Math.max(0, Math.min(items.length, stack.next - step));
  }

  #binary({ operator, left, right, type }: Extract<Expression, { readonly kind: 'binary' }>): Value {
    if (operator === '&&') return this.#value(left) === 1n ? this.#value(right) : 0n;
    if (operator === '||') return this.#value(left) === 1n ? 1n : this.#value(right);
    const first = clone(this.#value(left));
    const second = this.#value(right);
    if (operator === '==') return equal(first, second) ? 1n : 0n;
    if (operator === '!=') return equal(first, second) ? 0n : 1n;
    return arithmetic(operator, first as bigint, second as bigint, left.type, right.type, type, () => {
      this.faults.divisionByZero++;
    });
  }

  /** Copy in, run, copy out in the order of the parameters, also after `exit`. */
  #call(target: IrFunction | Action | ControlInstance | ParserInstance, given: readonly IrArgument[]): Value {
    const passed = given.map((argument, index) => {
      const { variable, direction } = target.parameters[index]!;
      if (argument.value === undefined) return { variable, initial: zeroOf(variable.type) };
      if (direction === 'in' || direction === 'none') return { variable, initial: clone(this.#value(argument.value)) };
      const place = this.#place(argument.value);
      const initial = clone(place.get());
      if (direction !== 'out') return { variable, initial, place };
      // The language leaves open what out parameters begin as: that is asked of the compiler.
      const isZero = this.#analysis.beginsAtZero(target);
      if (typeof initial === 'bigint') return { variable, initial: isZero ? 0n : initial, place };
      if (isZero && initial.kind === 'object' && initial.type.kind === 'struct') clear(initial);
      else invalidate(initial);
      return { variable, initial, place };
    });
    for (const { variable, initial } of passed) this.#values.set(variable, initial);
    for (const local of localsOf(target)) this.#values.set(local, zeroOf(local.type));
    let result: Value | undefined;
    let failure: unknown;
    try {
      if ('kind' in target) this.#instance(target);
      else result = this.#body(target.body);
    } catch (thrown) {
      if (!(thrown instanceof Exit || thrown instanceof ParserError)) throw thrown;
      failure = thrown;
    }
    for (const { variable, place } of passed) {
      if (place === undefined) continue;
      const value = clone(this.#variable(variable));
      if (typeof value === 'bigint') place.set(value);
      else {
        move(place.get(), value);
        this.#leaveUnion(place);
      }
    }
    if (failure !== undefined) throw failure;
    return result ?? 0n;
  }

  // Packets

  #packet({ method, arguments: given, type }: Extract<Expression, { readonly kind: 'call-packet' }>): Value {
    const left = this.#bits.length - this.#cursor;
    const fail = (name: string): never => {
      throw new ParserError(this.program.errors.indexOf(name));
    };
    switch (method) {
      case 'extract': {
        const place = this.#place(given[0]!.value!);
        const size = given[1]?.value === undefined ? 0n : this.#number(given[1].value);
        const header = place.get() as ObjectValue;
        const most = header.type.fields.reduce(
          (sum, each) => sum + (each.type.kind === 'varbit' ? each.type.maxWidth : 0),
          0,
        );
        if (size % 8n !== 0n) fail('ParserInvalidArgument');
        if (BigInt(left) < size + BigInt(widthOf(header.type))) fail('PacketTooShort');
        if (size > BigInt(most)) fail('HeaderTooShort');
        this.#load(header, Number(size));
        if (place.nextOf !== undefined) place.nextOf.next++;
        this.#leaveUnion(place);
        return 0n;
      }
      case 'lookahead': {
        if (left < widthOf(type)) fail('PacketTooShort');
        const before = this.#cursor;
        const value = zeroOf(type);
        const result = typeof value === 'bigint' ? cut(this.#take(widthOf(type)), type) : value;
        if (typeof value !== 'bigint') this.#load(value, 0);
        this.#cursor = before;
        return result;
      }
      case 'advance': {
        const bits = this.#number(given[0]!.value!);
        if (bits % 8n !== 0n) fail('ParserInvalidArgument');
        if (bits > BigInt(left)) fail('PacketTooShort');
        this.#cursor += Number(bits);
        return 0n;
      }
      case 'emit':
        this.#emit(this.#value(given[0]!.value!));
        return 0n;
      case 'length':
        return BigInt(this.#bits.length / 8);
    }
  }

  #take(width: number): bigint {
    const text = this.#bits.slice(this.#cursor, this.#cursor + width);
    this.#cursor += width;
    return text === '' ? 0n : BigInt(`0b${text}`);
  }

  #load(value: Value, size: number): void {
    if (typeof value === 'bigint') return;
    if (value.kind === 'varbit') {
      value.bits = size;
      value.value = this.#take(size);
    } else if (value.kind === 'stack') for (const each of value.items) this.#load(each, size);
    else {
      value.valid = value.type.kind === 'header';
      for (const field of value.type.fields) {
        const inner = value.fields.get(field.name)!;
        if (typeof inner === 'bigint') value.fields.set(field.name, cut(this.#take(widthOf(field.type)), field.type));
        else this.#load(inner, size);
      }
    }
  }

  #emit(value: Value): void {
    if (typeof value === 'bigint' || value.kind === 'varbit') return;
    if (value.kind === 'stack') for (const each of value.items) this.#emit(each);
    else if (value.type.kind !== 'header') for (const each of value.fields.values()) this.#emit(each);
    else if (value.valid) this.#emitFields(value);
  }

  #emitFields(value: ObjectValue): void {
    for (const field of value.type.fields) {
      const inner = value.fields.get(field.name)!;
      if (typeof inner === 'bigint') {
        const width = widthOf(field.type);
        if (width > 0) this.output += BigInt.asUintN(width, inner).toString(2).padStart(width, '0');
      } else if (inner.kind === 'object') this.#emitFields(inner);
      else if (inner.kind === 'varbit' && inner.bits > 0)
        this.output += inner.value.toString(2).padStart(inner.bits, '0');
    }
  }

  /** As `PipelineCode.snapshot`: fields of valid headers and of metadata, by name. */
  snapshot(): Map<string, string> {
    const map = new Map<string, string>();
    collect(map, 'hdr', this.hdr);
    collect(map, 'meta', this.meta);
    collect(map, 'standard_metadata', this.standard);
    return map;
  }
}

function collect(map: Map<string, string>, name: string, value: Value): void {
  if (typeof value === 'bigint') map.set(name, value.toString());
  else if (value.kind === 'varbit') {
    map.set(name, value.bits === 0 ? '0x' : `0x${value.value.toString(16).padStart(value.bits / 4, '0')}`);
  } else if (value.kind === 'stack') {
    for (const [index, each] of value.items.entries()) collect(map, `${name}[${index}]`, each);
  } else if (value.type.kind !== 'header' || value.valid) {
    for (const [field, each] of value.fields) collect(map, `${name}.${field}`, each);
  }
}

function localsOf(target: IrFunction | Action | ControlInstance | ParserInstance): readonly Variable[] {
  const found: Variable[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      node.forEach(visit);
      return;
    }
    const each = node as { readonly kind?: string; readonly variable?: Variable };
    if (each.kind === 'declare' && each.variable !== undefined) found.push(each.variable);
    for (const key of [
      'statements',
      'whenTrue',
      'whenFalse',
      'body',
      'cases',
      'otherwise',
      'initial',
      'update',
    ] as const) {
      visit((node as Record<string, unknown>)[key]);
    }
  };
  if (!('states' in target)) visit(target.body);
  return found;
}
