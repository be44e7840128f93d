/** The object API beside the columns: the same records leave the same cache, to the last bit. */

import { frame, malformed } from '@int/arbitraries';
import {
  BatchDecoder,
  type DecodeOptions,
  FrameDecoder,
  METRIC_NAMES,
  type MetricName,
  TelemetryBatch,
} from '@int/codec';
import { COUNTERS, EVENT_WORDS, FlowCache, type FlowCacheOptions, geometryOf, type LayoutName } from '@int/flowcache';
import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LENGTH, runs } from '../../../../.ci/test/length.js';
import { checkAccounts, checkSameFlows } from '../accounting/accounts.js';
import { reusedMemory } from '../accounting/memory.js';
import { RoomOutlet } from '../accounting/outlets.js';
import { ReportBatch, randomFlows, randomReport, recordOf } from '../cache/reports.js';
import { SEED } from '../seed.js';

interface Observed {
  readonly cache: FlowCache;
  readonly entries: RoomOutlet;
  readonly events: RoomOutlet;
}

function observed(options: FlowCacheOptions): Observed {
  const entries = new RoomOutlet(geometryOf(options).bucketStride);
  const events = new RoomOutlet(EVENT_WORDS);
  return { cache: new FlowCache({ ...options, entries: entries.sink, events: events.sink }), entries, events };
}

/** @param apart counters that may differ */
function expectSame(one: Observed, other: Observed, apart: readonly string[] = []): void {
  checkSameFlows(one.cache, other.cache);
  const totals = [one, other].map(({ cache }) => cache.totals());
  for (const name of COUNTERS) if (!apart.includes(name)) expect(totals[0]![name]).toBe(totals[1]![name]);
  for (const outlet of ['entries', 'events'] as const) {
    expect(one[outlet].read(Number.POSITIVE_INFINITY)).toEqual(other[outlet].read(Number.POSITIVE_INFINITY));
  }
  checkAccounts(one.cache);
}

const metricLists = fc.uniqueArray(fc.constantFrom(...METRIC_NAMES.filter((name) => name !== 'nodeId')), {
  minLength: 1,
  maxLength: 8,
});
const limit = fc.constantFrom(0, 100, 2000, null);

describe.each([false, true])('observe and update, accelerator %s', (accelerator) => {
  test('are the same for random records', () => {
    fc.assert(
      fc.property(
        metricLists,
        fc.constantFrom<LayoutName>('exact', 'compact'),
        fc.integer({ min: 1, max: 400 }),
        fc.tuple(limit, limit, fc.boolean()),
        fc.integer(),
        (metrics, layout, count, [level, change, pathChange], seed) => {
          const random = new Random(seed);
          const options: FlowCacheOptions = {
            rows: 1 + random.integer(4),
            buckets: 1 + random.integer(6),
            hops: 1 + random.integer(6),
            metrics,
            layout,
            thresholds: { metrics: { [metrics[0]!]: { level, change } }, endToEnd: { level, change }, pathChange },
          };
          const columns = observed({ ...options, accelerator, ...(accelerator ? { memory: reusedMemory() } : {}) });
          const objects = observed({ ...options, accelerator: false });
          const flows = randomFlows(random, 30, 0.4);
          let timeNs = random.integer(2) === 0 ? 0n : 1_700_000_000_000_000_000n;
          const list = Array.from({ length: count }, () => {
            timeNs += BigInt(random.integer(1 << 30));
            return randomReport(random, { flows, hops: 8, metrics }, timeNs);
          });
          const reports = new ReportBatch(400, 8, 5);
          reports.fill(list);
          columns.cache.update(reports.batch, 0, count);
          for (const report of list) objects.cache.observe(recordOf(report), report.timeNs);
          expectSame(objects, columns);
        },
      ),
      { seed: SEED, numRuns: runs(25) },
    );
  });
});

const LIMITS = {
  metrics: { hopLatency: { level: 1000, change: 10 }, queueOccupancy: { change: 0 } },
  endToEnd: { level: 5000, change: 5 },
  pathChange: true,
} as const;
const METRICS: readonly MetricName[] = [
  'hopLatency',
  'queueOccupancy',
  'queueId',
  'l2IngressInterface',
  'l2EgressInterface',
];

const BATCH = new TelemetryBatch({ frames: 16, reports: 1024, hops: 8192 });

/** Both ways from bytes to a cache, of at most 16 frames. */
function decodedBothWays(
  frames: readonly Uint8Array[],
  options: DecodeOptions,
  layout: LayoutName,
): [Observed, Observed] {
  const setup = { rows: 2, buckets: 3, hops: 3, layout, metrics: METRICS, thresholds: LIMITS, accelerator: false };
  const columns = observed(setup);
  const objects = observed(setup);
  const bytes = new Uint8Array(frames.reduce((sum, { length }) => sum + length, 0));
  const offsets = new Uint32Array(frames.length);
  const lengths = Uint32Array.from(frames, ({ length }) => length);
  const timestampsHigh = new Uint32Array(frames.length).fill(9);
  const timestampsLow = Uint32Array.from(frames, (_, index) => index);
  let at = 0;
  frames.forEach((one, index) => {
    bytes.set(one, at);
    offsets[index] = at;
    at += one.length;
  });
  const batch = BATCH;
  const decoder = new BatchDecoder(options);
  for (let next = 0; next < frames.length; ) {
    batch.clear();
    next = decoder.decode(batch, { bytes, offsets, lengths, timestampsHigh, timestampsLow }, next);
    columns.cache.update(batch);
  }
  const single = new FrameDecoder(options);
  frames.forEach((one, index) => {
    for (const record of single.decode(one)) {
      // A packet that is neither a report nor carries INT has no row.
      if (record.report === null && record.int === null) continue;
      objects.cache.observe(record, (9n << 32n) | BigInt(index));
    }
  });
  return [objects, columns];
}

describe('frames, decoded into objects or into columns,', () => {
  test('leave the same cache', () => {
    let hits = 0;
    let handedOn = 0;
    fc.assert(
      fc.property(
        fc.array(frame({ options: { reportPorts: [32766] } }), { minLength: 1, maxLength: 6 }),
        fc.constantFrom<LayoutName>('exact', 'compact'),
        (frames, layout) => {
          // All of them twice, so that there is something to compare with.
          const bytes = [...frames, ...frames].map((each) => each.bytes);
          const [objects, columns] = decodedBothWays(bytes, { reportPorts: [32766] }, layout);
          const totals = columns.cache.totals();
          hits += totals.hits;
          handedOn += totals.evictedEntries;
          expectSame(objects, columns);
        },
      ),
      { seed: SEED, numRuns: runs(80) },
    );
    expect(Math.min(hits, handedOn)).toBeGreaterThan(50 * LENGTH);
  });

  test('leave the same cache where they are broken', () => {
    fc.assert(
      fc.property(
        fc.array(malformed(frame({ options: { reportPorts: [32766] } })), { minLength: 1, maxLength: 8 }),
        (frames) => {
          const [objects, columns] = decodedBothWays(frames, { reportPorts: [32766] }, 'exact');
          // Of a broken frame a row may tell that there was INT where an object cannot say which.
          expectSame(objects, columns, ['offered', 'notOk']);
        },
      ),
      { seed: SEED, numRuns: runs(80) },
    );
  });
});
