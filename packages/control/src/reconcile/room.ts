import type { Entity } from '@int/p4runtime';
import type { Difference } from './differences.js';
import { EntityForms } from './entity-forms.js';
import type { PlanOptions } from './plan-changes.js';

/** Names of what has to go before something comes, because a table has no room for both. */
export function crowdedNames(
  differences: readonly Difference[],
  found: ReadonlyMap<number, readonly Entity[]>,
  { switches, rooms }: PlanOptions,
): ReadonlySet<string> {
  const names = new Set<string>();
  const tables = new Map<string, { insertions: number; readonly deletions: Difference[]; readonly of: Difference }>();
  for (const each of differences) {
    if (each.table === null) continue;
    const key = `${each.change.switchId} ${each.table}`;
    const table = tables.get(key) ?? { insertions: 0, deletions: [], of: each };
    tables.set(key, table);
    if (each.change.type === 'insert') table.insertions++;
    else if (each.change.type === 'delete') table.deletions.push(each);
  }
  const counts = new Map<number, ReadonlyMap<string, number>>();
  for (const [key, { insertions, deletions, of }] of tables) {
    if (insertions === 0 || deletions.length === 0) continue;
    const { switchId } = of.change;
    const forms = EntityForms.of(switches.get(switchId)!.p4info);
    const room = Math.min(
      rooms?.get(key) ?? Number.POSITIVE_INFINITY,
      forms.sizeOf(of.table!) || Number.POSITIVE_INFINITY,
    );
    if (room === Number.POSITIVE_INFINITY) continue;
    if (!counts.has(switchId)) counts.set(switchId, countsOf(found.get(switchId)!, forms));
    let missing = (counts.get(switchId)!.get(of.table!) ?? 0) + insertions - room;
    for (const deletion of deletions) {
      if (missing <= 0) break;
      missing--;
      names.add(deletion.name);
    }
  }
  return names;
}

function countsOf(found: readonly Entity[], forms: EntityForms): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const entity of found) {
    const { table } = forms.form(entity);
    if (table !== null) counts.set(table, (counts.get(table) ?? 0) + 1);
  }
  return counts;
}
