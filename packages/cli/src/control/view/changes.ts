/** Changes of switches, as rows of text. */
import type { Change, JournalEntry } from '@int/control';
import type { ChangeRow } from '@int/dashboard';
import { printable } from '../../output/printable.js';
import { entityText } from '../entity-text.js';

/** Characters of an entity: a multicast group may have very many ports. */
const MOST_TEXT = 1000;

export function rowText(text: string): string {
  const shown = printable(text);
  return shown.length <= MOST_TEXT ? shown : `${shown.slice(0, MOST_TEXT)}...`;
}

function changeRow({
  type,
  before,
  after,
  intents,
}: Pick<Change, 'type' | 'before' | 'after' | 'intents'>): Pick<ChangeRow, 'type' | 'before' | 'after' | 'intents'> {
  return {
    type,
    before: before === null ? null : rowText(entityText(before)),
    after: after === null ? null : rowText(entityText(after)),
    intents,
  };
}

export const plannedRow = (change: Change): ChangeRow => ({
  ...changeRow(change),
  ...{ result: 'planned', message: '', atMs: null },
});

export function writtenRow(entry: JournalEntry): ChangeRow {
  const { id, result, message, atMs } = entry;
  return { entry: id, ...changeRow(entry), result, message: rowText(message), atMs };
}
