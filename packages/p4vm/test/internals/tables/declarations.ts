import type {
  Action,
  ActionCall,
  ConstEntry,
  DataType,
  ExternArgument,
  ExternInstance,
  IrProgram,
  KeyMatch,
  MatchKind,
  Table,
  TableKey,
  ValueSet,
} from '../../../src/ir/program.js';
import type { PacketEnvironment } from '../../../src/machine/runtime.js';
import type { Span } from '../../../src/source/position.js';
import type { EntryTarget } from '../../../src/tables/match-table.js';
import { NO_SURFACE } from '../no-surface.js';

/** Hand-written declarations, as the front end would make them. */

export const seed = Number(process.env.INT_SEED ?? 20_261_121);

export const nowhere: Span = { file: { name: 'test.p4', text: '' }, start: 0, end: 0 };

export function bits(width: number, isSigned = false): DataType {
  return { kind: 'bits', width, isSigned };
}

export function hashAlgorithm(): DataType {
  return {
    kind: 'enum',
    name: 'HashAlgorithm',
    members: ['crc32', 'crc32_custom', 'crc16', 'crc16_custom', 'random', 'identity', 'csum16', 'xor16'],
  };
}

let ids = 1000;

export function action(id: number, name: string, ...parameters: readonly (readonly [string, DataType])[]): Action {
  return {
    id,
    name,
    parameters: parameters.map(([parameter, type]) => ({
      variable: { id: ids++, name: parameter, type },
      direction: 'none',
    })),
    body: { kind: 'block', statements: [], span: nowhere },
    annotations: new Map(),
    span: nowhere,
  };
}

export function key(name: string, type: DataType, matchKind: MatchKind): TableKey {
  return { expression: { kind: 'default', type, span: nowhere }, type, matchKind, name };
}

export function call(position: number, ...data: readonly (number | bigint)[]): ActionCall {
  return { action: position, data: data.map(BigInt) };
}

/** The target of an entry: an action by its position, with data. */
export function to(position: number, ...data: readonly (number | bigint)[]): EntryTarget {
  return { kind: 'action', call: call(position, ...data) };
}

export function constEntry(
  keys: readonly KeyMatch[],
  target: ActionCall,
  priority: number,
  isConst = true,
): ConstEntry {
  return { keys, call: target, priority, isConst, span: nowhere };
}

export interface TableOptions extends Partial<Omit<Table, 'keys' | 'actions'>> {
  readonly keys?: readonly TableKey[];
  readonly actions?: readonly Action[];
}

export const noAction = action(0, 'NoAction');
export const forward = action(1, 'MyIngress.forward', ['port', bits(9)]);
export const drop = action(2, 'MyIngress.drop');
export const rewrite = action(3, 'MyIngress.rewrite', ['mac', bits(48)], ['delta', bits(8, true)]);

export function table(options: TableOptions = {}): Table {
  const { actions = [noAction, forward, drop, rewrite], ...rest } = options;
  return {
    id: 0,
    name: 'MyIngress.t',
    keys: [],
    defaultAction: call(0),
    isDefaultConst: false,
    entries: [],
    areEntriesConst: false,
    size: 1024,
    implementation: undefined,
    counter: undefined,
    meter: undefined,
    supportsTimeout: false,
    annotations: new Map(),
    span: nowhere,
    ...rest,
    actions: actions.map((each) => ({ action: each, bound: [], isTableOnly: false, isDefaultOnly: false })),
  };
}

export function extern(
  id: number,
  type: string,
  name: string,
  args: readonly ExternArgument[],
  typeArguments: readonly DataType[] = [],
): ExternInstance {
  return { id, type, name, typeArguments, arguments: args, annotations: new Map(), span: nowhere };
}

export const integer = (value: number): ExternArgument => ({ kind: 'integer', value: BigInt(value) });
export const member = (of: string, name: string): ExternArgument => ({ kind: 'enum', name: of, member: name });

export function valueSet(id: number, name: string, size: number, ...keys: readonly TableKey[]): ValueSet {
  return { id, name, type: keys[0]!.type, keys, size, span: nowhere };
}

export interface MutableEnvironment extends PacketEnvironment {
  packetLength: number;
  nowUs: number;
}

export function environment(): MutableEnvironment {
  return {
    packetLength: 64,
    nowUs: 0,
    faults: { stackIndex: 0, externIndex: 0, divisionByZero: 0, parserLoop: 0, assertion: 0, internal: 0 },
  };
}

/** A program of these tables and extern objects that does nothing else. */
export function program(parts: Partial<IrProgram> = {}): IrProgram {
  const control = (name: string): IrProgram['ingress'] => ({
    kind: 'control',
    name,
    typeName: name,
    parameters: [],
    locals: [],
    initial: [],
    span: nowhere,
    actions: [],
    tables: [],
    body: { kind: 'block', statements: [], span: nowhere },
  });
  const struct = (name: string): IrProgram['headers'] => ({ kind: 'struct', name, id: name, fields: [] });
  return {
    structs: [],
    errors: ['NoError'],
    parser: {
      kind: 'parser',
      name: 'MyParser',
      typeName: 'MyParser',
      parameters: [],
      locals: [],
      initial: [],
      span: nowhere,
      states: [],
      start: 0,
    },
    verifyChecksum: control('MyVerify'),
    ingress: control('MyIngress'),
    egress: control('MyEgress'),
    computeChecksum: control('MyCompute'),
    deparser: control('MyDeparser'),
    headers: struct('headers'),
    metadata: struct('metadata'),
    standardMetadata: struct('standard_metadata_t'),
    externs: [],
    tables: [],
    actions: [],
    functions: [],
    valueSets: [],
    fieldLists: new Map(),
    surface: NO_SURFACE,
    enums: [],
    ...parts,
  };
}

export const exact = (value: number | bigint): KeyMatch => ({ kind: 'exact', value: BigInt(value) });
export const masked = (value: number | bigint, mask: number | bigint): KeyMatch => ({
  kind: 'mask',
  value: BigInt(value),
  mask: BigInt(mask),
});
export const prefix = (value: number | bigint, length: number): KeyMatch => ({
  kind: 'prefix',
  value: BigInt(value),
  length,
});
export const range = (low: number | bigint, high: number | bigint): KeyMatch => ({
  kind: 'range',
  low: BigInt(low),
  high: BigInt(high),
});
export const any: KeyMatch = { kind: 'any' };
