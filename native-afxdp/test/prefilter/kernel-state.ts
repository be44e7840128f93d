/** The state of the detectors in the kernel, read and written by its maps. */
import { endianness } from 'node:os';
import type { Prefilter } from '@int/afxdp/prefilter';

type Kernel = Prefilter['kernel'];

/** Maps by the kind of detector. */
const MAPS = { perHop: 'switch_state', perFlow: 'flow_state', movingAverage: 'average_state' } as const;
const KINDS = ['perHop', 'perFlow', 'movingAverage'] as const;
type Kind = (typeof KINDS)[number];

/** struct prefilter_average */
const AVERAGE_BYTES = 16;
const LITTLE = endianness() === 'LE';

/** What a cell holds: `value` for perHop and perFlow, the other two for movingAverage. What it does not hold is 0. */
export interface CellState {
  readonly value: number;
  readonly accumulator: number;
  readonly reported: number;
}

/** The detectors' state in the kernel; single cells in the array form only, where they are the registers of a switch. */
export class KernelState {
  readonly #program: Kernel['program'];
  readonly #slots: Kernel['slots'];
  readonly #cells: Kernel['cells'];

  constructor({ kernel }: Prefilter) {
    this.#program = kernel.program;
    this.#slots = kernel.slots;
    this.#cells = kernel.cells;
  }

  /** All cells of a detector and a metric that are not zero, by their number. */
  *cells(kind: Kind, metric: string): Generator<[cell: number, state: CellState]> {
    const slot = this.#slots().find(kind, metric);
    if (slot < 0) return;
    const count = this.#cells[kind];
    for (const [index, bytes] of this.#used(kind, slot * count, count)) yield [index - slot * count, read(kind, bytes)];
  }

  /** One cell; zeros where the rules have given the detector and metric no state. */
  cell(kind: Kind, metric: string, cell: number): CellState {
    const bytes = new Uint8Array(sizeOf(kind));
    const slot = this.#slots().find(kind, metric);
    if (slot >= 0) this.#program.map(MAPS[kind]).lookup(slot * this.#cells[kind] + cell, bytes);
    return read(kind, bytes);
  }

  /** Writes the numbers that are given into a cell. Frames that are being looked at may overwrite it. */
  setCell(kind: Kind, metric: string, cell: number, state: Partial<CellState>): void {
    const slot = this.#slots().take(kind, metric);
    const all = { ...this.cell(kind, metric, cell), ...state };
    const bytes = new Uint8Array(sizeOf(kind));
    const view = new DataView(bytes.buffer);
    if (kind === 'movingAverage') {
      view.setBigUint64(0, BigInt(all.accumulator), LITTLE);
      view.setUint32(8, all.reported, LITTLE);
    } else view.setUint32(0, all.value, LITTLE);
    this.#program.map(MAPS[kind]).update(slot * this.#cells[kind] + cell, bytes);
  }

  /** Makes all state that of first sight, in the array form and in the hash form. */
  clear(): void {
    for (const kind of KINDS) {
      const map = this.#program.map(MAPS[kind]);
      if (map.keySize > 4) {
        for (const key of [...map.keys()]) map.delete(key);
        continue;
      }
      const zeros = new Uint8Array(map.valueBytes);
      const taken = this.#slots().used(kind) * this.#cells[kind];
      for (const [index] of this.#used(kind, 0, taken)) map.update(index, zeros);
    }
  }

  /** Elements of an array that are not zero. */
  *#used(kind: Kind, first: number, count: number): Generator<[index: number, bytes: Uint8Array]> {
    const size = sizeOf(kind);
    const words = new Uint32Array((count * size) / 4);
    if (count > 0) this.#program.map(MAPS[kind]).read(first, words);
    const bytes = new Uint8Array(words.buffer);
    let done = -1;
    for (let at = 0; at < words.length; at++) {
      if (words[at] === 0) continue;
      const cell = Math.floor((4 * at) / size);
      if (cell === done) continue;
      done = cell;
      yield [first + cell, bytes.subarray(cell * size, (cell + 1) * size)];
    }
  }
}

/** Bytes of a cell. */
function sizeOf(kind: Kind): number {
  return kind === 'movingAverage' ? AVERAGE_BYTES : 4;
}

function read(kind: Kind, bytes: Uint8Array): CellState {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return kind === 'movingAverage'
    ? { value: 0, accumulator: Number(view.getBigUint64(0, LITTLE)), reported: view.getUint32(8, LITTLE) }
    : { value: view.getUint32(0, LITTLE), accumulator: 0, reported: 0 };
}
