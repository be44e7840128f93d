import {
  Collector,
  type CollectorProblem,
  FlowStage,
  type FlowStageOptions,
  FrameSlab,
  type Push,
  type Source,
} from '@int/collector';
import {
  EVENT_WORDS,
  type FlowEntry,
  type FlowEvent,
  geometryOf,
  type RecordConsumer,
  readFlowEvent,
} from '@int/flowcache';
import { Random } from '@int/random';
import { SpscRing } from '@int/rings';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hop, report } from '../reports.js';
import { SEED } from '../seed.js';
import { type ReportRow, reportBatch } from './report-rows.js';

const START_NS = 1_700_000_000_000_000_000n;
const SECOND = 1_000_000_000n;

/** A report of a flow through switches 1 and 2. */
function row(flow: number | null, timeNs: bigint, latency = 100): ReportRow {
  return {
    flow,
    timeNs,
    hops: [
      { nodeId: 1, latency },
      { nodeId: 2, latency },
    ],
  };
}

/** Gives reports to a stage, `size` to a batch. */
function process(stage: FlowStage, reports: readonly ReportRow[], size = 1024): void {
  for (let from = 0; from < reports.length; from += size) {
    const batch = reportBatch(reports.slice(from, from + size));
    stage.process(batch);
  }
}

/** What the counters promise: every report is in exactly one place. */
function expectAccounted(stage: FlowStage): void {
  const totals = stage.totals();
  const { evictedPackets, agedPackets, retiredPackets, removedPackets, lostPackets } = totals;
  const handedOn = evictedPackets + agedPackets + retiredPackets + removedPackets + lostPackets;
  expect(stage.cache.livePackets() + handedOn + totals.notOk + totals.noFlow).toBe(totals.offered);
}

const port = ({ flow }: FlowEntry | FlowEvent): number => flow.sourcePort;

describe('FlowStage', () => {
  test('follows the flows of a pipeline, with the times of their frames', async () => {
    const stage = new FlowStage({ rows: 16 });
    let push: Push = () => undefined;
    const source: Source = {
      name: 'hand',
      overrun: 0,
      kernelDropped: 0,
      finished: new Promise<void>(() => {}),
      async start(given) {
        push = given;
      },
      async stop() {},
    };
    const collector = new Collector({ sources: [source], stages: [stage], capacity: { frames: 3 } });
    await collector.start();
    const datagrams = Array.from({ length: 10 }, (_, at) => report(9, at, [hop(1, 100 * at, at), hop(2, 50, 0)]));
    const slab = new FrameSlab({ frames: 11, bytes: 4096 }, 'report');
    for (const datagram of datagrams) {
      slab.append(datagram, 0);
      const timeNs = START_NS + BigInt(slab.count - 1);
      slab.timestampsHigh[slab.count - 1] = Number(timeNs >> 32n);
      slab.timestampsLow[slab.count - 1] = Number(timeNs & 0xffffffffn);
    }
    push(slab);
    await collector.stop();
    const [entry, ...others] = stage.cache.entries();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ packets: 10, path: [1, 2, 9], firstNs: START_NS, lastNs: START_NS + 9n });
    expect(entry!.hops[0]!.metrics.hopLatency).toEqual({ last: 900, mean: 450, count: 10, sum: 4500n });
    // The reporting node's own latency is 100.
    expect(entry!.endToEnd).toEqual({ last: 1050, mean: 600, count: 10, sum: 6000n });
    expect(stage.totals()).toMatchObject({ offered: 10, live: 1, inserted: 1, hits: 9 });
  });

  test('tells listeners of events and of entries that leave, in their order', () => {
    const events: FlowEvent[] = [];
    const entries: FlowEntry[] = [];
    const stage = new FlowStage({
      rows: 1,
      buckets: 2,
      thresholds: { metrics: { hopLatency: { level: 500 } } },
      onEvent: (event) => events.push(event),
      onEntry: (entry) => entries.push(entry),
    });
    process(stage, [row(1, 10n), row(2, 11n, 600), row(1, 12n), row(3, 13n, 501), row(4, 14n), row(null, 15n)]);
    expect(events.map((event) => [port(event), event.hop, event.value, event.timeNs])).toEqual([
      [2, 0, 600, 11n],
      [2, 1, 600, 11n],
      [3, 0, 501, 13n],
      [3, 1, 501, 13n],
    ]);
    expect(entries.map((entry) => [port(entry), entry.packets, entry.reason])).toEqual([
      [2, 1, 'evicted'],
      [1, 2, 'evicted'],
    ]);
    expect(stage.drain()).toBe(2);
    expect(entries.slice(2).map((entry) => [port(entry), entry.reason])).toContainEqual([4, 'removed']);
    expect(stage.totals()).toMatchObject({ live: 0, evictedPackets: 3, removedPackets: 2, noFlow: 1, events: 4 });
    expectAccounted(stage);
  });

  test('fills rings, counts what they have no room for, and tells listeners of what they took', () => {
    const options: FlowStageOptions = { rows: 4, buckets: 3, thresholds: { metrics: { hopLatency: { level: 0 } } } };
    const geometry = geometryOf(options);
    const events = new SpscRing({ recordWords: EVENT_WORDS, capacity: 64 });
    const entries = new SpscRing({ recordWords: geometry.bucketStride, capacity: 16 });
    const told: FlowEvent[] = [];
    const left: FlowEntry[] = [];
    const stage = new FlowStage({
      ...options,
      events,
      entries,
      onEvent: (event) => told.push(event),
      onEntry: (entry) => left.push(entry),
    });
    process(
      stage,
      Array.from({ length: 100 }, (_, at) => row(at, START_NS + BigInt(at))),
    );
    const words = new Int32Array(64 * EVENT_WORDS);
    expect(events.pop(words, 0, 64)).toBe(64);
    const popped = Array.from({ length: 64 }, (_, at) => readFlowEvent(words, at * EVENT_WORDS, geometry.metrics));
    expect(told).toEqual(popped);
    expect(left).toHaveLength(16);
    const { evictedEntries, lostEntries, live, ...totals } = stage.totals();
    expect(totals).toMatchObject({ events: 64, lostEvents: 136 });
    expect(evictedEntries).toBe(16);
    expect(lostEntries).toBe(100 - live - 16);
    expectAccounted(stage);
  });

  test('loses no report and no count when listeners and sinks fail, and says so once a batch', async () => {
    const failing: RecordConsumer = {
      push() {
        throw new Error('no room at all');
      },
    };
    const stage = new FlowStage({
      rows: 1,
      buckets: 1,
      thresholds: { metrics: { hopLatency: { level: 0 } } },
      entries: failing,
      onEvent() {
        throw new Error('not now');
      },
    });
    const reports = Array.from({ length: 700 }, (_, at) => row(at, START_NS));
    expect(() => process(stage, reports)).toThrow('no room at all');
    expect(stage.totals()).toMatchObject({ offered: 700, lostEntries: 699, evictedEntries: 0, events: 1400 });
    expectAccounted(stage);
    // Nothing leaves this time: what is told is the listener's failure.
    expect(() => process(stage, [row(699, START_NS)])).toThrow('not now');
    expect(() => stage.drain()).toThrow('no room at all');
    expect(stage.totals().live).toBe(1);
    const problems: CollectorProblem[] = [];
    const source: Source = {
      name: 'once',
      overrun: 0,
      kernelDropped: 0,
      finished: Promise.resolve(),
      async start(push) {
        const slab = new FrameSlab({ frames: 2, bytes: 1024 }, 'report');
        slab.append(report(9, 1, [hop(1, 5, 0)]), 1);
        push(slab);
      },
      async stop() {},
    };
    const collector = new Collector({ sources: [source], stages: [stage], onProblem: (one) => problems.push(one) });
    await collector.start();
    await collector.stop();
    expect(problems.map(({ where, error }) => `${where}: ${error.message}`)).toEqual(['flows: no room at all']);
  });

  test('refuses options out of range', () => {
    for (const options of [
      { idleNs: 0n },
      { idleNs: -1n },
      { idleNs: 1n, sweep: { rows: 0 } },
      { idleNs: 1n, sweep: { rows: 1.5 } },
      { idleNs: 1n, sweep: { rows: 10, burst: 9 } },
      { rows: 0 },
      { buckets: 65 },
    ]) {
      expect(() => new FlowStage({ rows: 1, ...options })).toThrow(RangeError);
    }
  });
});

describe('ageing in a FlowStage', () => {
  const idleNs = 4n * SECOND;

  test('never happens unless asked for', () => {
    const stage = new FlowStage({ rows: 4 });
    process(stage, [row(1, START_NS), row(2, START_NS + 1_000_000n * SECOND)]);
    expect(stage.sweep()).toBe(0);
    expect(stage.totals()).toMatchObject({ live: 2, agedEntries: 0 });
  });

  test('lets go of what is silent for too long in the time of the frames, and at the end of all of it', () => {
    const left: FlowEntry[] = [];
    const stage = new FlowStage({ rows: 64, idleNs, onEntry: (entry) => left.push(entry) });
    process(stage, [row(1, START_NS), row(2, START_NS), row(1, START_NS + 4n * SECOND)]);
    // Flow 2 is silent for 4 s, not for longer.
    expect(stage.sweep()).toBe(0);
    process(stage, [row(1, START_NS + 4n * SECOND + 1n)]);
    expect(left).toEqual([]);
    expect(stage.sweep()).toBe(1);
    expect(left.map((entry) => [port(entry), entry.reason, entry.packets])).toEqual([[2, 'aged', 1]]);
    expect(stage.totals()).toMatchObject({ live: 1, agedEntries: 1, agedPackets: 1 });
    expectAccounted(stage);
  });

  test('makes a flow new that comes back too late, wherever batches end', () => {
    const gap = fc.oneof(
      fc.bigInt({ min: 0n, max: idleNs }).map((gapNs) => ({ gapNs, isLate: false })),
      fc.bigInt({ min: (idleNs * 5n) / 4n + 1n, max: idleNs * 20n }).map((gapNs) => ({ gapNs, isLate: true })),
    );
    fc.assert(
      fc.property(
        fc.array(fc.array(gap, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 40 }),
        (flows, size) => {
          const expected: string[] = [];
          const reports = flows.flatMap((gaps, flow) => {
            let timeNs = START_NS + BigInt(flow) * 7n;
            let packets = 1;
            const rows = [row(flow, timeNs)];
            for (const { gapNs, isLate } of gaps) {
              timeNs += gapNs;
              rows.push(row(flow, timeNs));
              if (isLate) {
                expected.push(`${flow}: ${packets}`);
                packets = 0;
              }
              packets++;
            }
            return rows;
          });
          reports.sort((a, b) => (a.timeNs < b.timeNs ? -1 : a.timeNs > b.timeNs ? 1 : 0));
          const left: FlowEntry[] = [];
          const stage = new FlowStage({
            rows: 32,
            idleNs,
            sweep: { rows: 32, burst: 2 ** 32 },
            onEntry: (entry) => left.push(entry),
          });
          process(stage, reports, size);
          const endNs = reports.at(-1)!.timeNs;
          // What is idle at the end may have left already, or not.
          const within = left.filter((entry) =>
            reports.some((one) => one.flow === port(entry) && one.timeNs > entry.lastNs),
          );
          expect(within.map((entry) => `${port(entry)}: ${entry.packets}`).sort()).toEqual(expected.sort());
          stage.sweep();
          for (const entry of stage.cache) expect(endNs - entry.lastNs <= idleNs).toBe(true);
          for (const entry of left) expect(endNs - entry.lastNs > idleNs).toBe(true);
          expectAccounted(stage);
        },
      ),
      { seed: SEED, numRuns: 120 },
    );
  });

  test('looks at no more rows for a batch than allowed, and goes on with the next one', () => {
    const rows = 1000;
    const stage = new FlowStage({ rows, buckets: 1, idleNs, sweep: { rows: 30 } });
    process(
      stage,
      Array.from({ length: 3000 }, (_, at) => row(at, START_NS)),
    );
    const { live } = stage.totals();
    expect(live).toBeGreaterThan(900);
    let before = 0;
    for (let batch = 1; batch <= 40; batch++) {
      process(stage, [row(5000, START_NS + 100n * SECOND + BigInt(batch))]);
      const { agedEntries } = stage.totals();
      expect(agedEntries - before).toBeLessThanOrEqual(30);
      if (batch * 30 <= rows) expect(agedEntries - before).toBeGreaterThan(20);
      before = agedEntries;
    }
    // Flow 5000 took the place of one of them.
    const { agedEntries, evictedEntries } = stage.totals();
    expect(agedEntries + evictedEntries).toBeGreaterThanOrEqual(live - 1);
    expect(stage.totals().live).toBe(1);
    expectAccounted(stage);
  });

  test('saves up what batches do not need, up to a burst', () => {
    const rows = 1000;
    const stage = new FlowStage({ rows, buckets: 1, idleNs, sweep: { rows: 30, burst: 600 } });
    const flows = Array.from({ length: 3000 }, (_, at) => row(at, START_NS));
    process(stage, flows);
    process(stage, [row(5000, START_NS + 100n * SECOND)]);
    const first = stage.totals().agedEntries;
    expect(first).toBeGreaterThan(500);
    expect(first).toBeLessThanOrEqual(600);
    process(stage, [row(5000, START_NS + 100n * SECOND + 1n)]);
    expect(stage.totals().agedEntries - first).toBeLessThanOrEqual(30);
  });

  test('goes on when the clock is set back', () => {
    const stage = new FlowStage({ rows: 16, idleNs });
    process(stage, [row(1, START_NS + 3600n * SECOND)]);
    process(stage, [row(2, START_NS), row(3, START_NS + SECOND)]);
    process(stage, [row(3, START_NS + 2n * SECOND)]);
    process(stage, [row(3, START_NS + 7n * SECOND)]);
    // Flow 1 lies in the future.
    expect([...stage.cache].map(port).sort()).toEqual([1, 3]);
  });

  test('leaves the same flows whatever the size of batches', () => {
    const random = new Random(SEED);
    let timeNs = START_NS;
    const reports = Array.from({ length: 4000 }, () => {
      timeNs += BigInt(random.integer(100_000_000));
      return row(random.integer(4) === 0 ? random.integer(300) : random.integer(5), timeNs, random.integer(1000));
    });
    const runs = [1, 7, 300, 4000].map((size) => {
      const stage = new FlowStage({ rows: 10, buckets: 6, idleNs });
      process(stage, reports, size);
      stage.sweep();
      expectAccounted(stage);
      expect(stage.totals().agedEntries).toBeGreaterThan(100);
      return [...stage.cache].map((entry) => [port(entry), entry.lastNs]);
    });
    const sorted = runs.map((flows) => flows.sort(([a], [b]) => Number(a) - Number(b)));
    expect(sorted[0]!.length).toBeGreaterThan(5);
    for (const flows of sorted) expect(flows).toEqual(sorted[0]);
  });
});
