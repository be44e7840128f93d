import type {
  Action,
  Block,
  ControlInstance,
  DataType,
  Expression,
  IrArgument,
  IrField,
  IrFunction,
  IrParameter,
  IrProgram,
  ParserInstance,
  State,
  Statement,
  StructDataType,
  Variable,
} from '../../../src/ir/program.js';
import type { Runtime } from '../../../src/machine/runtime.js';
import type { Span } from '../../../src/source/position.js';
import type { BinaryOperator, Direction } from '../../../src/syntax/ast.js';
import { NO_SURFACE } from '../no-surface.js';

export const span: Span = { file: { name: 'test.p4', text: '' }, start: 0, end: 0 };

export const bool: DataType = { kind: 'bool' };
export const errorType: DataType = { kind: 'error' };
export const nothing: DataType = { kind: 'void' };

export function bit(width: number): DataType {
  return { kind: 'bits', width, isSigned: false };
}

export function int(width: number): DataType {
  return { kind: 'bits', width, isSigned: true };
}

export function varbit(maxWidth: number): DataType {
  return { kind: 'varbit', maxWidth };
}

function struct(
  kind: 'struct' | 'header' | 'union',
  name: string,
  fields: Readonly<Record<string, DataType>>,
): StructDataType {
  const list = Object.entries(fields).map(([each, type]): IrField => ({ name: each, type, annotations: new Map() }));
  return { kind, name, id: name, fields: list };
}

export function structType(name: string, fields: Readonly<Record<string, DataType>>): StructDataType {
  return struct('struct', name, fields);
}

export function headerType(name: string, fields: Readonly<Record<string, DataType>>): StructDataType {
  return struct('header', name, fields);
}

export function unionType(name: string, fields: Readonly<Record<string, DataType>>): StructDataType {
  return struct('union', name, fields);
}

export function stackType(element: StructDataType, size: number): DataType {
  return { kind: 'stack', element, size };
}

let serial = 0;

export function variable(name: string, type: DataType): Variable {
  return { id: serial++, name, type };
}

// Expressions

export function constant(value: bigint | number, type: DataType): Expression {
  return { kind: 'constant', type, value: BigInt(value), span };
}

export function read(each: Variable): Expression & { readonly kind: 'variable' } {
  return { kind: 'variable', type: each.type, variable: each, span };
}

export function member(base: Expression, field: string): Expression & { readonly kind: 'member' } {
  const { type } = base;
  if (type.kind !== 'struct' && type.kind !== 'header' && type.kind !== 'union') throw new Error('no fields');
  const found = type.fields.find((each) => each.name === field);
  if (found === undefined) throw new Error(`no field ${field}`);
  return { kind: 'member', type: found.type, base, field, span };
}

/** `path(hdr, 'a', 'b')` is `hdr.a.b`. */
export function path(
  base: Variable,
  ...fields: readonly string[]
): Expression & { readonly kind: 'member' | 'variable' } {
  let result: Expression & { readonly kind: 'member' | 'variable' } = read(base);
  for (const field of fields) result = member(result, field);
  return result;
}

export function element(base: Expression, index: Expression): Expression & { readonly kind: 'element' } {
  if (base.type.kind !== 'stack') throw new Error('no stack');
  return { kind: 'element', type: base.type.element, base, index, span };
}

export function stackEnd(
  kind: 'stack-next' | 'stack-last',
  base: Expression,
): Expression & { readonly kind: 'stack-next' | 'stack-last' } {
  if (base.type.kind !== 'stack') throw new Error('no stack');
  return { kind, type: base.type.element, base, span };
}

export function slice(base: Expression, high: number, low: number): Expression & { readonly kind: 'slice' } {
  return { kind: 'slice', type: bit(high - low + 1), base, high, low, span };
}

const COMPARISONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=', '&&', '||']);

export function binary(operator: BinaryOperator, left: Expression, right: Expression): Expression {
  let type = COMPARISONS.has(operator) ? bool : left.type;
  if (operator === '++' && left.type.kind === 'bits' && right.type.kind === 'bits') {
    type = { kind: 'bits', width: left.type.width + right.type.width, isSigned: left.type.isSigned };
  }
  return { kind: 'binary', type, operator, left, right, span };
}

export function unary(operator: '-' | '~' | '!', operand: Expression): Expression {
  return { kind: 'unary', type: operand.type, operator, operand, span };
}

export function cast(type: DataType, operand: Expression): Expression {
  return { kind: 'cast', type, operand, span };
}

export function conditional(condition: Expression, whenTrue: Expression, whenFalse: Expression): Expression {
  return { kind: 'conditional', type: whenTrue.type, condition, whenTrue, whenFalse, span };
}

export function list(type: DataType, ...elements: readonly Expression[]): Expression {
  return { kind: 'aggregate', type, elements, span };
}

export function isValid(header: Expression): Expression {
  return { kind: 'is-valid', type: bool, header, span };
}

export function argument(direction: Direction, value: Expression | undefined): IrArgument {
  return { direction, value };
}

export function callFunction(target: IrFunction, ...values: readonly Expression[]): Expression {
  return {
    kind: 'call-function',
    type: target.returnType,
    target,
    arguments: argumentsOf(target.parameters, values),
    span,
  };
}

export function callAction(target: Action, ...values: readonly Expression[]): Expression {
  return { kind: 'call-action', type: nothing, target, arguments: argumentsOf(target.parameters, values), span };
}

export function applyInstance(target: ControlInstance | ParserInstance, ...values: readonly Expression[]): Expression {
  return { kind: 'apply-instance', type: nothing, target, arguments: argumentsOf(target.parameters, values), span };
}

function argumentsOf(parameters: readonly IrParameter[], values: readonly Expression[]): readonly IrArgument[] {
  return values.map((value, index) => ({ direction: parameters[index]?.direction ?? 'in', value }));
}

export function callExtern(name: string, ...given: readonly IrArgument[]): Expression {
  return { kind: 'call-extern', type: nothing, name, typeArguments: [], arguments: given, span };
}

export function packet(method: 'extract' | 'emit' | 'advance', ...values: readonly Expression[]): Statement {
  const direction = method === 'extract' ? 'out' : 'in';
  const given = values.map((value, index): IrArgument => ({ direction: index === 0 ? direction : 'in', value }));
  return evaluate({ kind: 'call-packet', type: nothing, method, arguments: given, span });
}

export function lookahead(type: DataType): Expression {
  return { kind: 'call-packet', type, method: 'lookahead', arguments: [], span };
}

// Statements

export function block(...statements: readonly Statement[]): Block {
  return { kind: 'block', statements, span };
}

export function assign(target: Expression, value: Expression): Statement {
  switch (target.kind) {
    case 'variable':
    case 'member':
    case 'element':
    case 'stack-next':
    case 'stack-last':
    case 'slice':
      return { kind: 'assign', target, value, span };
    default:
      throw new Error(`no l-value: ${target.kind}`);
  }
}

export function evaluate(expression: Expression): Statement {
  return { kind: 'evaluate', expression, span };
}

export function when(condition: Expression, whenTrue: Statement, whenFalse?: Statement): Statement {
  return { kind: 'if', condition, whenTrue, whenFalse, span };
}

export function declare(each: Variable, value?: Expression): Statement {
  return { kind: 'declare', variable: each, value, span };
}

export function setValid(header: Expression, valid: boolean): Statement {
  if (header.kind !== 'variable' && header.kind !== 'member' && header.kind !== 'element') throw new Error('no header');
  return evaluate({ kind: 'set-validity', type: nothing, header, valid, span });
}

export const exit: Statement = { kind: 'exit', span };

export function giveBack(value?: Expression): Statement {
  return { kind: 'return', value, span };
}

// Declarations

export function parameter(direction: Direction, each: Variable): IrParameter {
  return { variable: each, direction };
}

export function action(name: string, parameters: readonly IrParameter[], ...body: readonly Statement[]): Action {
  return { id: serial++, name, parameters, body: block(...body), annotations: new Map(), span };
}

export function func(
  name: string,
  returnType: DataType,
  parameters: readonly IrParameter[],
  ...body: readonly Statement[]
): IrFunction {
  return { id: serial++, name, parameters, returnType, body: block(...body), span };
}

export function state(name: string, transition: State['transition'], ...body: readonly Statement[]): State {
  return { name, locals: [], body, transition, span };
}

export function goTo(target: number | 'accept' | 'reject'): State['transition'] {
  return { kind: 'goto', target };
}

export function control(
  name: string,
  parameters: readonly IrParameter[],
  locals: readonly Variable[],
  ...body: readonly Statement[]
): ControlInstance {
  return {
    kind: 'control',
    name,
    typeName: name,
    parameters,
    locals,
    initial: [],
    actions: [],
    tables: [],
    body: block(...body),
    span,
  };
}

function parser(name: string, parameters: readonly IrParameter[], ...states: readonly State[]): ParserInstance {
  return { kind: 'parser', name, typeName: name, parameters, locals: [], initial: [], states, start: 0, span };
}

const standardMetadata: StructDataType = structType('standard_metadata_t', {
  ingress_port: bit(9),
  egress_spec: bit(9),
  egress_port: bit(9),
  instance_type: bit(32),
  packet_length: bit(32),
  enq_timestamp: bit(32),
  enq_qdepth: bit(19),
  deq_timedelta: bit(32),
  deq_qdepth: bit(19),
  ingress_global_timestamp: bit(48),
  egress_global_timestamp: bit(48),
  mcast_grp: bit(16),
  egress_rid: bit(16),
  checksum_error: bit(1),
  parser_error: errorType,
  priority: bit(3),
});

const errors = [
  'NoError',
  'PacketTooShort',
  'NoMatch',
  'StackOutOfBounds',
  'HeaderTooShort',
  'ParserTimeout',
  'ParserInvalidArgument',
  'Mine',
];

/** What a part of the pipeline sees. */
export interface Roots {
  readonly hdr: Variable;
  readonly meta: Variable;
  readonly standard: Variable;
}

export interface Parts {
  readonly headers?: StructDataType;
  readonly metadata?: StructDataType;
  readonly states?: (roots: Roots) => readonly State[];
  readonly ingress?: (roots: Roots) => { readonly locals?: readonly Variable[]; readonly body: readonly Statement[] };
  readonly deparser?: (roots: Roots) => readonly Statement[];
  readonly program?: Partial<IrProgram>;
}

/** A program of v1model: the parts that are not given do nothing; the deparser emits all headers. */
export function program(parts: Parts): IrProgram {
  const headers = parts.headers ?? structType('headers_t', {});
  const metadata = parts.metadata ?? structType('metadata_t', {});
  const roots = (): Roots => ({
    hdr: variable('hdr', headers),
    meta: variable('meta', metadata),
    standard: variable('standard_metadata', standardMetadata),
  });
  const all = ({ hdr, meta, standard }: Roots): readonly IrParameter[] => [
    parameter('inout', hdr),
    parameter('inout', meta),
    parameter('inout', standard),
  ];
  const empty = (name: string): ControlInstance => control(name, all(roots()), []);
  const ofParser = roots();
  const ofIngress = roots();
  const ofDeparser = roots();
  const ingress = parts.ingress?.(ofIngress);
  return {
    structs: [],
    errors,
    parser: parser('MyParser', all(ofParser), ...(parts.states?.(ofParser) ?? [state('start', goTo('accept'))])),
    verifyChecksum: empty('MyVerify'),
    ingress: control('MyIngress', all(ofIngress), ingress?.locals ?? [], ...(ingress?.body ?? [])),
    egress: empty('MyEgress'),
    computeChecksum: empty('MyCompute'),
    deparser: control(
      'MyDeparser',
      [parameter('in', ofDeparser.hdr)],
      [],
      ...(parts.deparser?.(ofDeparser) ?? [packet('emit', read(ofDeparser.hdr))]),
    ),
    headers,
    metadata,
    standardMetadata,
    externs: [],
    tables: [],
    actions: [],
    functions: [],
    valueSets: [],
    fieldLists: new Map(),
    surface: NO_SURFACE,
    enums: [],
    ...parts.program,
  };
}

/** A runtime without tables and externs. */
export function runtimeOf(bytes: Uint8Array, more: Partial<Runtime> = {}): Runtime {
  // The packet lies within a larger array, so that a wrong offset is seen.
  const inside = new Uint8Array(bytes.length + 11).fill(0xee);
  inside.set(bytes, 5);
  return {
    input: { bytes: inside, start: 5, length: bytes.length, cursor: 0 },
    output: { bytes: new Uint8Array(8).fill(0xdd), bits: 0, most: 1 << 20 },
    requests: { cloneSession: -1, cloneFieldList: -1, resubmit: -1, recirculate: -1, truncate: -1, lengthChange: 0 },
    faults: { stackIndex: 0, externIndex: 0, divisionByZero: 0, parserLoop: 0, assertion: 0, internal: 0 },
    work: { left: 1 << 24 },
    tables: [],
    externs: [],
    valueSets: [],
    packetLength: bytes.length,
    nowUs: 0,
    payloadStart: 0,
    payloadLength: 0,
    hash: () => 0n,
    random: (low) => low,
    digest: () => undefined,
    log: () => undefined,
    poison: undefined,
    trace: undefined,
    ...more,
  };
}

/** Seed of the random tests. */
export function seedOf(): number {
  return Number(process.env.INT_SEED ?? 20_260_601);
}
