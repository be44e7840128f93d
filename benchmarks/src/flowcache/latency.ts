/** How long one report takes: Figure 5. */
import { createHistogram } from 'node:perf_hooks';
import { AcceleratorMemory, TelemetryBatch } from '@int/codec';
import { FlowCache, geometryOf } from '@int/flowcache';
import { acceleratorBytes } from '@int/flowcache/internals';
import { ReadRing } from './reading.js';
import { fillCache, type Scene, setScene } from './scene.js';
import { quietThresholds } from './setup.js';
import { MIXES, Workload } from './workload.js';

/** Nanoseconds of a call, the time that the clock itself takes included. */
export interface Latency {
  readonly what: string;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly calls: number;
}

/** Reports of a call where it is not one. */
const TOGETHER = 32;
/** Events per second at which notification is measured, as in the paper. */
const EVENT_RATE = 400_000;
/** A cache for evictions: all of its rows are full. */
const FULL_ROWS = 1 << 17;
const FULL_FLOWS = 2_300_000;

/** Times calls; those for which `counts` is false afterwards are left out. */
class Stopwatch {
  readonly #histogram = createHistogram();

  time(call: () => void, counts: () => boolean = () => true): void {
    const start = performance.now();
    call();
    const elapsed = performance.now() - start;
    if (counts()) this.#histogram.record(Math.max(1, Math.round(elapsed * 1e6)));
  }

  result(what: string): Latency {
    const { count, max } = this.#histogram;
    const [p50, p99] = [50, 99].map((percent) => this.#histogram.percentile(percent));
    return { what, p50: p50!, p99: p99!, max, calls: count };
  }
}

/** New reports for every call: some batches are made, and then their rows are handed over `step` at a time. */
function eachRow(
  { workload, cache }: Scene,
  reports: TelemetryBatch,
  calls: number,
  step: number,
  time: (call: () => void) => void,
): void {
  const batch = reports;
  for (let done = 0; done < calls; ) {
    workload.fill(reports, MIXES.zipf, workload.size);
    for (let row = 0; row + step <= workload.size && done < calls; row += step, done++) {
      time(() => cache.update(batch, row, row + step));
    }
  }
}

/** Known flows, with thresholds that are never reached. */
function measureUpdates(scene: Scene, calls: number): Latency[] {
  const reports = scene.batches[0]!;
  const clock = new Stopwatch();
  for (let k = 0; k < calls; k++) clock.time(() => {});
  const one = new Stopwatch();
  eachRow(scene, reports, calls / 10, 1, (call) => call());
  eachRow(scene, reports, calls, 1, (call) => one.time(call));
  const many = new Stopwatch();
  eachRow(scene, reports, calls / TOGETHER, TOGETHER, (call) => many.time(call));
  return [
    clock.result('the clock, around nothing'),
    one.result('update: a call with 1 report of a known flow'),
    many.result(`update: a call with ${TOGETHER} of them`),
  ];
}

/** One event a report, to a ring that a thread reads, at a steady rate. */
function measureNotify(scene: Scene, calls: number): Latency {
  const reports = scene.batches[0]!;
  const watch = new Stopwatch();
  scene.cache.thresholds.set('endToEnd', { level: 0 });
  let due = performance.now();
  eachRow(scene, reports, calls, 1, (call) => {
    due += 1000 / EVENT_RATE;
    while (performance.now() < due);
    watch.time(call);
  });
  scene.cache.thresholds.set('endToEnd', { level: null });
  return watch.result('update and notify: 1 report that raises 1 event into a ring, 0.4 M a second');
}

/** New flows in a full cache, each of which takes the place of another. */
async function measureEvictions(path: string, calls: number): Promise<Latency> {
  const workload = new Workload(path);
  const geometry = geometryOf({ rows: FULL_ROWS });
  const reader = await ReadRing.start('drain', geometry.bucketStride);
  const room = TelemetryBatch.byteLength(workload.capacity) + 8 * workload.size + 4096;
  const memory = new AcceleratorMemory(acceleratorBytes(geometry) + room);
  let handedOn = 0;
  const entries = {
    push: (words: Int32Array, at: number, records: number): number => {
      handedOn += records;
      return reader.ring.push(words, at, records);
    },
  };
  const cache = new FlowCache({ rows: FULL_ROWS, memory, thresholds: quietThresholds(), entries });
  const reports = workload.makeReports(memory.arena);
  fillCache(cache, workload, reports, FULL_FLOWS);
  reader.settle();
  const watch = new Stopwatch();
  const batch = reports;
  for (let done = 0; done < calls; ) {
    workload.fill(reports, MIXES.each, workload.size);
    reader.settle();
    for (let row = 0; row < workload.size; row++, done++) {
      const before = handedOn;
      watch.time(
        () => cache.update(batch, row, row + 1),
        () => handedOn > before,
      );
    }
  }
  await reader.stop();
  if (cache.totals().lostEntries > cache.totals().evictedEntries / 2) throw new Error('the ring was full');
  return watch.result('update and evict: 1 report of a new flow, another goes into a ring');
}

export async function measureLatency(path: string, manyFlows: string, rows: number, calls: number): Promise<Latency[]> {
  const reader = await ReadRing.start('drain');
  const scene = setScene({ path, rows, batches: 1, cache: { events: reader.ring } });
  const updates = measureUpdates(scene, calls);
  const notify = measureNotify(scene, calls / 2);
  await reader.stop();
  return [...updates, notify, await measureEvictions(manyFlows, calls / 4)];
}
