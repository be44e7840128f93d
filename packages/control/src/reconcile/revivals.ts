import type { Entity } from '@int/p4runtime';
import type { Change } from '../change/change.js';
import type { Difference } from './differences.js';
import { ownMark } from './ownership.js';
import type { LeadsTo } from './removal-order.js';

/**
 * Insertions by which entries lead somewhere again that are there already, with the largest stage of these. What entries refer to
 * comes first, but if it was lost, packets follow them as soon as it is back: before that, all of smaller stages has to be there.
 *
 * @param found by id of the switch: all entities that it has
 * @param isSuspect whether a switch may have lost something of a name: only that can revive others
 */
export function revivalsOf(
  differences: readonly Difference[],
  found: ReadonlyMap<number, readonly Entity[]>,
  isSuspect: (name: string) => boolean,
  leadsTo: LeadsTo,
): ReadonlyMap<Change, number> {
  const leads = (switchId: number, entity: Entity, contents: readonly Entity[]): boolean =>
    leadsTo(switchId, entity, contents).length > 0;
  const lost = groupsBy(differences, ({ isEntry, name, table, change: { switchId, type, after } }) =>
    isEntry && type === 'insert' && isSuspect(name) && !leads(switchId, after!, found.get(switchId) ?? [])
      ? `${switchId} ${table}`
      : null,
  );
  const revivals = new Map<Change, number>();
  if (lost.size === 0) return revivals;
  const objects = groupsBy(differences, ({ isObject, change: { switchId, after } }) =>
    isObject && after !== null ? `${switchId}` : null,
  );
  for (const ofTable of lost.values()) {
    const { switchId } = ofTable[0]!.change;
    const here = found.get(switchId) ?? [];
    const referred = [...here, ...afterOf(objects.get(`${switchId}`) ?? [])];
    const withAll = [...referred, ...afterOf(ofTable)];
    const idle = here.filter(
      (each) => stageOf(each) !== null && !leads(switchId, each, here) && leads(switchId, each, withAll),
    );
    if (idle.length === 0) continue;
    for (const { change, stage } of ofTable) {
      const withThis = [...referred, change.after!];
      const last = idle
        .filter((each) => leads(switchId, each, withThis))
        .reduce((most, each) => Math.max(most, stageOf(each)!), stage);
      if (last > stage) revivals.set(change, last);
    }
  }
  return revivals;
}

const afterOf = (differences: readonly Difference[]): readonly Entity[] =>
  differences.map(({ change }) => change.after!);

/** @param keyOf `null`: it is left out */
function groupsBy(
  differences: readonly Difference[],
  keyOf: (each: Difference) => string | null,
): ReadonlyMap<string, Difference[]> {
  const groups = new Map<string, Difference[]>();
  for (const each of differences) {
    const key = keyOf(each);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return groups;
}

const stageOf = (entity: Entity): number | null =>
  entity.kind === 'table-entry' ? (ownMark(entity.metadata)?.stage ?? null) : null;
