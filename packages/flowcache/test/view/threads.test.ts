import { once } from 'node:events';
import { Random } from '@int/traffic';
import { expect, test } from 'vitest';
import { FlowCache } from '../../src/index.js';
import { ReportBatch } from '../cache/reports.js';
import { LENGTH, SEED } from '../seed.js';
import { startWorker } from './bundle.js';
import { PATTERN_METRICS, patternFlows, patternReport } from './pattern.js';
import type { WatcherReport } from './watcher.js';

const HOPS = 4;

test.each([
  ['exact', true], ['exact', false],
  ['compact', true], ['compact', false],
] as const)('measure %s %s', async (layout, kernel) => {
  const cache = new FlowCache({ rows: 4, buckets: 12, hops: HOPS, metrics: PATTERN_METRICS, layout, kernel, shared: true });
  const flows = patternFlows(60);
  const random = new Random(SEED);
  const reports = new ReportBatch(1000, HOPS);
  reports.fill(Array.from({ length: 1000 }, () => patternReport(flows[random.integer(flows.length)]!, HOPS)));
  const control = new Int32Array(new SharedArrayBuffer(8));
  const worker = await startWorker('watcher.ts', { buffer: cache.buffer, byteOffset: cache.byteOffset, flows, control });
  const answer = once(worker, 'message') as Promise<[WatcherReport]>;
  const t0 = Date.now(); let n = 0;
  while (Date.now() - t0 < 2000) { cache.update(reports.batch); n++; }
  Atomics.store(control, 0, 1);
  const [report] = await answer;
  console.log(layout, kernel, n, control[1], report);
});
