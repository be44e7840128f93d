import type { Flow } from '@int/codec';
import { EntryReader, FlowCache, type FlowCacheOptions } from '@int/flowcache';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { type Report, recordOf } from '../cache/reports.js';
import { SEED } from '../seed.js';
import { checkAccounts } from './accounts.js';
import { RoomOutlet } from './outlets.js';

const flowOf = (port: number): Flow => ({
  source: '10.0.0.1',
  destination: '10.0.0.2',
  protocol: 17,
  sourcePort: port,
  destinationPort: 53,
});
const reportOf = (port: number): Report => ({
  isOk: true,
  flow: flowOf(port),
  nodeId: 1,
  hops: [{ nodeId: 1, values: { hopLatency: port } }],
  timeNs: 0n,
});

function withOutlet(options: FlowCacheOptions): { cache: FlowCache; entries: RoomOutlet; ports: () => number[] } {
  const { geometry } = new FlowCache({ ...options, accelerator: false });
  const entries = new RoomOutlet(geometry.bucketStride);
  const reader = new EntryReader(geometry);
  const ports = (): number[] => entries.read(Number.POSITIVE_INFINITY).map((words) => reader.flow(words, 0).sourcePort);
  return { cache: new FlowCache({ ...options, entries: entries.sink }), entries, ports };
}

describe('ageing', () => {
  test('an entry goes once it has been idle for longer than asked, by a nanosecond', () => {
    for (const last of [1n, 0xffffffffn, 0x100000000n, 1_700_000_000_123_456_789n]) {
      for (const idle of [0n, 1n, 0xffffffffn, 60_000_000_000n]) {
        const { cache } = withOutlet({ rows: 1, buckets: 2, hops: 1 });
        cache.observe(recordOf(reportOf(1)), last);
        expect(cache.age(last + idle, idle, 1)).toBe(0);
        expect(cache.age(last + idle + 1n, idle, 1)).toBe(1);
        expect(cache.size).toBe(0);
      }
    }
  });

  test('an entry without a time does not age', () => {
    const { cache } = withOutlet({ rows: 4, buckets: 4, hops: 1 });
    cache.observe(recordOf(reportOf(1)));
    cache.observe(recordOf(reportOf(2)), 5n);
    expect(cache.age(1_700_000_000_000_000_000n, 1n, 4)).toBe(1);
    expect([...cache].map(({ flow }) => flow.sourcePort)).toEqual([1]);
    expect(cache.drain()).toBe(1);
  });

  test('a time to come, or before the epoch, ages nothing', () => {
    const { cache } = withOutlet({ rows: 4, buckets: 4, hops: 1 });
    cache.observe(recordOf(reportOf(1)), 1000n);
    expect(cache.age(500n, 0n, 4)).toBe(0);
    expect(cache.age(500n, 1000n, 4)).toBe(0);
    expect(cache.age(-5n, 0n, 4)).toBe(0);
  });

  test('goes round the rows from call to call, no matter how many rows each looks at', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(fc.nat(15), { maxLength: 40 }), (rows, calls) => {
        const { cache, ports } = withOutlet({ rows, buckets: 4, hops: 1, accelerator: false });
        for (let port = 0; port < 3 * rows; port++) cache.observe(recordOf(reportOf(port)), 1n);
        const rowOf = (port: number): number => cache.hashOf(flowOf(port)) % rows;
        const there = [...cache].map(({ flow }) => flow.sourcePort);
        ports();
        let next = 0;
        for (const call of calls) {
          const looked = Array.from({ length: Math.min(call, rows) }, (_, index) => (next + index) % rows);
          const expected = looked.flatMap((row) => there.filter((port) => rowOf(port) === row));
          expect(cache.age(100n, 1n, call)).toBe(expected.length);
          expect(ports()).toEqual(expected);
          for (const port of expected) there.splice(there.indexOf(port), 1);
          next = (next + looked.length) % rows;
        }
        expect([...cache].map(({ flow }) => flow.sourcePort)).toEqual(there);
      }),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  test('stops at an entry that is not taken, and tries it again', () => {
    const { cache, entries, ports } = withOutlet({ rows: 8, buckets: 4, hops: 1 });
    for (let port = 0; port < 24; port++) cache.observe(recordOf(reportOf(port)), 1n);
    const all = [...cache].map(({ flow }) => flow.sourcePort);
    ports();
    const seen: number[] = [];
    for (let rest = all.length; rest > 0; ) {
      const room = Math.min(5, rest);
      entries.room = room;
      expect(cache.age(100n, 1n, 8)).toBe(room);
      expect(cache.totals().lostEntries).toBe(0);
      seen.push(...ports());
      rest -= room;
      checkAccounts(cache);
    }
    expect(seen).toEqual(all);
    expect(cache.totals()).toMatchObject({ agedEntries: all.length, live: 0 });
  });

  test('goes on at the row where there was no room, however few rows a call looks at', () => {
    const { cache, entries, ports } = withOutlet({ rows: 8, buckets: 4, hops: 1 });
    for (let port = 0; port < 24; port++) cache.observe(recordOf(reportOf(port)), 1n);
    const all = [...cache].map(({ flow }) => flow.sourcePort);
    ports();
    const seen: number[] = [];
    for (let call = 0; call < 100; call++) {
      entries.room = call % 3;
      const handedOn = cache.age(100n, 1n, 1);
      expect(handedOn).toBeLessThanOrEqual(call % 3);
      seen.push(...ports());
    }
    expect(seen).toEqual(all);
  });
});

describe('draining', () => {
  test('hands on all entries in steps, each once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 9 }), fc.nat(20), (flows, step, aged) => {
        const { cache, ports } = withOutlet({ rows: 6, buckets: 8, hops: 1, accelerator: false });
        cache.age(1n, 0n, aged);
        for (let port = 0; port < flows; port++) cache.observe(recordOf(reportOf(port)), 1n);
        const all = [...cache].map(({ flow }) => flow.sourcePort);
        ports();
        const seen: number[] = [];
        for (let rest = all.length; rest > 0; rest -= step) {
          expect(cache.drain(step)).toBe(Math.min(step, rest));
          seen.push(...ports());
          expect([...cache].length).toBe(all.length - seen.length);
        }
        expect(cache.drain(step)).toBe(0);
        expect(seen.toSorted((a, b) => a - b)).toEqual(all.toSorted((a, b) => a - b));
        expect(cache.totals()).toMatchObject({ removedEntries: all.length, live: 0, lostEntries: 0 });
        checkAccounts(cache);
      }),
      { seed: SEED, numRuns: runs(100) },
    );
  });

  test('leaves what there is no room for', () => {
    const { cache, entries, ports } = withOutlet({ rows: 6, buckets: 8, hops: 1 });
    for (let port = 0; port < 20; port++) cache.observe(recordOf(reportOf(port)), 1n);
    const { live } = cache.totals();
    entries.room = 7;
    expect(cache.drain()).toBe(7);
    expect(cache.drain()).toBe(0);
    entries.room = Number.POSITIVE_INFINITY;
    const first = ports();
    expect(cache.drain()).toBe(live - 7);
    expect(new Set([...first, ...ports()]).size).toBe(live);
    expect(cache.totals().lostEntries).toBe(0);
  });
});
