/** What a model has, and what is read of a switch. */
import { create, toBinary } from '@bufbuild/protobuf';
import { p4v1 } from '@int/p4runtime';
import { entity, INFO } from '../everything.js';
import { registerData } from './others.js';
import type { Entry, State } from './state.js';
import { hasCounter, hasMeter, setOriginal } from './tables.js';
import { countMessage, NO_COUNT, readCount, TABLES } from './values.js';

/** Asks for everything that there is. */
export const EVERYTHING: p4v1.Entity[] = [
  entity('tableEntry', { counterData: {}, meterConfig: {} }),
  entity('tableEntry', { isDefaultAction: true, counterData: {}, meterConfig: {} }),
  entity('directCounterEntry', { tableEntry: {} }),
  entity('directMeterEntry', { tableEntry: {} }),
  entity('actionProfileMember', {}),
  entity('actionProfileGroup', {}),
  entity('counterEntry', {}),
  entity('meterEntry', {}),
  entity('registerEntry', {}),
  entity('valueSetEntry', {}),
  entity('digestEntry', {}),
  entity('packetReplicationEngineEntry', { type: { case: 'multicastGroupEntry', value: {} } }),
  entity('packetReplicationEngineEntry', { type: { case: 'cloneSessionEntry', value: {} } }),
];

/** An entity as text, to compare. */
export const textOf = (each: p4v1.Entity): string => Buffer.from(toBinary(p4v1.EntitySchema, each)).toString('base64');

/** Takes over what a switch has from the start. */
export function begin(state: State, found: readonly p4v1.Entity[], keyOf: (entry: p4v1.TableEntry) => string): void {
  for (const { entity: each } of found) {
    if (each.case !== 'tableEntry') continue;
    const { action, isConst, counterData, isDefaultAction, tableId, match, priority, metadata } = each.value;
    const base = create(p4v1.TableEntrySchema, { tableId, isDefaultAction, match, priority, metadata });
    const count = counterData === undefined ? NO_COUNT : readCount(counterData);
    const entry: Entry = { tableId, base, action, isConst, count, meter: undefined };
    if (isDefaultAction) {
      state.defaults.set(tableId, entry);
      setOriginal(entry);
    } else {
      state.entries.set(keyOf(each.value), entry);
      state.grow(`entries ${tableId}`, 1);
      state.remember(entry);
    }
  }
}

function tableEntry({ tableId, base, action, isConst, count, meter }: Entry): p4v1.Entity {
  const table = TABLES.get(tableId)!;
  const { $typeName: _, ...rest } = base;
  return entity('tableEntry', {
    ...rest,
    action,
    isConst,
    counterData: hasCounter(table) ? countMessage(count) : undefined,
    meterConfig: meter,
  });
}

/** All that {@link EVERYTHING} should give, of the objects that a role may see. */
export function expected(state: State, sees: (object: number) => boolean): p4v1.Entity[] {
  const all: p4v1.Entity[] = [];
  const add = (object: number, each: () => p4v1.Entity): void => {
    if (sees(object)) all.push(each());
  };
  for (const entry of state.entries.values()) {
    const { tableId, base, count, meter } = entry;
    const key = create(p4v1.TableEntrySchema, { tableId, match: base.match, priority: base.priority });
    const table = TABLES.get(tableId)!;
    add(tableId, () => tableEntry(entry));
    if (hasCounter(table)) {
      add(tableId, () => entity('directCounterEntry', { tableEntry: key, data: countMessage(count) }));
    }
    if (hasMeter(table)) add(tableId, () => entity('directMeterEntry', { tableEntry: key, config: meter }));
  }
  for (const entry of state.defaults.values()) add(entry.tableId, () => tableEntry(entry));
  for (const { profile, id, action } of state.members.values()) {
    add(profile, () => entity('actionProfileMember', { actionProfileId: profile, memberId: id, action }));
  }
  for (const { profile, message } of state.groups.values())
    add(profile, () => entity('actionProfileGroup', message as never));
  const cells = (size: number, each: (index: number) => p4v1.Entity, object: number): void => {
    for (let i = 0; i < size; i++) add(object, () => each(i));
  };
  const at = (index: number): object => ({ index: BigInt(index) });
  for (const { preamble, size } of INFO.counters) {
    const counterId = preamble!.id;
    const data = (i: number): p4v1.CounterData => countMessage(state.counters.get(`${counterId} ${i}`) ?? NO_COUNT);
    cells(Number(size), (i) => entity('counterEntry', { counterId, index: at(i), data: data(i) }), counterId);
  }
  for (const { preamble, size } of INFO.meters) {
    const meterId = preamble!.id;
    const config = (i: number): p4v1.MeterConfig | undefined => state.meters.get(`${meterId} ${i}`);
    cells(Number(size), (i) => entity('meterEntry', { meterId, index: at(i), config: config(i) }), meterId);
  }
  for (const { preamble, size } of INFO.registers) {
    const { id: registerId, name } = preamble!;
    const data = (i: number): p4v1.P4Data => registerData(name, state.registers.get(`${registerId} ${i}`) ?? 0n);
    cells(size, (i) => entity('registerEntry', { registerId, index: at(i), data: data(i) }), registerId);
  }
  for (const { preamble } of INFO.valueSets) {
    const valueSetId = preamble!.id;
    add(valueSetId, () => entity('valueSetEntry', (state.valueSets.get(valueSetId) ?? { valueSetId }) as never));
  }
  for (const [id, value] of state.digests) add(id, () => entity('digestEntry', value as never));
  const replication = (type: object): p4v1.Entity => entity('packetReplicationEngineEntry', { type });
  for (const value of state.multicast.values()) add(0, () => replication({ case: 'multicastGroupEntry', value }));
  for (const value of state.sessions.values()) add(0, () => replication({ case: 'cloneSessionEntry', value }));
  return all;
}
