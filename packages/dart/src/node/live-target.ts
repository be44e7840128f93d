import type { RdmaTarget } from '../rdma/target.js';

/** The memory of the live epoch. It follows rotations, so a region of a software RNIC keeps the same target. */
export class LiveTarget implements RdmaTarget {
  readonly byteLength: number;
  readonly #live: () => RdmaTarget;
  readonly #written: () => void;

  /**
   * @param live returns the target of the live epoch; all targets have the same size
   * @param written called after every write
   */
  constructor(live: () => RdmaTarget, written: () => void) {
    this.#live = live;
    this.#written = written;
    this.byteLength = live().byteLength;
  }

  /** The pieces of the live epoch. Do not keep them beyond a rotation. */
  get pieces(): readonly Uint8Array[] {
    return this.#live().pieces;
  }

  writeBytes(offset: number, source: Uint8Array, from: number, length: number): void {
    this.#live().writeBytes(offset, source, from, length);
    this.#written();
  }

  compareSwap(offset: number, compare: bigint, swap: bigint): bigint {
    const before = this.#live().compareSwap(offset, compare, swap);
    this.#written();
    return before;
  }

  fetchAdd(offset: number, add: bigint): bigint {
    const before = this.#live().fetchAdd(offset, add);
    this.#written();
    return before;
  }
}
