import { availableParallelism } from 'node:os';
import type { FlowCacheOptions } from '../cache/options.js';
import { resolveOptions } from '../cache/options.js';
import { Thresholds } from '../cache/thresholds.js';
import { type DistributionDimensions, planOf } from '../distribution/layout.js';
import { type CacheGeometry, checkedInteger } from '../layout.js';
import type { ShardError } from './errors.js';
import { MAX_SHARDS } from './scatter.js';
import { workerFile } from './worker-file.js';

/** What to do with reports whose worker has no free slot. */
export type WhenFull =
  /** Wait: nothing is lost, and the source waits too. */
  | 'wait'
  /** Count them as lost, and go on. */
  | 'lose';

/** How to set up a sharded cache. */
export interface ShardedFlowCacheOptions
  extends Omit<FlowCacheOptions, 'shared' | 'memory' | 'entries' | 'events' | 'comparison'> {
  /** Rows in all: each shard has as many as its part of them, rounded up. Default 2^19. */
  readonly rows?: number;
  /** Worker threads, 1 to 256. Default: one fewer than the processor runs at once, at least 1. */
  readonly shards?: number;
  /** Slots of each shard: batches on the way to its worker. 2 to 1024, default 8. */
  readonly slots?: number;
  /** Reports of one slot, 1 to 65536. Default 1024. */
  readonly slotReports?: number;
  /** Hop rows of one slot, 256 to 2^20. Default 8 for each report, at least 256. */
  readonly slotHops?: number;
  /** Default `wait`. */
  readonly whenFull?: WhenFull;
  /** Entries that the ring of each shard holds, 1 to 2^24; a power of two, or rounded up to one. Default 65536. */
  readonly entryRecords?: number;
  /** Events that the ring of each shard holds, likewise. Default 65536. */
  readonly eventRecords?: number;
  /**
   * Nanoseconds, by the clock of the reports, after which an idle entry is handed on. Default: never. Without reports
   * nothing ages; see `age`.
   */
  readonly idleNs?: bigint;
  /** Count distributions in each worker, of these dimensions. Default: none. */
  readonly distributions?: DistributionDimensions;
  /** Begin with a snapshot: the name that was given to `snapshot`, by a cache of the same dimensions and shards. */
  readonly restore?: string;
  /** Called when a worker has ended by itself. Default: `stop` throws the error. */
  readonly onFailure?: (error: ShardError) => void;
  /**
   * The code of the workers, `shard-worker.js` of this package. Needed only where a bundler has left it behind.
   * Default: the file beside the module of this class.
   */
  readonly worker?: string | URL;
}

/** Options without gaps; `null`: not asked for. */
export interface ResolvedShardOptions
  extends Required<
    Pick<
      ShardedFlowCacheOptions,
      | 'shards'
      | 'hash'
      | 'seed'
      | 'accelerator'
      | 'slots'
      | 'slotReports'
      | 'slotHops'
      | 'whenFull'
      | 'entryRecords'
      | 'eventRecords'
      | 'worker'
    >
  > {
  /** The layout of each shard's cache. */
  readonly geometry: CacheGeometry;
  readonly idleNs: bigint | null;
  readonly distributions: DistributionDimensions | null;
  /** Files by shard. */
  readonly restore: readonly string[] | null;
  readonly thresholds: Thresholds;
  readonly onFailure: ((error: ShardError) => void) | null;
}

/** The file of each shard that a snapshot has. */
export function snapshotFiles(name: string, shards: number): string[] {
  return Array.from({ length: shards }, (_, shard) => `${name}.${shard}-of-${shards}`);
}

/**
 * @throws RangeError for an option out of range, or thresholds that threads cannot share
 * @throws DistributionError for dimensions of distributions out of range
 */
export function resolveShardOptions(options: ShardedFlowCacheOptions): ResolvedShardOptions {
  const shards = checkedInteger('shards', options.shards ?? Math.max(1, availableParallelism() - 1), 1, MAX_SHARDS);
  const rows = Math.ceil(checkedInteger('rows', options.rows ?? 1 << 19, 1, 2 ** 28) / shards);
  const { geometry, hash, seed, accelerator } = resolveOptions({ ...options, rows });
  const { thresholds: given, whenFull = 'wait', idleNs, distributions, restore } = options;
  if (whenFull !== 'wait' && whenFull !== 'lose') {
    throw new RangeError(`whenFull must be 'wait' or 'lose', not ${String(whenFull)}`);
  }
  if (idleNs !== undefined && !(typeof idleNs === 'bigint' && idleNs > 0n)) {
    throw new RangeError(`idleNs must be a bigint above 0, not ${String(idleNs)}`);
  }
  const thresholds = given instanceof Thresholds ? given : new Thresholds(geometry.metrics, given);
  if (!(thresholds.words.buffer instanceof SharedArrayBuffer)) {
    throw new RangeError('the thresholds of a sharded cache must lie in a SharedArrayBuffer');
  }
  if (thresholds.metrics.join() !== geometry.metrics.join()) {
    throw new RangeError(`the thresholds are for ${thresholds.metrics.join(', ')}`);
  }
  if (distributions !== undefined) planOf(distributions);
  const slotReports = checkedInteger('slotReports', options.slotReports ?? 1024, 1, 1 << 16);
  return {
    geometry,
    shards,
    hash,
    seed,
    accelerator,
    slots: checkedInteger('slots', options.slots ?? 8, 2, 1024),
    slotReports,
    slotHops: checkedInteger('slotHops', options.slotHops ?? Math.max(256, 8 * slotReports), 256, 1 << 20),
    whenFull,
    entryRecords: checkedInteger('entryRecords', options.entryRecords ?? 65_536, 1, 1 << 24),
    eventRecords: checkedInteger('eventRecords', options.eventRecords ?? 65_536, 1, 1 << 24),
    idleNs: idleNs ?? null,
    distributions: distributions ?? null,
    restore: restore === undefined ? null : snapshotFiles(restore, shards),
    thresholds,
    worker: options.worker ?? workerFile(),
    onFailure: options.onFailure ?? null,
  };
}
