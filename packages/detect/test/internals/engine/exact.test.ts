import { TelemetryBatch } from '@int/codec';
import { Detector, EventBatch, type RuleSet } from '@int/detect';
import { describe, expect, it } from 'vitest';
import { LENGTH, runs } from '../../../../../.ci/test/length.js';
import { eventAt, isSameEvent } from '../../engine/compare.js';
import { latencies, record, single } from '../../engine/reports.js';
import { fillBatch } from '../../reference/fill-batch.js';
import { Random } from '../../reference/random.js';
import { crc32, flowKey, ReferenceDetector, type ReferenceReport } from '../../reference/reference.js';
import { SEED } from '../../seed.js';
import { ReportSource, randomRules } from '../reference/reports.js';

/** Shows all reports to a detector and to a model of it, and compares event by event. */
function compare(
  detector: Detector,
  reports: readonly ReferenceReport[],
  model: (report: ReferenceReport, index: number) => ReturnType<ReferenceDetector['detect']>,
  what: string,
): void {
  const batch = new TelemetryBatch({ frames: reports.length, hops: Math.max(256, reports.length * 14) });
  fillBatch(batch, reports);
  const expected = reports.flatMap((report, index) =>
    model(report, index).map((event) => ({ ...event, report: index })),
  );
  const events = new EventBatch(256);
  let at = 0;
  for (let row = 0; row < reports.length; ) {
    events.clear();
    row = detector.detect(batch, events, row, reports.length);
    for (let k = 0; k < events.count; k++, at++) {
      const found = eventAt(events, k, 0, (slot) => detector.ruleName(slot));
      if (!isSameEvent(found, expected[at])) {
        throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected[at])}`);
      }
    }
  }
  expect(at, what).toBe(expected.length);
}

const keyOf = ({ flow }: ReferenceReport): string => (flow === null ? '' : flowKey(flow).join());

describe('exact state', () => {
  it('is register state without collisions, but for the first value of perHop and perFlow', () => {
    let compared = 0;
    for (let k = 0; k < runs(60); k++) {
      const seed = SEED + k;
      const rules = randomRules(new Random(seed));
      const reports = new ReportSource(seed, { flows: 40, clockSteps: false }).take(1000);
      const flows = new Map(reports.flatMap((each) => (each.flow === null ? [] : [[keyOf(each), each.flow]])));
      const cells = new Set([...flows.values()].map((flow) => crc32(flowKey(flow)) % 65_536));
      if (cells.size < flows.size) continue;
      compared++;
      // A prime number of switch cells keeps the ids of the source apart.
      const reference = new ReferenceDetector(rules, { switchCells: 1_000_003, marksFirst: true });
      const detector = new Detector(rules, { state: 'exact', flowCells: 4096, idleMs: 0, stateBytes: 32 << 20 });
      compare(detector, reports, (report) => reference.detect(report), `seed ${seed}`);
    }
    expect(compared).toBeGreaterThan(30 * LENGTH);
  });

  it('forgets the least recently seen flow of a full set, and idle ones: held against a model', () => {
    for (let k = 0; k < runs(60); k++) {
      const seed = SEED + k;
      const random = new Random(seed);
      // Rules that match everything: per flow, only one of them decides.
      const found = randomRules(random, {
        kinds: ['perFlow', 'change', 'movingAverage', 'pathChange', 'complex'],
        rules: 1,
      });
      const rules: RuleSet = {
        ...found,
        rules: found.rules.map((rule) => ({
          ...rule,
          match: Object.fromEntries(Object.keys(rule.match).map((name) => [name, null])) as never,
        })),
      };
      const idleMs = random.pick([0, 40, 100]);
      // One tick of the table's clock is about a millisecond: far enough apart to tell which flow was seen first.
      let timeNs = 1_700_000_000_000_000_000n;
      const reports = new ReportSource(seed, { flows: 12 }).take(800).map((report) => {
        timeNs += BigInt(2_200_000 * (random.chance(0.02) ? 60 : 1));
        return { ...report, timeNs };
      });
      const model = new Map<string, { detector: ReferenceDetector; timeNs: bigint }>();
      const forgotten = { aged: 0, evicted: 0 };
      const idle = (since: bigint, now: bigint): boolean =>
        idleMs > 0 && (now >> 20n) - (since >> 20n) > BigInt(Math.ceil((idleMs * 1e6) / 2 ** 20));
      const detector = new Detector(rules, { state: 'exact', flowCells: 8, idleMs, stateBytes: 1 << 20 });
      compare(
        detector,
        reports,
        (report) => {
          const key = keyOf(report);
          let entry = model.get(key);
          if (key !== '' && entry !== undefined && idle(entry.timeNs, report.timeNs)) {
            model.delete(key);
            forgotten.aged++;
            entry = undefined;
          } else if (key !== '' && entry === undefined && model.size === 8) {
            const [oldest, { timeNs: since }] = [...model].reduce((a, b) => (b[1].timeNs < a[1].timeNs ? b : a));
            model.delete(oldest);
            if (idle(since, report.timeNs)) forgotten.aged++;
            else forgotten.evicted++;
          }
          entry ??= {
            detector: new ReferenceDetector(rules, { flowCells: 1, marksFirst: true }),
            timeNs: report.timeNs,
          };
          entry.timeNs = report.timeNs;
          if (key !== '') model.set(key, entry);
          return entry.detector.detect(report);
        },
        `seed ${seed}`,
      );
      const { aged, evicted } = detector.totals();
      expect({ aged, evicted }).toEqual(forgotten);
      expect(aged + evicted).toBeGreaterThan(0);
    }
  });

  it('forgets a flow that was idle for longer than it may be, not one that was idle for just as long', () => {
    const detector = new Detector(single({ kind: 'perFlow', metric: 'hopLatency', threshold: 0 }), {
      state: 'exact',
      flowCells: 8,
      idleMs: 40,
    });
    // Ticks of 2^20 ns: 39 of them are the first that are 40 ms.
    const at = (tick: bigint): bigint => (1_700_000_000n + tick) << 20n;
    const see = (tick: bigint): number => {
      detector.observe(record(latencies(10)), at(tick));
      return detector.totals().aged;
    };
    expect([see(0n), see(39n), see(79n), see(118n)]).toEqual([0, 0, 1, 1]);
  });

  it('sweeps idle flows out, a bounded number of sets a call', () => {
    const detector = new Detector(single({ kind: 'perFlow', metric: 'hopLatency', threshold: 0 }), {
      state: 'exact',
      flowCells: 1024,
      idleMs: 1000,
    });
    const start = 1_700_000_000_000_000_000n;
    for (let flow = 0; flow < 100; flow++) detector.observe(record(latencies(10), flow), start);
    const late = start + 2_000_000_000n;
    detector.observe(record(latencies(10), 7), late - 500_000_000n);
    expect(detector.sweep(start + 900_000_000n, 1 << 20)).toBe(0);
    let freed = 0;
    for (let call = 0; call < 8; call++) freed += detector.sweep(late, 16);
    // Flow 7 was seen again; it had been idle for too long then, and was new.
    expect(freed).toBe(99);
    expect(detector.totals().aged).toBe(100);
    expect(detector.observe(record(latencies(10), 7), late)).toEqual([]);
    expect(detector.observe(record(latencies(10), 8), late)).toHaveLength(1);
  });

  it('forgets no flow for being idle where it is given no times', () => {
    const detector = Detector.of(
      { kind: 'perFlow', metric: 'hopLatency', threshold: 0 },
      { state: 'exact', idleMs: 1 },
    );
    const batch = new TelemetryBatch({ frames: 1 });
    fillBatch(batch, new ReportSource(SEED, { withoutFlow: 0 }).take(1));
    const events = new EventBatch();
    for (let call = 0; call < 10_000; call++) detector.detect(batch, events);
    expect(detector.totals()).toMatchObject({ aged: 0, evicted: 0 });
    expect(events.count).toBeLessThanOrEqual(1);
  });

  it('holds as many switches as asked for, and forgets the least recently seen beyond', () => {
    const detector = Detector.of(
      { kind: 'perHop', metric: 'hopLatency', threshold: 0 },
      { state: 'exact', switchCells: 8 },
    );
    const seen = (nodeId: number): number => detector.observe(record([{ nodeId, hopLatency: 5 }]), 1n << 40n).length;
    const all = Array.from({ length: 8 }, (_, k) => 1000 + k * 4096);
    expect(all.map(seen)).toEqual(Array(8).fill(1));
    expect(all.map(seen)).toEqual(Array(8).fill(0));
    expect(seen(77)).toBe(1);
    expect(detector.totals().evicted).toBe(1);
  });
});
