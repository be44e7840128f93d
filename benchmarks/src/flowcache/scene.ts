/** A full-size cache in WebAssembly with reports made beforehand beside it: what the scenarios begin with. */
import { AcceleratorMemory, TelemetryBatch } from '@int/codec';
import { FlowCache, type FlowCacheOptions, geometryOf } from '@int/flowcache';
import { acceleratorBytes } from '@int/flowcache/internals';
import { quietThresholds } from './setup.js';
import { MIXES, Workload } from './workload.js';

export interface SceneOptions {
  readonly path: string;
  readonly rows: number;
  /** Batches made beforehand. */
  readonly batches: number;
  readonly cache?: Pick<FlowCacheOptions, 'entries' | 'events'>;
}

export interface Scene {
  readonly workload: Workload;
  readonly cache: FlowCache;
  /** Zipf; they lie in the memory of the accelerator. */
  readonly batches: readonly TelemetryBatch[];
  readonly reports: number;
}

/** Makes a cache, inserts all flows, and makes batches. */
export function setScene({ path, rows, batches, cache: sinks = {} }: SceneOptions): Scene {
  const workload = new Workload(path);
  const bytes = TelemetryBatch.byteLength(workload.capacity) + 8 * workload.size + 256;
  const memory = new AcceleratorMemory(acceleratorBytes(geometryOf({ rows })) + (batches + 1) * bytes);
  const cache = new FlowCache({ rows, memory, thresholds: quietThresholds(), ...sinks });
  const reports = workload.makeReports(memory.arena);
  fillCache(cache, workload, reports, workload.flows);
  const made = Array.from({ length: batches }, () => {
    const batch = workload.makeReports(memory.arena);
    workload.fill(batch, MIXES.zipf, workload.size);
    return batch;
  });
  return { workload, cache, batches: made, reports: batches * workload.size };
}

/** Inserts flows, one after the other. */
export function fillCache(cache: FlowCache, workload: Workload, reports: TelemetryBatch, flows: number): void {
  for (let left = flows; left > 0; left -= workload.size) {
    const count = Math.min(left, workload.size);
    workload.fill(reports, MIXES.each, count);
    cache.update(reports, 0, count);
  }
}

/** Milliseconds of one turn over all batches. */
export function turn(cache: FlowCache, batches: readonly TelemetryBatch[]): number {
  const start = performance.now();
  for (const batch of batches) cache.update(batch);
  return performance.now() - start;
}
