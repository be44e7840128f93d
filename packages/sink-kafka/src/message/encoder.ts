import type { TelemetryBatch } from '@int/codec';
import type { RecordIds, RecordKind } from '@int/collector';
import type { EventBatch } from '@int/detect';
import type { CacheGeometry } from '@int/flowcache';
import type { MessageSlab } from './slab.js';

/** How the value of a message is written. */
export const MESSAGE_FORMATS = ['protobuf', 'json'] as const;
export type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** What the header `type` of a message says, by kind of record. The header `format` is a {@link MessageFormat}. */
export const MESSAGE_TYPES: Readonly<Record<RecordKind, 'report' | 'event' | 'flow'>> = {
  reports: 'report',
  events: 'event',
  flows: 'flow',
};

/** The names of the headers that each message carries. */
export const MESSAGE_HEADERS = { TYPE: 'type', FORMAT: 'format' } as const;

/**
 * Makes messages of records. A call appends to the slab until that is full and says how far it came; the caller sends
 * or swaps the slab and goes on from there. A slab that is empty takes at least one message.
 *
 * The key is that of the flow: source, destination, protocol, source port, destination port, big-endian, 13 bytes for
 * IPv4 and 37 for IPv6, so that all messages about one flow go to one partition. A record without a flow has the
 * reporting node's id as key, 4 bytes, big-endian; all ones if it is not named.
 *
 * Each record takes the next number of `ids` at the moment it is appended, so numbers are consecutive.
 */
export interface MessageEncoder {
  readonly format: MessageFormat;
  /**
   * Appends the reports of a batch whose `code` is 0, with their hops.
   * @param from first report row to look at
   * @returns the row to go on from; `batch.reports` when all are done
   */
  reports(batch: TelemetryBatch, from: number, slab: MessageSlab, ids: RecordIds): number;
  /** Appends the rows `from` to `events.count - 1`. @returns the row to go on from; `events.count` when all are done */
  events(events: EventBatch, from: number, slab: MessageSlab, ids: RecordIds): number;
  /**
   * Appends entries that left a flow cache.
   * @param words holds the entries, `geometry.bucketStride` words each
   * @param at first word of entry 0
   * @param records number of entries
   * @param from first entry to append
   * @returns the entry to go on from; `records` when all are done
   */
  flows(
    words: Int32Array,
    at: number,
    records: number,
    geometry: CacheGeometry,
    from: number,
    slab: MessageSlab,
    ids: RecordIds,
  ): number;
}
