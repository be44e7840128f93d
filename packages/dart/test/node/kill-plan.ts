/** What the process that is killed writes: both it and the test that judges the remains can tell without asking. */
import type { EpochStoreOptions } from '@int/dart/node';

export const KEYS = 2000;
/** About 0.6 keys a slot in an epoch, so that a good part of them is overwritten. */
export const PLAN: EpochStoreOptions = { slots: 64 * 60, copies: 2, checkpointMs: 5 };
export const EPOCH_WRITES = 2500;

/** The key of a write. */
export function keyOfWrite(seed: number, write: number): number {
  let mixed = Math.imul(seed ^ Math.imul(write + 1, 0x9e3779b1), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 13)) >>> 0) % KEYS;
}
