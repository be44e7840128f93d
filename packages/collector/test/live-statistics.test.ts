import { CODES, FLAG, TelemetryBatch } from '@int/codec';
import { LiveStatistics } from '@int/collector';
import { describe, expect, test } from 'vitest';
import { fillBatch, setTimes, type TestReport } from './fill-batch.js';

const START = 1_700_000_000_000;

/** Feeds reports that arrive at the given time. */
function feed(statistics: LiveStatistics, timeMs: number, reports: readonly TestReport[]): void {
  const hops = reports.reduce((sum, report) => sum + report.hops.length, 0);
  const batch = new TelemetryBatch({ frames: Math.max(1, reports.length), hops: Math.max(256, hops) });
  fillBatch(batch, reports);
  setTimes(
    batch,
    reports.map(() => timeMs),
  );
  statistics.process(batch);
}

describe('LiveStatistics', () => {
  test('starts empty', () => {
    expect(new LiveStatistics().snapshot()).toEqual({ timeMs: null, switches: [], other: null, congested: [] });
  });

  test('tells latency, queue, utilization and rate of each switch', () => {
    const statistics = new LiveStatistics();
    const hops = (latency: number): TestReport => ({
      nodeId: 3,
      hops: [
        { nodeId: 1, latency, queueId: 7, occupancy: 40, utilization: 10 },
        { nodeId: 3, latency: 2 * latency, occupancy: 5 },
      ],
    });
    for (let step = 0; step < 100; step++) feed(statistics, START + step * 10, [hops(step < 98 ? 20 : 30)]);
    feed(statistics, START + 2000, [{ nodeId: 3, hops: [{ nodeId: 1, occupancy: 12, utilization: 3 }] }]);
    const { switches, other, timeMs } = statistics.snapshot();
    expect(timeMs).toBeCloseTo(START + 2000, 2);
    expect(other).toBeNull();
    expect(switches.map((one) => one.nodeId)).toEqual([1, 3]);
    const [first, third] = switches;
    expect(first!.hopLatency).toEqual({ p50: 20, p99: 30, count: 100 });
    expect(first!.queueOccupancy).toEqual({ now: 12, peak: 40 });
    expect(first!.egressUtilization).toEqual({ now: 3, peak: 10 });
    expect(first!.reportsPerSecond).toBeCloseTo(101 / 2, 5);
    expect(third!.hopLatency.p50).toBe(40);
    expect(third!.egressUtilization).toEqual({ now: null, peak: null });
    expect(third!.reportsPerSecond).toBeCloseTo(50, 5);
  });

  test('counts a report once for a switch that has two hops in it', () => {
    const statistics = new LiveStatistics();
    const loop: TestReport = {
      hops: [
        { nodeId: 9, latency: 1 },
        { nodeId: 9, latency: 3 },
      ],
    };
    feed(statistics, START, [loop]);
    feed(statistics, START + 1000, [loop]);
    const [one] = statistics.snapshot().switches;
    expect(one!.reportsPerSecond).toBe(2);
    expect(one!.hopLatency.count).toBe(4);
  });

  test('forgets what has left the window and keeps a history', () => {
    const statistics = new LiveStatistics({ windowSlices: 3, historySlices: 5 });
    for (let second = 0; second < 4; second++) {
      feed(statistics, START + second * 1000, [
        { hops: [{ nodeId: 1, latency: 10 * (second + 1), occupancy: 100 - second }] },
      ]);
    }
    let [one] = statistics.snapshot().switches;
    expect(one!.hopLatency).toEqual({ p50: 30, p99: 40, count: 3 });
    expect(one!.queueOccupancy).toEqual({ now: 97, peak: 99 });
    expect(one!.history).toEqual([10, 20, 30]);
    statistics.advance(START + 6000);
    [one] = statistics.snapshot().switches;
    expect(one!.hopLatency).toEqual({ p50: null, p99: null, count: 0 });
    expect(one!.queueOccupancy).toEqual({ now: 97, peak: null });
    expect(one!.history).toEqual([20, 30, 40, null, null]);
  });

  test('gives the place of a silent switch to another one', () => {
    const statistics = new LiveStatistics({ switches: 1, windowSlices: 2, historySlices: 3 });
    feed(statistics, START, [{ hops: [{ nodeId: 1, latency: 10, occupancy: 5 }] }]);
    feed(statistics, START + 1000, [{ hops: [{ nodeId: 2, latency: 20 }] }]);
    expect(statistics.snapshot().switches.map((one) => one.nodeId)).toEqual([1]);
    expect(statistics.snapshot().other!.hopLatency.p50).toBe(20);
    feed(statistics, START + 3000, [{ hops: [{ nodeId: 2, latency: 30 }] }]);
    const [one] = statistics.snapshot().switches;
    expect(one).toMatchObject({
      nodeId: 2,
      hopLatency: { p50: 30, p99: 30, count: 1 },
      queueOccupancy: { now: null, peak: null },
    });
    expect(one!.history.every((value) => value === null)).toBe(true);
  });

  test('counts hops without a name, and switches beyond the limit, as others', () => {
    const statistics = new LiveStatistics({ switches: 4 });
    const bytes = statistics.byteLength;
    for (let node = 0; node < 10_000; node++) {
      feed(statistics, START + node / 10, [{ hops: [{ nodeId: (node * 2_654_435_761) % 0xffffffff, latency: 50 }] }]);
    }
    feed(statistics, START + 1500, [{ hops: [{ latency: 50 }] }]);
    const { switches, other } = statistics.snapshot();
    expect(switches).toHaveLength(4);
    expect(other!.nodeId).toBeNull();
    expect(other!.hopLatency.count).toBe(10_001 - 4);
    expect(statistics.byteLength).toBe(bytes);
  });

  test('shows the busiest honest switches again after 5,000 forged ids took all rows', () => {
    const statistics = new LiveStatistics({ switches: 16 });
    const forged = Array.from({ length: 5000 }, (_, index) => ({ hops: [{ nodeId: 1_000_000 + index, latency: 9 }] }));
    const honest = Array.from({ length: 4 }, (_, index) => ({ hops: [{ nodeId: index + 1, latency: 50 }] }));
    feed(statistics, START, forged);
    const honestOnes = (): number => statistics.snapshot().switches.filter(({ nodeId }) => nodeId! <= 4).length;
    // The forged ones do not even pause: each comes once a second.
    let second = 0;
    for (; second < 60 && honestOnes() < 4; second++) {
      feed(statistics, START + second * 1000, [...forged, ...Array(20).fill(honest).flat()]);
    }
    expect(honestOnes()).toBe(4);
    expect(statistics.degraded()).toMatchObject([{ name: 'untracked' }]);
    expect(statistics.counters()).toMatchObject({ switches: 16, replaced: 4 });
  });

  test('counts on as others what a switch has in the window that gives its row away', () => {
    const statistics = new LiveStatistics({ switches: 1 });
    feed(statistics, START, [{ nodeId: 1, flags: FLAG.DROPPED, hops: [{ nodeId: 1, latency: 10, occupancy: 5 }] }]);
    for (let second = 1; second <= 5; second++) {
      feed(statistics, START + second * 1000, Array(9).fill({ hops: [{ nodeId: 2, latency: 20 }] }));
    }
    feed(statistics, START + 6000, [{ hops: [{ nodeId: 2, latency: 30 }] }]);
    const { switches, other } = statistics.snapshot();
    expect(switches.map(({ nodeId, dropReports, hopLatency }) => [nodeId, dropReports, hopLatency.count])).toEqual([
      [2, 0, 1],
    ]);
    expect(other).toMatchObject({
      nodeId: null,
      dropReports: 1,
      queueOccupancy: { peak: 5 },
      hopLatency: { count: 46 },
    });
  });

  test('leaves reports alone that were not decoded', () => {
    const statistics = new LiveStatistics();
    feed(statistics, START, [{ code: CODES.BAD_STACK, hops: [{ nodeId: 1, latency: 1 }] }]);
    expect(statistics.snapshot().switches).toEqual([]);
  });

  test('counts drop reports for the switch that reports', () => {
    const statistics = new LiveStatistics();
    feed(statistics, START, [
      { nodeId: 5, flags: FLAG.DROPPED, hops: [] },
      { nodeId: 5, flags: FLAG.DROPPED | FLAG.OWN, hops: [{ nodeId: 5, occupancy: 900 }] },
    ]);
    const [one] = statistics.snapshot().switches;
    expect(one).toMatchObject({ nodeId: 5, dropReports: 2, queueOccupancy: { now: 900, peak: 900 } });
  });

  test('follows a clock that steps back, and one that jumps ahead', () => {
    const statistics = new LiveStatistics({ windowSlices: 3, historySlices: 4 });
    feed(statistics, START, [{ hops: [{ nodeId: 1, latency: 10 }] }]);
    feed(statistics, START - 1500, [{ hops: [{ nodeId: 1, latency: 12 }] }]);
    expect(statistics.snapshot().switches[0]!.hopLatency.count).toBe(2);
    expect(statistics.snapshot().timeMs).toBeCloseTo(START, 2);
    feed(statistics, START - 3_600_000, [{ hops: [{ nodeId: 1, latency: 14 }] }]);
    expect(statistics.snapshot().switches[0]!.hopLatency).toEqual({ p50: 14, p99: 14, count: 1 });
    expect(statistics.snapshot().switches[0]!.history).toEqual([]);
    feed(statistics, START + 3_600_000_000, [{ hops: [{ nodeId: 2, latency: 16 }] }]);
    expect(statistics.snapshot().switches.map((one) => one.nodeId)).toEqual([2]);
    expect(statistics.snapshot().switches[0]!.hopLatency.count).toBe(1);
  });

  test('remembers congested paths, the most recent first, one entry for each path and hop', () => {
    const statistics = new LiveStatistics({ congestedOccupancy: 50, congestedPaths: 2 });
    const path = (nodes: readonly number[], depths: readonly number[], flags = 0): TestReport => ({
      nodeId: nodes.at(-1)!,
      flags,
      hops: nodes.map((nodeId, index) => ({ nodeId, occupancy: depths[index]! })),
    });
    feed(statistics, START, [path([1, 2, 3], [10, 49, 0])]);
    expect(statistics.snapshot().congested).toEqual([]);
    feed(statistics, START + 1, [path([1, 2, 3], [10, 70, 0])]);
    feed(statistics, START + 2, [path([1, 4, 3], [10, 0, 80])]);
    feed(statistics, START + 3, [path([1, 2, 3], [10, 60, 0])]);
    const { congested } = statistics.snapshot();
    expect(congested).toHaveLength(2);
    expect(congested[0]).toMatchObject({ path: [1, 2, 3], hop: 1, nodeId: 2, depth: 60, peak: 70, reports: 2 });
    expect(congested[0]!.timeMs).toBeCloseTo(START + 3, 2);
    expect(congested[0]!.flow).toEqual({
      source: '10.0.1.1',
      destination: '10.0.2.2',
      protocol: 17,
      sourcePort: 5000,
      destinationPort: 80,
    });
    expect(congested[1]).toMatchObject({ path: [1, 4, 3], hop: 2, depth: 80, reports: 1 });
    feed(statistics, START + 4, [path([5, 6], [0, 0], FLAG.QUEUE_CONGESTED)]);
    expect(statistics.snapshot().congested.map((one) => one.path)).toEqual([
      [5, 6],
      [1, 2, 3],
    ]);
  });

  test('takes a flag without a depth for what it is', () => {
    const statistics = new LiveStatistics();
    feed(statistics, START, [
      { nodeId: 2, flags: FLAG.QUEUE_CONGESTED | FLAG.OWN, hops: [{ nodeId: 1 }, { nodeId: 2 }, { nodeId: 2 }] },
    ]);
    const { congested } = statistics.snapshot();
    expect(congested[0]).toMatchObject({ path: [1, 2], hop: 1, nodeId: 2, depth: null, peak: null });
  });

  test('keeps the start of a path that is longer than an entry', () => {
    const statistics = new LiveStatistics({ congestedOccupancy: 1 });
    const hops = Array.from({ length: 40 }, (_, index) => ({ nodeId: index + 1, occupancy: index === 30 ? 500 : 0 }));
    feed(statistics, START, [{ hops }]);
    const [one] = statistics.snapshot().congested;
    expect(one!.path).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
    expect(one).toMatchObject({ hop: 30, nodeId: 31, depth: 500 });
  });

  test('refuses options out of range', () => {
    expect(() => new LiveStatistics({ switches: 0 })).toThrow(RangeError);
    expect(() => new LiveStatistics({ sliceMs: 0.5 })).toThrow(RangeError);
    expect(() => new LiveStatistics({ congestedPaths: 256 })).toThrow(RangeError);
  });
});
