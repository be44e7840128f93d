import type { Entity } from '@int/p4runtime';
import type { Cause } from '../reconcile/reconciler-state.js';
import { sealed, tagged, unsealed } from './sealed-text.js';

/** A change of one entity of a switch, as it is written down. */
export interface JournalEntry {
  /** From 1, in the order in which answers came. */
  readonly id: number;
  /** Id of the first entry of the same request. */
  readonly request: number;
  /** Milliseconds since the epoch, when the answer came. */
  readonly atMs: number;
  readonly cause: Cause;
  readonly intents: readonly string[];
  readonly switchId: number;
  /** What identifies the entity on its switch. */
  readonly place: string;
  readonly type: 'insert' | 'modify' | 'delete';
  readonly before: Entity | null;
  readonly after: Entity | null;
  readonly result: 'done' | 'refused' | 'unknown';
  /** The switch's words, '' if it was done. */
  readonly message: string;
}

/** An entry as a line without its end: JSON, whose last member is the CRC-32 of the text before it. */
export const lineOf = (entry: JournalEntry): string => sealed(entry);

/** @returns `null` if the line is damaged */
export function entryOf(line: string): JournalEntry | null {
  const entry = unsealed(line) as JournalEntry | null;
  return entry !== null && Number.isSafeInteger(entry.id) && typeof entry.place === 'string' ? entry : null;
}

/** An entity as text that is equal for equal ones. */
export function entityText(entity: Entity | null): string {
  return JSON.stringify(entity, function (this: unknown, key, value: unknown) {
    const given = tagged.call(this, key, value);
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
    return Object.fromEntries(Object.entries(given).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}
