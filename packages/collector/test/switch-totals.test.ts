import { CODES, FLAG, NOT_AVAILABLE, TelemetryBatch } from '@int/codec';
import { type BucketColumns, SwitchTotals, type SwitchTotalsOptions } from '@int/collector';
import { DeviceProfile } from '@int/network';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { fillBatch, setTimes, type TestReport } from './fill-batch.js';
import { type SwitchRow, switchRows } from './row-objects.js';
import { SEED } from './seed.js';

interface Hop {
  readonly nodeId?: number;
  readonly latency?: number;
  readonly queueId?: number;
  readonly occupancy?: number;
  readonly utilization?: number;
  /** Egress interface. */
  readonly port?: number;
}
interface Report extends TestReport {
  readonly hops: readonly Hop[];
}

const START = 1_700_000_000_000;

/** Feeds reports that arrive at the given time. */
function feed(totals: SwitchTotals, reports: readonly Report[], timeMs = START): void {
  if (reports.length === 0) return;
  const hops = reports.reduce((sum, each) => sum + each.hops.length, 0);
  const batch = new TelemetryBatch({ frames: reports.length, hops: Math.max(256, hops) });
  fillBatch(batch, reports);
  let at = 0;
  for (const { hops } of reports) {
    for (const { port } of hops) batch.hop.l1EgressInterface[at++] = port === undefined ? NOT_AVAILABLE : port;
  }
  setTimes(
    batch,
    reports.map(() => timeMs),
  );
  totals.process(batch);
}

/** Some value, or none. */
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

const hop: fc.Arbitrary<Hop> = fc
  .record({
    nodeId: maybe(fc.constantFrom(1, 2, 3, 0xfffffffe)),
    latency: maybe(fc.constantFrom(0, 9, 10, 11, 100, 101, 4_000_000_000)),
    queueId: maybe(fc.constantFrom(0, 1, 255)),
    occupancy: maybe(fc.integer({ min: 0, max: 0x7ffffffe })),
    utilization: maybe(fc.integer({ min: 0, max: 0xfffffffe })),
    port: maybe(fc.integer({ min: 0, max: 3 })),
  })
  .map((each) => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== undefined)));

const report: fc.Arbitrary<Report> = fc.record({
  nodeId: fc.constantFrom(1, 2, 9),
  flags: fc.constantFrom(0, FLAG.DROPPED),
  code: fc.constantFrom(0, 0, 0, CODES.TRUNCATED),
  hops: fc.array(hop, { maxLength: 5 }),
});

describe('SwitchTotals', () => {
  it('counts what Maps count', () => {
    fc.assert(
      fc.property(fc.array(fc.array(report, { maxLength: 8 }), { maxLength: 6 }), (batches) => {
        const totals = new SwitchTotals({ latencyBounds: [10, 100], occupancyBounds: [0, 1000] });
        for (const batch of batches) feed(totals, batch);
        const hops = new Map<number | null, { hops: number; sum: number; buckets: number[]; drops: number }>();
        const queues = new Map<string, number>();
        let shallow = 0;
        let deep = 0;
        const of = (id: number | null): { hops: number; sum: number; buckets: number[]; drops: number } => {
          const counts = hops.get(id) ?? { hops: 0, sum: 0, buckets: [0, 0, 0], drops: 0 };
          hops.set(id, counts);
          return counts;
        };
        for (const each of batches.flat()) {
          if (each.code !== 0) continue;
          for (const { nodeId, latency, queueId = 0, occupancy } of each.hops) {
            const counts = of(nodeId ?? null);
            counts.hops++;
            if (latency !== undefined) {
              counts.sum += latency;
              counts.buckets[latency <= 10 ? 0 : latency <= 100 ? 1 : 2]!++;
            }
            if (occupancy === undefined) continue;
            if (occupancy === 0) shallow++;
            if (occupancy > 1000) deep++;
            if (nodeId !== undefined) queues.set(`${nodeId} ${queueId}`, occupancy);
          }
          if (each.flags === FLAG.DROPPED) of(each.nodeId!).drops++;
        }
        const snapshot = switchRows(totals);
        const found = [...snapshot.switches, snapshot.other].map(
          ({ nodeId, hops: seen, dropReports, hopLatency: { count, sum, buckets } }) =>
            [nodeId, { hops: seen, sum, buckets, drops: dropReports }, count] as const,
        );
        for (const [id, counts, count] of found) {
          expect(counts).toEqual(id === null || hops.has(id) ? of(id) : null);
          expect(count).toBe(counts.buckets.reduce((a, b) => a + b, 0));
        }
        expect(snapshot.switches).toHaveLength([...hops.keys()].filter((id) => id !== null).length);
        expect(
          new Map(snapshot.queues.map(({ nodeId, queueId, occupancy }) => [`${nodeId} ${queueId}`, occupancy])),
        ).toEqual(queues);
        const depths = [...snapshot.switches, snapshot.other].map(({ queueOccupancy }) => queueOccupancy.buckets);
        const sum = (bucket: number): number => depths.reduce((total, buckets) => total + buckets[bucket]!, 0);
        expect([sum(0), sum(2)]).toEqual([shallow, deep]);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('compares with bounds in seconds what each switch counts in units of its own', () => {
    const units = { 1: 'ns', 2: 'us', 3: 'clock(200MHz)' };
    const switches = Object.fromEntries(
      Object.entries(units).map(([id, hopLatency]) => [id, { units: { hopLatency } }]),
    );
    const device = new DeviceProfile({ switches });
    /** In picoseconds. */
    const ticks: Readonly<Record<number, bigint>> = { 1: 1000n, 2: 1_000_000n, 3: 5000n };
    const BOUNDS = [500n, 1000n, 2500n, 5000n, 10_000n, 25_000n, 50_000n, 100_000n, 250_000n, 500_000n, 1_000_000n];
    const latency = fc.oneof(fc.nat(20), fc.nat(3000), fc.nat(2_000_000), fc.constantFrom(100, 200, 500, 2500, 25_000));
    const hops = fc.array(fc.record({ nodeId: fc.constantFrom(1, 2, 3, 4), latency }), { maxLength: 40 });
    fc.assert(
      fc.property(hops, fc.integer({ min: 1, max: 4 }), (all, rows) => {
        // With fewer rows than switches, the others are counted together.
        const totals = new SwitchTotals({ device, switches: rows });
        feed(totals, [{ hops: all }]);
        const { hopLatency } = totals.columns();
        expect(hopLatency.map(({ base }) => base)).toEqual([null, 'seconds']);
        const known = all.filter(({ nodeId }) => nodeId !== 4);
        const picoseconds = known.map(({ nodeId, latency: value }) => BigInt(value) * ticks[nodeId]!);
        const [raw, seconds] = hopLatency as [BucketColumns, BucketColumns];
        const width = seconds.bounds.length + 1;
        BOUNDS.forEach((bound, index) => {
          expect(seconds.bounds[index]).toBe(Number(bound) / 1e9);
          let count = 0;
          for (let at = 0; at < seconds.counts.length; at++) if (at % width <= index) count += seconds.counts[at]!;
          expect(count).toBe(picoseconds.filter((value) => value <= bound * 1000n).length);
        });
        const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);
        expect(sum(seconds.sums)).toBeCloseTo(Number(picoseconds.reduce((a, b) => a + b, 0n)) / 1e12, 9);
        expect(sum(raw.sums)).toBe(all.reduce((total, each) => total + (each.nodeId === 4 ? each.latency : 0), 0));
        expect([...raw.nodeId, ...seconds.nodeId]).toHaveLength(new Set(totals.columns().nodeId).size);
        expect([...seconds.nodeId]).not.toContain(4);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('tells the last utilization of each egress interface that is known', () => {
    const totals = new SwitchTotals();
    feed(totals, [
      { hops: [{ nodeId: 4, port: 0x12345, utilization: 70 }] },
      { hops: [{ nodeId: 4, port: 2, utilization: 20 }] },
      { hops: [{ nodeId: 4, port: 2, utilization: 30 }] },
      { hops: [{ nodeId: 4, utilization: 99 }] },
    ]);
    expect(switchRows(totals).interfaces).toEqual([
      { nodeId: 4, egressInterface: 0x12345, utilization: 70 },
      { nodeId: 4, egressInterface: 2, utilization: 30 },
    ]);
  });

  it('takes no more room than its options say, and counts what has none', () => {
    const totals = new SwitchTotals({ switches: 2, queues: 2, interfaces: 1 });
    const hops = [1, 2, 3, 4].map((nodeId) => ({
      nodeId,
      latency: 5,
      queueId: nodeId,
      occupancy: 7,
      utilization: 1,
      port: 1,
    }));
    feed(totals, [{ hops }, { hops: [{ nodeId: 1, queueId: 0, occupancy: 8 }] }]);
    const { switches, other, queues, interfaces, refused } = switchRows(totals);
    expect(switches.map(({ nodeId, hops: seen }) => [nodeId, seen])).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(other).toMatchObject({ nodeId: null, hops: 2, hopLatency: { count: 2, sum: 10 } });
    expect(queues.map(({ queueId }) => queueId)).toEqual([1, 2]);
    expect(interfaces).toHaveLength(1);
    expect(refused).toEqual({ queues: 1, interfaces: 1 });
  });

  it('gives rows back to the busiest honest switches after 5,000 forged ids took them all', () => {
    const totals = new SwitchTotals({ switches: 64, queues: 64, interfaces: 64 });
    const hopOf = (nodeId: number): Hop => ({
      nodeId,
      latency: 700,
      queueId: 1,
      occupancy: 9,
      utilization: 3,
      port: 2,
    });
    const forged = Array.from({ length: 5000 }, (_, index) => ({ hops: [hopOf(1_000_000 + index)] }));
    const honest = Array.from({ length: 8 }, (_, index) => ({ hops: [hopOf(index + 1)] }));
    feed(totals, forged);
    feed(totals, honest);
    expect(switchRows(totals).switches.every(({ nodeId }) => nodeId! >= 1_000_000)).toBe(true);
    expect(totals.degraded()).toMatchObject([{ name: 'untracked', text: expect.stringContaining('4944 hops') }]);
    let second = 0;
    const isBack = (): boolean => switchRows(totals).switches.filter(({ nodeId }) => nodeId! <= 8).length === 8;
    for (; second < 60 && !isBack(); second++) {
      for (let times = 0; times < 20; times++) feed(totals, honest, START + second * 1000);
    }
    expect(isBack()).toBe(true);
    feed(totals, honest, START + second * 1000);
    const { queues, interfaces } = switchRows(totals);
    expect(queues.filter(({ nodeId }) => nodeId <= 8)).toHaveLength(8);
    expect(interfaces.filter(({ nodeId }) => nodeId <= 8)).toHaveLength(8);
    const rows = switchRows(totals).switches.map(({ nodeId }) => nodeId);
    expect(queues.every(({ nodeId }) => rows.includes(nodeId))).toBe(true);
    expect(totals.counters()).toMatchObject({ switches: 64, replaced: 8 });
  });

  it('never lets a sum over all switches and `other`, nor `other` itself, go back, and loses no hop', () => {
    const node = fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1000, max: 1100 }));
    const reports = fc.array(
      fc.record({
        nodeId: node,
        flags: fc.constantFrom(0, FLAG.DROPPED),
        hops: fc.array(
          hop.chain((each) => node.map((nodeId) => ({ ...each, nodeId }))),
          { maxLength: 3 },
        ),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(reports, fc.integer({ min: -2000, max: 9000 })), { maxLength: 25 }), (batches) => {
        const totals = new SwitchTotals({
          switches: 3,
          queues: 2,
          interfaces: 2,
          latencyBounds: [10, 100],
          occupancyBounds: [0],
        });
        const sumsOf = (of: (counters: SwitchRow) => number): readonly [number, number] => {
          const { switches, other } = switchRows(totals);
          return [switches.reduce((sum, counters) => sum + of(counters), of(other)), of(other)];
        };
        const figures = [
          ({ hops }) => hops,
          ({ dropReports }) => dropReports,
          ({ hopLatency }) => hopLatency.count,
          ({ hopLatency }) => hopLatency.sum,
          ({ hopLatency }) => hopLatency.buckets[1]!,
          ({ queueOccupancy }) => queueOccupancy.count,
        ] satisfies ((counters: SwitchRow) => number)[];
        let before = figures.map(() => [0, 0] as readonly [number, number]);
        let timeMs = START;
        let fed = 0;
        for (const [batch, step] of batches) {
          timeMs += step;
          feed(totals, batch, timeMs);
          fed += batch.reduce((sum, { hops }) => sum + hops.length, 0);
          const now = figures.map((of) => sumsOf(of));
          now.forEach(([all, other], index) => {
            expect(all).toBeGreaterThanOrEqual(before[index]![0]);
            expect(other).toBeGreaterThanOrEqual(before[index]![1]);
          });
          expect(now[0]![0]).toBe(fed);
          before = now;
        }
        const { nodeId, hops, hopLatency } = totals.columns();
        const { switches, other } = switchRows(totals);
        expect(new Map([...nodeId].map((id, row) => [id, hops[row]]))).toEqual(
          new Map(switches.map((each) => [each.nodeId!, each.hops])),
        );
        expect([hops.at(-1), ...hopLatency[0]!.counts.slice(-3)]).toEqual([other.hops, ...other.hopLatency.buckets]);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('counts a switch that comes back from 0, as after a restart', () => {
    const totals = new SwitchTotals({ switches: 1 });
    const times = (count: number, nodeId: number): Report[] =>
      Array.from({ length: count }, () => ({ hops: [{ nodeId }] }));
    feed(totals, times(3, 1), START);
    feed(totals, times(10, 2), START + 1);
    feed(totals, times(1, 2), START + 5000);
    expect(switchRows(totals)).toMatchObject({ switches: [{ nodeId: 2, hops: 1 }], other: { hops: 13 } });
    feed(totals, times(40, 1), START + 5001);
    feed(totals, times(1, 1), START + 10_000);
    expect(switchRows(totals)).toMatchObject({ switches: [{ nodeId: 1, hops: 1 }], other: { hops: 54 } });
  });

  it('refuses options out of range', () => {
    const wrong: SwitchTotalsOptions[] = [
      { switches: 0 },
      { queues: 70_000 },
      { interfaces: 1.5 },
      { latencyBounds: [] },
      { latencyBounds: [2, 1] },
      { occupancyBounds: [1, 1] },
      { latencyBounds: Array.from({ length: 65 }, (_, index) => index) },
    ];
    for (const options of wrong) expect(() => new SwitchTotals(options)).toThrow(RangeError);
  });
});
