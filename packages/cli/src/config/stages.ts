/** The flow cache and the store of int.yaml. */
import { DartStage, FlowStage, type FlowStageOptions } from '@int/collector';
import type { EpochStore } from '@int/dart/node';
import { type CacheGeometry, geometryOf, type RecordConsumer } from '@int/flowcache';
import { openStore, StoreTrouble } from '../dart/open-store.js';
import { CliError, EXIT } from '../io.js';
import { bytesOf, nanosecondsOf } from './quantities.js';
import type { ReadConfig } from './read-config.js';
import { made, type Tell } from './sink-parts.js';

/** Flows that are silent for longer leave the cache, unless something else is said. */
const IDLE = '30s';
/** Rows looked at for idle flows: for each batch, and at a time where that was rarely needed. */
const SWEEP = { rows: 1 << 14, burst: 1 << 20 } as const;

/** The layout of the flow cache; `null` without one. @throws FileProblems */
export function flowGeometry(read: ReadConfig): CacheGeometry | null {
  const { flows } = read.config;
  if (flows === undefined) return null;
  const { idle: _, thresholds: __, ...dimensions } = flows;
  return made(read, ['flows'], () => geometryOf(dimensions));
}

/** @param events where the cache's events go. @throws FileProblems; CliError if there is no memory for it */
export function flowStage(read: ReadConfig, events: RecordConsumer | null): FlowStage | null {
  const { flows } = read.config;
  if (flows === undefined) return null;
  const { idle = IDLE, thresholds, ...dimensions } = flows;
  const idleNs = nanosecondsOf(idle);
  const options: FlowStageOptions = {
    ...dimensions,
    ...(idleNs > 0n && { idleNs, sweep: SWEEP }),
    ...(thresholds !== undefined && { thresholds }),
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

/** @param tell how the store says what goes wrong. @throws CliError (rejects) */
export async function dartStage(read: ReadConfig, tell: Tell): Promise<ConfigStore | null> {
  const { dart } = read.config;
  if (dart === undefined) return null;
  const { store: folder, memory, values = 'path', ...shape } = dart;
  const store = await openStore(
    { ...shape, store: read.path(folder), ...(memory !== undefined && { memory: bytesOf(memory) }) },
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
