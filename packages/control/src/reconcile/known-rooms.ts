import type { Change } from '../change/change.js';
import type { KnownSwitch } from './known-switch.js';

/** Entries that tables turned out to hold, by `<switch id> <table>`, where a switch has refused more of them. */
export class KnownRooms {
  readonly #rooms = new Map<string, number>();

  get all(): ReadonlyMap<string, number> {
    return this.#rooms;
  }

  /** A table has no room for an insertion. @returns whether that is new */
  learn(known: KnownSwitch, change: Change): boolean {
    const table = known.tableOf(change);
    if (table === null) return false;
    const key = `${known.switchId} ${table}`;
    const room = known.entriesOf(table);
    if (room >= (this.#rooms.get(key) ?? Number.POSITIVE_INFINITY)) return false;
    this.#rooms.set(key, room);
    return true;
  }

  /** A table that takes more than it seemed to hold has more room. */
  forget(known: KnownSwitch, change: Change): void {
    const table = known.tableOf(change);
    const key = `${known.switchId} ${table}`;
    const room = this.#rooms.get(key);
    if (table !== null && room !== undefined && known.entriesOf(table) > room) this.#rooms.delete(key);
  }

  /** A switch may have other tables now. */
  forgetSwitch(switchId: number): void {
    for (const key of this.#rooms.keys()) if (key.startsWith(`${switchId} `)) this.#rooms.delete(key);
  }
}
