import type { RdmaTarget } from '../rdma/target.js';

/**
 * The memory of the live epoch. It follows rotations, so a region of a software RNIC keeps the same target. Do not keep
 * its pieces beyond a rotation.
 *
 * @param live returns the target of the live epoch; all targets have the same size
 * @param written called after every write
 */
export function liveTarget(live: () => RdmaTarget, written: () => void): RdmaTarget {
  return {
    byteLength: live().byteLength,
    get pieces() {
      return live().pieces;
    },
    writeBytes(offset, source, from, length) {
      live().writeBytes(offset, source, from, length);
      written();
    },
    compareSwap(offset, compare, swap) {
      const before = live().compareSwap(offset, compare, swap);
      written();
      return before;
    },
    fetchAdd(offset, add) {
      const before = live().fetchAdd(offset, add);
      written();
      return before;
    },
  };
}
