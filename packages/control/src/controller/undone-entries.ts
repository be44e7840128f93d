import type { Entity, p4config } from '@int/p4runtime';
import type { DesiredEntity, DesiredState } from '../change/desired-state.js';
import { isNetworkName } from '../compile/entries.js';
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
  // What has come and gone has left nothing to undo.
  return [...places.values()].filter(({ undone, restored }) => undone !== null || restored !== null);
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
  const over = new Set<UndoneEntry>();
  const apply = (): DesiredState => {
    const state = new Map(desired);
    for (const each of undone) {
      const p4info = p4infos(each.switchId);
      if (p4info === undefined || over.has(each)) continue;
      const next = placed(state.get(each.switchId) ?? [], each, EntityForms.of(p4info));
      if (next === null) over.add(each);
      else state.set(each.switchId, next);
    }
    return state;
  };
  let state = apply();
  if (over.size > 0) {
    // Entries of one intent make a path together: half of it might send packets in circles.
    for (const each of undone) if ([...over].some((other) => goTogether(each, other))) over.add(each);
    state = apply();
  }
  return { desired: state, over: [...over] };
}

const goTogether = (one: UndoneEntry, other: UndoneEntry): boolean =>
  one.entries.join() === other.entries.join() &&
  one.intents.some((name) => !isNetworkName(name) && other.intents.includes(name));

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
