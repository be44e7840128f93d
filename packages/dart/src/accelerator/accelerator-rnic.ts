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

/** Bytes for the positions of queue pairs that the accelerator remembers, half a word each. */
const GUESS_BYTES = 512;
/** Bytes for the headers of 256 queue pairs that the accelerator remembers. */
const HEADERS_BYTES = 256 * 40;
/** Frames that the accelerator processes together, `BLOCK` of `assembly/rnic.ts`, times the bytes it keeps of each. */
const WRITES_BYTES = 64 * 12;

/**
 * Executes the plain good frames of a `SoftRnic` that write into a store in WebAssembly; rnic-state.ts defines them.
 * Frames in the store's memory are read in place; others are copied in, block by block.
 *
 * Slots, marks and the counter of written slots are the same as after `DartStore.writeBytes`. Readers in other threads
 * wait for up to 64 frames.
 *
 * @example
 * const accelerator = new AcceleratorRnic(store.accelerator, [remoteKey]);
 * const rnic = new SoftRnic({ state: accelerator.state, queuePairs, regions: [{ remoteKey, base, target: store }] });
 * rnic.useAccelerator(accelerator);
 */
export class AcceleratorRnic implements RnicAccelerator {
  /** Memory for the state of the `SoftRnic`, in the store's memory. Pass it to the `SoftRnic`'s constructor. */
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
   * @param engine the store's engine
   * @param remoteKeys remote keys of the regions that begin at this store's first slot; the `SoftRnic` handles other
   *   regions
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
      // Frames in place must be inside `bytes`. Copied frames are, and their offsets are those of the copy.
      context[CONTEXT.INPUT_BYTES] = bytes.buffer === this.#engine.host.buffer ? bytes.length : 0xffffffff;
      const reached = exports.receive(row, end);
      if (reached < end || end === row) return reached;
      row = end;
    }
    return row;
  }

  /** Finds the regions of this store. Regions are never removed. */
  #flagRegions(): void {
    const { state } = this;
    this.#regions = state[STATE_WORD.REGIONS]!;
    for (let index = 0; index < this.#regions; index++) {
      const remoteKey = state[REGIONS_AT + index * ENTRY_WORDS + REGION_WORD.REMOTE_KEY]!;
      this.#flags[index] = this.#remoteKeys.has(remoteKey) ? 1 : 0;
    }
  }
}
