import { create } from '@bufbuild/protobuf';
import type { IrProgram, Table } from '@int/p4vm';
import {
  type DeclaredAnnotation,
  dataParameters,
  type ExternInstance,
  type Type,
  type ValueSet,
} from '@int/p4vm/internals';
import * as p4config from '../messages/p4config.js';
import { shortestBytes } from '../values/bytes.js';
import { Annotations, idOf, numberOf, textOf } from './annotations.js';
import { P4InfoError } from './p4info-error.js';
import { type IdProblem, memberIds, type SymbolKind, Symbols } from './symbols.js';
import { TypeSpecs } from './types.js';
import { visibleActions } from './visible-actions.js';

/** Entries of a table without a size. Source: v1model.p4 as the reference compiler reads it. */
const DEFAULT_SIZE = 1024;

const MATCH_TYPES = /* @__PURE__ */ {
  exact: p4config.MatchField_MatchType.EXACT,
  lpm: p4config.MatchField_MatchType.LPM,
  ternary: p4config.MatchField_MatchType.TERNARY,
  range: p4config.MatchField_MatchType.RANGE,
  optional: p4config.MatchField_MatchType.OPTIONAL,
} as const;

const EXTERN_KINDS: Readonly<Record<string, SymbolKind>> = /* @__PURE__ */ {
  action_profile: 'actionProfile',
  action_selector: 'actionProfile',
  counter: 'counter',
  direct_counter: 'directCounter',
  meter: 'meter',
  direct_meter: 'directMeter',
  register: 'register',
};

/**
 * The P4Info of a program: its objects, with the ids, aliases, types and annotations that the P4Runtime specification gives
 * them (version 1.5, "P4Info"). Objects with `@hidden` are left out. The same program has the same P4Info every time.
 *
 * @throws P4InfoError for an `@id` that is not valid, or an annotation or type that P4Info cannot express
 */
export function p4infoOf(program: IrProgram): p4config.P4Info {
  return new P4InfoBuilder(program).build();
}

class P4InfoBuilder {
  readonly #annotations: Annotations;
  readonly #symbols = new Symbols();
  readonly #types: TypeSpecs;

  constructor(readonly program: IrProgram) {
    this.#annotations = new Annotations(program);
    this.#types = new TypeSpecs(this.#annotations, program.errors);
  }

  build(): p4config.P4Info {
    const { program } = this;
    this.#collect();
    const actions = new Map(visibleActions(program).map((action) => [action.name, action]));
    const info = create(p4config.P4InfoSchema, {
      pkgInfo: this.#package(),
      tables: this.#shown(program.tables).map((table) => this.#table(table)),
      actions: this.#shown([...actions.values()]).map((action) => this.#action(action)),
      actionProfiles: this.#externs('actionProfile').map((each) => this.#profile(each)),
      counters: this.#externs('counter').map((each) => this.#counter(each)),
      directCounters: this.#directs('directCounter').map(([each, table]) => this.#directCounter(each, table)),
      meters: this.#externs('meter').map((each) => this.#meter(each)),
      directMeters: this.#directs('directMeter').map(([each, table]) => this.#directMeter(each, table)),
      controllerPacketMetadata: this.#controllerHeaders(),
      valueSets: this.#shown(program.valueSets).map((each) => this.#valueSet(each)),
      registers: this.#externs('register').map((each) => this.#register(each)),
      digests: program.surface.digests.map((each) => this.#digest(each)),
    });
    if (!this.#types.isEmpty) info.typeInfo = this.#types.info;
    return info;
  }

  /** Those of a list without `@hidden`. */
  #shown<T extends object>(nodes: readonly T[]): T[] {
    return nodes.filter((node) => !isHidden(this.#annotations.of(node)));
  }

  /** Extern objects of a kind. A direct one without a table is none to the control plane. */
  #externs(kind: SymbolKind): ExternInstance[] {
    return this.#shown(this.program.externs.filter(({ type }) => EXTERN_KINDS[type] === kind));
  }

  #directs(kind: 'directCounter' | 'directMeter'): [ExternInstance, Table][] {
    return this.#externs(kind).flatMap((each): [ExternInstance, Table][] => {
      const owner = this.program.tables.find((table) => table.counter === each || table.meter === each);
      return owner === undefined ? [] : [[each, owner]];
    });
  }

  #collect(): void {
    const { program } = this;
    const add = (kind: SymbolKind, node: { readonly name: string }): void =>
      this.#symbols.add(kind, node.name, idOf(this.#annotations.of(node)));
    for (const each of visibleActions(program)) add('action', each);
    for (const each of program.tables) add('table', each);
    for (const each of program.externs) {
      const kind = EXTERN_KINDS[each.type];
      if (kind !== undefined) add(kind, each);
    }
    for (const each of program.valueSets) add('valueSet', each);
    for (const { name } of program.surface.digests) this.#symbols.add('digest', name, undefined);
    for (const name of program.surface.controllerHeaders) {
      const annotations = this.#annotations.ofType(name);
      this.#symbols.add('controllerHeader', textOf(annotations, 'name') ?? name, idOf(annotations));
    }
    const [problem] = this.#symbols.assign();
    if (problem !== undefined) throw new P4InfoError(problem.code, problem.message);
  }

  #preamble(
    kind: SymbolKind,
    name: string,
    annotations: readonly DeclaredAnnotation[],
    without: readonly string[] = [],
  ) {
    return create(p4config.PreambleSchema, {
      id: this.#symbols.id(kind, name),
      name,
      alias: this.#symbols.alias(name),
      ...this.#annotations.describe(annotations, without),
    });
  }

  #package(): p4config.PkgInfo {
    const { program: annotations } = this.program.surface;
    const pkg = create(p4config.PkgInfoSchema, {
      arch: 'v1model',
      ...this.#annotations.describe(annotations, ['pkginfo', 'platform_property']),
    });
    const given = pairsOf(annotations, 'pkginfo');
    for (const key of ['name', 'version', 'organization', 'contact', 'url', 'arch'] as const) {
      const value = given.get(key);
      if (value === undefined) continue;
      if (typeof value !== 'string') throw new P4InfoError('ERR_P4INFO_ANNOTATION', `@pkginfo: ${key} is no text`);
      pkg[key] = value;
    }
    const properties = pairsOf(annotations, 'platform_property');
    if (properties.size > 0) {
      const number = (key: string): number => {
        const value = properties.get(key) ?? 0n;
        if (typeof value === 'bigint' && BigInt.asIntN(32, value) === value) return Number(value);
        throw new P4InfoError('ERR_P4INFO_ANNOTATION', `@platform_property: ${key} is no number of 32 bits`);
      };
      pkg.platformProperties = create(p4config.PlatformPropertiesSchema, {
        multicastGroupTableSize: number('multicast_group_table_size'),
        multicastGroupTableTotalReplicas: number('multicast_group_table_total_replicas'),
        multicastGroupTableMaxReplicasPerEntry: number('multicast_group_table_max_replicas_per_entry'),
      });
    }
    return pkg;
  }

  #table(table: Table): p4config.Table {
    const size = this.program.surface.sizes.get(table) ?? 0;
    const { implementation, counter, meter } = table;
    const direct = [
      ...(counter === undefined ? [] : [this.#symbols.id('directCounter', counter.name)]),
      ...(meter === undefined ? [] : [this.#symbols.id('directMeter', meter.name)]),
    ];
    const { NOTIFY_CONTROL, NO_TIMEOUT } = p4config.Table_IdleTimeoutBehavior;
    const call = table.defaultAction;
    const fallback = call && table.actions[call.action]?.action;
    const made = create(p4config.TableSchema, {
      preamble: this.#preamble('table', table.name, this.#annotations.of(table)),
      matchFields: this.#matchFields(table),
      actionRefs: table.actions.map((each) => this.#actionRef(each)),
      implementationId: implementation === undefined ? 0 : this.#symbols.id('actionProfile', implementation.name),
      directResourceIds: direct,
      size: BigInt(size === 0 ? DEFAULT_SIZE : size),
      idleTimeoutBehavior: table.supportsTimeout ? NOTIFY_CONTROL : NO_TIMEOUT,
      isConstTable: table.areEntriesConst,
      hasInitialEntries: table.entries.length > 0,
    });
    if (call === undefined || fallback === undefined) return made;
    const actionId = this.#symbols.id('action', fallback.name);
    if (table.isDefaultConst) made.constDefaultActionId = actionId;
    const ids = this.#parameterIds(fallback);
    made.initialDefaultAction = create(p4config.TableActionCallSchema, {
      actionId,
      arguments: call.data.map((value, index) =>
        create(p4config.TableActionCall_ArgumentSchema, { paramId: ids[index] ?? 0, value: shortestBytes(value) }),
      ),
    });
    return made;
  }

  #matchFields({ name, keys }: Table): p4config.MatchField[] {
    const ids = checked(
      memberIds(
        keys.map((key) => idOf(this.#annotations.of(key))),
        name,
      ),
    );
    return keys.flatMap((key, index) => {
      // The control plane does not see what a selector hashes.
      if (key.matchKind === 'selector') return [];
      const type = this.#typeOf(key);
      const typeName = this.#types.nameOf(type);
      const field = create(p4config.MatchFieldSchema, {
        id: ids[index] ?? 0,
        name: key.name,
        bitwidth: this.#types.width(type),
        match: { case: 'matchType', value: MATCH_TYPES[key.matchKind] },
        ...this.#annotations.describe(this.#annotations.of(key)),
      });
      if (typeName !== undefined) field.typeName = typeName;
      return [field];
    });
  }

  #actionRef(listed: Table['actions'][number]): p4config.ActionRef {
    const { TABLE_ONLY, DEFAULT_ONLY, TABLE_AND_DEFAULT } = p4config.ActionRef_Scope;
    const { isTableOnly, isDefaultOnly } = listed;
    const { annotations, structuredAnnotations } = this.#annotations.describe(this.#annotations.of(listed));
    return create(p4config.ActionRefSchema, {
      id: this.#symbols.id('action', listed.action.name),
      scope: isTableOnly ? TABLE_ONLY : isDefaultOnly ? DEFAULT_ONLY : TABLE_AND_DEFAULT,
      // One that the program's list leaves out is added for misses only.
      annotations: isDefaultOnly && annotations.length === 0 ? ['@defaultonly'] : annotations,
      structuredAnnotations,
    });
  }

  #parameterIds(action: IrProgram['actions'][number]): number[] {
    const given = dataParameters(action.parameters).map(({ variable }) => idOf(this.#annotations.of(variable)));
    return checked(memberIds(given, action.name));
  }

  #action(action: IrProgram['actions'][number]): p4config.Action {
    const ids = this.#parameterIds(action);
    // The program gives the parameters of an action that no table has.
    const isChosen = this.program.tables.some((table) =>
      table.actions.some((each) => each.action.name === action.name),
    );
    const parameters = isChosen ? dataParameters(action.parameters) : [];
    return create(p4config.ActionSchema, {
      preamble: this.#preamble('action', action.name, this.#annotations.of(action)),
      params: parameters.map(({ variable }, index) => {
        const annotations = this.#annotations.of(variable);
        const type = this.#typeOf(variable);
        const typeName = this.#types.nameOf(type);
        const parameter = create(p4config.Action_ParamSchema, {
          id: ids[index] ?? 0,
          name: textOf(annotations, 'name') ?? variable.name,
          bitwidth: this.#types.width(type),
          ...this.#annotations.describe(annotations),
        });
        if (typeName !== undefined) parameter.typeName = typeName;
        return parameter;
      }),
    });
  }

  #profile(extern: ExternInstance): p4config.ActionProfile {
    const annotations = this.#annotations.of(extern);
    const withSelector = extern.type === 'action_selector';
    const tables = this.#shown(this.program.tables).filter(({ implementation }) => implementation === extern);
    const own = ['max_group_size', 'selector_size_semantics', 'max_member_weight'];
    return create(p4config.ActionProfileSchema, {
      preamble: this.#preamble('actionProfile', extern.name, annotations, own),
      tableIds: tables.map(({ name }) => this.#symbols.id('table', name)),
      withSelector,
      size: BigInt(sizeOf(extern)),
      ...(withSelector && {
        maxGroupSize: int32(numberOf(annotations, 'max_group_size') ?? 0n, `@max_group_size of ${extern.name}`),
        selectorSizeSemantics: sizeSemantics(extern.name, annotations),
      }),
    });
  }

  #counter(extern: ExternInstance): p4config.Counter {
    return create(p4config.CounterSchema, {
      preamble: this.#preamble('counter', extern.name, this.#annotations.of(extern)),
      spec: counterSpec(extern),
      size: BigInt(sizeOf(extern)),
      ...this.#indexType(extern, 0),
    });
  }

  #directCounter(extern: ExternInstance, table: Table): p4config.DirectCounter {
    return create(p4config.DirectCounterSchema, {
      preamble: this.#preamble('directCounter', extern.name, this.#annotations.of(extern)),
      spec: counterSpec(extern),
      directTableId: this.#symbols.id('table', table.name),
    });
  }

  #meter(extern: ExternInstance): p4config.Meter {
    return create(p4config.MeterSchema, {
      preamble: this.#preamble('meter', extern.name, this.#annotations.of(extern)),
      spec: meterSpec(extern),
      size: BigInt(sizeOf(extern)),
      ...this.#indexType(extern, 0),
    });
  }

  #directMeter(extern: ExternInstance, table: Table): p4config.DirectMeter {
    return create(p4config.DirectMeterSchema, {
      preamble: this.#preamble('directMeter', extern.name, this.#annotations.of(extern)),
      spec: meterSpec(extern),
      directTableId: this.#symbols.id('table', table.name),
    });
  }

  #register(extern: ExternInstance): p4config.Register {
    const [type] = this.program.surface.typeArguments.get(extern) ?? [];
    if (type === undefined) throw new P4InfoError('ERR_P4INFO_TYPE', `the register ${extern.name} has no type`);
    return create(p4config.RegisterSchema, {
      preamble: this.#preamble('register', extern.name, this.#annotations.of(extern)),
      typeSpec: this.#types.of(type),
      size: sizeOf(extern),
      ...this.#indexType(extern, 1),
    });
  }

  /** The name of a new type that is the index of an array. */
  #indexType(extern: ExternInstance, position: number): { readonly indexTypeName?: p4config.P4NamedType } {
    const type = this.program.surface.typeArguments.get(extern)?.[position];
    const name = type?.kind === 'newtype' ? this.#types.nameOf(type) : undefined;
    return name === undefined ? {} : { indexTypeName: name };
  }

  #controllerHeaders(): p4config.ControllerPacketMetadata[] {
    const { controllerHeaders, declared } = this.program.surface;
    return controllerHeaders.flatMap((typeName) => {
      const annotations = this.#annotations.ofType(typeName);
      if (isHidden(annotations)) return [];
      const header = textOf(annotations, 'controller_header') ?? '';
      const fields = declared.get(typeName)?.fields ?? [];
      const flat = fields.flatMap((field) => this.#flat(field));
      const ids = checked(
        memberIds(
          flat.map((field) => idOf(field.annotations)),
          typeName,
        ),
      );
      const id = this.#symbols.id('controllerHeader', textOf(annotations, 'name') ?? typeName);
      const preamble = { id, name: header, alias: header, ...this.#annotations.describe(annotations) };
      const metadata = flat.flatMap((field, index) => {
        if (isHidden(field.annotations)) return [];
        const name = this.#types.nameOf(field.type);
        const described = this.#annotations.describe(field.annotations);
        return [
          create(p4config.ControllerPacketMetadata_MetadataSchema, {
            id: ids[index] ?? 0,
            name: field.name,
            bitwidth: this.#types.width(field.type),
            annotations: described.annotations,
            structuredAnnotations: described.structuredAnnotations,
            ...(name !== undefined && { typeName: name }),
          }),
        ];
      });
      return [
        create(p4config.ControllerPacketMetadataSchema, {
          preamble: create(p4config.PreambleSchema, preamble),
          metadata,
        }),
      ];
    });
  }

  /** A field of a header; a struct by its members. */
  #flat(field: FieldOf): { name: string; type: Type; annotations: readonly DeclaredAnnotation[] }[] {
    const { type, annotations } = field;
    const name = textOf(annotations, 'name') ?? field.name;
    if (type === undefined) throw new P4InfoError('ERR_P4INFO_TYPE', `the field ${name} has no type of its own`);
    if (type.kind !== 'struct') return [{ name, type, annotations }];
    const inner = this.program.surface.declared.get(type.name)?.fields ?? [];
    return inner.flatMap((each) => this.#flat(each).map((member) => ({ ...member, name: `${name}.${member.name}` })));
  }

  #valueSet(set: ValueSet): p4config.ValueSet {
    const type = this.#typeOf(set);
    const struct = type.kind === 'struct' ? this.program.surface.declared.get(type.name) : undefined;
    const fields = struct?.fields ?? [];
    const ids = checked(
      memberIds(
        fields.map(({ annotations }) => idOf(annotations)),
        set.name,
      ),
    );
    const match = set.keys.map((key, index) => {
      const field = fields.find(({ name }) => name === key.name);
      const described = this.#annotations.describe(field?.annotations ?? [], ['match']);
      const keyType = field?.type ?? type;
      const typeName = struct === undefined ? undefined : this.#types.nameOf(keyType);
      const kind = key.matchKind === 'selector' ? 'exact' : key.matchKind;
      return create(p4config.MatchFieldSchema, {
        id: ids[index] ?? index + 1,
        name: struct === undefined ? '' : (textOf(field?.annotations ?? [], 'name') ?? key.name),
        bitwidth: field?.type === undefined && struct !== undefined ? 0 : this.#types.width(keyType),
        match: { case: 'matchType', value: MATCH_TYPES[kind] },
        ...described,
        ...(typeName !== undefined && { typeName }),
      });
    });
    return create(p4config.ValueSetSchema, {
      preamble: this.#preamble('valueSet', set.name, this.#annotations.of(set)),
      match,
      size: set.size,
    });
  }

  #digest({ name, type }: IrProgram['surface']['digests'][number]): p4config.Digest {
    return create(p4config.DigestSchema, {
      preamble: this.#preamble('digest', name, []),
      typeSpec: this.#types.of(type),
    });
  }

  #typeOf(node: object): Type {
    const type = this.program.surface.types.get(node);
    if (type === undefined) throw new P4InfoError('ERR_P4INFO_TYPE', 'the type of a value is not known');
    return type;
  }
}

type FieldOf = NonNullable<ReturnType<IrProgram['surface']['declared']['get']>>['fields'][number];

function isHidden(annotations: readonly DeclaredAnnotation[]): boolean {
  return annotations.some(({ name }) => name === 'hidden');
}

function pairsOf(annotations: readonly DeclaredAnnotation[], name: string): Map<string, string | bigint | boolean> {
  const pairs = annotations.find((each) => each.name === name)?.pairs ?? [];
  return new Map(pairs.map(({ key, value }) => [key, value]));
}

function checked(ids: number[] | IdProblem): number[] {
  if (Array.isArray(ids)) return ids;
  throw new P4InfoError(ids.code, ids.message);
}

function int32(value: bigint, what: string): number {
  if (BigInt.asIntN(32, value) !== value || value < 0n) {
    throw new P4InfoError('ERR_P4INFO_ANNOTATION', `${what} is not from 0 to 2147483647`);
  }
  return Number(value);
}

function sizeOf({ arguments: given }: ExternInstance): number {
  const size = given.find((each) => each.kind === 'integer');
  return size?.kind === 'integer' ? Number(size.value) : 0;
}

function unitOf({ arguments: given }: ExternInstance): string {
  const unit = given.find((each) => each.kind === 'enum');
  return unit?.kind === 'enum' ? unit.member : '';
}

function counterSpec(extern: ExternInstance): p4config.CounterSpec {
  const { PACKETS, BYTES, BOTH, UNSPECIFIED } = p4config.CounterSpec_Unit;
  const units: Readonly<Record<string, p4config.CounterSpec_Unit>> = {
    packets: PACKETS,
    bytes: BYTES,
    packets_and_bytes: BOTH,
  };
  return create(p4config.CounterSpecSchema, { unit: units[unitOf(extern)] ?? UNSPECIFIED });
}

function meterSpec(extern: ExternInstance): p4config.MeterSpec {
  const { PACKETS, BYTES } = p4config.MeterSpec_Unit;
  return create(p4config.MeterSpecSchema, { unit: unitOf(extern) === 'bytes' ? BYTES : PACKETS });
}

function sizeSemantics(
  name: string,
  annotations: readonly DeclaredAnnotation[],
): p4config.ActionProfile['selectorSizeSemantics'] {
  const given = textOf(annotations, 'selector_size_semantics');
  if (given === undefined) return { case: undefined };
  switch (given.toLowerCase()) {
    case 'sum_of_weights':
      return { case: 'sumOfWeights', value: create(p4config.ActionProfile_SumOfWeightsSchema) };
    case 'sum_of_members': {
      const weight = int32(numberOf(annotations, 'max_member_weight') ?? 0n, `@max_member_weight of ${name}`);
      const value = create(p4config.ActionProfile_SumOfMembersSchema, { maxMemberWeight: weight });
      return { case: 'sumOfMembers', value };
    }
    default: {
      const message = `@selector_size_semantics("${given}") of ${name} is neither sum_of_weights nor sum_of_members`;
      throw new P4InfoError('ERR_P4INFO_ANNOTATION', message);
    }
  }
}
