import type { AcceleratorHost } from '@int/codec';
import { canRunAccelerator } from '@int/codec/internals';
import type { StoreGeometry } from '../layout.js';
import type { StoreEngine } from '../store/engine.js';
import type { HashParameters } from '../store/hashes.js';
import { AnswerRows, type KeyRows } from '../store/rows.js';
import type { SegmentPlace } from '../store/segment.js';
import { ACCELERATOR_BLOCK, CONTEXT, CONTEXT_WORDS, crcTablesBytes, writeStore } from './context.js';
import { DART_WASM } from './dart.wasm.js';
import { Staging } from './staging.js';

interface Exports {
  attach(context: number): void;
  attachRnic(): void;
  receive(from: number, to: number): number;
  write(from: number, to: number, count: number): void;
  query(from: number, to: number, policy: number): void;
}

const LINE = 64;
/** Upper limit of the policy number. All policies that need more slots than a key has are equivalent. */
const MOST_AGREEING = 255;

/** Whether this JavaScript engine can run the accelerator: WebAssembly with 128-bit SIMD and atomic accesses. */
export function storeAcceleratorAvailable(): boolean {
  return canRunAccelerator(DART_WASM);
}

/** The parts that an engine's loops share. */
export interface AcceleratorCore {
  readonly context: Uint32Array;
  readonly exports: Exports;
  readonly staging: Staging;
}

/** Rows in a store's memory. The store reads and writes them in place. */
export interface MemoryRows {
  readonly keys: KeyRows;
  /** Row i's value is `values[i * valueBytes ..]`. */
  readonly values: Uint8Array;
  readonly which: Uint8Array;
  readonly answers: AnswerRows;
}

/**
 * The loops of a store of one segment in WebAssembly. The results equal those of `PlainEngine`, to the last bit.
 *
 * Rows in its memory are read and written in place; others are copied, block by block.
 */
export class AcceleratorEngine implements StoreEngine {
  /** The location of the segment. */
  readonly place: SegmentPlace;
  readonly host: AcceleratorHost;
  readonly geometry: StoreGeometry;
  /** @internal */
  readonly core: AcceleratorCore;

  /** The memory that the accelerator and the store need, in bytes. */
  static byteLength({ copies, segments, valueBytes, slotBytes }: StoreGeometry): number {
    const working = CONTEXT_WORDS * 4 + ACCELERATOR_BLOCK * (2 * copies + 1) * 4 + copies * 4 + slotBytes + LINE;
    return working + crcTablesBytes(copies) + Staging.byteLength(valueBytes) + segments[0]!.byteLength + 8 * LINE;
  }

  /**
   * @param host memory for the accelerator and the store; takes {@link byteLength} bytes of it, which must be 0
   * @param isShared whether other threads query the store
   * @throws RangeError if less memory is left
   * @throws Error if the JavaScript engine cannot run the accelerator
   */
  constructor(host: AcceleratorHost, geometry: StoreGeometry, parameters: HashParameters, isShared: boolean) {
    const { arena } = host;
    const { copies, valueBytes, slotBytes } = geometry;
    this.host = host;
    this.geometry = geometry;
    const context = arena.words(CONTEXT_WORDS);
    context[CONTEXT.PLACES] = arena.take(ACCELERATOR_BLOCK * (copies + 1) * 4);
    context[CONTEXT.MARKS] = arena.take(ACCELERATOR_BLOCK * copies * 4);
    context[CONTEXT.CANDIDATES] = arena.take(copies * 4);
    context[CONTEXT.IMAGE] = arena.take(slotBytes);
    context[CONTEXT.FENCE] = arena.take(LINE);
    context[CONTEXT.TABLES] = parameters.family === 'crc' ? arena.take(crcTablesBytes(copies)) : 0;
    context[CONTEXT.IS_SHARED] = isShared ? 1 : 0;
    const staging = new Staging(arena, context, valueBytes);
    const byteOffset = arena.take(geometry.segments[0]!.byteLength);
    this.place = { buffer: host.buffer, byteOffset };
    writeStore(context, geometry, parameters, byteOffset);
    const exports = host.instantiate(DART_WASM) as unknown as Exports;
    exports.attach(context.byteOffset);
    this.core = { context, exports, staging };
  }

  write(keys: KeyRows, values: Uint8Array, from: number, to: number, copies: number): void {
    this.#write(keys, values, undefined, from, to, copies);
  }

  writeCopy(keys: KeyRows, values: Uint8Array, which: Uint8Array, from: number, to: number): void {
    this.#write(keys, values, which, from, to, 0);
  }

  query(keys: KeyRows, policy: number, out: AnswerRows, from: number, to: number): void {
    const { exports, staging } = this.core;
    const isInside = staging.holds(out);
    for (let row = from; row < to; ) {
      // If answers are copied, keys go in blocks of the same size.
      const end = staging.takeKeys(keys, row, isInside ? to : Math.min(to, row + Staging.ROWS));
      staging.offerAnswers(out, isInside, row);
      exports.query(row, end, Math.min(policy, MOST_AGREEING));
      if (!isInside) staging.giveAnswers(out, row, end);
      row = end;
    }
  }

  /**
   * Reserves rows in the free part of the store's memory.
   *
   * @param capacity rows
   * @param keyBytes total bytes of all keys
   * @throws RangeError if the memory is exhausted
   */
  rows(capacity: number, keyBytes: number): MemoryRows {
    const { arena } = this.host;
    const { valueBytes } = this.geometry;
    const keys = { bytes: arena.bytes(keyBytes), offsets: arena.words(capacity), lengths: arena.words(capacity) };
    const bytes = (count: number): Uint8Array => arena.bytes(count);
    return {
      keys,
      values: bytes(capacity * valueBytes),
      which: bytes(capacity),
      answers: new AnswerRows(capacity, valueBytes, bytes),
    };
  }

  #write(
    keys: KeyRows,
    values: Uint8Array,
    which: Uint8Array | undefined,
    from: number,
    to: number,
    copies: number,
  ): void {
    const { exports, staging } = this.core;
    const { buffer } = this.host;
    const isInside = values.buffer === buffer && (which === undefined || which.buffer === buffer);
    for (let row = from; row < to; ) {
      const end = staging.takeKeys(keys, row, isInside ? to : Math.min(to, row + Staging.ROWS));
      staging.takeValues(values, which, row, end);
      exports.write(row, end, copies);
      row = end;
    }
  }
}
