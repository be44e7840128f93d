import { create, toBinary } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import {
  ActionProfileMemberSchema,
  type DigestList,
  type Entity,
  EntitySchema,
  type PacketReplicationEngineEntry,
  PacketReplicationEngineEntrySchema,
  type TableEntry,
  type Update,
  type Update_Type,
} from '../generated/p4/v1/p4runtime_pb.js';
import { callMessage } from './actions.js';
import { CounterState, MeterState, RegisterState, rangeOf } from './array-state.js';
import { DigestState } from './digest-state.js';
import type { EntitySink } from './entity-sink.js';
import { EntityWriter } from './entity-writer.js';
import type { Place } from './entry-place.js';
import { refuseColours } from './meter-config.js';
import type { Pacer } from './pacer.js';
import { PacketHeader } from './packet-header.js';
import { ProfileState } from './profile-state.js';
import { invalid, refuse } from './refusal.js';
import { ReplicationState } from './replication-state.js';
import type { ArraySchema, PipelineSchema } from './schema.js';
import { TableState } from './table-state.js';
import type { P4RuntimeTarget, TargetPipeline } from './target.js';
import type { UndoLog } from './undo.js';
import { ValueSetState } from './value-set-state.js';

/** What a pipeline tells its device. */
export interface PipelineEvents {
  /** Sends a list to the primary; false: there is none, or it takes no more. */
  sendDigest(list: DigestList): boolean;
  /** An entry got a timeout. */
  timeoutSet(timeoutNs: number): void;
}

/** Which objects a role may use, by id; the packet replication engine has id 0. */
export type Allows = (id: number) => boolean;

/** Tags of the entities within Entity. */
const TAG = {
  table: 0x12,
  meter: 0x2a,
  directMeter: 0x32,
  counter: 0x3a,
  directCounter: 0x42,
  valueSet: 0x52,
  register: 0x5a,
};

/** A pipeline: the target's state, with what the target does not keep. */
export class PipelineState {
  readonly tables: ReadonlyMap<number, TableState>;
  readonly profiles: ReadonlyMap<number, ProfileState>;
  readonly counters: ReadonlyMap<number, CounterState>;
  readonly meters: ReadonlyMap<number, MeterState>;
  readonly registers: ReadonlyMap<number, RegisterState>;
  readonly valueSets: ReadonlyMap<number, ValueSetState>;
  readonly digests: ReadonlyMap<number, DigestState>;
  readonly replication: ReplicationState;
  readonly packetIn: PacketHeader;
  readonly packetOut: PacketHeader;
  readonly #writer = new EntityWriter();

  constructor(
    readonly schema: PipelineSchema,
    readonly target: TargetPipeline,
    device: P4RuntimeTarget,
    events: PipelineEvents,
  ) {
    const mapped = <Schema, State>(from: ReadonlyMap<number, Schema>, make: (schema: Schema, id: number) => State) =>
      new Map([...from].map(([id, each]) => [id, make(each, id)]));
    this.profiles = mapped(schema.profiles, (each, id) => new ProfileState(each, schema, target.profile(id), device));
    this.tables = mapped(schema.tables, (each, id) => {
      const profile = each.profile && this.profiles.get(each.profile.id);
      return new TableState(each, target.table(id), profile, (_, timeoutNs) => events.timeoutSet(timeoutNs));
    });
    this.counters = mapped(schema.counters, (each, id) => new CounterState(each, target.counter(id)));
    this.meters = mapped(schema.meters, (each, id) => new MeterState(each, target.meter(id)));
    this.registers = mapped(schema.registers, (each, id) => new RegisterState(each, target.register(id)));
    this.valueSets = mapped(schema.valueSets, (each, id) => new ValueSetState(each, target.valueSet(id)));
    this.digests = mapped(schema.digests, (each) => new DigestState(each, device, (list) => events.sendDigest(list)));
    this.replication = new ReplicationState(target, device);
    this.packetIn = new PacketHeader(schema.packetIn ?? []);
    this.packetOut = new PacketHeader(schema.packetOut ?? []);
  }

  /** Ends its timers. */
  close(): void {
    for (const digest of this.digests.values()) digest.close();
  }

  portsChanged(): void {
    for (const profile of this.profiles.values()) profile.portsChanged();
  }

  /**
   * Carries out an update, whole or not at all.
   *
   * @param undo gets what takes the update back
   * @throws Refusal, TargetError
   */
  write({ type, entity }: Update, allows: Allows, undo: UndoLog): void {
    const each = entity?.entity;
    if (each?.case === undefined) invalid('the update has no entity');
    const need = (id: number): void => {
      if (!allows(id)) refuse(Code.PermissionDenied, 'the role may not change this entity');
    };
    switch (each.case) {
      case 'tableEntry':
        need(each.value.tableId);
        this.#table(each.value.tableId).write(type, each.value, undo);
        return;
      case 'actionProfileMember':
        need(each.value.actionProfileId);
        this.#find(this.profiles, each.value.actionProfileId, 'action profile').writeMember(type, each.value, undo);
        return;
      case 'actionProfileGroup':
        need(each.value.actionProfileId);
        this.#find(this.profiles, each.value.actionProfileId, 'action profile').writeGroup(type, each.value, undo);
        return;
      case 'counterEntry':
        need(each.value.counterId);
        this.#find(this.counters, each.value.counterId, 'counter').write(type, each.value, undo);
        return;
      case 'meterEntry':
        need(each.value.meterId);
        this.#find(this.meters, each.value.meterId, 'meter').write(type, each.value, undo);
        return;
      case 'directCounterEntry': {
        const entry = this.#ofTable(each.value.tableEntry, 'DirectCounterEntry');
        need(entry.tableId);
        this.#table(entry.tableId).writeCounter(type, each.value, entry, undo);
        return;
      }
      case 'directMeterEntry': {
        const entry = this.#ofTable(each.value.tableEntry, 'DirectMeterEntry');
        need(entry.tableId);
        this.#table(entry.tableId).writeMeter(type, each.value, entry, undo);
        return;
      }
      case 'registerEntry':
        need(each.value.registerId);
        this.#find(this.registers, each.value.registerId, 'register').write(type, each.value, undo);
        return;
      case 'valueSetEntry':
        need(each.value.valueSetId);
        this.#find(this.valueSets, each.value.valueSetId, 'value set').write(type, each.value, undo);
        return;
      case 'digestEntry':
        need(each.value.digestId);
        this.#find(this.digests, each.value.digestId, 'digest').write(type, each.value, undo);
        return;
      case 'packetReplicationEngineEntry':
        need(0);
        this.#writeReplication(type, each.value, undo);
        return;
      case 'externEntry':
        refuse(Code.Unimplemented, 'there are no extern objects beside those of P4Runtime');
    }
  }

  /**
   * Reads the entities that a request selects.
   *
   * @throws Refusal
   */
  async read({ entity }: Entity, allows: Allows, sink: EntitySink, pacer: Pacer): Promise<void> {
    switch (entity.case) {
      case 'tableEntry':
        return this.#readTable(entity.value, allows, sink, pacer);
      case 'directCounterEntry': {
        const filter = entity.value.tableEntry;
        const write = (table: TableState, place: Place): void =>
          table.reader.writeCounterEntry(this.#writer, TAG.directCounter, place);
        return this.#readDirect(filter, 'counter', write, allows, sink, pacer);
      }
      case 'directMeterEntry': {
        refuseColours(entity.value.counterData);
        const filter = entity.value.tableEntry;
        const write = (table: TableState, place: Place): void =>
          table.reader.writeMeterEntry(this.#writer, TAG.directMeter, place);
        return this.#readDirect(filter, 'meter', write, allows, sink, pacer);
      }
      case 'counterEntry': {
        const { counterId, index } = entity.value;
        return this.#readArray(this.counters, counterId, index, 'counter', TAG.counter, allows, sink, pacer);
      }
      case 'meterEntry': {
        const { meterId, index, counterData } = entity.value;
        refuseColours(counterData);
        return this.#readArray(this.meters, meterId, index, 'meter', TAG.meter, allows, sink, pacer);
      }
      case 'registerEntry': {
        const { registerId, index } = entity.value;
        return this.#readArray(this.registers, registerId, index, 'register', TAG.register, allows, sink, pacer);
      }
      case 'actionProfileMember':
      case 'actionProfileGroup':
        return this.#readProfile(entity, allows, sink, pacer);
      case 'valueSetEntry':
        for (const set of this.#selected(this.valueSets, entity.value.valueSetId, 'value set', allows)) {
          this.#writer.reset();
          set.writeEntry(this.#writer, TAG.valueSet);
          sink.add(this.#writer.finish());
        }
        return;
      case 'digestEntry': {
        const { digestId } = entity.value;
        for (const { entry, schema } of this.#selected(this.digests, digestId, 'digest', allows)) {
          if (entry !== undefined) add(sink, { case: 'digestEntry', value: entry });
          else if (digestId !== 0) refuse(Code.NotFound, `Digest ${digestId} not configured: ${schema.name}`);
        }
        return;
      }
      case 'packetReplicationEngineEntry':
        if (allows(0)) this.#readReplication(entity.value, sink);
        return;
      case 'externEntry':
        if (entity.value.externTypeId === 0) return;
        return refuse(Code.Unimplemented, 'there are no extern objects beside those of P4Runtime');
      default:
        invalid('the request has no entity');
    }
  }

  #table(id: number): TableState {
    return this.#find(this.tables, id, 'table');
  }

  #find<State>(states: ReadonlyMap<number, State>, id: number, what: string): State {
    return states.get(id) ?? invalid(`Invalid P4 id: ${id} is no id of a ${what}`);
  }

  /** One object, or all with id 0. */
  #selected<State>(states: ReadonlyMap<number, State>, id: number, what: string, allows: Allows): readonly State[] {
    if (id !== 0) {
      const found = this.#find(states, id, what);
      return allows(id) ? [found] : [];
    }
    return [...states].filter(([each]) => allows(each)).map(([, state]) => state);
  }

  #ofTable(entry: TableEntry | undefined, what: string): TableEntry {
    return entry ?? invalid(`Missing table_entry field in ${what}`);
  }

  #writeReplication(type: Update_Type, { type: given }: PacketReplicationEngineEntry, undo: UndoLog): void {
    if (given.case === 'multicastGroupEntry') this.replication.writeGroup(type, given.value, undo);
    else if (given.case === 'cloneSessionEntry') this.replication.writeSession(type, given.value, undo);
    else invalid('the entry of the packet replication engine is not set');
  }

  async #readTable(filter: TableEntry, allows: Allows, sink: EntitySink, pacer: Pacer): Promise<void> {
    const writer = this.#writer;
    const isWild = filter.tableId === 0;
    if (isWild) this.#needNoFilter(filter);
    for (const table of this.#selected(this.tables, filter.tableId, 'table', allows)) {
      const { schema } = table;
      if (!isWild) {
        if (filter.timeSinceLastHit !== undefined && !schema.supportsTimeout) {
          const { name } = schema;
          invalid(
            `Do not set time_since_last_hit for a ReadRequest if the table does not support idle timeout: ${name}`,
          );
        }
        if (filter.meterConfig !== undefined && schema.meter === undefined) {
          invalid(`Table has no direct meters: ${schema.name}`);
        }
        if (filter.counterData !== undefined && schema.counter === undefined) {
          invalid(`Table has no direct counters: ${schema.name}`);
        }
      }
      refuseColours(filter.meterCounterData);
      for (const place of table.reader.select(filter)) {
        writer.reset();
        table.reader.writeEntry(writer, TAG.table, place, filter);
        sink.add(writer.finish());
        if (pacer.isDue()) await pacer.rest();
      }
    }
  }

  async #readDirect(
    filter: TableEntry | undefined,
    kind: 'counter' | 'meter',
    write: (table: TableState, place: Place) => void,
    allows: Allows,
    sink: EntitySink,
    pacer: Pacer,
  ): Promise<void> {
    if (filter === undefined)
      return invalid(`Missing table_entry field in ${kind === 'counter' ? 'DirectCounterEntry' : 'DirectMeterEntry'}`);
    const isOne = filter.match.length > 0 || filter.isDefaultAction;
    if (filter.tableId === 0) this.#needNoFilter(filter);
    for (const table of this.#selected(this.tables, filter.tableId, 'table', allows)) {
      if (table.schema[kind] === undefined) {
        if (filter.tableId === 0) continue;
        invalid(`Table has no direct ${kind}s: ${table.schema.name}`);
      }
      let found = 0;
      for (const place of table.reader.select(filter)) {
        found++;
        this.#writer.reset();
        write(table, place);
        sink.add(this.#writer.finish());
        if (pacer.isDue()) await pacer.rest();
      }
      if (isOne && found === 0) refuse(Code.NotFound, `Cannot find match entry: table ${table.schema.name}`);
    }
  }

  #needNoFilter({ match, priority, metadata, controllerMetadata, action }: TableEntry): void {
    if (
      match.length > 0 ||
      priority !== 0 ||
      metadata.length > 0 ||
      controllerMetadata !== 0n ||
      action !== undefined
    ) {
      invalid('entries of all tables cannot be selected by anything else');
    }
  }

  async #readArray<State extends CounterState | MeterState | RegisterState>(
    states: ReadonlyMap<number, State>,
    id: number,
    index: Parameters<typeof rangeOf>[2],
    what: string,
    tag: number,
    allows: Allows,
    sink: EntitySink,
    pacer: Pacer,
  ): Promise<void> {
    for (const state of this.#selected(states, id, what, allows)) {
      const schema: ArraySchema = state.schema;
      const [first, last] = rangeOf(schema, state.target.size, id === 0 ? undefined : index);
      for (let i = first; i <= last; i++) {
        this.#writer.reset();
        state.writeEntry(this.#writer, tag, i);
        sink.add(this.#writer.finish());
        if (pacer.isDue()) await pacer.rest();
      }
    }
  }

  async #readProfile(
    entity: Extract<Entity['entity'], { case: 'actionProfileMember' | 'actionProfileGroup' }>,
    allows: Allows,
    sink: EntitySink,
    pacer: Pacer,
  ): Promise<void> {
    const isMember = entity.case === 'actionProfileMember';
    const id = isMember ? entity.value.memberId : entity.value.groupId;
    const { actionProfileId } = entity.value;
    if (actionProfileId === 0 && id !== 0) invalid('an id of a member or group needs the id of its action profile');
    for (const profile of this.#selected(this.profiles, actionProfileId, 'action profile', allows)) {
      const ids = id === 0 ? [...(isMember ? profile.members : profile.groups).keys()] : [id];
      for (const each of ids) {
        if (isMember) {
          const member = profile.members.get(each);
          if (member === undefined) return refuse(Code.NotFound, `${profile.schema.name} has no member ${each}`);
          const action = callMessage(this.schema.actions.get(member.call.actionId)!, member.call);
          const value = { actionProfileId: profile.schema.id, memberId: each, action };
          add(sink, { case: 'actionProfileMember', value: create(ActionProfileMemberSchema, value) });
        } else {
          const group = profile.groups.get(each);
          if (group === undefined) return refuse(Code.NotFound, `${profile.schema.name} has no group ${each}`);
          add(sink, { case: 'actionProfileGroup', value: group.message });
        }
        if (pacer.isDue()) await pacer.rest();
      }
    }
  }

  #readReplication({ type }: PacketReplicationEngineEntry, sink: EntitySink): void {
    const entry = (each: PacketReplicationEngineEntry['type']): void =>
      add(sink, {
        case: 'packetReplicationEngineEntry',
        value: create(PacketReplicationEngineEntrySchema, { type: each }),
      });
    if (type.case === 'multicastGroupEntry') {
      for (const value of this.replication.groups(type.value.multicastGroupId)) {
        entry({ case: 'multicastGroupEntry', value });
      }
    } else if (type.case === 'cloneSessionEntry') {
      for (const value of this.replication.sessions(type.value.sessionId)) entry({ case: 'cloneSessionEntry', value });
    } else invalid('the entry of the packet replication engine is not set');
  }
}

function add(sink: EntitySink, entity: Entity['entity']): void {
  sink.add(toBinary(EntitySchema, create(EntitySchema, { entity })));
}
