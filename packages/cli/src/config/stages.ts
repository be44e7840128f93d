/** The flow cache and the store of int.yaml. */
import { DartStage, FlowStage, type FlowStageOptions } from '@int/collector';
import type { EpochStore } from '@int/dart/node';
import { type CacheGeometry, geometryOf, type RecordConsumer } from '@int/flowcache';
import { openStore, StoreTrouble } from '../dart/open-store.js';
import { given, ifGiven } from '../given.js';
import { CliError, EXIT } from '../io.js';
import { bytesOf, nanosecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { made, type Tell } from './sink-parts.js';

/** Default time without reports after which a flow leaves the cache. */
const IDLE = '30s';
/** Rows scanned for idle flows: per batch, and at once if scans are rare. */
const SWEEP = { rows: 1 << 14, burst: 1 << 20 } as const;

/** The layout of the flow cache; `null` without one. @throws FileProblems */
export function flowGeometry(read: ReadConfig): CacheGeometry | null {
  const { flows } = read.config;
  if (flows === undefined) return null;
  const { idle: _, thresholds: __, ...dimensions } = flows;
  return made(read, ['flows'], () => geometryOf(dimensions));
}

/** Passes the events of a flow cache to a consumer that may change, or to none. */
export class CacheEvents implements RecordConsumer {
  consumer: RecordConsumer | null = null;

  push(words: Int32Array, at: number, records: number): number {
    return this.consumer === null ? records : this.consumer.push(words, at, records);
  }
}

/** @param events consumer of the cache's events. @throws FileProblems; CliError if memory is insufficient */
export function flowStage(read: ReadConfig, events: RecordConsumer | null): FlowStage | null {
  const { flows } = read.config;
  if (flows === undefined) return null;
  const { idle = IDLE, thresholds, ...dimensions } = flows;
  const idleNs = nanosecondsOf(idle);
  const options: FlowStageOptions = {
    ...dimensions,
    ...(idleNs > 0n && { idleNs, sweep: SWEEP }),
    ...given({ thresholds }),
    ...(events !== null && { events }),
  };
  try {
    return new FlowStage(options);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    if (/memory|buffer|allocat/i.test(error.message)) {
      throw new CliError(`no memory for so large a cache (${error.message}): give fewer flows.rows`, EXIT.USAGE, error);
    }
    throw read.problem(['flows'], error.message, error);
  }
}

export interface ConfigStore {
  readonly stage: DartStage;
  readonly store: EpochStore;
}

/** @param tell receives messages of the store about problems. @throws CliError (rejects) */
export async function dartStage(read: ReadConfig, tell: Tell): Promise<ConfigStore | null> {
  const { dart } = read.config;
  if (dart === undefined) return null;
  const { store: folder, memory, values = 'path', ...shape } = dart;
  const store = await openStore(
    { ...shape, store: read.path(folder), ...given({ memory: ifGiven(memory, bytesOf) }) },
    { onError: new StoreTrouble(tell).onError },
  );
  try {
    const { valueBytes } = store.live.geometry;
    return { store, stage: made(read, ['dart'], () => new DartStage({ store, valueBytes, values })) };
  } catch (error) {
    await store.close();
    throw error;
  }
}
