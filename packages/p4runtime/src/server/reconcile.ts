import { create, fromBinary } from '@bufbuild/protobuf';
import {
  ActionProfileGroupSchema,
  ActionProfileMemberSchema,
  CloneSessionEntrySchema,
  CounterDataSchema,
  CounterEntrySchema,
  DigestEntrySchema,
  type Entity,
  EntitySchema,
  MeterConfigSchema,
  MeterEntrySchema,
  MulticastGroupEntrySchema,
  PacketReplicationEngineEntrySchema,
  RegisterEntrySchema,
  type TableEntry,
  TableEntrySchema,
  Update_Type,
  UpdateSchema,
  ValueSetEntrySchema,
} from '../generated/p4/v1/p4runtime_pb.js';
import { type EntityChunk, EntitySink } from './entity-sink.js';
import { Pacer } from './pacer.js';
import type { PipelineState } from './pipeline-state.js';
import { invalid, isRefusal, refusalOf } from './refusal.js';

const ALL = (): boolean => true;

/** All entities of a pipeline, in an order in which they can be written. */
function requests(from: PipelineState): readonly Entity['entity'][] {
  const counterData = create(CounterDataSchema);
  const meterConfig = create(MeterConfigSchema);
  const group = { case: 'multicastGroupEntry', value: create(MulticastGroupEntrySchema) } as const;
  const session = { case: 'cloneSessionEntry', value: create(CloneSessionEntrySchema) } as const;
  const defaults = [...from.schema.tables.values()]
    .filter(({ isDefaultConst, profile }) => !isDefaultConst && profile === undefined)
    .map(
      ({ id, counter, meter }) =>
        ({
          case: 'tableEntry',
          value: create(TableEntrySchema, {
            tableId: id,
            isDefaultAction: true,
            counterData: counter === undefined ? undefined : counterData,
            meterConfig: meter === undefined ? undefined : meterConfig,
          }),
        }) as const,
    );
  return [
    { case: 'actionProfileMember', value: create(ActionProfileMemberSchema) },
    { case: 'actionProfileGroup', value: create(ActionProfileGroupSchema) },
    { case: 'tableEntry', value: create(TableEntrySchema, { counterData, meterConfig }) },
    ...defaults,
    { case: 'counterEntry', value: create(CounterEntrySchema) },
    { case: 'meterEntry', value: create(MeterEntrySchema) },
    { case: 'registerEntry', value: create(RegisterEntrySchema) },
    { case: 'valueSetEntry', value: create(ValueSetEntrySchema) },
    { case: 'packetReplicationEngineEntry', value: create(PacketReplicationEngineEntrySchema, { type: group }) },
    { case: 'packetReplicationEngineEntry', value: create(PacketReplicationEngineEntrySchema, { type: session }) },
    { case: 'digestEntry', value: create(DigestEntrySchema) },
  ];
}

const INSERTED: ReadonlySet<Entity['entity']['case']> = new Set([
  'actionProfileMember',
  'actionProfileGroup',
  'packetReplicationEngineEntry',
  'digestEntry',
]);

/** Reads what a request selects, as encoded messages: decoded at once they would take long. */
async function readAll(from: PipelineState, pacer: Pacer, request: Entity['entity']): Promise<readonly EntityChunk[]> {
  const sink = new EntitySink(Number.POSITIVE_INFINITY);
  await from.read(create(EntitySchema, { entity: request }), ALL, sink, pacer);
  return sink.chunks;
}

/** Decodes messages one by one, with pauses for packets. */
async function* decoded(chunks: readonly EntityChunk[], pacer: Pacer): AsyncGenerator<Entity> {
  for (const chunk of chunks) {
    for (const bytes of chunk.entities()) {
      // A copy: what the pipeline keeps of a message would keep the chunk.
      yield fromBinary(EntitySchema, bytes.slice());
      if (pacer.isDue()) await pacer.rest();
    }
  }
}

/**
 * Gives a new pipeline the forwarding state of another one.
 *
 * @throws Refusal INVALID_ARGUMENT if the new one cannot hold it. The new pipeline is then of no more use.
 */
export async function reconcile(from: PipelineState, to: PipelineState): Promise<void> {
  const pacer = new Pacer();
  const write = (type: Update_Type, entity: Entity): void => {
    try {
      to.write(create(UpdateSchema, { type, entity }), ALL, undefined);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      invalid(`the forwarding state cannot be kept: ${refusalOf(error).message}`);
    }
  };
  await removeInitial(to, pacer, write);
  for (const request of requests(from)) {
    for await (const entity of decoded(await readAll(from, pacer, request), pacer)) {
      const each = entity.entity;
      if (each.case === 'tableEntry') writeEntry(each.value, entity, to, write);
      else if (!isDefault(each, to)) write(INSERTED.has(each.case) ? Update_Type.INSERT : Update_Type.MODIFY, entity);
    }
  }
}

/** Counters and so on of the program that the new one lacks, or that hold nothing, are left out. */
function isDefault(each: Entity['entity'], to: PipelineState): boolean {
  switch (each.case) {
    case 'counterEntry': {
      const { data, counterId } = each.value;
      const isZero = data === undefined || (data.packetCount === 0n && data.byteCount === 0n);
      return isZero && !to.counters.has(counterId);
    }
    case 'meterEntry':
      return each.value.config === undefined;
    case 'valueSetEntry':
      return each.value.members.length === 0 && !to.valueSets.has(each.value.valueSetId);
    default:
      return false;
  }
}

function writeEntry(
  entry: TableEntry,
  entity: Entity,
  to: PipelineState,
  write: (type: Update_Type, entity: Entity) => void,
): void {
  if (entry.isDefaultAction) {
    if (to.schema.tables.get(entry.tableId)?.isDefaultConst !== true) write(Update_Type.MODIFY, entity);
    return;
  }
  if (!entry.isConst) {
    write(Update_Type.INSERT, entity);
    return;
  }
  // Constant entries come with the program.
  const schema = to.schema.tables.get(entry.tableId);
  if (schema?.counter === undefined && schema?.meter === undefined) return;
  entry.isConst = false;
  entry.action = undefined;
  write(Update_Type.MODIFY, entity);
}

/** Removes the entries with which the program begins: those of the other pipeline take their place. */
async function removeInitial(
  to: PipelineState,
  pacer: Pacer,
  write: (type: Update_Type, entity: Entity) => void,
): Promise<void> {
  for (const { id, hasInitialEntries, isConst } of to.schema.tables.values()) {
    if (!hasInitialEntries || isConst) continue;
    const value = create(TableEntrySchema, { tableId: id });
    for await (const entity of decoded(await readAll(to, pacer, { case: 'tableEntry', value }), pacer)) {
      if (entity.entity.case === 'tableEntry' && !entity.entity.value.isConst) write(Update_Type.DELETE, entity);
    }
  }
}
