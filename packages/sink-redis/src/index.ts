/**
 * Results of a flow cache into Redis, each exactly once.
 *
 * @packageDocumentation
 */
export { carry, type RecordSource } from './carry.js';
export type { RedisAddress, RedisTls } from './client/connection.js';
export type { PipelineTotals } from './client/pipeline.js';
export { RedisSinkError, type RedisSinkErrorCode } from './errors.js';
export { flowText, RedisKeys } from './keys.js';
export type { DropReason, LaneTotals } from './lane/counters.js';
export type { EntryOptions } from './lane/entry-lane.js';
export type { EventOptions } from './lane/event-lane.js';
export type { LaneName } from './lane/lane.js';
export type { PerLane, RedisSinkOptions } from './options.js';
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
export { type RecordTaker, RedisSink, type RedisSinkTotals } from './sink.js';
