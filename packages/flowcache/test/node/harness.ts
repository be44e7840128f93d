import type { MetricName, TelemetryBatch } from '@int/codec';
import { EntryReader, EVENT_WORDS, type FlowEntry } from '@int/flowcache';
import { ShardedFlowCache, type ShardedFlowCacheOptions, type ShardedTotals } from '@int/flowcache/node';
import { beforeAll, expect } from 'vitest';
import { type Random, randomReports } from './reports.js';
import { SHARD_WORKER, WorkerCode } from './worker-code.js';

/** Code for worker threads, and files that are deleted in the end. */
export const code: WorkerCode = new WorkerCode();
let worker: string;
beforeAll(async () => {
  worker = await code.build(SHARD_WORKER, 'shard-worker.js');
});

/** Opens a cache of two shards. */
export function openCache(options: ShardedFlowCacheOptions): Promise<ShardedFlowCache> {
  return ShardedFlowCache.open({ shards: 2, worker, ...options });
}

export const METRICS: readonly MetricName[] = ['hopLatency', 'queueOccupancy', 'egressUtilization'];
/** Small, and with room for all flows of the traffic: none is evicted. */
export const ROOMY = { rows: 512, buckets: 12, metrics: METRICS } as const;

export async function withCache<T>(
  options: ShardedFlowCacheOptions,
  use: (cache: ShardedFlowCache) => Promise<T>,
): Promise<T> {
  const cache = await openCache(options);
  try {
    return await use(cache);
  } finally {
    await cache.stop().catch(() => null);
  }
}

/** @returns rows dispatched */
export async function dispatchAll(cache: ShardedFlowCache, reports: readonly TelemetryBatch[]): Promise<number> {
  for (const batch of reports) await cache.dispatch(batch);
  cache.flush();
  return rowsOf(reports);
}

export const rowsOf = (reports: readonly TelemetryBatch[]): number =>
  reports.reduce((sum, batch) => sum + batch.reports, 0);

export function manyReports(
  random: Random,
  batches: number,
  traffic: Parameters<typeof randomReports>[2] = {},
): TelemetryBatch[] {
  return Array.from({ length: batches }, (_, index) => randomReports(random, 200, traffic, index * 600));
}

const keyOf = ({ flow }: FlowEntry): string => JSON.stringify(Object.values(flow));

/** By flow, since order means nothing. */
export function byFlow(entries: Iterable<FlowEntry>): Map<string, FlowEntry> {
  const map = new Map<string, FlowEntry>();
  for (const entry of entries) {
    expect(map.has(keyOf(entry)), 'a flow twice').toBe(false);
    map.set(keyOf(entry), entry);
  }
  return map;
}

export async function entriesOf(cache: ShardedFlowCache): Promise<FlowEntry[]> {
  const entries: FlowEntry[] = [];
  for await (const entry of cache) entries.push(entry);
  return entries;
}

/** Takes all entries that are in the rings. */
export function popEntries(cache: ShardedFlowCache): FlowEntry[] {
  const reader = new EntryReader(cache.geometry);
  const record = new Int32Array(cache.geometry.bucketStride);
  return cache.shards.flatMap(({ entries }) => {
    const popped: FlowEntry[] = [];
    while (entries.pop(record, 0, 1) === 1) popped.push(reader.read(record, 0));
    return popped;
  });
}

export function popEvents(cache: ShardedFlowCache): number {
  const record = new Int32Array(EVENT_WORDS);
  let events = 0;
  for (const shard of cache.shards) while (shard.events.pop(record, 0, 1) === 1) events++;
  return events;
}

export const packetsOf = (entries: readonly FlowEntry[]): number =>
  entries.reduce((sum, { packets }) => sum + packets, 0);

/** Every report dispatched is where the counters say. */
export function expectClosed(totals: ShardedTotals, dispatched: number, live: number): void {
  const { lostReports, offered } = totals;
  expect(totals.dispatched).toBe(dispatched);
  expect(dispatched).toBe(offered + lostReports.full + lostReports.failed);
  const handedOn = totals.evictedPackets + totals.agedPackets + totals.retiredPackets + totals.removedPackets;
  const uncached = totals.notOk + totals.noFlow + totals.unsupportedIpv6;
  expect(offered).toBe(live + handedOn + totals.lostPackets + uncached - totals.restoredPackets);
}
