import { Code } from '@connectrpc/connect';
import type { TableEntry } from '../generated/p4/v1/p4runtime_pb.js';
import type { EntityWriter } from './entity-writer.js';
import { readKeys, writeMatch } from './keys.js';
import { invalid, refuse } from './refusal.js';
import type { TableSchema } from './schema.js';
import { DEFAULT_ENTRY, type TargetMatch, type TargetTable } from './target.js';

/** A place of an entry: its key, and its handle. */
export interface Place {
  readonly keys: readonly TargetMatch[];
  readonly priority: number;
  readonly handle: number;
}

/** Reads the key of an entry that is not the default one. @throws Refusal INVALID_ARGUMENT */
export function keyOf(schema: TableSchema, entry: TableEntry): Omit<Place, 'handle'> {
  const keys = readKeys(schema.fields, entry.match);
  const { priority } = entry;
  if (schema.hasPriorities ? priority <= 0 : priority !== 0) {
    invalid(
      schema.hasPriorities
        ? `Zero priority for ternary match: entries of table ${schema.name} need one above 0, not ${priority}`
        : `Non-zero priority for non-ternary match: entries of table ${schema.name} have none`,
    );
  }
  return { keys, priority };
}

/** Finds an entry. @throws Refusal NOT_FOUND */
export function placeOf(schema: TableSchema, target: TargetTable, entry: TableEntry): Place {
  if (entry.isDefaultAction) {
    needDefaultKey(entry);
    return { keys: [], priority: 0, handle: DEFAULT_ENTRY };
  }
  if (schema.fields.length === 0) invalid(`table ${schema.name} has no key, so it has only a default entry`);
  const { keys, priority } = keyOf(schema, entry);
  const handle = target.find(keys, priority);
  if (handle === undefined) {
    return refuse(Code.NotFound, `Cannot find match entry: table ${schema.name} has none with this match and priority`);
  }
  return { keys, priority, handle };
}

/** @throws Refusal INVALID_ARGUMENT */
export function needDefaultKey({ match, priority }: TableEntry): void {
  if (match.length > 0) invalid('Non-empty key for default entry');
  if (priority !== 0) invalid('Non-zero priority for default entry');
}

/** Writes the table and the key of an entry, as fields of a TableEntry message. */
export function writePlace(writer: EntityWriter, schema: TableSchema, { keys, priority, handle }: Place): void {
  writer.number(0x08, schema.id);
  if (handle === DEFAULT_ENTRY) {
    writer.number(0x40, 1);
    return;
  }
  for (let i = 0; i < schema.fields.length; i++) writeMatch(writer, 0x12, schema.fields[i]!, keys[i]!);
  if (priority !== 0) writer.number(0x20, priority);
}
