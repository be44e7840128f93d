/**
 * Writes results of a flow cache to Redis, each exactly once.
 *
 * @packageDocumentation
 */
export { carry, type RecordSource } from './carry.js';
export type { RedisAddress, RedisTls } from './client/connection.js';
export type { PipelineTotals } from './client/pipeline.js';
export { RedisSinkError, type RedisSinkErrorCode } from './errors.js';
export { flowText, RedisKeys } from './keys.js';
export type { PerKind, RedisWriterOptions } from './options.js';
export type { DropReason, KindTotals } from './outlet/counters.js';
export type { EntryOptions } from './outlet/entry-outlet.js';
export type { EventOptions } from './outlet/event-outlet.js';
export type { KindName } from './outlet/outlet.js';
export {
  type PackedFields,
  readPackedEntries,
  readPackedEvents,
  readStoredEvent,
  readStoredFlow,
  type StoredFields,
  type StoredFlow,
  type StoredHop,
  type StoredStatistics,
} from './read.js';
export { RedisSink, type RedisSinkOptions } from './sink.js';
export { type RecordTaker, RedisWriter, type RedisWriterTotals } from './writer.js';
