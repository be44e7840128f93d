import { NOT_AVAILABLE } from '@int/codec';
import { BusiestKeys, NO_ROW } from './busiest-keys.js';

/** The last values of queues or interfaces, as columns. */
export interface GaugeColumns {
  readonly nodeId: Uint32Array;
  /** Of the queue, or the egress interface. */
  readonly number: Uint32Array;
  readonly value: Uint32Array;
}

/** The last values of the queues or interfaces that report most, by node and number. */
export class Gauges {
  readonly #keys: BusiestKeys;
  readonly #values: Uint32Array;
  refused = 0;

  constructor(capacity: number) {
    this.#keys = new BusiestKeys(capacity);
    this.#values = new Uint32Array(capacity);
  }

  set(nodeId: number, number: number, value: number): void {
    const row = this.#keys.note(nodeId, number);
    if (row === NO_ROW) this.refused++;
    else this.#values[row] = value;
  }

  /** A newcomer has no value until its next report. */
  elect(timeMs: number): void {
    this.#keys.elect(timeMs, (row) => {
      this.#values[row] = NOT_AVAILABLE;
    });
  }

  /** Forgets the values of nodes. */
  release(isGone: (nodeId: number) => boolean): void {
    this.#keys.release((row) => isGone(this.#keys.first[row]!));
  }

  /** Copies of the values that there are. */
  columns(): GaugeColumns {
    const keys = this.#keys;
    const nodeId = new Uint32Array(keys.size);
    const number = new Uint32Array(keys.size);
    const value = new Uint32Array(keys.size);
    let count = 0;
    for (let row = 0; row < keys.capacity; row++) {
      if (keys.used[row] === 0 || this.#values[row] === NOT_AVAILABLE) continue;
      nodeId[count] = keys.first[row]!;
      number[count] = keys.second[row]!;
      value[count++] = this.#values[row]!;
    }
    return { nodeId: nodeId.slice(0, count), number: number.slice(0, count), value: value.slice(0, count) };
  }
}
