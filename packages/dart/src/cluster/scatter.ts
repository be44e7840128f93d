import type { KeyRows } from '../store/rows.js';

/** The rows of a batch for one collector. Keys stay in place; values are copied. */
export class Share {
  /** Rows taken; set it to 0 to begin again. */
  rows = 0;
  readonly values: Uint8Array;
  readonly #valueBytes: number;
  readonly keys: { bytes: Uint8Array; readonly offsets: Uint32Array; readonly lengths: Uint32Array };

  constructor(capacity: number, valueBytes: number) {
    this.values = new Uint8Array(capacity * valueBytes);
    this.#valueBytes = valueBytes;
    const [offsets, lengths] = [new Uint32Array(capacity), new Uint32Array(capacity)];
    this.keys = { bytes: new Uint8Array(0), offsets, lengths };
  }

  add(keys: KeyRows, values: Uint8Array, row: number): void {
    const to = this.rows++;
    this.keys.bytes = keys.bytes;
    this.keys.offsets[to] = keys.offsets[row]!;
    this.keys.lengths[to] = keys.lengths[row]!;
    const size = this.#valueBytes;
    for (let at = 0; at < size; at++) this.values[to * size + at] = values[row * size + at]!;
  }
}
