/** Which reports are a thread's own: by the hash of their flow, so that all of a flow go to one. */
import { FLAG, STATE, type TelemetryBatch } from '@int/codec';
import { REPORT_BYTE_COLUMNS } from '@int/codec/internals';
import { flowXxh32Columns } from '@int/hash';

/** Not that of flow caches, whose rows would otherwise be used by halves. */
const SEED = 0x5eed_f10e;
/** The golden ratio of 2^32: spreads node ids, which follow one another. */
const SPREAD = 0x9e37_79b1;

/**
 * Writes, for each row of a batch, which of `shares` it belongs to: 0 to `shares - 1`. Reports of which no flow is known go by
 * their node. Rows that could not be decoded get an undefined share.
 */
export function shareRows(batch: TelemetryBatch, shares: number, out: Uint32Array): void {
  const { reports, flags, nodeId } = batch;
  flowXxh32Columns(batch, 0, reports, out, SEED);
  for (let row = 0; row < reports; row++) {
    const hash = (flags[row]! & FLAG.FLOW) === 0 ? Math.imul(nodeId[row]!, SPREAD) >>> 0 : out[row]!;
    // Of the upper bits: what takes the lower ones of the same hash finds them still spread.
    out[row] = Math.floor((hash * shares) / 2 ** 32);
  }
}

/** Takes the rows of other shares out of a batch. Those that stay keep their order and their hops; frames are as they were. */
export function keepShare(batch: TelemetryBatch, share: number, shares: number, scratch: Uint32Array): void {
  shareRows(batch, shares, scratch);
  const { reports, code, reportWords, reportStride, state } = batch;
  let to = 0;
  for (let row = 0; row < reports; row++) {
    if (code[row] === 0 && scratch[row] !== share) continue;
    if (to < row) {
      for (let at = 0; at < reportWords.length; at += reportStride) reportWords[at + to] = reportWords[at + row]!;
      for (const name of REPORT_BYTE_COLUMNS) batch[name][to] = batch[name][row]!;
    }
    to++;
  }
  state[STATE.REPORTS] = to;
}
