import { nameCalculations } from '../externs/calculation-names.js';
import type { ActionCall, DataType, Expression, ExternInstance, IrProgram, Table } from '../ir/program.js';
import { dataParameters, widthOf } from '../tables/data-width.js';
import { hasPriorities } from '../tables/match-index.js';
import { DEFAULT_TABLE_SIZE } from '../tables/match-table.js';

/** A value's type: its width in bits, and its kind unless it is `bit<width>`. */
export interface TypeDescription {
  readonly width: number;
  readonly kind: 'bit' | 'int' | 'bool' | 'enum' | 'error';
  /** Name of the enum. */
  readonly enum?: string;
}

export interface TableDescription {
  readonly id: number;
  readonly name: string;
  readonly keys: readonly ({ readonly name: string; readonly match: string } & TypeDescription)[];
  /** Full names. */
  readonly actions: readonly {
    readonly name: string;
    readonly tableOnly: boolean;
    readonly defaultOnly: boolean;
  }[];
  readonly size: number;
  /** Whether entries need a priority. */
  readonly priorities: boolean;
  readonly defaultAction: { readonly name: string; readonly data: readonly string[]; readonly const: boolean } | null;
  readonly constEntries: boolean;
  /** Entries of the program. */
  readonly entries: number;
  readonly timeouts: boolean;
  /** Names of the table's extern objects. */
  readonly actionProfile: string | null;
  readonly directCounter: string | null;
  readonly directMeter: string | null;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ActionDescription {
  readonly id: number;
  readonly name: string;
  readonly parameters: readonly ({ readonly name: string } & TypeDescription)[];
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ArrayDescription {
  readonly name: string;
  /** Null for direct ones. */
  readonly size: number | null;
  /** `packets`, `bytes` or `packets_and_bytes`. */
  readonly unit: string;
  /** Table of a direct one. */
  readonly table: string | null;
}

/** A program as the control plane sees it: plain data, ready for JSON. */
export interface ProgramDescription {
  readonly tables: readonly TableDescription[];
  readonly actions: readonly ActionDescription[];
  readonly counters: readonly ArrayDescription[];
  readonly meters: readonly ArrayDescription[];
  readonly registers: readonly ({ readonly name: string; readonly size: number } & TypeDescription)[];
  readonly actionProfiles: readonly {
    readonly name: string;
    readonly size: number;
    /** Null without selector. */
    readonly selector: string | null;
    readonly tables: readonly string[];
  }[];
  readonly valueSets: readonly {
    readonly name: string;
    readonly size: number;
    readonly keys: readonly ({ readonly name: string; readonly match: string } & TypeDescription)[];
  }[];
  /** Learn lists: the data that `digest` sends. */
  readonly digests: readonly {
    readonly name: string;
    readonly fields: readonly ({ readonly name: string } & TypeDescription)[];
  }[];
  readonly calculations: readonly { readonly name: string; readonly algorithm: string }[];
  readonly enums: readonly { readonly name: string; readonly members: readonly string[] }[];
  readonly errors: readonly string[];
}

function typeOf(type: DataType): TypeDescription {
  const width = widthOf(type);
  if (type.kind === 'enum') return { width, kind: 'enum', enum: type.name };
  if (type.kind === 'bits') {
    const kind = type.isSigned ? 'int' : 'bit';
    return type.enumName === undefined ? { width, kind } : { width, kind, enum: type.enumName };
  }
  return { width, kind: type.kind === 'bool' ? 'bool' : 'error' };
}

function defaultOf(table: Table, call: ActionCall | undefined): TableDescription['defaultAction'] {
  if (call === undefined) return null;
  return {
    name: table.actions[call.action]?.action.name ?? '',
    data: call.data.map(String),
    const: table.isDefaultConst,
  };
}

function tableOf(table: Table): TableDescription {
  return {
    id: table.id,
    name: table.name,
    keys: table.keys.map((key) => ({ name: key.name, match: key.matchKind, ...typeOf(key.type) })),
    actions: table.actions.map(({ action, isTableOnly, isDefaultOnly }) => ({
      name: action.name,
      tableOnly: isTableOnly,
      defaultOnly: isDefaultOnly,
    })),
    size: Math.max(table.size > 0 ? table.size : DEFAULT_TABLE_SIZE, table.entries.length),
    priorities: hasPriorities(table.keys.map(({ matchKind }) => matchKind)),
    defaultAction: defaultOf(table, table.defaultAction),
    constEntries: table.areEntriesConst,
    entries: table.entries.length,
    timeouts: table.supportsTimeout,
    actionProfile: table.implementation?.name ?? null,
    directCounter: table.counter?.name ?? null,
    directMeter: table.meter?.name ?? null,
    annotations: Object.fromEntries(table.annotations),
  };
}

function sizeOf(extern: ExternInstance): number {
  const argument = extern.arguments.find((each) => each.kind === 'integer');
  return argument?.kind === 'integer' ? Number(argument.value) : 0;
}

function memberOf(extern: ExternInstance): string | undefined {
  const argument = extern.arguments.find((each) => each.kind === 'enum');
  return argument?.kind === 'enum' ? argument.member : undefined;
}

function arraysOf(program: IrProgram, kind: 'counter' | 'meter'): ArrayDescription[] {
  return program.externs
    .filter(({ type }) => type === kind || type === `direct_${kind}`)
    .map((extern) => {
      const isDirect = extern.type !== kind;
      return {
        name: extern.name,
        size: isDirect ? null : sizeOf(extern),
        unit: memberOf(extern) ?? '',
        table: program.tables.find((table) => table[kind]?.id === extern.id)?.name ?? null,
      };
    });
}

type CallExtern = Expression<'call-extern'>;

/** Calls of `digest`, in no order. The search visits nodes as plain objects. */
function digestCalls(program: IrProgram): CallExtern[] {
  const seen = new Set<object>();
  const calls: CallExtern[] = [];
  const pending: unknown[] = [program.ingress, program.egress, program.deparser, program.actions, program.functions];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (typeof node !== 'object' || node === null || seen.has(node)) continue;
    seen.add(node);
    const call = node as CallExtern;
    if (call.kind === 'call-extern' && call.name === 'digest') calls.push(call);
    for (const [key, value] of Object.entries(node)) {
      // Types and places in the source hold no calls; undefined would end the search.
      if (key !== 'type' && key !== 'span' && value !== undefined) pending.push(value);
    }
  }
  return calls;
}

function digestsOf(program: IrProgram): ProgramDescription['digests'] {
  const lists = new Map<string, ProgramDescription['digests'][number]>();
  for (const call of digestCalls(program)) {
    const type = call.arguments[1]?.value?.type;
    if (type === undefined) continue;
    const name = type.kind === 'struct' && type.name !== '' ? type.name : 'digest';
    const members = type.kind === 'struct' ? type.fields : [{ name: 'f0', type }];
    const scalar = members.filter(({ type: each }) => ['bits', 'bool', 'enum', 'error'].includes(each.kind));
    lists.set(name, { name, fields: scalar.map((field) => ({ name: field.name, ...typeOf(field.type) })) });
  }
  return [...lists.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Describes tables, actions and extern objects of a program, as a P4Info file does. */
export function describeProgram(program: IrProgram): ProgramDescription {
  return {
    tables: program.tables.map(tableOf),
    actions: program.actions.map((action) => ({
      id: action.id,
      name: action.name,
      parameters: dataParameters(action.parameters).map(({ variable }) => ({
        name: variable.name,
        ...typeOf(variable.type),
      })),
      annotations: Object.fromEntries(action.annotations),
    })),
    counters: arraysOf(program, 'counter'),
    meters: arraysOf(program, 'meter'),
    registers: program.externs
      .filter(({ type }) => type === 'register')
      .map((extern) => ({
        name: extern.name,
        size: sizeOf(extern),
        ...typeOf(extern.typeArguments[0] ?? { kind: 'bits', width: 0, isSigned: false }),
      })),
    actionProfiles: program.externs
      .filter(({ type }) => type === 'action_profile' || type === 'action_selector')
      .map((extern) => ({
        name: extern.name,
        size: sizeOf(extern),
        selector: memberOf(extern) ?? null,
        tables: program.tables.filter((table) => table.implementation?.id === extern.id).map((table) => table.name),
      })),
    valueSets: program.valueSets.map((set) => ({
      name: set.name,
      size: set.size,
      keys: set.keys.map((key) => ({ name: key.name, match: key.matchKind, ...typeOf(key.type) })),
    })),
    digests: digestsOf(program),
    calculations: nameCalculations(program).map(({ name, algorithm }) => ({ name, algorithm })),
    enums: program.enums.map(({ name, members }) => ({ name, members: [...members] })),
    errors: [...program.errors],
  };
}
