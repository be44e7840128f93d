import { NOT_AVAILABLE, type TelemetryBatch } from '@int/codec';
import { mix32 } from '@int/random';

/** Reports of which one is looked at: links do not change by the packet. */
const EVERY = 16;
const SLOTS = 1 << 14;

/** Which switches follow one another in the paths of reports. */
export class Neighbours {
  /** Pairs of switches, two words each; of two with the same place the later one stays. */
  readonly #pairs = new Uint32Array(2 * SLOTS).fill(NOT_AVAILABLE);
  /** Reports to pass over until the next that is looked at. */
  #left = 0;

  static readonly BYTES: number = 8 * SLOTS;

  /** Takes reports without an error. */
  observe(batch: TelemetryBatch, from: number, to: number): void {
    let row = from + this.#left;
    for (; row < to; row += EVERY) if (batch.code[row] === 0) this.#report(batch, row);
    this.#left = row - to;
  }

  /** @param path ids of switches, from the first to the last */
  path(path: readonly number[]): void {
    for (let k = 1; k < path.length; k++) this.#add(path[k - 1]!, path[k]!);
  }

  #report(batch: TelemetryBatch, row: number): void {
    const end = batch.hopStart[row]! + batch.hopCount[row]!;
    for (let hop = batch.hopStart[row]! + 1; hop < end; hop++) {
      this.#add(batch.hop.nodeId[hop - 1]!, batch.hop.nodeId[hop]!);
    }
  }

  #add(from: number, to: number): void {
    if (from === NOT_AVAILABLE || to === NOT_AVAILABLE) return;
    const at = placeOf(from, to);
    this.#pairs[at] = Math.min(from, to);
    this.#pairs[at + 1] = Math.max(from, to);
  }

  areNeighbours(a: number, b: number): boolean {
    const at = placeOf(a, b);
    return this.#pairs[at] === Math.min(a, b) && this.#pairs[at + 1] === Math.max(a, b);
  }
}

function placeOf(a: number, b: number): number {
  return 2 * (mix32(mix32(Math.min(a, b)) ^ Math.max(a, b)) & (SLOTS - 1));
}
