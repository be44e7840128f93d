import { create } from '@bufbuild/protobuf';
import type * as p4config from '../messages/p4config.js';
import * as p4v1 from '../messages/p4v1.js';
import { P4InfoIndex, type P4InfoKind } from '../p4info/p4info-index.js';
import { numberOfBytes, shortestBytes } from '../values/bytes.js';
import { P4RuntimeError } from '../values/p4runtime-error.js';
import { bytesOf, type Value, valueOfBytes } from '../values/parse-value.js';
import { decodeData, encodeData } from './data.js';
import type {
  ActionCall,
  CounterValue,
  Entity,
  EntryAction,
  MeterRates,
  ReadTableEntry,
  Replica,
  TableEntry,
} from './entity.js';
import { decodeMatch, encodeMatch, type Match, type MatchInput } from './match.js';

type Message = p4v1.Entity['entity'];

/** Turns entities by name into messages and back, for one P4Info. */
export class EntityCodec {
  readonly index: P4InfoIndex;
  readonly #types: p4config.P4TypeInfo | undefined;

  constructor(info: p4config.P4Info) {
    this.index = new P4InfoIndex(info);
    this.#types = info.typeInfo;
  }

  /** Names may be '' in questions, for all. @throws P4InfoError for unknown names, P4RuntimeError for values that do not fit */
  encode(entity: Entity): p4v1.Entity {
    return create(p4v1.EntitySchema, { entity: this.#encode(entity) });
  }

  /** @throws P4RuntimeError `ERR_P4RUNTIME_ANSWER` for what this version does not know */
  decode({ entity }: p4v1.Entity): Entity {
    switch (entity.case) {
      case 'tableEntry':
        return this.decodeEntry(entity.value);
      case 'actionProfileMember': {
        const { actionProfileId, memberId, action } = entity.value;
        const profile = this.index.nameOf('actionProfile', actionProfileId);
        return { kind: 'member', profile, id: memberId, ...(action && { action: this.#decodeCall(action) }) };
      }
      case 'actionProfileGroup': {
        const { actionProfileId, groupId, members, maxSize } = entity.value;
        const profile = this.index.nameOf('actionProfile', actionProfileId);
        const shares = members.map((each) => ({ id: each.memberId, weight: each.weight, ...watched(each.watchKind) }));
        return { kind: 'group', profile, id: groupId, members: shares, maxSize };
      }
      case 'counterEntry': {
        const { counterId, index, data } = entity.value;
        const counter = this.index.nameOf('counter', counterId);
        return { kind: 'counter', counter, ...indexed(index), ...(data && { value: counted(data) }) };
      }
      case 'directCounterEntry':
        return {
          kind: 'direct-counter',
          ...this.#direct(entity.value),
          ...(entity.value.data && { value: counted(entity.value.data) }),
        };
      case 'meterEntry': {
        const { meterId, index, config } = entity.value;
        const meter = this.index.nameOf('meter', meterId);
        return { kind: 'meter', meter, ...indexed(index), ...(config && { rates: ratesOf(config) }) };
      }
      case 'directMeterEntry':
        return {
          kind: 'direct-meter',
          ...this.#direct(entity.value),
          ...(entity.value.config && { rates: ratesOf(entity.value.config) }),
        };
      case 'registerEntry': {
        const { registerId, index, data } = entity.value;
        const spec = this.index.find('register', registerId)?.typeSpec;
        const register = this.index.nameOf('register', registerId);
        const value = data === undefined ? {} : { value: decodeData(spec, data, this.#types) };
        return { kind: 'register', register, ...indexed(index), ...value };
      }
      case 'valueSetEntry': {
        const { valueSetId, members } = entity.value;
        const fields = this.index.find('valueSet', valueSetId)?.match ?? [];
        const valueSet = this.index.nameOf('valueSet', valueSetId);
        return { kind: 'value-set', valueSet, members: members.map(({ match }) => this.#decodeMatches(fields, match)) };
      }
      case 'packetReplicationEngineEntry':
        return decodeReplication(entity.value);
      case 'digestEntry': {
        const { digestId, config } = entity.value;
        const digest = this.index.nameOf('digest', digestId);
        return {
          kind: 'digest',
          digest,
          ...(config && {
            config: {
              maxTimeoutNs: config.maxTimeoutNs,
              maxListSize: config.maxListSize,
              ackTimeoutNs: config.ackTimeoutNs,
            },
          }),
        };
      }
      default:
        throw new P4RuntimeError(
          'ERR_P4RUNTIME_ANSWER',
          `an entity of the kind ${entity.case ?? 'none'} is not expected`,
        );
    }
  }

  decodeEntry(message: p4v1.TableEntry): ReadTableEntry {
    const table = this.index.find('table', message.tableId);
    const { action, counterData, meterConfig, timeSinceLastHit } = message;
    return {
      kind: 'table-entry',
      table: this.index.nameOf('table', message.tableId),
      match: this.#decodeMatches(table?.matchFields ?? [], message.match),
      ...(action && { action: this.#decodeAction(action) }),
      priority: message.priority,
      ...(message.isDefaultAction && { isDefault: true }),
      ...(message.isConst && { isConst: true }),
      ...(message.idleTimeoutNs !== 0n && { idleTimeoutNs: message.idleTimeoutNs }),
      ...(timeSinceLastHit && { timeSinceLastHitNs: timeSinceLastHit.elapsedNs }),
      ...(message.metadata.length > 0 && { metadata: message.metadata }),
      ...(counterData && { counter: counted(counterData) }),
      ...(meterConfig && { meter: ratesOf(meterConfig) }),
    };
  }

  encodeEntry(entry: TableEntry): p4v1.TableEntry {
    const table = entry.table === '' ? undefined : this.index.named('table', entry.table);
    const message = create(p4v1.TableEntrySchema, {
      tableId: table?.preamble?.id ?? 0,
      match: this.#encodeMatches(entry.table, table?.matchFields ?? [], entry.match),
      priority: entry.priority ?? 0,
      isDefaultAction: entry.isDefault ?? false,
      idleTimeoutNs: entry.idleTimeoutNs ?? 0n,
      ...(entry.metadata && { metadata: entry.metadata }),
    });
    if (entry.action !== undefined) message.action = this.#encodeAction(entry.action);
    if (entry.counter !== undefined) message.counterData = counterData(entry.counter);
    if (entry.meter !== undefined) message.meterConfig = meterConfig(entry.meter);
    if (entry.timeSinceLastHitNs !== undefined) {
      message.timeSinceLastHit = create(p4v1.TableEntry_IdleTimeoutSchema, { elapsedNs: entry.timeSinceLastHitNs });
    }
    return message;
  }

  /** Values of the fields of a packet's header to the controller, by name. */
  decodeMetadata(metadata: readonly p4v1.PacketMetadata[]): Record<string, bigint | string> {
    const fields = this.#header('packet_in');
    return Object.fromEntries(
      metadata.map(({ metadataId, value }) => {
        const field = fields.find(({ id }) => id === metadataId);
        return [field?.name ?? `${metadataId}`, valueOfBytes(field ?? { bitwidth: 1 }, value)];
      }),
    );
  }

  /**
   * The header of a packet from the controller. Fields with `@padding` may be left out.
   *
   * @throws P4RuntimeError `ERR_P4RUNTIME_VALUE` for a field that is missing or unknown
   */
  encodeMetadata(values: Readonly<Record<string, Value>>): p4v1.PacketMetadata[] {
    const fields = this.#header('packet_out');
    const unknown = Object.keys(values).find((name) => !fields.some((field) => field.name === name));
    if (unknown !== undefined) return refuse(`packet_out has no field ${unknown}`);
    return fields.map((field) => {
      const isPadding = field.annotations.some((text) => text.startsWith('@padding'));
      const given = Object.hasOwn(values, field.name) ? values[field.name] : isPadding ? 0 : undefined;
      if (given === undefined) return refuse(`packet_out needs a value for ${field.name}`);
      const type = { what: field.name, bitwidth: field.bitwidth, typeName: field.typeName };
      return create(p4v1.PacketMetadataSchema, { metadataId: field.id, value: bytesOf(type, given, this.#types) });
    });
  }

  #header(name: string): readonly p4config.ControllerPacketMetadata_Metadata[] {
    return this.index.all('controllerHeader').find(({ preamble }) => preamble?.name === name)?.metadata ?? [];
  }

  #id(kind: P4InfoKind, name: string): number {
    return name === '' ? 0 : (this.index.named(kind, name).preamble?.id ?? 0);
  }

  #encode(entity: Entity): Message {
    switch (entity.kind) {
      case 'table-entry':
        return { case: 'tableEntry', value: this.encodeEntry(entity) };
      case 'member': {
        const value = create(p4v1.ActionProfileMemberSchema, {
          actionProfileId: this.#id('actionProfile', entity.profile),
          memberId: entity.id,
        });
        if (entity.action !== undefined) value.action = this.#encodeCall(entity.action);
        return { case: 'actionProfileMember', value };
      }
      case 'group': {
        const value = create(p4v1.ActionProfileGroupSchema, {
          actionProfileId: this.#id('actionProfile', entity.profile),
          groupId: entity.id,
          maxSize: entity.maxSize ?? 0,
          members: entity.members.map(({ id, weight, watchPort }) =>
            create(p4v1.ActionProfileGroup_MemberSchema, { memberId: id, weight, ...watching(watchPort) }),
          ),
        });
        return { case: 'actionProfileGroup', value };
      }
      case 'counter': {
        const value = create(p4v1.CounterEntrySchema, { counterId: this.#id('counter', entity.counter) });
        if (entity.index !== undefined) value.index = indexMessage(entity.index);
        if (entity.value !== undefined) value.data = counterData(entity.value);
        return { case: 'counterEntry', value };
      }
      case 'direct-counter': {
        const value = create(p4v1.DirectCounterEntrySchema, { tableEntry: this.encodeEntry(entity.entry) });
        if (entity.value !== undefined) value.data = counterData(entity.value);
        return { case: 'directCounterEntry', value };
      }
      case 'meter': {
        const value = create(p4v1.MeterEntrySchema, { meterId: this.#id('meter', entity.meter) });
        if (entity.index !== undefined) value.index = indexMessage(entity.index);
        if (entity.rates !== undefined) value.config = meterConfig(entity.rates);
        return { case: 'meterEntry', value };
      }
      case 'direct-meter': {
        const value = create(p4v1.DirectMeterEntrySchema, { tableEntry: this.encodeEntry(entity.entry) });
        if (entity.rates !== undefined) value.config = meterConfig(entity.rates);
        return { case: 'directMeterEntry', value };
      }
      case 'register': {
        const value = create(p4v1.RegisterEntrySchema, { registerId: this.#id('register', entity.register) });
        if (entity.index !== undefined) value.index = indexMessage(entity.index);
        if (entity.value !== undefined) {
          const spec = this.index.named('register', entity.register).typeSpec;
          value.data = encodeData(entity.register, spec, entity.value, this.#types);
        }
        return { case: 'registerEntry', value };
      }
      case 'value-set': {
        const fields = entity.valueSet === '' ? [] : this.index.named('valueSet', entity.valueSet).match;
        const value = create(p4v1.ValueSetEntrySchema, {
          valueSetId: this.#id('valueSet', entity.valueSet),
          members: entity.members.map((match) =>
            create(p4v1.ValueSetMemberSchema, { match: this.#encodeMatches(entity.valueSet, fields, match) }),
          ),
        });
        return { case: 'valueSetEntry', value };
      }
      case 'multicast-group': {
        const value = create(p4v1.MulticastGroupEntrySchema, {
          multicastGroupId: entity.id,
          replicas: entity.replicas.map(replicaMessage),
          ...(entity.metadata && { metadata: entity.metadata }),
        });
        return replication({ case: 'multicastGroupEntry', value });
      }
      case 'clone-session': {
        const value = create(p4v1.CloneSessionEntrySchema, {
          sessionId: entity.id,
          replicas: entity.replicas.map(replicaMessage),
          classOfService: entity.classOfService ?? 0,
          packetLengthBytes: entity.packetLengthBytes ?? 0,
        });
        return replication({ case: 'cloneSessionEntry', value });
      }
      case 'digest': {
        const value = create(p4v1.DigestEntrySchema, { digestId: this.#id('digest', entity.digest) });
        if (entity.config !== undefined) value.config = create(p4v1.DigestEntry_ConfigSchema, entity.config);
        return { case: 'digestEntry', value };
      }
    }
  }

  #encodeMatches(
    of: string,
    fields: readonly p4config.MatchField[],
    given: Readonly<Record<string, MatchInput>>,
  ): p4v1.FieldMatch[] {
    const names = new Map(Object.keys(given).map((name) => [fieldNamed(of, fields, name).id, name]));
    return fields.flatMap((field) => {
      const name = names.get(field.id);
      return name === undefined ? [] : (encodeMatch(field, given[name]!, this.#types) ?? []);
    });
  }

  #decodeMatches(fields: readonly p4config.MatchField[], matches: readonly p4v1.FieldMatch[]): Record<string, Match> {
    return Object.fromEntries(
      matches.map((match) => {
        const field = fields.find(({ id }) => id === match.fieldId);
        if (field === undefined) {
          throw new P4RuntimeError('ERR_P4RUNTIME_ANSWER', `a match of the unknown field ${match.fieldId}`);
        }
        return [field.name, decodeMatch(field, match)];
      }),
    );
  }

  #encodeAction(action: EntryAction): p4v1.TableAction {
    const make = (type: p4v1.TableAction['type']): p4v1.TableAction => create(p4v1.TableActionSchema, { type });
    if ('member' in action) return make({ case: 'actionProfileMemberId', value: action.member });
    if ('group' in action) return make({ case: 'actionProfileGroupId', value: action.group });
    if (!('oneShot' in action)) return make({ case: 'action', value: this.#encodeCall(action) });
    const actionProfileActions = action.oneShot.map((each) =>
      create(p4v1.ActionProfileActionSchema, {
        action: this.#encodeCall(each),
        weight: each.weight,
        ...watching(each.watchPort),
      }),
    );
    const value = create(p4v1.ActionProfileActionSetSchema, { actionProfileActions });
    return make({ case: 'actionProfileActionSet', value });
  }

  #decodeAction({ type }: p4v1.TableAction): EntryAction {
    switch (type.case) {
      case 'action':
        return this.#decodeCall(type.value);
      case 'actionProfileMemberId':
        return { member: type.value };
      case 'actionProfileGroupId':
        return { group: type.value };
      case 'actionProfileActionSet':
        return {
          oneShot: type.value.actionProfileActions.map((each) => ({
            ...(each.action === undefined ? { action: '', params: {} } : this.#decodeCall(each.action)),
            weight: each.weight,
            ...watched(each.watchKind),
          })),
        };
      default:
        throw new P4RuntimeError('ERR_P4RUNTIME_ANSWER', 'an entry has an action of a kind that is not known');
    }
  }

  #encodeCall({ action: name, params }: ActionCall): p4v1.Action {
    const action = this.index.named('action', name);
    const unknown = Object.keys(params).find((each) => !action.params.some((param) => param.name === each));
    if (unknown !== undefined) return refuse(`${name} has no parameter ${unknown}`);
    return create(p4v1.ActionSchema, {
      actionId: action.preamble?.id ?? 0,
      params: action.params.map((param) => {
        if (!Object.hasOwn(params, param.name)) return refuse(`${name} needs a value for ${param.name}`);
        const type = { what: param.name, bitwidth: param.bitwidth, typeName: param.typeName };
        const value = bytesOf(type, params[param.name]!, this.#types);
        return create(p4v1.Action_ParamSchema, { paramId: param.id, value });
      }),
    });
  }

  #decodeCall({ actionId, params }: p4v1.Action): { action: string; params: Record<string, bigint | string> } {
    const action = this.index.find('action', actionId);
    const values = params.map(({ paramId, value }): [string, bigint | string] => {
      const param = action?.params.find(({ id }) => id === paramId);
      return [param?.name ?? `${paramId}`, valueOfBytes(param ?? { bitwidth: 1 }, value)];
    });
    return { action: this.index.nameOf('action', actionId), params: Object.fromEntries(values) };
  }

  #direct({ tableEntry }: p4v1.DirectCounterEntry | p4v1.DirectMeterEntry): { readonly entry: TableEntry } {
    return { entry: this.decodeEntry(tableEntry ?? create(p4v1.TableEntrySchema)) };
  }
}

/** A field by its name, or by the last components of it. */
function fieldNamed(of: string, fields: readonly p4config.MatchField[], name: string): p4config.MatchField {
  const exactly = fields.find((field) => field.name === name);
  if (exactly !== undefined) return exactly;
  const matching = fields.filter((field) => field.name.endsWith(`.${name}`));
  const [first] = matching;
  if (first !== undefined && matching.length === 1) return first;
  const problem = first === undefined ? 'has no match field' : 'has several match fields that end in';
  throw new P4RuntimeError('ERR_P4RUNTIME_MATCH', `${of} ${problem} ${name}`);
}

const indexed = (index: p4v1.Index | undefined): { readonly index?: number } =>
  index === undefined ? {} : { index: Number(index.index) };

function indexMessage(index: number): p4v1.Index {
  if (!Number.isSafeInteger(index)) return refuse(`${index} is no index`);
  return create(p4v1.IndexSchema, { index: BigInt(index) });
}

const counted = ({ packetCount, byteCount }: p4v1.CounterData): CounterValue => ({
  packets: packetCount,
  bytes: byteCount,
});

const counterData = ({ packets, bytes }: CounterValue): p4v1.CounterData =>
  create(p4v1.CounterDataSchema, { packetCount: packets, byteCount: bytes });

const ratesOf = ({ cir, cburst, pir, pburst, eburst }: p4v1.MeterConfig): MeterRates => ({
  cir,
  cburst,
  pir,
  pburst,
  ...(eburst !== 0n && { eburst }),
});

const meterConfig = ({ cir, cburst, pir, pburst, eburst }: MeterRates): p4v1.MeterConfig =>
  create(p4v1.MeterConfigSchema, { cir, cburst, pir, pburst, eburst: eburst ?? 0n });

const watching = (port: Uint8Array | undefined): { watchKind?: { case: 'watchPort'; value: Uint8Array } } =>
  port === undefined ? {} : { watchKind: { case: 'watchPort', value: port } };

function watched(kind: p4v1.ActionProfileGroup_Member['watchKind']): { readonly watchPort?: Uint8Array } {
  if (kind.case === 'watchPort') return { watchPort: kind.value };
  return kind.case === 'watch' ? { watchPort: shortestBytes(BigInt(kind.value)) } : {};
}

function replicaMessage({ port, instance = 0 }: Replica): p4v1.Replica {
  if (!Number.isSafeInteger(port) || port < 0) return refuse(`${port} is no port`);
  return create(p4v1.ReplicaSchema, { portKind: { case: 'port', value: shortestBytes(BigInt(port)) }, instance });
}

function replicaOf({ portKind, instance }: p4v1.Replica): Replica {
  const port = portKind.case === 'port' ? Number(numberOfBytes(portKind.value)) : (portKind.value ?? 0);
  return { port, instance };
}

function replication(type: p4v1.PacketReplicationEngineEntry['type']): Message {
  const value = create(p4v1.PacketReplicationEngineEntrySchema, { type });
  return { case: 'packetReplicationEngineEntry', value };
}

function decodeReplication({ type }: p4v1.PacketReplicationEngineEntry): Entity {
  switch (type.case) {
    case 'multicastGroupEntry': {
      const { multicastGroupId: id, replicas, metadata } = type.value;
      return {
        kind: 'multicast-group',
        id,
        replicas: replicas.map(replicaOf),
        ...(metadata.length > 0 && { metadata }),
      };
    }
    case 'cloneSessionEntry': {
      const { sessionId: id, replicas, classOfService, packetLengthBytes } = type.value;
      return { kind: 'clone-session', id, replicas: replicas.map(replicaOf), classOfService, packetLengthBytes };
    }
    default:
      throw new P4RuntimeError('ERR_P4RUNTIME_ANSWER', 'a replication entry of a kind that is not known');
  }
}

function refuse(message: string): never {
  throw new P4RuntimeError('ERR_P4RUNTIME_VALUE', message);
}
