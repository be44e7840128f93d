import { once } from 'node:events';
import type { Flow } from '@int/codec';
import { FlowCache } from '@int/flowcache';
import { Random } from '@int/random';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { inTime } from '../../../../.ci/test/until.js';
import { ReportBatch } from '../cache/reports.js';
import { SEED } from '../seed.js';
import { startWorker } from './bundle.js';
import { PATTERN_METRICS, patternFlows, patternReport } from './pattern.js';
import type { WatcherData, WatcherReport } from './watcher.js';

const HOPS = 4;
/** Rounds in which the watcher reads all there is, and sees a change. */
const ROUNDS = runs(80);
/** Updates between two pauses. */
const PAUSE = 50;
/** After so many, a watcher that is stuck has failed. */
const MOST_UPDATES = runs(2_000_000);

const CACHES = [
  { layout: 'exact', accelerator: false },
  { layout: 'exact', accelerator: true },
  { layout: 'compact', accelerator: false },
  { layout: 'compact', accelerator: true },
] as const;

/** Lets a watcher look at a cache while `update` is called again and again. */
async function watch(
  cache: FlowCache,
  data: Omit<WatcherData, 'buffer' | 'byteOffset' | 'control'>,
  update: () => void,
): Promise<WatcherReport> {
  const { buffer, byteOffset } = cache;
  if (!(buffer instanceof SharedArrayBuffer)) throw new TypeError('the cache is not shared');
  const control = new Int32Array(new SharedArrayBuffer(12));
  const worker = await startWorker(new URL('watcher.ts', import.meta.url), {
    ...data,
    buffer,
    byteOffset,
    control,
  } satisfies WatcherData);
  const answer = once(worker, 'message') as Promise<[WatcherReport]>;
  try {
    for (let call = 0; Atomics.load(control, 1) < ROUNDS && call < MOST_UPDATES; call++) {
      update();
      // A millisecond in which it can be read at leisure.
      if (call % PAUSE === 0) Atomics.wait(control, 2, 0, 1);
    }
  } finally {
    Atomics.store(control, 0, 1);
  }
  const [report] = await inTime('the report of the watcher', answer);
  return report;
}

function filled(flows: readonly Flow[]): ReportBatch['batch'] {
  const reports = new ReportBatch(flows.length, HOPS);
  reports.fill(flows.map((flow) => patternReport(flow, HOPS)));
  return reports.batch;
}

describe.each(CACHES)(
  'while another thread updates, a $layout cache, accelerator $accelerator',
  ({ layout, accelerator }) => {
    const options = { hops: HOPS, metrics: PATTERN_METRICS, layout, accelerator, shared: true };

    test('entries are read whole, and counters that agree', async () => {
      // More flows than places: keys change too.
      const cache = new FlowCache({ ...options, rows: 4, buckets: 12 });
      const flows = patternFlows(60);
      const random = new Random(SEED);
      const batch = filled(Array.from({ length: 1000 }, () => flows[random.integer(flows.length)]!));
      const report = await watch(cache, { flows, isEven: false }, () => {
        const row = random.integer(batch.reports - 50);
        cache.update(batch, row, row + 50);
        cache.remove(flows[random.integer(flows.length)]!);
      });
      expect(report.problems).toEqual([]);
      expect(report.changed).toBeGreaterThanOrEqual(ROUNDS);
      expect(Math.min(report.found, report.listed)).toBeGreaterThan(10 * ROUNDS);
      expect(report.totals).toBeGreaterThan(0);
    });

    test('rows are read as they are between two blocks of reports', async () => {
      const cache = new FlowCache({ ...options, rows: 1, buckets: 64 });
      const flows = patternFlows(64);
      const random = new Random(SEED);
      // One block: each flow has one report more, or none has.
      const batch = filled(flows);
      const report = await watch(cache, { flows: flows.slice(0, 3), isEven: true }, () => {
        cache.update(batch);
        // Some microseconds: as long as reading the row takes, more or less.
        for (let turn = random.integer(2000); turn > 0; turn--) Atomics.load(cache.words, 0);
      });
      expect(report.problems).toEqual([]);
      expect(report.changed).toBeGreaterThanOrEqual(ROUNDS);
      expect(report.listed).toBeGreaterThan(10 * ROUNDS);
    });
  },
);
