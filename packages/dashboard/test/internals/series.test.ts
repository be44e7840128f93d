import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SERIES_METRICS } from '../../src/protocol/entities.js';
import { BINS, binOf, binValue } from '../../src/retention/bins.js';
import { geometryOf, shareRetention } from '../../src/retention/geometry.js';
import { coarsen, SeriesReader } from '../../src/retention/series-reader.js';
import { SeriesWriter } from '../../src/retention/series-writer.js';
import { batchOf, eventsOf, type Made } from './made-batch.js';
import { PlainSeries } from './plain-series.js';

const START_MS = 1_700_000_000_000;
const SECONDS = 10;

/** Ten seconds in little memory: as many entities as there can be here. */
const roomy = geometryOf({ seconds: SECONDS, memoryBytes: 16 << 20, flows: 16 });
/** Sixteen rows for entities, and more. */
const tight = geometryOf({ seconds: 1745, memoryBytes: 16 << 20, flows: 16 });

const hopArbitrary = (switches: number): fc.Arbitrary<Made['hops'][number]> =>
  fc.record({
    nodeId: fc.integer({ min: 1, max: switches }),
    queueId: fc.integer({ min: 0, max: 2 }),
    queueOccupancy: fc.integer({ min: 0, max: 100_000 }),
    hopLatency: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 0xffff_fffe })),
    egressUtilization: fc.integer({ min: 0, max: 10_000 }),
    l1IngressInterface: fc.integer({ min: 1, max: 2 }),
    l1EgressInterface: fc.integer({ min: 1, max: 2 }),
  });

/** @param moves how time goes on from report to report */
const madeArbitrary = (switches: number, moves: fc.Arbitrary<number>): fc.Arbitrary<Made[]> =>
  fc
    .array(
      fc.record({
        moveMs: moves,
        hops: fc.array(hopArbitrary(switches), { maxLength: 4 }),
        dropped: fc.boolean(),
        reporter: fc.integer({ min: 1, max: switches }),
        dropQueue: fc.option(fc.integer({ min: 0, max: 2 })),
        flow: fc.nat({ max: 3 }),
        events: fc.array(fc.nat({ max: 3 }), { maxLength: 2 }),
      }),
      { minLength: 1, maxLength: 60 },
    )
    .map((reports) => {
      let timeMs = START_MS;
      return reports.map(({ moveMs, hops, events, dropped, ...rest }) => {
        timeMs += moveMs;
        // A dropped packet has no stack here: what its report tells is of the reporter alone.
        const own = dropped ? [] : hops;
        return { ...rest, dropped, timeMs, hops: own, events: [...new Set(events)].filter((hop) => hop < own.length) };
      });
    });

/** Mostly on, sometimes late by less than is retained, at times a pause or a jump. */
const anyMove = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 40 }) },
  { weight: 2, arbitrary: fc.integer({ min: -800, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 3 * SECONDS * 1000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -3 * SECONDS * 1000, max: 0 }) },
);

function write(made: readonly Made[], pieces: number, writer: SeriesWriter, plain: PlainSeries | null): void {
  for (let from = 0; from < made.length; from += pieces) {
    const part = made.slice(from, from + pieces);
    const batch = batchOf(part);
    writer.addEvents(eventsOf(batch, part));
    writer.add(batch);
    plain?.add(part);
  }
}

describe('retained series', () => {
  test('are those of a plain second implementation, whatever time does', () => {
    fc.assert(
      fc.property(madeArbitrary(4, anyMove), fc.integer({ min: 1, max: 20 }), (made, pieces) => {
        const shared = shareRetention(roomy);
        const writer = new SeriesWriter(shared);
        const reader = new SeriesReader(shared);
        const plain = new PlainSeries(roomy.readable);
        write(made, pieces, writer, plain);
        const endMs = Math.max(...made.slice(-1).map(({ timeMs }) => timeMs)) + 100;
        writer.advance(endMs);
        plain.advance(endMs);
        const last = reader.lastBucket!;
        expect(last).toBe(plain.last);
        const first = Math.max(plain.first, last - roomy.readable + 1);
        expect(reader.firstBucket).toBe(first);
        const keys = new Set([...plain.buckets.values()].flatMap((cells) => [...cells.keys()]));
        const out = new Float64Array(last - first + 1);
        for (const key of keys) {
          const entity = reader.find(key);
          for (const metric of SERIES_METRICS) {
            // An entity of the open bucket alone need not have a row yet.
            out.fill(Number.NaN);
            if (entity !== null) reader.read(entity.row, metric, first, out.length, out);
            const wanted = Array.from(out, (_, index) => plain.value(key, metric, first + index));
            expect(Array.from(out), `${key} ${metric}`).toEqual(wanted);
          }
        }
      }),
      { numRuns: runs(640) },
    );
  });

  test('add up to all reports, hops, drops and events, with more entities than rows', () => {
    const moves = fc.oneof(
      fc.integer({ min: 0, max: 50 }),
      fc.integer({ min: 0, max: 15_000 }),
      fc.integer({ min: -300, max: 0 }),
    );
    fc.assert(
      fc.property(madeArbitrary(30, moves), fc.integer({ min: 1, max: 30 }), (made, pieces) => {
        const shared = shareRetention(tight);
        const writer = new SeriesWriter(shared);
        const reader = new SeriesReader(shared);
        write(made, pieces, writer, null);
        writer.finish();
        const entities = reader.entities();
        expect(entities.length).toBeLessThanOrEqual(tight.rows);
        const count = reader.lastBucket! - reader.firstBucket + 1;
        const out = new Float64Array(count);
        const sum = (metric: 'reports' | 'drops' | 'events', kinds: readonly string[]): number => {
          let total = 0;
          for (const { key, row } of entities) {
            if (!kinds.some((kind) => key === kind || key.startsWith(`${kind}:`))) continue;
            reader.read(row, metric, reader.firstBucket, count, out);
            for (const value of out) if (!Number.isNaN(value)) total += value;
          }
          return total;
        };
        const hops = made.reduce((all, one) => all + one.hops.length, 0);
        const bare = made.filter((one) => one.hops.length === 0).length;
        const events = made.reduce((all, one) => all + one.events.length, 0);
        const drops = made.filter(({ dropped }) => dropped);
        expect(sum('reports', ['all'])).toBe(made.length);
        expect(sum('reports', ['switch'])).toBe(hops + bare);
        expect(sum('reports', ['queue'])).toBe(hops);
        expect(sum('reports', ['link'])).toBe(made.reduce((all, one) => all + Math.max(0, one.hops.length - 1), 0));
        expect([sum('events', ['all']), sum('events', ['switch']), sum('events', ['queue'])]).toEqual([
          events,
          events,
          events,
        ]);
        expect([sum('drops', ['all']), sum('drops', ['switch'])]).toEqual([drops.length, drops.length]);
        expect(sum('drops', ['queue'])).toBe(drops.filter(({ dropQueue }) => dropQueue !== null).length);
      }),
      { numRuns: runs(320) },
    );
  });

  test('of entities that fell silent make room for others, and are part of the others then', () => {
    const shared = shareRetention(tight);
    const writer = new SeriesWriter(shared);
    const reader = new SeriesReader(shared);
    const report = (nodeId: number, timeMs: number): Made => ({
      timeMs,
      hops: [{ nodeId, hopLatency: 5 }],
      dropped: false,
      reporter: nodeId,
      dropQueue: null,
      flow: 0,
      events: [],
    });
    const forged = Array.from({ length: 40 }, (_, index) => report(1000 + index, START_MS));
    writer.add(batchOf(forged));
    expect(reader.find('switch:1')).toBeNull();
    // Silent for ten seconds, and somebody wants their rows.
    for (let second = 1; second <= 13; second++) writer.add(batchOf([report(1, START_MS + second * 1000)]));
    writer.finish();
    expect(reader.find('switch:1')).not.toBeNull();
    const total = new Float64Array(1);
    let sum = 0;
    for (const { key, row } of reader.entities()) {
      if (!key.startsWith('switch:')) continue;
      reader.read(row, 'reports', START_MS / 100, 1, total);
      if (!Number.isNaN(total[0]!)) sum += total[0]!;
    }
    expect(sum).toBe(40);
  });

  test('have bins whose middles are off by 3.2 % at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_fffe }), (value) => {
        const bin = binOf(value);
        expect(bin).toBeLessThan(BINS);
        expect(Math.abs(binValue(bin) - value)).toBeLessThanOrEqual(value * 0.032 + 1e-9);
      }),
    );
  });

  test('are put together into wider steps: counts add up, maxima stay', () => {
    const values = Float64Array.of(1, 2, Number.NaN, 4, Number.NaN, Number.NaN, 7);
    const steps = (metric: 'reports' | 'latencyMax' | 'latencyP50'): number[] => {
      const copy = values.slice();
      return Array.from(copy.subarray(0, coarsen(metric, copy, 3)));
    };
    expect(steps('reports')).toEqual([3, 4, 7]);
    expect(steps('latencyMax')).toEqual([2, 4, 7]);
    expect(steps('latencyP50')).toEqual([1, 4, 7]);
  });

  test('refuse options out of range', () => {
    for (const options of [
      { seconds: 9 },
      { memoryBytes: 1 },
      { flows: 1 },
      { seconds: 86_400, memoryBytes: 16 << 20 },
    ]) {
      expect(() => geometryOf(options)).toThrow(RangeError);
    }
  });
});
