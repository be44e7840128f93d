import { MAX_COPIES, whole } from '../layout.js';
import { checkAtomic, checkRange } from '../store/checks.js';
import type { KeyHashes } from '../store/hashes.js';
import type { RdmaTarget } from './target.js';

/** Options for counters. */
export interface DartCountersOptions {
  /** Number of cells of 8 bytes, 1..2^32 - 1. */
  readonly cells: number;
  /** Cells of a key, 1..8; default 2. */
  readonly copies?: number;
  /** The store's hashes: cell n of a key is its slot hash n modulo the number of cells. */
  readonly hashes: KeyHashes;
  /** Memory for the cells, at least 8 bytes each; its contents are kept. New memory of zeros if absent. */
  readonly buffer?: ArrayBufferLike;
  readonly byteOffset?: number;
}

/**
 * Counters for RDMA FETCH&ADD by switches: a count-min sketch in one row of cells. A key has N cells. An addition goes
 * to all of them; a read returns the smallest. Keys that share a cell increase it. A read is therefore never below the
 * sum added (modulo 2^64), and above it only if all N cells are shared.
 *
 * Layout: cell i is the 8 bytes from 8 i on, a little-endian number of 64 bits. There is no header and no padding:
 * readers must know cells, copies and hashes, as the switch does. Two of a key's cells may coincide; the cell is then
 * added to twice, as by two packets.
 */
export class DartCounters implements RdmaTarget {
  readonly cells: number;
  readonly copies: number;
  readonly hashes: KeyHashes;
  readonly byteLength: number;
  readonly pieces: readonly Uint8Array[];
  readonly #bytes: Uint8Array;
  /** 32-bit halves of the cells, the lower one first. */
  readonly #view: DataView;

  /** @throws RangeError for a number out of its range, or memory that is too small */
  constructor({ cells, copies = 2, hashes, buffer, byteOffset = 0 }: DartCountersOptions) {
    whole('cells', cells, 1, 2 ** 32 - 1);
    whole('copies', copies, 1, MAX_COPIES);
    this.cells = cells;
    this.copies = copies;
    this.hashes = hashes;
    this.byteLength = cells * 8;
    this.#bytes = new Uint8Array(buffer ?? new ArrayBuffer(this.byteLength), byteOffset, this.byteLength);
    this.#view = new DataView(this.#bytes.buffer, byteOffset, this.byteLength);
    this.pieces = [this.#bytes];
  }

  /** The cell of a copy of a key: 0..cells - 1. */
  cellOf(key: Uint8Array, copy: number): number {
    return this.hashes.slot(copy, key, 0, key.length) % this.cells;
  }

  /** Adds to all cells of a key. @param amount modulo 2^64 */
  add(key: Uint8Array, amount: number | bigint): void {
    const added = BigInt(amount);
    for (let copy = 0; copy < this.copies; copy++) this.fetchAdd(this.cellOf(key, copy) * 8, added);
  }

  /** An upper bound of the sum added for a key; 64 bits. */
  read(key: Uint8Array): bigint {
    let least = this.#view.getBigUint64(this.cellOf(key, 0) * 8, true);
    for (let copy = 1; copy < this.copies; copy++) {
      const count = this.#view.getBigUint64(this.cellOf(key, copy) * 8, true);
      if (count < least) least = count;
    }
    return least;
  }

  /** Sets all cells to 0. */
  clear(): void {
    this.#bytes.fill(0);
  }

  writeBytes(offset: number, source: Uint8Array, from: number, length: number): void {
    checkRange(offset, length, this.byteLength);
    checkRange(from, length, source.length);
    for (let at = 0; at < length; at++) this.#bytes[offset + at] = source[from + at]!;
  }

  compareSwap(offset: number, compare: bigint, swap: bigint): bigint {
    checkAtomic(offset, this.byteLength);
    const before = this.#view.getBigUint64(offset, true);
    if (before === BigInt.asUintN(64, compare)) this.#view.setBigUint64(offset, swap, true);
    return before;
  }

  fetchAdd(offset: number, add: bigint): bigint {
    checkAtomic(offset, this.byteLength);
    const before = this.#view.getBigUint64(offset, true);
    this.#view.setBigUint64(offset, before + add, true);
    return before;
  }
}
