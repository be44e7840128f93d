import type { Entity, p4config } from '@int/p4runtime';
import type { DesiredEntity, DesiredState } from '../change/desired-state.js';
import type { JournalEntry } from '../journal/journal-entry.js';
import { EntityForms } from '../reconcile/entity-forms.js';
import { ownMark } from '../reconcile/ownership.js';

/** A place on a switch where, on a person's order, there is again what was there before some entries of the journal. */
export interface UndoneEntry {
  /** Ids in the journal: all that one order has undone, which are made again together. */
  readonly entries: readonly number[];
  readonly switchId: number;
  readonly by: string;
  readonly intents: readonly string[];
  /** What the entries have left there, and what is to be there instead; `null`: nothing. */
  readonly undone: Entity | null;
  readonly restored: Entity | null;
}

/** Entries of one place are one. @param entries of the journal, in its order */
export function undoneEntries(
  entries: readonly JournalEntry[],
  by: string,
  p4infos: (switchId: number) => p4config.P4Info | undefined,
): readonly UndoneEntry[] {
  const places = new Map<string, UndoneEntry>();
  const ids = entries.map(({ id }) => id);
  for (const { switchId, before, after, intents } of entries) {
    const p4info = p4infos(switchId);
    if (p4info === undefined) continue;
    const key = `${switchId} ${EntityForms.of(p4info).form((after ?? before)!).key}`;
    const known = places.get(key);
    places.set(key, {
      ...{ entries: ids, switchId, by, undone: after, restored: known === undefined ? before : known.restored },
      intents: [...new Set([...(known?.intents ?? []), ...intents])],
    });
  }
  return [...places.values()];
}

/**
 * Puts what was undone into a desired state.
 *
 * @returns also those that are over: what is wanted at their place is neither what they have undone nor what they restore
 */
export function withUndone(
  desired: DesiredState,
  undone: readonly UndoneEntry[],
  p4infos: (switchId: number) => p4config.P4Info | undefined,
): { readonly desired: DesiredState; readonly over: readonly UndoneEntry[] } {
  if (undone.length === 0) return { desired, over: [] };
  const state = new Map(desired);
  const over: UndoneEntry[] = [];
  for (const each of undone) {
    const p4info = p4infos(each.switchId);
    if (p4info === undefined) continue;
    const next = placed(state.get(each.switchId) ?? [], each, EntityForms.of(p4info));
    if (next === null) over.push(each);
    else state.set(each.switchId, next);
  }
  return { desired: state, over };
}

function placed(
  wanted: readonly DesiredEntity[],
  { undone, restored, intents }: UndoneEntry,
  forms: EntityForms,
): readonly DesiredEntity[] | null {
  const { key } = forms.form((undone ?? restored)!);
  const at = wanted.findIndex(({ entity }) => forms.form(entity).key === key);
  const content = at < 0 ? null : forms.form(wanted[at]!.entity).content;
  if (content !== (undone === null ? null : forms.form(undone).content)) return null;
  const rest = wanted.filter((_, index) => index !== at);
  if (restored === null) return rest;
  const mark = restored.kind === 'table-entry' ? ownMark(restored.metadata) : null;
  return [...rest, { entity: restored, intents, stage: mark?.stage ?? 0 }];
}

/** Entries on the same switch that use a member or group which is not there any more; text that names them, `null`: none. */
export function danglingUse(desired: DesiredState, undone: readonly UndoneEntry[]): string | null {
  for (const { switchId, undone: gone, restored, entries } of undone) {
    if (restored !== null || (gone?.kind !== 'member' && gone?.kind !== 'group')) continue;
    const { kind, id } = gone;
    const users = (desired.get(switchId) ?? []).filter(({ entity }) => {
      if (entity.kind === 'group') return kind === 'member' && entity.members.some((each) => each.id === id);
      if (entity.kind !== 'table-entry' || entity.action === undefined) return false;
      const { action } = entity;
      return kind === 'group' ? 'group' in action && action.group === id : 'member' in action && action.member === id;
    });
    const [first] = users;
    if (first === undefined) continue;
    const name = first.entity.kind === 'table-entry' ? `an entry of ${first.entity.table}` : `group ${id}`;
    const more = users.length > 1 ? ` and ${users.length - 1} more` : '';
    return `entry ${entries.join(', ')}: ${name} on switch ${switchId}${more} depends on it`;
  }
  return null;
}
