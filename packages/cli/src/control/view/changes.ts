/** Changes of switches, as rows of text. */
import type { Change, WrittenChanges } from '@int/control';
import type { ChangeRow } from '@int/dashboard';
import { printable } from '../../output/printable.js';
import { entityText } from '../entity-text.js';

/** Characters of an entity: a multicast group may have very many ports. */
const MOST_TEXT = 1000;

export function rowText(text: string): string {
  const shown = printable(text);
  return shown.length <= MOST_TEXT ? shown : `${shown.slice(0, MOST_TEXT)}...`;
}

function changeRow({ type, before, after, intents }: Change): Pick<ChangeRow, 'type' | 'before' | 'after' | 'intents'> {
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

export function writtenRow({ change, result, message }: WrittenChanges['results'][number], atMs: number): ChangeRow {
  return { ...changeRow(change), result, message: rowText(message), atMs };
}
