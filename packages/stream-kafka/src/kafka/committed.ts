/** Which records of a fetched part of a log are committed. */
import type { fetchV13, RecordsBatch } from '@platformatic/kafka';

/** A message as the log has it. */
export interface LogRecord {
  /** Its place in the partition. */
  readonly offset: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly (readonly [Uint8Array | null, Uint8Array | null])[];
}

export type AbortedTransaction = fetchV13.FetchResponsePartitionAbortedTransaction;

/** A transaction's end, not a message: bit 5 of a batch's attributes (KIP-98). */
const CONTROL = 1 << 5;
const TRANSACTIONAL = 1 << 4;
/** Type of a control record that says "aborted": the 16 bits at byte 2 of its key. */
const ABORT = 0;

/**
 * Appends the records at `position` and behind it that are not part of an aborted transaction.
 *
 * The broker lists the aborted transactions by the first record of each, ordered by it; each ends at the next abort
 * marker of its producer (KIP-98). One producer may have aborted several times within what was fetched, and a marker may
 * belong to a transaction without a record here, which is in no list. The reader of the client library keeps one
 * transaction a producer and cannot do without the list's entry, so this is done here.
 *
 * @param batches as fetched, in order; up to the last stable offset
 * @param aborted the broker's list for them
 * @param position first offset wanted
 * @returns the offset to go on from: behind all that was fetched
 */
export function committedRecords(
  batches: readonly RecordsBatch[],
  aborted: readonly AbortedTransaction[],
  position: number,
  into: LogRecord[],
): number {
  const waiting = [...aborted].sort((a, b) => (a.firstOffset < b.firstOffset ? -1 : 1));
  const open = new Set<bigint>();
  let next = 0;
  let end = position;
  for (const batch of batches) {
    const first = Number(batch.firstOffset);
    const last = first + batch.lastOffsetDelta;
    while (next < waiting.length && Number(waiting[next]!.firstOffset) <= last) open.add(waiting[next++]!.producerId);
    if (last + 1 > end) end = last + 1;
    if ((batch.attributes & CONTROL) !== 0) {
      const key = batch.records[0]?.key;
      if (key != null && key.length >= 4 && key.readInt16BE(2) === ABORT) open.delete(batch.producerId);
      continue;
    }
    if ((batch.attributes & TRANSACTIONAL) !== 0 && open.has(batch.producerId)) continue;
    for (const record of batch.records) {
      const offset = first + record.offsetDelta;
      if (offset >= position) into.push({ offset, key: record.key, value: record.value, headers: record.headers });
    }
  }
  return end;
}
