import type { Entity } from '@int/p4runtime';
import type { DesiredEntity } from '../change/desired-state.js';

/** The first bytes of the metadata of every table entry that a controller of this package has made. */
const PREFIX = 'intc';

/** Which entities belong to a controller beside table entries, which say so in their metadata. */
export interface Ownership {
  /** Ids of clone sessions, multicast groups, members and groups that are its own, both included. By default 2000 to 2999. */
  readonly ids?: readonly [first: number, last: number];
  /** Meters, counters, registers and value sets that are its own with all their cells, by their full names. */
  readonly cells?: readonly string[];
}

/** What the metadata of an entry says. */
export interface OwnMark {
  /** The intent's or route's name. */
  readonly name: string;
  /** As in {@link DesiredEntity}; `null`: it is not said. */
  readonly stage: number | null;
}

/**
 * The metadata of an own entry: `intc`, the name of its intent or route, and if a stage is given a zero byte and the stage in
 * decimal digits. So the order in which entries are removed is known to a controller that did not write them.
 */
export function ownMetadata(name: string, stage?: number): Uint8Array {
  return new TextEncoder().encode(`${PREFIX}${name}${stage === undefined ? '' : `\0${stage}`}`);
}

const decoder = new TextDecoder();
/** Marks are looked at in each round of a reconciler. */
const known = new WeakMap<Uint8Array, OwnMark | null>();

/** What the metadata of an entry says; `null`: the entry is not one of this package's controllers. */
export function ownMark(metadata: Uint8Array | undefined): OwnMark | null {
  if (metadata === undefined) return null;
  let mark = known.get(metadata);
  if (mark === undefined) {
    mark = markOf(metadata);
    known.set(metadata, mark);
  }
  return mark;
}

function markOf(metadata: Uint8Array): OwnMark | null {
  const text = decoder.decode(metadata);
  if (!text.startsWith(PREFIX)) return null;
  const end = text.lastIndexOf('\0');
  const digits = end === -1 ? '' : text.slice(end + 1);
  if (!/^\d{1,9}$/.test(digits)) return { name: text.slice(PREFIX.length), stage: null };
  return { name: text.slice(PREFIX.length, end), stage: Number(digits) };
}

/** The name that a wanted entry goes by: that of its metadata, or those of its intents. */
export function wantedName({ entity, intents }: DesiredEntity): string {
  const mark = entity.kind === 'table-entry' ? ownMark(entity.metadata) : null;
  return mark === null ? intents.join('+') : mark.name;
}

/** Whether an entity that a switch has is a controller's own. */
export function isOwn(entity: Entity, { ids = [2000, 2999], cells = [] }: Ownership): boolean {
  switch (entity.kind) {
    case 'table-entry':
      return entity.isConst !== true && ownMark(entity.metadata) !== null;
    case 'member':
    case 'group':
    case 'multicast-group':
    case 'clone-session':
      return entity.id >= ids[0] && entity.id <= ids[1];
    default:
      return cells.includes(nameOf(entity));
  }
}

/** The name of an array or set; '' for what has none. */
function nameOf(entity: Entity): string {
  switch (entity.kind) {
    case 'meter':
      return entity.meter;
    case 'counter':
      return entity.counter;
    case 'register':
      return entity.register;
    case 'value-set':
      return entity.valueSet;
    default:
      return '';
  }
}
