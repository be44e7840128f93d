/**
 * What RDMA writes into: a run of bytes, addressed from 0, that may lie in several pieces of memory. A `DartStore` is one
 * (its slots), and so are `DartCounters`.
 *
 * Callers check ranges; a target throws RangeError for one that does not lie inside it, before it has changed anything.
 */
export interface RdmaTarget {
  /** Bytes that can be written. */
  readonly byteLength: number;
  /** The bytes themselves, in order: a copy of nothing. */
  readonly pieces: readonly Uint8Array[];
  /** Writes `length` bytes of `source`, from `from` on, to `offset`. Readers in other threads see all of a slot or nothing. */
  writeBytes(offset: number, source: Uint8Array, from: number, length: number): void;
  /**
   * RDMA COMPARE&SWAP and FETCH&ADD on the 8 bytes at `offset`, a multiple of 8 (from the start of the target). The memory
   * is taken as a little-endian 64-bit number, as a collector of today's usual machines has it.
   * @returns what was there before
   */
  compareSwap(offset: number, compare: bigint, swap: bigint): bigint;
  /** The sum is taken modulo 2^64. */
  fetchAdd(offset: number, add: bigint): bigint;
}
