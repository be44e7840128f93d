import { HEADER } from '../layout.js';
import {
  ENTRY_WORDS,
  MOST_REGIONS,
  REGION_WORD,
  REGIONS_AT,
  RNIC_STATE_WORDS,
  type RnicAccelerator,
  STATE_WORD,
} from '../rdma/rnic-state.js';
import type { AcceleratorEngine } from './accelerator-engine.js';
import { CONTEXT, CRC_TABLE_BYTES } from './context.js';

/** Queue pairs of which the accelerator notes where they are, half a word each. */
const GUESS_BYTES = 512;
/** What the accelerator notes of the headers of 256 queue pairs. */
const HEADERS_BYTES = 256 * 40;
/** Frames that the accelerator looks at together, `BLOCK` of `assembly/rnic.ts`, and bytes it notes of each. */
const WRITES_BYTES = 64 * 12;

/**
 * Takes the plain good frames of a `SoftRnic` that write into a store in WebAssembly: see rnic-state.ts for what those
 * are. Frames that lie in the store's memory are read in place; others are copied in, block by block.
 *
 * Slots, marks and the counter of slots written are as `DartStore.writeBytes` would leave them. Where other threads look
 * on, they wait for up to 64 frames.
 *
 * @example
 * const accelerator = new AcceleratorRnic(store.accelerator, [remoteKey]);
 * const rnic = new SoftRnic({ state: accelerator.state, queuePairs, regions: [{ remoteKey, base, target: store }] });
 * rnic.useAccelerator(accelerator);
 */
export class AcceleratorRnic implements RnicAccelerator {
  /** Room in the store's memory for the state of the `SoftRnic`, which has to be made with it. */
  readonly state: Uint32Array;
  readonly #engine: AcceleratorEngine;
  readonly #remoteKeys: ReadonlySet<number>;
  readonly #flags: Uint8Array;
  readonly #guesses: number;
  readonly #table: number;
  readonly #writes: number;
  readonly #headers: number;
  #regions = 0;

  /**
   * Takes about 60 KiB of the store's memory.
   *
   * @param engine of the store
   * @param remoteKeys those of the regions that are this store, from its first slot on; others are left to the `SoftRnic`
   * @throws RangeError if the memory is exhausted
   */
  constructor(engine: AcceleratorEngine, remoteKeys: readonly number[]) {
    const { arena } = engine.host;
    this.#engine = engine;
    this.#remoteKeys = new Set(remoteKeys);
    this.state = arena.words(RNIC_STATE_WORDS);
    this.#flags = arena.bytes(MOST_REGIONS);
    this.#guesses = arena.take(GUESS_BYTES);
    this.#table = arena.take(CRC_TABLE_BYTES);
    this.#writes = arena.take(WRITES_BYTES);
    this.#headers = arena.take(HEADERS_BYTES);
    engine.core.context[CONTEXT.FRAME_CRC] = this.#table;
    engine.core.exports.attachRnic();
  }

  run(bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array, from: number, to: number): number {
    const { context, exports, staging } = this.#engine.core;
    if (this.#regions !== this.state[STATE_WORD.REGIONS]) this.#flagRegions();
    context[CONTEXT.RNIC_STATE] = this.state.byteOffset;
    context[CONTEXT.REGION_FLAGS] = this.#flags.byteOffset;
    context[CONTEXT.PAIR_OF] = this.#guesses;
    context[CONTEXT.FRAME_CRC] = this.#table;
    context[CONTEXT.WRITES] = this.#writes;
    context[CONTEXT.HEADERS] = this.#headers;
    context[CONTEXT.COUNTER] = this.#engine.place.byteOffset + HEADER.SLOT_WRITES * 4;
    const rows = { bytes, offsets, lengths };
    let row = from;
    while (row < to) {
      const end = staging.takeKeys(rows, row, to);
      // In place, a frame has to lie in the bytes; what was copied does, and its offsets are those of the copy.
      context[CONTEXT.INPUT_BYTES] = bytes.buffer === this.#engine.host.buffer ? bytes.length : 0xffffffff;
      const reached = exports.receive(row, end);
      if (reached < end || end === row) return reached;
      row = end;
    }
    return row;
  }

  /** Finds the regions that are this store. Regions are only ever added. */
  #flagRegions(): void {
    const { state } = this;
    this.#regions = state[STATE_WORD.REGIONS]!;
    for (let index = 0; index < this.#regions; index++) {
      const remoteKey = state[REGIONS_AT + index * ENTRY_WORDS + REGION_WORD.REMOTE_KEY]!;
      this.#flags[index] = this.#remoteKeys.has(remoteKey) ? 1 : 0;
    }
  }
}
