import {
  ActionRef_Scope,
  type Action as InfoAction,
  type ActionProfile as InfoProfile,
  type Table as InfoTable,
  type MatchField,
  MatchField_MatchType,
  MeterSpec_Type,
  MeterSpec_Unit,
  type P4Info,
  type Preamble,
  Table_IdleTimeoutBehavior,
} from '../generated/p4/config/v1/p4info_pb.js';
import { type DataSpec, DataSpecs } from './data-spec.js';
import { invalid } from './refusal.js';

/** A field of a table's key or of a value set. */
export interface FieldSchema {
  readonly id: number;
  readonly name: string;
  /** Place in the key, from 0. */
  readonly position: number;
  /** In bits. */
  readonly width: number;
  readonly kind: 'exact' | 'lpm' | 'ternary' | 'range' | 'optional';
}

/** A parameter of an action, or a field of a controller header. */
export interface ParameterSchema {
  readonly id: number;
  readonly name: string;
  readonly position: number;
  /** In bits. */
  readonly width: number;
}

export interface ActionSchema {
  readonly id: number;
  readonly name: string;
  readonly parameters: readonly ParameterSchema[];
}

/** Where a table may use an action. */
export interface ActionUse {
  readonly action: ActionSchema;
  readonly mayBeEntry: boolean;
  readonly mayBeDefault: boolean;
}

export interface TableSchema {
  readonly id: number;
  readonly name: string;
  readonly fields: readonly FieldSchema[];
  /** Whether entries have priorities: with a ternary, range or optional field. */
  readonly hasPriorities: boolean;
  readonly actions: ReadonlyMap<number, ActionUse>;
  readonly isDefaultConst: boolean;
  readonly profile: ProfileSchema | undefined;
  readonly counter: number | undefined;
  readonly meter: MeterSchema | undefined;
  readonly size: number;
  readonly supportsTimeout: boolean;
  readonly isConst: boolean;
  readonly hasInitialEntries: boolean;
}

export interface ProfileSchema {
  readonly id: number;
  readonly name: string;
  readonly hasSelector: boolean;
  /** 0: not given. */
  readonly size: number;
  /** 0: no limit. */
  readonly maxGroupSize: number;
  /** Whether the size of a group is the number of its members, and not the sum of their weights. */
  readonly countsMembers: boolean;
  /** Largest weight where members count; 0: no limit. */
  readonly maxMemberWeight: number;
  readonly areWeightsDisallowed: boolean;
  readonly tables: readonly number[];
}

export interface ArraySchema {
  readonly id: number;
  readonly name: string;
  readonly size: number;
}

export interface MeterSchema extends ArraySchema {
  readonly type: 'two-rate' | 'single-rate' | 'two-colour';
  readonly unit: 'bytes' | 'packets';
  readonly isDirect: boolean;
}

export interface RegisterSchema extends ArraySchema {
  readonly data: DataSpec;
}

export interface ValueSetSchema extends ArraySchema {
  readonly fields: readonly FieldSchema[];
}

export interface DigestSchema {
  readonly id: number;
  readonly name: string;
  readonly data: DataSpec;
}

/** The parts of a pipeline by the ids of its P4Info. */
export interface PipelineSchema {
  readonly tables: ReadonlyMap<number, TableSchema>;
  readonly actions: ReadonlyMap<number, ActionSchema>;
  readonly profiles: ReadonlyMap<number, ProfileSchema>;
  readonly counters: ReadonlyMap<number, ArraySchema>;
  readonly directCounters: ReadonlyMap<number, ArraySchema>;
  readonly meters: ReadonlyMap<number, MeterSchema>;
  readonly directMeters: ReadonlyMap<number, MeterSchema>;
  readonly registers: ReadonlyMap<number, RegisterSchema>;
  readonly valueSets: ReadonlyMap<number, ValueSetSchema>;
  readonly digests: ReadonlyMap<number, DigestSchema>;
  /** The header in front of packets to the controller. */
  readonly packetIn: readonly ParameterSchema[] | undefined;
  readonly packetOut: readonly ParameterSchema[] | undefined;
}

const KINDS: Readonly<Record<number, FieldSchema['kind']>> = {
  [MatchField_MatchType.EXACT]: 'exact',
  [MatchField_MatchType.LPM]: 'lpm',
  [MatchField_MatchType.TERNARY]: 'ternary',
  [MatchField_MatchType.RANGE]: 'range',
  [MatchField_MatchType.OPTIONAL]: 'optional',
};

/** Widest field or parameter in bits. */
const MOST_BITS = 65_536;

const PREFIX = {
  action: 0x01,
  table: 0x02,
  valueSet: 0x03,
  profile: 0x11,
  counter: 0x12,
  directCounter: 0x13,
  meter: 0x14,
  directMeter: 0x15,
  register: 0x16,
  digest: 0x17,
} as const;

type Named = { readonly preamble?: Preamble | undefined };

/** Maps objects by id. @throws Refusal for ids that are 0, of another kind, or twice */
function byId<Info extends Named, Schema>(
  infos: readonly Info[],
  kind: keyof typeof PREFIX,
  of: (info: Info, id: number, name: string) => Schema,
): Map<number, Schema> {
  const map = new Map<number, Schema>();
  for (const info of infos) {
    const { id = 0, name = '' } = info.preamble ?? {};
    if (id >>> 24 !== PREFIX[kind]) invalid(`P4Info: ${id} is no id of a ${kind}`);
    if (name === '') invalid(`P4Info: the ${kind} with id ${id} has no name`);
    if (map.has(id)) invalid(`P4Info: two objects have id ${id}`);
    map.set(id, of(info, id, name));
  }
  return map;
}

function widthOf(width: number, what: string): number {
  if (!Number.isInteger(width) || width < 1 || width > MOST_BITS) invalid(`P4Info: ${what} has ${width} bits`);
  return width;
}

function fieldsOf(fields: readonly MatchField[], of: string): FieldSchema[] {
  const seen = new Set<number>();
  return fields.map(({ id, name, bitwidth, match }, position) => {
    const kind = match.case === 'matchType' ? KINDS[match.value] : undefined;
    if (kind === undefined) return invalid(`P4Info: field ${name} of ${of} has no match kind that the server knows`);
    if (id === 0 || seen.has(id)) invalid(`P4Info: ${id} is no new id of a field of ${of}`);
    seen.add(id);
    return { id, name, position, width: widthOf(bitwidth, `field ${name} of ${of}`), kind };
  });
}

function parametersOf(
  parameters: readonly { readonly id: number; readonly name: string; readonly bitwidth: number }[],
  of: string,
): ParameterSchema[] {
  const seen = new Set<number>();
  return parameters.map(({ id, name, bitwidth }, position) => {
    if (id === 0 || seen.has(id)) invalid(`P4Info: ${id} is no new id of a parameter of ${of}`);
    seen.add(id);
    return { id, name, position, width: widthOf(bitwidth, `parameter ${name} of ${of}`) };
  });
}

function profileOf(info: InfoProfile, id: number, name: string): ProfileSchema {
  const { selectorSizeSemantics: semantics } = info;
  return {
    id,
    name,
    hasSelector: info.withSelector,
    size: Number(info.size),
    maxGroupSize: info.maxGroupSize,
    countsMembers: semantics.case === 'sumOfMembers',
    maxMemberWeight: semantics.case === 'sumOfMembers' ? semantics.value.maxMemberWeight : 0,
    areWeightsDisallowed: info.weightsDisallowed,
    tables: info.tableIds,
  };
}

interface MeterInfo extends Named {
  readonly spec?: { readonly unit: MeterSpec_Unit; readonly type: MeterSpec_Type } | undefined;
}

const METER_TYPES = {
  [MeterSpec_Type.TWO_RATE_THREE_COLOR]: 'two-rate',
  [MeterSpec_Type.SINGLE_RATE_THREE_COLOR]: 'single-rate',
  [MeterSpec_Type.SINGLE_RATE_TWO_COLOR]: 'two-colour',
} as const;

function meterOf(info: MeterInfo, id: number, name: string, size: number, isDirect: boolean): MeterSchema {
  const type = METER_TYPES[info.spec?.type ?? MeterSpec_Type.TWO_RATE_THREE_COLOR];
  if (type === undefined) invalid(`P4Info: meter ${name} has no type that the server knows`);
  return { id, name, size, type, unit: info.spec?.unit === MeterSpec_Unit.PACKETS ? 'packets' : 'bytes', isDirect };
}

interface Parts extends Pick<PipelineSchema, 'actions' | 'profiles' | 'directCounters' | 'directMeters'> {}

function tableOf(info: InfoTable, id: number, name: string, parts: Parts): TableSchema {
  const fields = fieldsOf(info.matchFields, `table ${name}`);
  const actions = new Map<number, ActionUse>();
  for (const { id: actionId, scope } of info.actionRefs) {
    const action = parts.actions.get(actionId);
    if (action === undefined) invalid(`P4Info: table ${name} refers to action ${actionId}, which does not exist`);
    actions.set(actionId, {
      action,
      mayBeEntry: scope === ActionRef_Scope.TABLE_AND_DEFAULT || scope === ActionRef_Scope.TABLE_ONLY,
      mayBeDefault: scope === ActionRef_Scope.TABLE_AND_DEFAULT || scope === ActionRef_Scope.DEFAULT_ONLY,
    });
  }
  const profile = info.implementationId === 0 ? undefined : parts.profiles.get(info.implementationId);
  if (info.implementationId !== 0 && profile === undefined) {
    invalid(`P4Info: table ${name} refers to action profile ${info.implementationId}, which does not exist`);
  }
  let counter: number | undefined;
  let meter: MeterSchema | undefined;
  for (const resource of info.directResourceIds) {
    if (parts.directCounters.has(resource)) counter = resource;
    else if (parts.directMeters.has(resource)) meter = parts.directMeters.get(resource);
    else invalid(`P4Info: table ${name} refers to direct resource ${resource}, which does not exist`);
  }
  return {
    id,
    name,
    fields,
    hasPriorities: fields.some(({ kind }) => kind === 'ternary' || kind === 'range' || kind === 'optional'),
    actions,
    isDefaultConst: info.constDefaultActionId !== 0,
    profile,
    counter,
    meter,
    size: Number(info.size),
    supportsTimeout: info.idleTimeoutBehavior === Table_IdleTimeoutBehavior.NOTIFY_CONTROL,
    isConst: info.isConstTable,
    hasInitialEntries: info.hasInitialEntries,
  };
}

/**
 * The parts of a pipeline by id, checked: ids have the prefix of their kind, references lead to objects.
 *
 * @throws Refusal INVALID_ARGUMENT
 */
export function createSchema(info: P4Info): PipelineSchema {
  const specs = new DataSpecs(info.typeInfo);
  const actions = byId(info.actions, 'action', ({ params }: InfoAction, id, name) => ({
    id,
    name,
    parameters: parametersOf(params, `action ${name}`),
  }));
  const profiles = byId(info.actionProfiles, 'profile', profileOf);
  const directCounters = byId(info.directCounters, 'directCounter', (_, id, name) => ({ id, name, size: 0 }));
  const directMeters = byId(info.directMeters, 'directMeter', (each, id, name) => meterOf(each, id, name, 0, true));
  const parts = { actions, profiles, directCounters, directMeters };
  const header = (name: string): readonly ParameterSchema[] | undefined => {
    const found = info.controllerPacketMetadata.find(({ preamble }) => preamble?.name === name);
    return found && parametersOf(found.metadata, name);
  };
  return {
    ...parts,
    tables: byId(info.tables, 'table', (each, id, name) => tableOf(each, id, name, parts)),
    counters: byId(info.counters, 'counter', ({ size }, id, name) => ({ id, name, size: Number(size) })),
    meters: byId(info.meters, 'meter', (each, id, name) => meterOf(each, id, name, Number(each.size), false)),
    registers: byId(info.registers, 'register', ({ size, typeSpec }, id, name) => ({
      id,
      name,
      size,
      data: specs.of(typeSpec, `register ${name}`),
    })),
    valueSets: byId(info.valueSets, 'valueSet', ({ size, match }, id, name) => ({
      id,
      name,
      size,
      fields: fieldsOf(match, `value set ${name}`),
    })),
    digests: byId(info.digests, 'digest', ({ typeSpec }, id, name) => ({
      id,
      name,
      data: specs.of(typeSpec, `digest ${name}`),
    })),
    packetIn: header('packet_in'),
    packetOut: header('packet_out'),
  };
}
