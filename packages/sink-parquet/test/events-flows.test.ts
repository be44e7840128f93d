import { compileRules, Detector, EventBatch } from '@int/detect';
import { EntryReader, FlowCache, type FlowEntry } from '@int/flowcache';
import { expect, test } from 'vitest';
import { HOUR_NS, Load } from './batches.js';
import { folder, open, rows } from './folder.js';
import { modelPath, timeText } from './model.js';

const INSTANCE = '00000000000000aa';
const RULES = compileRules({
  version: 1,
  default: 'report',
  rules: [
    {
      name: 'slow "hop", or so',
      priority: 9,
      match: { protocol: 'tcp' },
      detect: { perHop: { metric: 'hopLatency', threshold: 100 } },
    },
    {
      name: 'sum',
      priority: 8,
      match: { destinationPort: '0-30000' },
      detect: { threshold: { metric: 'hopLatency', threshold: 3000, scope: 'endToEnd' } },
    },
    {
      name: 'average',
      priority: 7,
      match: { destinationPort: '30001-50000' },
      detect: { movingAverage: { metric: 'queueOccupancy', threshold: 1, weight: 1 } },
    },
    { name: 'path', priority: 6, match: { protocol: 'udp' }, detect: { pathChange: {} } },
    {
      name: 'both',
      priority: 12,
      match: { sourcePort: '0-45000', destinationPort: '0-20000' },
      detect: { complex: 'sum(hopLatency) >= 0 and (max(queueOccupancy) > 100 or count() >= 2)' },
    },
  ],
});

test('events come back as the detector tells them', async () => {
  const directory = await folder();
  const sink = await open({ directory, instance: INSTANCE, records: ['events'] });
  const detector = new Detector(RULES);
  const events = new EventBatch();
  const expected: unknown[] = [];
  const load = new Load(400);
  for (let k = 0; k < 5; k++) {
    const batch = load.next();
    events.clear();
    detector.detect(batch, events);
    sink.writeEvents(events);
    expect(sink.write(batch)).toBeUndefined();
    for (let row = 0; row < events.count; row++) {
      const { flow, ...rest } = events.event(row);
      const report = events.report[row]!;
      const view = batch.record(report);
      expected.push({
        id: `${INSTANCE}-${expected.length}`,
        time: timeText(batch.timeNs(report)),
        ...rest,
        eventId: null,
        severity: null,
        key: null,
        isFirst: null,
        begin: null,
        findings: null,
        source: flow?.source ?? null,
        destination: flow?.destination ?? null,
        protocol: flow?.protocol ?? null,
        sourcePort: flow?.sourcePort ?? null,
        destinationPort: flow?.destinationPort ?? null,
        path: JSON.stringify(modelPath(batch, report, view)),
      });
    }
  }
  await sink.close();
  expect(expected.length).toBeGreaterThan(100);
  expect(JSON.stringify(expected)).toMatch(/"aggregate":"max".*"aggregate":"count"/);
  expect(sink.totals()).toEqual({
    events: { offered: expected.length, delivered: expected.length, pending: 0, dropped: { overflow: 0, closed: 0 } },
  });
  expect(await rows(directory, `FROM events ORDER BY split_part(id, '-', 2)::BIGINT`)).toEqual(expected);
});

function flowRow(entry: FlowEntry, number: number): unknown {
  return {
    id: `${INSTANCE}-${number}`,
    firstTime: timeText(entry.firstNs),
    lastTime: timeText(entry.lastNs),
    ...entry.flow,
    reason: entry.reason,
    packets: entry.packets,
    pathChanges: entry.pathChanges,
    path: JSON.stringify(entry.path),
    pathLength: entry.pathLength,
    hopsBeyond: entry.hopsBeyond,
    endToEndLast: entry.endToEnd?.last ?? null,
    endToEndMean: entry.endToEnd?.mean ?? null,
    endToEndCount: entry.endToEnd?.count ?? 0,
    hops: entry.hops.map(({ nodeId, metrics }) => ({
      nodeId,
      metrics: Object.fromEntries(
        Object.entries(metrics)
          .filter(([, { count }]) => count > 0)
          .map(([name, { last, mean, count }]) => [name, { last, mean, count }]),
      ),
    })),
  };
}

test.each(['exact', 'compact'] as const)(
  'entries of a flow cache come back with all their hops: %s',
  async (layout) => {
    const directory = await folder();
    const sink = await open({ directory, instance: INSTANCE, records: ['flows'] });
    const expected: unknown[] = [];
    const push = (words: Int32Array, at: number, records: number): number => {
      const reader = new EntryReader(cache.geometry);
      for (let k = 0; k < records; k++) {
        const entry = reader.read(words, at + k * cache.geometry.bucketStride);
        expected.push(flowRow(entry, expected.length));
      }
      expect(sink.writeFlows(words, at, records, cache.geometry)).toBeUndefined();
      return records;
    };
    const cache: FlowCache = new FlowCache({ rows: 4, buckets: 4, hops: 2, layout, entries: { push } });
    const load = new Load(300, { startNs: HOUR_NS + 5_000_000_000n });
    for (let k = 0; k < 3; k++) {
      const batch = load.next();
      cache.update(batch);
    }
    cache.drain();
    await sink.close();
    expect(expected.length).toBeGreaterThan(20);
    expect(await rows(directory, `FROM flows ORDER BY split_part(id, '-', 2)::BIGINT`)).toEqual(expected);
  },
);
