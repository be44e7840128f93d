import type { Entity, p4config } from '@int/p4runtime';
import type { DesiredEntity, DesiredState } from '../change/desired-state.js';
import { entityText } from './entries.js';

/** Something that the network has no place for, and why. */
export interface Unplaced {
  /** The intent that is left out, or of which a part is; `null`: it is the network's own. */
  readonly intent: string | null;
  /** `null`: it is not about one switch. */
  readonly switchId: number | null;
  readonly code:
    | 'NO_PATH'
    | 'NO_OTHER_PATH'
    | 'NO_HOST'
    | 'NO_COLLECTOR'
    | 'NO_SUCH_SWITCH'
    | 'NO_SUCH_LINK'
    | 'NO_TABLE'
    /** The switch's program cannot do it. */
    | 'NOT_SUPPORTED'
    /** Its flows enter and leave by switches whose programs do not read each other's telemetry. */
    | 'MIXED_PROGRAMS'
    /** It is placed, but not for all of its flows. */
    | 'PARTLY'
    | 'TABLE_FULL'
    | 'NO_ID'
    | 'TAKEN';
  readonly message: string;
}

interface Held {
  readonly entity: Entity;
  readonly effect: string;
  readonly intents: Set<string>;
  readonly stage: number;
}

/** An entity of a switch, and the stage of its installation. */
export interface Piece {
  readonly switchId: number;
  readonly entity: Entity;
  readonly stage: number;
}

/** Entries that tables have room for, by name. */
function sizesOf(info: p4config.P4Info): ReadonlyMap<string, number> {
  return new Map(
    [...info.tables, ...info.actionProfiles].map(({ preamble, size }) => [preamble?.name ?? '', Number(size)]),
  );
}

/** The table or profile that an entity takes room of. */
function tableOf(entity: Entity): string | null {
  if (entity.kind === 'table-entry') return entity.table;
  return entity.kind === 'member' ? entity.profile : null;
}

const takesRoom = (entity: Entity): boolean => entity.kind !== 'table-entry' || entity.isDefault !== true;

/** What the switches shall have, as it grows. */
export class Draft {
  readonly #entities = new Map<number, Map<string, Held>>();
  readonly #sizes = new Map<number, ReadonlyMap<string, number>>();
  readonly #counts = new Map<string, number>();
  readonly unplaced: Unplaced[] = [];

  constructor(switches: Iterable<readonly [number, { readonly p4info: p4config.P4Info }]>) {
    const known = new Map<p4config.P4Info, ReadonlyMap<string, number>>();
    for (const [id, { p4info }] of switches) {
      const sizes = known.get(p4info) ?? sizesOf(p4info);
      known.set(p4info, sizes);
      this.#sizes.set(id, sizes);
      this.#entities.set(id, new Map());
    }
  }

  /** Places all pieces or none. @returns what is in the way; `null`: they are placed */
  place(pieces: readonly Piece[], intent: string | null): Unplaced | null {
    const added = new Map<string, number>();
    const fresh = new Map<string, string>();
    for (const { switchId, entity } of pieces) {
      const { key, effect } = entityText(entity);
      const place = `${switchId} ${key}`;
      const there = this.#entities.get(switchId)?.get(key)?.effect ?? fresh.get(place);
      if (there === effect) continue;
      if (there !== undefined) {
        const message = `switch ${switchId} has another entry at this place: ${key}`;
        return { intent, switchId, code: 'TAKEN', message };
      }
      fresh.set(place, effect);
      const table = tableOf(entity);
      if (table === null) continue;
      const size = this.#sizes.get(switchId)?.get(table);
      if (size === undefined) {
        const message = `switch ${switchId} has no program with ${table}`;
        return { intent, switchId, code: 'NO_TABLE', message };
      }
      if (!takesRoom(entity)) continue;
      const room = `${switchId} ${table}`;
      const count = (added.get(room) ?? 0) + 1;
      added.set(room, count);
      if ((this.#counts.get(room) ?? 0) + count > size) {
        const message = `${table} of switch ${switchId} is full: it has room for ${size} entries`;
        return { intent, switchId, code: 'TABLE_FULL', message };
      }
    }
    for (const [room, count] of added) this.#counts.set(room, (this.#counts.get(room) ?? 0) + count);
    for (const piece of pieces) this.#put(piece, intent);
    return null;
  }

  #put({ switchId, entity, stage }: Piece, intent: string | null): void {
    const entities = this.#entities.get(switchId)!;
    const { key, effect } = entityText(entity);
    let held = entities.get(key);
    if (held === undefined) {
      held = { entity, effect, intents: new Set(), stage };
      entities.set(key, held);
    }
    if (intent !== null) held.intents.add(intent);
  }

  /** Places pieces one by one, and notes those that have no place. */
  placeEach(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      const problem = this.place([piece], null);
      if (problem !== null) this.unplaced.push(problem);
    }
  }

  /** Names intents behind an entity that is there. */
  credit({ switchId, entity }: Piece, intents: Iterable<string>): void {
    const held = this.#entities.get(switchId)?.get(entityText(entity).key);
    for (const intent of intents) held?.intents.add(intent);
  }

  /** In an order that depends on the content alone. */
  state(): DesiredState {
    const ids = [...this.#entities.keys()].sort((a, b) => a - b);
    return new Map(
      ids.map((id) => {
        const entities = [...this.#entities.get(id)!]
          .sort(([a, x], [b, y]) => x.stage - y.stage || (a < b ? -1 : 1))
          .map(([, { entity, intents, stage }]): DesiredEntity => ({ entity, intents: [...intents].sort(), stage }));
        return [id, entities];
      }),
    );
  }
}
