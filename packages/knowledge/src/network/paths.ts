import { NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';

/** Switches of a path that are remembered. */
const PATH = 8;

/** The last path to each destination. */
export class Paths {
  readonly #switches: Uint32Array;

  /** @param rows of the table of destinations */
  constructor(rows: number) {
    this.#switches = new Uint32Array(rows * PATH).fill(NOT_AVAILABLE);
  }

  static byteLength(rows: number): number {
    return rows * PATH * 4;
  }

  /** Keeps the path of a report. @param destination its row */
  report(destination: number, batch: TelemetryBatch, row: number): void {
    const { nodeId } = batch.hop;
    const first = batch.hopStart[row]!;
    const count = Math.min(PATH, batch.hopCount[row]!);
    const at = destination * PATH;
    for (let k = 0; k < count; k++) this.#switches[at + k] = nodeId[first + k]!;
    for (let k = count; k < PATH; k++) this.#switches[at + k] = NOT_AVAILABLE;
  }

  /** @param path ids of switches, from the first to the last */
  path(destination: number, path: readonly number[]): void {
    for (let k = 0; k < PATH; k++) this.#switches[destination * PATH + k] = path[k] ?? NOT_AVAILABLE;
  }

  /** The switch on a destination's path that suffers; `false`: none does; `null`: no path is known. */
  damage(destination: number, isHurt: (switchId: number) => boolean): string | null | false {
    let isKnown = false;
    for (let k = destination * PATH; k < (destination + 1) * PATH; k++) {
      const switchId = this.#switches[k]!;
      if (switchId === NOT_AVAILABLE) continue;
      isKnown = true;
      if (isHurt(switchId)) return `switch:${switchId}`;
    }
    return isKnown ? false : null;
  }
}
