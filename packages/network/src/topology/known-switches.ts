import { NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';

/** Ids below this are looked up in a table, the others in a set. */
const TABLE_IDS = 65_536;

/** The ids of the switches that there are. */
export class KnownSwitches {
  readonly #table = new Uint8Array(TABLE_IDS);
  readonly #others = new Set<number>();

  /** @throws RangeError for an id that is no whole number from 0 to 2^32 - 1 */
  constructor(ids: Iterable<number>) {
    for (const id of ids) {
      if (!(Number.isInteger(id) && id >= 0 && id <= 0xffff_ffff)) {
        throw new RangeError(`knownSwitches: ${id} is no switch id: give 0 to 4294967295`);
      }
      if (id < TABLE_IDS) this.#table[id] = 1;
      else this.#others.add(id);
    }
  }

  /** Whether there is a switch of this id. A cell that names none names no unknown one. */
  has(id: number): boolean {
    return id < TABLE_IDS ? this.#table[id] === 1 : id === NOT_AVAILABLE || this.#others.has(id);
  }

  /** The first switch named by a report that there is not; `NOT_AVAILABLE` if all are known. */
  unknownOf({ nodeId, hopStart, hopCount, hop }: TelemetryBatch, row: number): number {
    if (!this.has(nodeId[row]!)) return nodeId[row]!;
    const start = hopStart[row]!;
    for (let at = start; at < start + hopCount[row]!; at++) {
      if (!this.has(hop.nodeId[at]!)) return hop.nodeId[at]!;
    }
    return NOT_AVAILABLE;
  }
}
