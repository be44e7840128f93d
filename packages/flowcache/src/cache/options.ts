import type { AcceleratorHost } from '@int/codec';
import { type CacheGeometry, type Dimensions, geometryOf, HASHES, type HashName } from '../layout.js';
import type { Comparison } from './engine.js';
import type { ThresholdOptions, Thresholds } from './thresholds.js';

/** Takes records as they are made. An SpscRing is such a consumer. */
export interface RecordConsumer {
  /**
   * Takes as many records as it has room for. It must not keep `words`, which is reused.
   * @param words what holds the records
   * @param at first word of the first record
   * @param records how many there are
   * @returns how many it took: the first ones
   */
  push(words: Int32Array, at: number, records: number): number;
}

/** How to set up a cache. */
export interface FlowCacheOptions extends Dimensions {
  /** The hash that chooses a flow's row. Default `xxh32`; `crc32` is what a P4 target computes, and takes no seed. */
  readonly hash?: HashName;
  /** Seed of xxh32, 32 bits. Default 0. */
  readonly seed?: number;
  /** Put the cache into a SharedArrayBuffer, so that other threads can look at it with a FlowCacheView. Default false. */
  readonly shared?: boolean;
  /** Update in WebAssembly where the engine has it and the cache fits into its 4 GiB. Default true. */
  readonly accelerator?: boolean;
  /**
   * A WebAssembly memory with room for the cache. Batches that lie in it are read in place. Default: a memory of the
   * cache's own, into which batches are copied. Ignored where updates run in TypeScript.
   */
  readonly memory?: AcceleratorHost;
  /** What is an event. Default: nothing. A {@link Thresholds} can be shared with another thread. */
  readonly thresholds?: Thresholds | ThresholdOptions;
  /**
   * Takes entries that leave the cache, `bucketStride` words each. Default: they are dropped, which counts as no loss.
   */
  readonly entries?: RecordConsumer;
  /** Takes events, EVENT_WORDS words each. Default: they are dropped, which counts as no loss. */
  readonly events?: RecordConsumer;
  /** When a value is an event. Default: as COMPARISON. With another one, updates run in TypeScript. */
  readonly comparison?: Comparison;
}

/** Options without gaps. */
export interface ResolvedOptions extends Required<Pick<FlowCacheOptions, 'hash' | 'seed' | 'shared' | 'accelerator'>> {
  readonly geometry: CacheGeometry;
  readonly memory?: AcceleratorHost | undefined;
}

/** @throws RangeError for an option out of range */
export function resolveOptions(options: FlowCacheOptions): ResolvedOptions {
  const { hash = 'xxh32', seed = 0, shared = false, accelerator = true } = options;
  if (!HASHES.includes(hash)) throw new RangeError(`hash must be one of ${HASHES.join(', ')}, not ${hash}`);
  if (!Number.isInteger(seed) || seed < 0 || seed > 0xffffffff) {
    throw new RangeError(`seed must be an unsigned 32-bit integer, not ${seed}`);
  }
  return {
    geometry: geometryOf(options),
    hash,
    seed,
    shared,
    accelerator: accelerator && options.comparison === undefined,
    memory: options.memory,
  };
}
