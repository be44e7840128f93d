/**
 * Two methods compare values by the same rules, and may not know one another: the detectors `threshold`, `change` and
 * `pathChange` of @int/detect in exact state, and the events of a flow cache. Here they look at the same reports.
 *
 * They differ in these cases, which the reports below leave out:
 * - hops that do not name their switch: a detector takes "no name" for one more switch and for no part of a path, a
 *   cache takes the hop for the switch known there and counts it;
 * - a metric that is missing in the report in which its position has another switch: a cache forgets the value of the
 *   switch before, a detector remembers it;
 * - a reporting node that is also the last switch of the stack before it, or whose own values come in one report and
 *   not in another: a detector's path is the same, a cache's has another length;
 * - hops beyond those that a cache follows, and reports of unknown flow: `threshold` looks at them;
 * - flows that were evicted or aged.
 */
import { isDeepStrictEqual } from 'node:util';
import { BatchDecoder, type Flow, type MetricName, TelemetryBatch } from '@int/codec';
import { Detector, type DetectorConfig, EventBatch } from '@int/detect';
import { type Comparison, EVENT_WORDS, FlowCache, type FlowEvent, readFlowEvent } from '@int/flowcache';
import { Random } from '@int/random';
import { MAX_REPORT_BYTES, ReportStream, type TrafficOptions } from '@int/traffic';
import { describe, expect, test } from 'vitest';
import { SEED } from '../seed.js';
import { type HopRow, type ReportRow, reportBatch } from './report-rows.js';

const METRICS = ['hopLatency', 'queueOccupancy', 'egressUtilization', 'queueId'] as const satisfies MetricName[];
const HOPS = 8;

/** What both say of an event. */
interface Finding {
  /** Number of the report. */
  readonly report: number;
  readonly kind: 'threshold' | 'change' | 'pathChange';
  readonly scope: 'hop' | 'endToEnd';
  readonly metric: MetricName | null;
  readonly hop: number | null;
  readonly nodeId: number | null;
  readonly value: number | null;
  readonly previous: number | null;
  readonly flow: Flow;
}

interface Limits {
  readonly level: number;
  readonly change: number;
}

/** By metric, and of the sum of the hop latency. */
type AllLimits = Readonly<Record<(typeof METRICS)[number] | 'endToEnd', Limits>>;

interface Chunk {
  readonly batch: TelemetryBatch;
  /** Number of the first report. */
  readonly from: number;
}

/** Gives reports their numbers as times, so that an event of a cache tells which one raised it. */
function numbered({ batch, from }: Chunk): TelemetryBatch {
  batch.isTimed = true;
  batch.frameTimeHigh = new Uint32Array(batch.frames);
  batch.frameTimeLow = new Uint32Array(batch.frames);
  for (let row = 0; row < batch.reports; row++) batch.frameTimeLow[batch.frame[row]!] = from + row;
  return batch;
}

function detectors(limits: AllLimits): Detector[] {
  const configs: DetectorConfig[] = [{ kind: 'pathChange' }];
  for (const metric of METRICS) {
    const { level, change } = limits[metric];
    configs.push({ kind: 'threshold', metric, threshold: level, scope: 'hop' });
    configs.push({ kind: 'change', metric, threshold: change, scope: 'hop' });
  }
  const { level, change } = limits.endToEnd;
  configs.push({ kind: 'threshold', metric: 'hopLatency', threshold: level, scope: 'endToEnd' });
  configs.push({ kind: 'change', metric: 'hopLatency', threshold: change, scope: 'endToEnd' });
  return configs.map((config) =>
    Detector.of(config, { state: 'exact', flowCells: 1 << 13, idleMs: 0, positions: HOPS }),
  );
}

function detected(chunks: Iterable<Chunk>, limits: AllLimits): Finding[] {
  const all = detectors(limits);
  const events = new EventBatch(1 << 15);
  const findings: Finding[] = [];
  for (const { batch, from } of chunks) {
    for (const detector of all) {
      for (let row = 0; row < batch.reports; ) {
        row = detector.detect(batch, events, row);
        for (let at = 0; at < events.count; at++) {
          const { detector: kind, scope, metric, hop, nodeId, value, previous, flow } = events.event(at);
          findings.push({
            report: from + events.report[at]!,
            kind: kind as Finding['kind'],
            scope: kind === 'pathChange' ? 'endToEnd' : (scope as Finding['scope']),
            metric,
            hop,
            nodeId,
            value,
            previous,
            flow: flow!,
          });
        }
        events.clear();
      }
    }
  }
  for (const detector of all) expect(detector.totals()).toMatchObject({ evicted: 0, aged: 0, beyondPositions: 0 });
  return findings;
}

function cached(chunks: Iterable<Chunk>, limits: AllLimits, comparison?: Comparison): FlowEvent[] {
  const events: FlowEvent[] = [];
  const { endToEnd, ...metrics } = limits;
  const cache = new FlowCache({
    rows: 512,
    hops: HOPS,
    metrics: METRICS,
    thresholds: { metrics, endToEnd, pathChange: true },
    ...(comparison !== undefined && { comparison }),
    events: {
      push(words, at, records) {
        for (let one = 0; one < records; one++) events.push(readFlowEvent(words, at + one * EVENT_WORDS, METRICS));
        return records;
      },
    },
  });
  for (const chunk of chunks) cache.update(numbered(chunk));
  expect(cache.totals()).toMatchObject({ evictedEntries: 0, hopsBeyond: 0, noFlow: 0, lostEvents: 0 });
  return events;
}

/** One finding for each kind of an event; what a detector does not say is left out. */
function findingsOf(events: readonly FlowEvent[]): Finding[] {
  return events.flatMap(({ kinds, scope, metric, hop, nodeId, value, previous, timeNs, flow }) =>
    kinds.map((kind) => ({
      report: Number(timeNs),
      kind,
      scope,
      metric,
      hop,
      nodeId,
      value: kind === 'pathChange' ? null : value,
      previous: kind === 'change' ? previous : null,
      flow,
    })),
  );
}

const text = (findings: readonly Finding[]): string[] => findings.map((one) => JSON.stringify(one)).sort();

/** Many times as fast as `toEqual`, which then says what differs. */
function same(actual: readonly unknown[], expected: readonly unknown[]): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected);
}

function expectAgreement(chunks: () => Iterable<Chunk>, limits: AllLimits, least: number): void {
  const events = cached(chunks(), limits);
  const findings = detected(chunks(), limits);
  for (const kind of ['threshold', 'change', 'pathChange']) {
    const count = findings.filter((one) => one.kind === kind && (one.scope === 'endToEnd') === (kind === 'pathChange'));
    expect({ kind, enough: count.length >= least }).toEqual({ kind, enough: true });
  }
  same(text(findingsOf(events)), text(findings));
  same(cached(chunks(), limits, COMPARED_AS_DETECTORS_DO), events);
}

const SIGN = -0x80000000;

/** The comparisons as the loops of the detectors are written: on signed words, without a branch. */
const COMPARED_AS_DETECTORS_DO: Comparison = {
  exceeds: (value, threshold) => ((value | 0) ^ SIGN) > ((threshold | 0) ^ SIGN),
  differs(value, previous, threshold) {
    const difference = (value - previous) | 0;
    const less = ((~value & previous) | ((~value | previous) & difference)) >> 31;
    return (((difference ^ less) - less) ^ SIGN) > ((threshold | 0) ^ SIGN);
  },
};

/** Reports of a generated fabric, as UDP payloads decoded in batches. */
function* fabric(options: TrafficOptions, reports: number): Generator<Chunk> {
  const stream = new ReportStream(options);
  const decoder = new BatchDecoder({ linkType: 'report' });
  const most = 500;
  const bytes = new Uint8Array(most * MAX_REPORT_BYTES);
  const offsets = new Uint32Array(most);
  const lengths = new Uint32Array(most);
  const batch = new TelemetryBatch({ frames: most });
  for (let from = 0; from < reports; from += batch.reports) {
    const count = stream.fill(bytes, offsets, lengths);
    batch.clear();
    expect(decoder.decode(batch, { bytes, offsets, lengths }, 0, count)).toBe(count);
    yield { batch, from };
  }
}

/** Latencies and the like: mostly small, sometimes at the end of their range. */
function randomWord(random: Random, most: number): number {
  return random.integer(15) === 0 ? most - random.integer(3) : random.integer(1000);
}

/** A hop of a switch; one that is new at its position carries everything. */
function randomHop(random: Random, nodeId: number, isNew: boolean): HopRow {
  const carries = (): boolean => isNew || random.integer(10) !== 0;
  return {
    nodeId,
    ...(carries() && { latency: randomWord(random, 0xfffffffe) }),
    ...(carries() && { queueId: random.integer(20) === 0 ? 255 : 1, occupancy: randomWord(random, 0xffffff) }),
    ...(carries() && { utilization: randomWord(random, 0xfffffffe) }),
  };
}

/** Reports of flows whose paths change now and then: other switches, shorter, longer, other reporting nodes. */
function* random(seed: number, flows: number, reports: number): Generator<Chunk> {
  const random = new Random(seed);
  const known = Array.from({ length: flows }, () => new Map<number, number>());
  const lengths = known.map(() => random.integer(HOPS + 1));
  const shifts = known.map(() => random.integer(5));
  const next = (): ReportRow => {
    const flow = Math.floor(random.uniform() ** 2 * flows);
    const isOk = random.integer(30) !== 0;
    const hasOwnRow = flow % 3 === 0;
    if (random.integer(25) === 0) lengths[flow] = random.integer(HOPS + 1);
    if (hasOwnRow) lengths[flow] ||= 1;
    if (random.integer(25) === 0) shifts[flow] = random.integer(5);
    const reporter = 100 + (random.integer(40) === 0 ? random.integer(3) : 0);
    const hops = Array.from({ length: lengths[flow]! }, (_, hop) => {
      const isOwn = hasOwnRow && hop === lengths[flow]! - 1;
      const nodeId = isOwn ? reporter : ((hop + shifts[flow]!) % 7) + 1;
      const isNew = known[flow]!.get(hop) !== nodeId;
      // Nobody learns of switches from what cannot be decoded.
      if (isOk) known[flow]!.set(hop, nodeId);
      return randomHop(random, nodeId, isNew);
    });
    return {
      flow,
      isIpv6: flow % 5 === 0,
      isOk,
      ...(flow % 3 !== 2 && { nodeId: reporter }),
      hasOwnRow,
      hops,
      timeNs: 0n,
    };
  };
  for (let from = 0; from < reports; ) {
    const rows = Array.from({ length: 1 + random.integer(700) }, next);
    yield { batch: reportBatch(rows), from };
    from += rows.length;
  }
}

const LIMITS: AllLimits = {
  hopLatency: { level: 900, change: 500 },
  queueOccupancy: { level: 950, change: 800 },
  egressUtilization: { level: 800, change: 900 },
  queueId: { level: 2, change: 10 },
  endToEnd: { level: 5000, change: 3000 },
};

describe('a detector and a flow cache with the same thresholds find the same', () => {
  test.each([1, 2])('in random reports, run %i', (run) => {
    expectAgreement(() => random(SEED + run, 200, 4000), LIMITS, 100);
  });

  test.each([0, 0x7fffffff, 0x80000000, 0xffffff00])('in random reports with thresholds of %i', (limit) => {
    const one = { level: limit, change: limit };
    const limits = { ...LIMITS, hopLatency: one, queueOccupancy: one, egressUtilization: one, endToEnd: one };
    expectAgreement(() => random(SEED + 9, 60, 1500), limits, 5);
  });

  test.each([
    ['md', '2.0', 'leaf-spine:4x2'],
    ['md', '1.0', 'fat-tree:4'],
    ['mx', '2.0', 'leaf-spine:4x2'],
    ['xd', '2.0', 'fat-tree:4'],
  ] as const)('in generated reports: %s, report %s, %s', (mode, report, topology) => {
    const limits: AllLimits = {
      hopLatency: { level: 3000, change: 2000 },
      queueOccupancy: { level: 20, change: 10 },
      egressUtilization: { level: 3500, change: 1000 },
      queueId: { level: 0, change: 0 },
      endToEnd: { level: 6000, change: 4000 },
    };
    const options: TrafficOptions = { mode, report, topology, flows: 200, workload: 'hadoop', seed: SEED };
    const events = cached(fabric(options, 2500), limits);
    expect(events.length).toBeGreaterThan(500);
    same(text(findingsOf(events)), text(detected(fabric(options, 2500), limits)));
    same(cached(fabric(options, 2500), limits, COMPARED_AS_DETECTORS_DO), events);
  });
});
