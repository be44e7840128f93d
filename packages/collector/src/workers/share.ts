/** Assigns reports to threads by the hash of their flow, so that all reports of a flow go to one thread. */
import { FLAG, type TelemetryBatch } from '@int/codec';
import { flowXxh32Columns } from '@int/hash';

/** Differs from the seed of flow caches, which would otherwise use only part of their rows. */
const SEED = 0x5eed_f10e;
/** The golden ratio of 2^32: spreads node ids, which follow one another. */
const SPREAD = 0x9e37_79b1;

/**
 * Writes, for each row of a batch, which of `shares` it belongs to: 0 to `shares - 1`. Reports without a known flow go by
 * their node. Rows that could not be decoded get an undefined share.
 */
export function shareRows(batch: TelemetryBatch, shares: number, out: Uint32Array): void {
  const { reports, flags, nodeId } = batch;
  flowXxh32Columns(batch, 0, reports, out, SEED);
  for (let row = 0; row < reports; row++) {
    const hash = (flags[row]! & FLAG.FLOW) === 0 ? Math.imul(nodeId[row]!, SPREAD) >>> 0 : out[row]!;
    // Use the upper bits, so that the lower ones of the same hash stay spread.
    out[row] = Math.floor((hash * shares) / 2 ** 32);
  }
}
