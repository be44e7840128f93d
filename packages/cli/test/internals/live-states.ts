/** States of a collector, for tests of its view. */
import type { CollectorTotals, StatisticsSnapshot, SwitchStatistics } from '@int/collector';
import type { DetectionState } from '../../src/output/detection-state.js';
import type { LiveState } from '../../src/output/live-state.js';
import { RAW_METRICS } from '../../src/output/metric-text.js';

export const totals: CollectorTotals = {
  received: 1010,
  decoded: 1000,
  reports: 1200,
  dropped: {
    truncated: 3,
    malformed: 6,
    unsupported: 0,
    'not-int': 0,
    overrun: 1,
    'unknown-source': 0,
    'unknown-switch': 0,
  },
  errors: { TRUNCATED: 3, BAD_STACK: 6 },
  kernelDropped: 42,
  stages: {},
  sinks: {},
};

export function switches(count: number): SwitchStatistics[] {
  return Array.from({ length: count }, (_, index) => ({
    nodeId: index * 7_654_321,
    reportsPerSecond: 1234.5 * index,
    hopLatency: { p50: 100, p99: 10_000 * index, count: 5 },
    queueOccupancy: { now: 3, peak: 16_777_214 },
    egressUtilization: { now: null, peak: null },
    dropReports: 0,
    dropReportsPerSecond: 0,
    history: [null, 10, 20, 40],
  }));
}

export function state(statistics: Partial<StatisticsSnapshot> = {}): LiveState {
  return {
    source: 'udp://127.0.0.1:32766',
    elapsedMs: 3_725_000,
    totals,
    receivedPerSecond: 100,
    reportsPerSecond: 120,
    statistics: { timeMs: 0, switches: switches(3), other: null, congested: [], ...statistics },
    detection: null,
    recentEvents: new Map(),
    degraded: [],
    metrics: RAW_METRICS,
  };
}

export function detection(rules: number, events: number, notice: DetectionState['notice'] = null): DetectionState {
  const none = { reports: 0, events: 0, survivors: 0 };
  const figures = { reports: 1000, events: 90, survivors: 40 };
  return {
    totals: {
      reports: 1000 * rules,
      survivors: 40 * rules,
      events: 90 * rules,
      notOk: 1,
      unmatched: 2,
      unsampled: 0,
      withoutFlow: 0,
      beyondPositions: 0,
      aged: 0,
      evicted: 0,
      untracked: 0,
      untold: 0,
      byRule: new Map(Array.from({ length: rules }, (_, index) => [`rule-${index}`, figures] as const)),
      byDefault: none,
      removed: none,
    },
    filtered: 0,
    tracked: null,
    adaptation: [{ rule: 'rule-0', target: 1000, rate: 998, status: 'holding', threshold: 12_345 }],
    recent: Array.from({ length: events }, (_, index) => ({
      frame: index + 1,
      index: 0,
      timeNs: 1_700_000_000_000_000_000n + BigInt(index),
      event: {
        rule: index % 3 === 0 ? null : `rule-${index}`,
        detector: 'perHop',
        metric: 'hopLatency',
        scope: 'hop',
        nodeId: 2,
        hop: 1,
        value: 5400,
        previous: 1200,
        threshold: 1000,
        evidence: null,
        state: 'once',
        firstSight: false,
        flow: { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 4000, destinationPort: 80 },
      },
    })),
    notShown: 0,
    notice,
  };
}

export const congested = Array.from({ length: 32 }, (_, index) => ({
  timeMs: 1_700_000_000_000 + index,
  path: [1, null, 3],
  hop: 1,
  nodeId: null,
  depth: index % 2 === 0 ? null : 900,
  peak: index % 2 === 0 ? null : 1000,
  reports: 5,
  flow: { source: '2001:db8::1', destination: '2001:db8::2', protocol: 6, sourcePort: 1, destinationPort: 2 },
}));
