/** Finding the committed records in a fetched part of a log. */
import type { fetchV13, RecordsBatch } from '@platformatic/kafka';

/** A message in the log. */
export interface LogRecord {
  /** Its offset in the partition. */
  readonly offset: number;
  readonly key: Uint8Array | null;
  readonly value: Uint8Array | null;
  readonly headers: readonly (readonly [Uint8Array | null, Uint8Array | null])[];
}

export type AbortedTransaction = fetchV13.FetchResponsePartitionAbortedTransaction;

/** Marks the end of a transaction, which is not a message: bit 5 of a batch's attributes (KIP-98). */
const CONTROL = 1 << 5;
const TRANSACTIONAL = 1 << 4;
/** Type of an abort marker: the 16 bits at byte 2 of a control record's key. */
const ABORT = 0;

/**
 * Appends the records from `position` on that are not part of an aborted transaction.
 *
 * The broker lists the aborted transactions by the offset of their first record, in this order. Each ends at the next
 * abort marker of its producer (KIP-98). One producer may have aborted several transactions in the fetched part, and a
 * marker may belong to a transaction without a record here, which is not listed. The client library's reader handles
 * only one transaction per producer and requires the list's entry, so this function replaces it.
 *
 * @param batches fetched batches, in order, up to the last stable offset
 * @param aborted the broker's list for them
 * @param position first offset wanted
 * @returns the next offset, after everything fetched
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
