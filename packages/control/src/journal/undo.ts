import type { Change, ChangePlan } from '../change/change.js';
import { entityText, type JournalEntry } from './journal-entry.js';

/** Why an entry cannot be undone. */
export interface UndoRefusal {
  readonly id: number;
  /** Id of the later change that stands in the way; `null`: none does. */
  readonly by: number | null;
  readonly message: string;
}

export interface Undo {
  /** Empty if anything is refused. */
  readonly plan: ChangePlan;
  readonly refusals: readonly UndoRefusal[];
}

/** @param entries all that is remembered, in their order */
export function undoOf(entries: readonly JournalEntry[], ids: readonly number[]): Undo {
  const wanted = new Set(ids);
  const chosen = entries.filter(({ id }) => wanted.has(id)).reverse();
  const refusals: UndoRefusal[] = [];
  for (const id of wanted) {
    if (!chosen.some((entry) => entry.id === id)) {
      refusals.push({ id, by: null, message: `entry ${id} is not remembered` });
    }
  }
  const steps: Change[][] = [];
  let request: number | undefined;
  for (const entry of chosen) {
    const refusal = refusalOf(entry, entries, wanted);
    if (refusal !== null) refusals.push(refusal);
    else if (entry.result === 'done') {
      if (entry.request !== request) steps.push([]);
      request = entry.request;
      steps.at(-1)!.push(inverseOf(entry));
    }
  }
  return { plan: refusals.length > 0 ? [] : steps, refusals };
}

function refusalOf(
  entry: JournalEntry,
  entries: readonly JournalEntry[],
  wanted: ReadonlySet<number>,
): UndoRefusal | null {
  const { id, switchId, place } = entry;
  const what = `entry ${id} (${entry.intents.join(', ') || nameOf(entry)} on switch ${switchId})`;
  if (entry.result === 'unknown')
    return { id, by: null, message: `${what}: the switch did not say whether it was done` };
  if (entry.result === 'refused') return null;
  if (entry.type === 'modify' && entry.before === null) {
    return { id, by: null, message: `${what}: it is not known what was there before` };
  }
  const later = entries.filter(
    (each) =>
      each.id > id &&
      each.switchId === switchId &&
      each.place === place &&
      each.result !== 'refused' &&
      !wanted.has(each.id),
  );
  const last = later.at(-1);
  // A switch that lost it may have got the same again.
  if (last === undefined || (last.result === 'done' && entityText(last.after) === entityText(entry.after))) return null;
  const { owner, reason } = last.cause;
  return { id, by: last.id, message: `${what}: entry ${last.id} of ${owner} (${reason}) has changed the same entity` };
}

/** What an entry is about that is no intent's. */
function nameOf({ before, after }: JournalEntry): string {
  const entity = (after ?? before)!;
  if (entity.kind === 'table-entry') return `an entry of ${entity.table}`;
  return 'id' in entity ? `${entity.kind} ${entity.id}` : entity.kind;
}

function inverseOf({ switchId, type, before, after, intents }: JournalEntry): Change {
  const inverse = type === 'insert' ? 'delete' : type === 'delete' ? 'insert' : 'modify';
  return { switchId, type: inverse, before: after, after: before, intents };
}
