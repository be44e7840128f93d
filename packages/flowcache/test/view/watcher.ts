/** A thread that looks at a cache which another one updates, and says what it saw. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Flow } from '@int/codec';
import { FlowCacheError, type FlowCacheTotals, FlowCacheView, type FlowEntry } from '@int/flowcache';
import { problemOf } from './pattern.js';

export interface WatcherData {
  readonly buffer: SharedArrayBuffer;
  readonly byteOffset: number;
  readonly flows: readonly Flow[];
  /** Whether each flow has had as many reports as any other, whenever the owner does not write. */
  readonly isEven: boolean;
  /** Word 0: not 0 if the watcher is to stop; word 1: rounds in which it saw a change. */
  readonly control: Int32Array;
}

export interface WatcherReport {
  /** What was wrong with entries or counters, some of it. */
  readonly problems: readonly string[];
  /** Entries read one by one and in rounds, times that the counters were read. */
  readonly found: number;
  readonly listed: number;
  readonly totals: number;
  /** Entries that had changed since they were read the last time. */
  readonly changed: number;
  /** Times that the owner did not pause. */
  readonly busy: number;
}

const { buffer, byteOffset, flows, isEven, control } = workerData as WatcherData;
const view = new FlowCacheView(buffer, byteOffset);
const problems: string[] = [];
const counts = { found: 0, listed: 0, totals: 0, changed: 0, busy: 0 };
const seen = new Map<string, number>();

function check(entry: FlowEntry): void {
  const problem = problemOf(entry, view.geometry);
  if (problem !== null && problems.length < 20) problems.push(problem);
  const key = `${entry.flow.source} ${entry.flow.sourcePort}`;
  if (seen.has(key) && seen.get(key) !== entry.packets) counts.changed++;
  seen.set(key, entry.packets);
}

function checkTotals({ offered, hits, inserted, live, evictedEntries, removedEntries }: FlowCacheTotals): void {
  const isSound = offered === hits + inserted && inserted === live + evictedEntries + removedEntries;
  if (!isSound) problems.push('the counters do not agree');
}

/** What was read, if the owner has paused. */
function patiently<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!FlowCacheError.is(error) || error.code !== 'ERR_FLOW_CACHE_BUSY') throw error;
    counts.busy++;
    return undefined;
  }
}

while (Atomics.load(control, 0) === 0) {
  const changedBefore = counts.changed;
  for (const flow of flows) {
    const entry = patiently(() => view.get(flow));
    if (entry === undefined) continue;
    if (entry.flow.sourcePort !== flow.sourcePort) problems.push('get gave another flow');
    check(entry);
    counts.found++;
  }
  patiently(() => {
    const packets = new Set<number>();
    for (const entry of view.entries()) {
      check(entry);
      packets.add(entry.packets);
      counts.listed++;
    }
    if (isEven && packets.size > 1) problems.push(`${packets.size} different packet counts in one row`);
  });
  patiently(() => {
    checkTotals(view.totals());
    counts.totals++;
  });
  // Rounds that pass while the owner has no core say nothing.
  if (counts.changed > changedBefore) Atomics.add(control, 1, 1);
}
parentPort!.postMessage({ problems, ...counts } satisfies WatcherReport);
