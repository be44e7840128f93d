import { crc32 } from 'node:zlib';
import type { Entity } from '@int/p4runtime';
import type { Cause } from '../reconcile/reconciler.js';

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
export function lineOf(entry: JournalEntry): string {
  const text = JSON.stringify(entry, tagged).slice(0, -1);
  return `${text},"crc":"${checksum(text)}"}`;
}

/** @returns `null` if the line is damaged */
export function entryOf(line: string): JournalEntry | null {
  const end = /^(.*),"crc":"([0-9a-f]{8})"\}$/.exec(line);
  if (end === null || checksum(end[1]!) !== end[2]) return null;
  try {
    const entry = JSON.parse(`${end[1]}}`, untagged) as JournalEntry;
    return Number.isSafeInteger(entry.id) && typeof entry.place === 'string' ? entry : null;
  } catch {
    return null;
  }
}

/** An entity as text that is equal for equal ones. */
export function entityText(entity: Entity | null): string {
  return JSON.stringify(entity, function (this: unknown, key, value: unknown) {
    const given = tagged.call(this, key, value);
    if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
    return Object.fromEntries(Object.entries(given).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0');

/** Numbers and bytes that JSON does not have. */
function tagged(this: unknown, key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return { $integer: `${value}` };
  // What JSON makes of a Buffer comes first.
  const given = (this as Readonly<Record<string, unknown>>)[key];
  return given instanceof Uint8Array ? { $bytes: Buffer.from(given).toString('hex') } : value;
}

function untagged(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('$integer' in value && typeof value.$integer === 'string') return BigInt(value.$integer);
  return '$bytes' in value && typeof value.$bytes === 'string'
    ? Uint8Array.from(Buffer.from(value.$bytes, 'hex'))
    : value;
}
