import { CODES, FLAG, NOT_AVAILABLE, TelemetryBatch } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SwitchTotals, type SwitchTotalsOptions } from '../src/index.js';
import { fillBatch, type TestReport } from './fill-batch.js';
import { SEED } from './seed.js';

interface Hop {
  readonly nodeId?: number;
  readonly latency?: number;
  readonly queue?: number;
  readonly utilization?: number;
  /** Egress interface. */
  readonly port?: number;
}
interface Report extends TestReport {
  readonly hops: readonly Hop[];
}

function feed(totals: SwitchTotals, reports: readonly Report[]): void {
  const batch = new TelemetryBatch({ frames: Math.max(1, reports.length), hops: 4096 });
  fillBatch(batch, reports);
  let at = 0;
  for (const { hops } of reports) {
    for (const { port } of hops) batch.hop.l1Interfaces[at++] = port === undefined ? NOT_AVAILABLE : port;
  }
  totals.process(batch);
}

/** Some value, or none. */
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

const hop: fc.Arbitrary<Hop> = fc
  .record({
    nodeId: maybe(fc.constantFrom(1, 2, 3, 0xfffffffe)),
    latency: maybe(fc.constantFrom(0, 9, 10, 11, 100, 101, 4_000_000_000)),
    queue: maybe(fc.integer({ min: 0, max: 0xfffffffe })),
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
          for (const { nodeId, latency, queue } of each.hops) {
            const counts = of(nodeId ?? null);
            counts.hops++;
            if (latency !== undefined) {
              counts.sum += latency;
              counts.buckets[latency <= 10 ? 0 : latency <= 100 ? 1 : 2]!++;
            }
            if (queue === undefined) continue;
            const occupancy = queue & 0xffffff;
            if (occupancy === 0) shallow++;
            if (occupancy > 1000) deep++;
            if (nodeId !== undefined) queues.set(`${nodeId} ${queue >>> 24}`, occupancy);
          }
          if (each.flags === FLAG.DROPPED) of(each.nodeId!).drops++;
        }
        const snapshot = totals.snapshot();
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
      { seed: SEED, numRuns: 500 },
    );
  });

  it('tells the last utilization of each egress interface that is known', () => {
    const totals = new SwitchTotals();
    feed(totals, [
      { hops: [{ nodeId: 4, port: (9 << 16) | 2, utilization: 70 }] },
      { hops: [{ nodeId: 4, port: 2, utilization: 30 }] },
      { hops: [{ nodeId: 4, utilization: 99 }] },
    ]);
    expect(totals.snapshot().interfaces).toEqual([{ nodeId: 4, egressInterface: 2, utilization: 30 }]);
  });

  it('takes no more room than its options say, and counts what has none', () => {
    const totals = new SwitchTotals({ switches: 2, queues: 2, interfaces: 1 });
    const hops = [1, 2, 3, 4].map((nodeId) => ({
      nodeId,
      latency: 5,
      queue: (nodeId << 24) | 7,
      utilization: 1,
      port: 1,
    }));
    feed(totals, [{ hops }, { hops: [{ nodeId: 1, queue: 8 }] }]);
    const { switches, other, queues, interfaces, refused } = totals.snapshot();
    expect(switches.map(({ nodeId, hops: seen }) => [nodeId, seen])).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(other).toMatchObject({ nodeId: null, hops: 2, hopLatency: { count: 2, sum: 10 } });
    expect(queues.map(({ queueId }) => queueId)).toEqual([1, 2]);
    expect(interfaces).toHaveLength(1);
    expect(refused).toEqual({ queues: 1, interfaces: 1 });
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
