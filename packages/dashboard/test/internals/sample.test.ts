import { describe, expect, test } from 'vitest';
import { geometryOf, type RetentionOptions, ROW, shareRetention } from '../../src/retention/geometry.js';
import { keptEventId, keptEventRecord, keptReportId, keptReportRecord } from '../../src/retention/report-store.js';
import { Retention } from '../../src/retention/retention.js';
import { RetentionWriter } from '../../src/retention/retention-writer.js';
import { HELD_SLABS, SLABS, Slab, type SlabNote, slabMemory } from '../../src/retention/slabs.js';
import { batchOf, eventsOf, type Made } from './made-batch.js';

const START_MS = 1_700_000_000_000;

/** Writer and reader of one retention, in one thread. */
class Both {
  readonly retention: Retention;
  readonly writer: RetentionWriter;
  /** Slabs on their way, while the reader does not take them. */
  readonly waiting: SlabNote[] = [];
  isTaking = true;
  readonly #slabs: readonly Slab[];

  /** @param holds slabs that the reader need not copy at once */
  constructor(options: RetentionOptions = {}, holds = 0) {
    const shared = shareRetention(geometryOf({ seconds: 60, memoryBytes: 32 << 20, flows: 64, ...options }));
    this.retention = new Retention(shared, holds);
    this.#slabs = Array.from({ length: SLABS }, () => new Slab(slabMemory()));
    this.writer = new RetentionWriter(shared, (note) => {
      this.waiting.push(note);
      if (this.isTaking) this.take();
    });
    this.writer.use(this.#slabs);
  }

  take(): void {
    for (const note of this.waiting.splice(0)) this.retention.take(this.#slabs[note.slab]!, note);
  }

  write(made: readonly Made[], rule?: string): void {
    const batch = batchOf(made);
    this.writer.writeEvents(eventsOf(batch, made, rule));
    this.writer.write(batch);
  }

  finish(): void {
    this.writer.finish();
    this.take();
  }
}

const report = (timeMs: number, flow: number, events: readonly number[] = []): Made => ({
  timeMs,
  hops: [
    { nodeId: 1, hopLatency: Math.round(Math.abs(timeMs - START_MS)), queueId: 0, queueOccupancy: 3 },
    { nodeId: 2, hopLatency: flow, queueId: 1, queueOccupancy: 4 },
  ],
  dropped: false,
  reporter: 2,
  dropQueue: null,
  flow,
  events,
});

test('events apart wait for their bucket: those for which there is no room, and those that are too late, are counted', () => {
  const both = new Both({ seconds: 10 });
  const apart = (timeMs: number, count: number): void => {
    const made = [report(timeMs, 0, Array<number>(count).fill(0))];
    both.writer.writeEvents(eventsOf(batchOf(made), made, 'rule', true));
  };
  const inSeries = (): number => {
    const counts = new Float64Array(20);
    both.retention.series.read(ROW.ALL, 'events', START_MS / 100, counts.length, counts);
    return counts.reduce((sum, count) => sum + (Number.isNaN(count) ? 0 : count), 0);
  };
  // Nothing has come yet, and more than can wait is told.
  apart(START_MS, 3000);
  apart(START_MS, 3000);
  expect(both.retention.counts().notKept.eventsAheadOfSeries).toBe(6000 - 4096);
  both.write([report(START_MS, 0)]);
  apart(START_MS + 1000, 5000);
  apart(START_MS - 3_600_000, 7);
  both.write([report(START_MS + 1000, 0)]);
  both.finish();
  const { events, notKept } = both.retention.counts();
  const dropped = { eventsAheadOfSeries: 6000 - 4096 + 5000 - 4096, eventsBeforeSeries: 7 };
  expect(notKept).toMatchObject(dropped);
  expect(inSeries()).toBe(events - dropped.eventsAheadOfSeries - dropped.eventsBeforeSeries);
});

describe('whole reports', () => {
  test('with events are all kept, with their frames, and found by ids that depend on nothing else', () => {
    const ids = [1, 7].map((pieces) => {
      const both = new Both();
      const made = Array.from({ length: 500 }, (_, index) =>
        report(START_MS + index * 7, index % 5, index % 9 === 0 ? [1] : []),
      );
      for (let from = 0; from < made.length; from += pieces * 10) both.write(made.slice(from, from + pieces * 10));
      both.finish();
      const { store } = both.retention;
      const found = [...store.events()];
      expect(found).toHaveLength(56);
      for (const kept of found) {
        const record = keptEventRecord(kept);
        expect(record).toMatchObject({ rule: 'rule', scope: 'hop', hop: 1, nodeId: 2 });
        expect(keptEventId(store.findEvent(record.id)!)).toBe(record.id);
        const cause = store.findReport(record.id)!;
        const whole = keptReportRecord(cause);
        expect([whole.timeNs, whole.hops[1]!.nodeId]).toEqual([record.timeNs, 2]);
        const { batch } = cause.segment;
        const frame = batch.frame[cause.row]!;
        expect(batch.frameLength[frame]).toBeGreaterThan(100);
        expect(batch.bytes.subarray(batch.frameOffset[frame]!)[12]).toBe(0x08);
      }
      return found.map(keptEventId).sort();
    });
    expect(ids[0]).toEqual(ids[1]);
    expect(new Set(ids[0]).size).toBe(56);
  });

  test('of each flow and second are a reservoir, however unlike the flows are', () => {
    const both = new Both({ memoryBytes: 64 << 20 });
    const made: Made[] = [];
    // Of flow 0 a thousand reports a second, of flow 1 three.
    for (let second = 0; second < 4; second++) {
      for (let index = 0; index < 1000; index++) {
        made.push(report(START_MS + second * 1000 + index, 0));
        if (index % 400 === 0) made.push(report(START_MS + second * 1000 + index + 0.5, 1));
      }
    }
    for (let from = 0; from < made.length; from += 100) both.write(made.slice(from, from + 100));
    both.finish();
    both.retention.store.complete(-1);
    const counts = new Map<string, number>();
    const places: number[] = [];
    for (const kept of both.retention.store.reports()) {
      const { flow, timeNs } = keptReportRecord(kept);
      const second = Number(BigInt(timeNs) / 1_000_000_000n) - START_MS / 1000;
      const key = `${flow!.destination} ${second}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (flow!.destination === '10.0.1.0') places.push(Number((BigInt(timeNs) / 1_000_000n) % 1000n));
    }
    for (let second = 0; second < 4; second++) expect(counts.get(`10.0.1.1 ${second}`)).toBe(3);
    // The first second begins with few places: how many flows there are is not known yet.
    expect([1, 2, 3].map((second) => counts.get(`10.0.1.0 ${second}`))).toEqual([64, 64, 64]);
    // A fair choice: not only the first or the last of a second.
    const mean = places.reduce((sum, place) => sum + place, 0) / places.length;
    expect(mean).toBeGreaterThan(400);
    expect(mean).toBeLessThan(600);
  });

  test('are as many as the memory allows, the newest; and what went is counted', () => {
    const both = new Both({ seconds: 600, memoryBytes: 16 << 20 });
    for (let second = 0; second < 16; second++) {
      const made = Array.from({ length: 600 }, (_, index) =>
        report(START_MS + second * 1000 + index, index % 60, index % 2 === 0 ? [0] : []),
      );
      both.write(made);
    }
    both.finish();
    const { retention } = both;
    expect(retention.store.bytes).toBeLessThan(6 << 20);
    const { notKept } = retention.counts();
    expect(notKept.eventsForMemory).toBeGreaterThan(0);
    const events = [...retention.store.events()];
    expect(events.length + notKept.eventsForMemory!).toBe(16 * 300);
    const newest = Math.max(...events.map(({ segment }) => segment.toMs));
    expect(newest).toBeGreaterThan(START_MS + 15_000);
    expect(retention.counts()).toMatchObject({ reports: 9600, hops: 19_200, events: 4800 });
  });

  test('do not wait for a reader that is behind: they are counted', () => {
    const both = new Both();
    both.isTaking = false;
    const made = Array.from({ length: 300 }, (_, index) => report(START_MS + index, index % 40, [0, 1]));
    for (let round = 0; round < 30; round++) {
      both.write(made.map((one) => ({ ...one, timeMs: one.timeMs + round * 300 })));
    }
    expect(both.waiting.length).toBeLessThanOrEqual(SLABS);
    const { notKept, events, reports } = both.retention.counts();
    expect([events, reports]).toEqual([18_000, 9000]);
    both.finish();
    const lost = notKept.eventsWhileBehind! + (both.retention.counts().notKept.eventsForMemory ?? 0);
    expect([...both.retention.store.events()].length + lost).toBe(18_000);
  });

  test('are the same whether the reader copies slabs at once, at the end of their second, or when somebody looks', () => {
    const made = Array.from({ length: 3000 }, (_, index) =>
      report(START_MS + index, index % 40, index % 7 === 0 ? [0, 1] : []),
    );
    const isCopied = [false, false, true];
    const ids = [0, HELD_SLABS, HELD_SLABS].map((holds, reader) => {
      const both = new Both({}, holds);
      for (let from = 0; from < made.length; from += 20) {
        both.write(made.slice(from, from + 20));
        both.writer.advance(made[from]!.timeMs);
        if (isCopied[reader]) expect([...both.retention.store.segments()].length).toBeGreaterThan(0);
      }
      both.finish();
      const { store } = both.retention;
      const passing = [...store.passingReports()].map(keptReportId);
      expect(passing.toSorted()).toEqual([...store.reports()].map(keptReportId).toSorted());
      return [passing.toSorted(), [...store.events()].map(keptEventId).toSorted()];
    });
    expect(ids[0]![1]).toHaveLength(858);
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2]).toEqual(ids[0]);
  });

  test('of rules with new names keep the names that were in force', () => {
    const both = new Both();
    both.write([report(START_MS, 1, [0])], 'before');
    both.write([report(START_MS + 1, 1, [0])], 'after');
    both.write([report(START_MS + 1500, 1, [0])], 'last');
    both.finish();
    const rules = [...both.retention.store.events()].map((kept) => keptEventRecord(kept).rule);
    expect(rules.sort()).toEqual(['after', 'before', 'last']);
  });

  test('are forgotten when they are too old, and when time is set back', () => {
    const both = new Both({ seconds: 10, memoryBytes: 16 << 20 });
    both.write([report(START_MS, 1, [0])]);
    both.write([report(START_MS + 11_500, 1, [0])]);
    both.finish();
    both.retention.tick();
    expect([...both.retention.store.events()]).toHaveLength(1);
    both.write([report(START_MS - 100_000, 1)]);
    both.finish();
    expect([...both.retention.store.events()]).toHaveLength(0);
    expect([...both.retention.store.reports()].map(keptReportId)).toHaveLength(1);
    expect(both.retention.counts().notKept.timeSetBack).toBeGreaterThan(0);
  });
});

describe('flows', () => {
  test('have exact counts, and those beyond the table are counted together', () => {
    const both = new Both({ flows: 16 });
    const made = Array.from({ length: 400 }, (_, index) =>
      report(START_MS + index, index % 20, index % 50 === 0 ? [0] : []),
    );
    both.write(made);
    both.finish();
    const flows = [...both.retention.flows.all()];
    expect(flows).toHaveLength(16);
    for (const flow of flows) expect(flow).toMatchObject({ reports: 20, source: '10.0.0.1', protocol: 17 });
    expect(both.retention.counts().notKept.flows).toBe(80);
    const events = flows.reduce((sum, flow) => sum + flow.events, 0);
    expect(events).toBe(made.filter(({ flow, events: own }) => own.length > 0 && flow < 16).length);
  });

  test('that are silent make room', () => {
    const both = new Both({ flows: 16 });
    both.write(Array.from({ length: 20 }, (_, index) => report(START_MS + index, index)));
    for (let second = 1; second < 15; second++) both.write([report(START_MS + second * 1000, 99)]);
    both.finish();
    const flows = [...both.retention.flows.all()];
    expect(flows.some(({ destination }) => destination === '10.0.1.99')).toBe(true);
  });
});
