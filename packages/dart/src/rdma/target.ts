/**
 * The target of RDMA: a run of bytes, addressed from 0, which may be in several pieces of memory. The slots of a
 * `DartStore` and `DartCounters` are targets.
 *
 * Callers check ranges. A target throws RangeError for a range outside it, before it changes anything.
 */
export interface RdmaTarget {
  /** Bytes that can be written. */
  readonly byteLength: number;
  /** The memory itself, in order; not a copy. */
  readonly pieces: readonly Uint8Array[];
  /** Writes `length` bytes of `source`, from `from` on, to `offset`. Readers in other threads see whole slots only. */
  writeBytes(offset: number, source: Uint8Array, from: number, length: number): void;
  /**
   * RDMA COMPARE&SWAP on the 8 bytes at `offset`, a multiple of 8. The memory is a little-endian 64-bit number.
   * @returns the previous value
   */
  compareSwap(offset: number, compare: bigint, swap: bigint): bigint;
  /** RDMA FETCH&ADD on the 8 bytes at `offset`, modulo 2^64; otherwise like {@link compareSwap}. */
  fetchAdd(offset: number, add: bigint): bigint;
}
