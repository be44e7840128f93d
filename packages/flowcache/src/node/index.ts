/**
 * A flow cache spread over worker threads of Node.js.
 *
 * @packageDocumentation
 */
export { ShardError, type ShardErrorCode } from './errors.js';
export type { ShardedFlowCacheOptions, WhenFull } from './options.js';
export type { ShardOutput } from './shard.js';
export { ShardedFlowCache } from './sharded-flow-cache.js';
export type { ShardedTotals } from './totals.js';
