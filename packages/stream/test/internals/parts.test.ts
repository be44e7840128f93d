import { TelemetryBatch } from '@int/codec';
import { encodeFlowKey } from '@int/hash';
import { FlowSide, NetworkSide, StreamProcessor } from '@int/stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { FlowTable } from '../../src/flow/table.js';
import { QueueEntry } from '../../src/network/queues.js';
import { SequenceGaps } from '../../src/network/sequence-gaps.js';
import { BUCKETS, bucketMiddle, bucketOf, quantile } from '../../src/slice/buckets.js';
import { PairTable } from '../../src/slice/pair-table.js';
import { RecentFlows } from '../../src/slice/recent-flows.js';
import { microseconds, nanosecondText } from '../../src/time.js';
import { batchOf, pathReport, START_US } from '../reports.js';
import { SEED } from '../seed.js';

const RUNS = { seed: SEED, numRuns: runs(800) };
const word = fc.integer({ min: 0, max: 0xffffffff });

describe('time', () => {
  it('in two words is floored to whole microseconds exactly', () => {
    const latest = 2n ** 52n - 2n ** 40n;
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (timeNs) => {
        const timeUs = microseconds(Number(timeNs >> 32n), Number(timeNs & 0xffffffffn));
        const exact = timeNs / 1000n;
        expect(BigInt(timeUs)).toBe(exact < latest ? exact : latest);
      }),
      RUNS,
    );
    expect(nanosecondText(0)).toBe('0');
    expect(nanosecondText(1_700_000_000_000_001)).toBe('1700000000000001000');
  });
});

describe('buckets', () => {
  it('hold a value within an eighth of their middle, in ascending order', () => {
    fc.assert(
      fc.property(word, (value) => {
        const bucket = bucketOf(value);
        expect(bucket).toBeLessThan(BUCKETS);
        expect(Math.abs(bucketMiddle(bucket) - value)).toBeLessThanOrEqual(value / 8);
        if (value > 0) expect(bucketOf(value - 1)).toBeLessThanOrEqual(bucket);
      }),
      RUNS,
    );
    expect(bucketOf(0xffffffff)).toBe(BUCKETS - 1);
  });

  it('give quantiles within an eighth', () => {
    const values = fc.array(fc.oneof(fc.nat(20), word), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
        const counts = new Array<number>(BUCKETS).fill(0);
        for (const value of list) counts[bucketOf(value)]!++;
        const sorted = [...list].sort((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(share * list.length)) - 1]!;
        const found = quantile(counts, list.length, share, sorted[0]!, sorted[sorted.length - 1]!);
        expect(Math.abs(found - exact)).toBeLessThanOrEqual(exact / 8);
      }),
      RUNS,
    );
  });
});

describe('a table of pairs', () => {
  it('gives rows as a map does, until it is full, and is empty after clearing', () => {
    const keys = fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { maxLength: 80 });
    fc.assert(
      fc.property(keys, keys, (before, after) => {
        const table = new PairTable(20);
        for (const list of [before, after]) {
          const rows = new Map<string, number>();
          for (const [first, second] of list) {
            const name = `${first},${second}`;
            if (!rows.has(name) && rows.size < 20) rows.set(name, rows.size);
            expect(table.rowOf(first, second)).toBe(rows.get(name) ?? -1);
          }
          expect(table.size).toBe(rows.size);
          const names = table.ordered().map((row) => [table.first[row]!, table.second[row]!] as const);
          expect(names).toEqual([...names].sort((a, b) => a[0] - b[0] || a[1] - b[1]));
          table.clear();
        }
      }),
      RUNS,
    );
  });
});

describe('the flows seen last', () => {
  it('are the latest eight, however they are noted and merged', () => {
    const notes = fc.array(fc.tuple(fc.nat(15), fc.nat(30), fc.boolean()), { maxLength: 60 });
    fc.assert(
      fc.property(notes, (list) => {
        const whole = new RecentFlows(3);
        const parts = [new RecentFlows(1), new RecentFlows(1)] as const;
        const latest = new Map<number, number>();
        for (const [hash, timeUs, isSecond] of list) {
          whole.note(2, hash, timeUs);
          parts[isSecond ? 1 : 0].note(0, hash, timeUs);
          latest.set(hash, Math.max(latest.get(hash) ?? 0, timeUs));
        }
        const expected = [...latest].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 8);
        expect(whole.read(2)).toEqual(expected.flat());
        const other = parts[1].read(0);
        for (let at = 0; at < other.length; at += 2) parts[0].note(0, other[at]!, other[at + 1]!);
        expect(parts[0].read(0)).toEqual(expected.flat());
        expect(whole.read(1)).toEqual([]);
      }),
      RUNS,
    );
  });
});

describe('the flow table', () => {
  it('finds flows again by their reports and by their keys, also after others were released', () => {
    const steps = fc.array(fc.tuple(fc.nat(11), fc.boolean(), fc.nat(9)), { maxLength: 120 });
    fc.assert(
      fc.property(steps, (list) => {
        const table = new FlowTable(8);
        const model = new Map<string, number>();
        for (const [flow, ipv6, release] of list) {
          const batch = batchOf([pathReport(START_US, flow, [1], { ipv6 })]);
          const row = table.rowOfReport(batch, 0);
          const name = `${flow} ${ipv6}`;
          if (model.has(name)) expect(row).toBe(model.get(name));
          else if (model.size === 8) expect(row).toBe(-1);
          else {
            expect([...model.values()]).not.toContain(row);
            model.set(name, row);
          }
          if (row >= 0) {
            expect(table.rowOfKey(table.key(row))).toBe(row);
            expect(table.flow(row)?.sourcePort).toBe(5000 + flow);
          }
          if (release === 0) {
            table.release((each) => each % 2 === 0);
            for (const [key, each] of model) if (each % 2 === 0) model.delete(key);
          }
          expect(table.size).toBe(model.size);
        }
      }),
      RUNS,
    );
  });

  it('has the keys that messages of a flow have', () => {
    const table = new FlowTable(4);
    const batch = batchOf([pathReport(START_US, 3, [1]), pathReport(START_US, 3, [1], { ipv6: true })]);
    const common = { protocol: 17, sourcePort: 5003, destinationPort: 80 };
    const four = encodeFlowKey({
      ...common,
      source: Uint8Array.of(10, 0, 1, 1),
      destination: Uint8Array.of(10, 0, 2, 2),
    });
    expect(table.key(table.rowOfReport(batch, 0))).toEqual(four);
    expect(table.key(table.rowOfReport(batch, 1))).toHaveLength(37);
    expect(table.rowOfKey(new Uint8Array(12))).toBeNull();
  });
});

describe('sequence gaps', () => {
  const blocksOf = (numbers: readonly number[]): Map<number, number> => {
    const blocks = new Map<number, number>();
    for (const number of [...numbers].sort((a, b) => a - b)) {
      blocks.set(number >>> 5, ((blocks.get(number >>> 5) ?? 0) | (1 << (number & 31))) >>> 0);
    }
    return blocks;
  };

  it('are the numbers that a set lacks, wherever numbers wrap around', () => {
    const slices = fc.array(fc.array(fc.nat(300), { maxLength: 80 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(slices, fc.constantFrom(22, 32), fc.nat(400), fc.boolean(), (list, bits, below, hasBlocks) => {
        const range = 2 ** bits;
        const start = range - below;
        const gaps = new SequenceGaps([1, 2, bits]);
        const seen = new Set<number>();
        let lost = 0;
        const given = hasBlocks
          ? list.map((numbers) => numbers.flatMap((number) => [number, number ^ 1, number ^ 2]))
          : list;
        given.forEach((numbers, slice) => {
          if (numbers.length === 0) return;
          for (const number of numbers) if (seen.size === 0 || number >= Math.min(...seen)) seen.add(number);
          gaps.take(blocksOf(numbers.map((number) => (start + number) % range)), 100 + slice, true);
          // Before the first number of the first slice, nothing counts.
          if (seen.size > 0 && slice === given.findIndex((one) => one.length > 0))
            for (const number of numbers) seen.add(number);
        });
        const loss = gaps.expire(1000);
        lost += loss?.lost ?? 0;
        const numbers = [...seen].sort((a, b) => a - b);
        const expected = seen.size === 0 ? 0 : numbers[numbers.length - 1]! - numbers[0]! + 1 - seen.size;
        expect(lost).toBe(expected);
        if (loss !== null) {
          const missing = Array.from({ length: 400 }, (_, number) => number).filter(
            (number) => number > numbers[0]! && !seen.has(number),
          );
          expect(loss.firstSequence).toBe((start + missing[0]!) % range);
        }
      }),
      RUNS,
    );
  });

  it('are seen before a block of 32 numbers that are all there', () => {
    const gaps = new SequenceGaps([1, 2, 32]);
    const numbers = (from: number, to: number): number[] =>
      Array.from({ length: to - from }, (_, index) => from + index);
    gaps.take(blocksOf(numbers(0, 32)), 5, true);
    gaps.take(blocksOf(numbers(64, 96)), 6, true);
    expect(gaps.expire(6)).toMatchObject({ lost: 32, firstSequence: 32, lastSequence: 63 });
  });

  it('wait for no more than so many numbers at a time', () => {
    const gaps = new SequenceGaps([1, 2, 32]);
    gaps.take(blocksOf(Array.from({ length: 12_000 }, (_, index) => 2 * index)), 5, true);
    expect(gaps.expire(0)?.lost).toBe(11_999 - 4096);
    expect(gaps.expire(0)).toBeNull();
    expect(gaps.expire(5)?.lost).toBe(4096);
  });
});

describe('a congested queue', () => {
  it('is no more so after windows in a row below its threshold, not after as many in all', () => {
    const queue = new QueueEntry([1, 0]);
    const changes = [9, 9, 1, 9, 1, 1].map((value, window) => {
      queue.merge({ nodeId: 1, queueId: 0, count: 1, sum: value, min: value, max: value, congested: 0 }, window);
      return queue.close(window, 5, 'mean', 2, true).change;
    });
    expect(changes).toEqual([null, 'began', null, null, null, 'ended']);
  });
});

describe('whatever columns hold', () => {
  it('no report makes a side throw, and its partials and state can be read', () => {
    const rows = fc.uint8Array({ minLength: 400, maxLength: 4000 });
    fc.assert(
      fc.property(rows, fc.nat(0xffff), (bytes, times) => {
        const batch = new TelemetryBatch({ frames: 4, reports: 4, hops: 1020 });
        const fill = (column: Uint32Array | Uint8Array, at: number): void => {
          for (let row = 0; row < column.length; row++) {
            const from = (at * 131 + row * 7) % (bytes.length - 4);
            column[row] = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16) | (bytes[from + 3]! << 24);
          }
        };
        const columns = [
          batch.flags,
          batch.nodeId,
          batch.sequence,
          batch.ports,
          batch.source0,
          batch.source3,
          batch.protocol,
        ];
        [...columns, ...Object.values(batch.hop)].forEach(fill);
        for (let row = 0; row < 4; row++) {
          batch.frame[row] = row;
          batch.code[row] = 0;
          batch.hopStart[row] = row * 255;
          // As decoders have it: a report with values of its own has a row for them.
          batch.hopCount[row] = bytes[row]!;
          if (batch.hopCount[row] === 0) batch.flags[row] = batch.flags[row]! & ~(1 << 20);
        }
        batch.state[0] = 4;
        batch.state[1] = 4;
        batch.state[2] = 1020;
        batch.isTimed = true;
        batch.frameTimeHigh = Uint32Array.of(395_000_000, 395_000_000 + (times & 15), times, 0xffffffff);
        batch.frameTimeLow = Uint32Array.of(0, times, 0xffffffff, 5);
        const options = { flows: 3, hops: 2, switches: 5, links: 5, queues: 5, reporters: 2, sequenceBlocks: 2 };
        const network = new NetworkSide({ switches: 4, links: 4, queues: 4, reporters: 2 });
        const side = new FlowSide(options, { partial: (partial) => network.merge(partial) });
        side.observe(batch);
        const again = new FlowSide(options);
        for (const { key, value } of side.changes()) if (value !== null) again.restore(key, value);
        side.flush();
        network.flush();
        const copy = new NetworkSide({ switches: 4, links: 4, queues: 4, reporters: 2 });
        for (const { key, value } of network.changes()) if (value !== null) copy.restore(key, value);
        expect(side.totals()).toMatchObject({ reports: 4 });
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });
});

describe('options', () => {
  it('out of range are refused by name', () => {
    const flow: [object, RegExp][] = [
      [{ windowMs: 900 }, /windowMs/],
      [{ sliceMs: 0 }, /sliceMs/],
      [{ graceMs: 2000 }, /graceMs/],
      [{ flows: 0 }, /flows/],
      [{ hops: 64 }, /hops/],
      [{ side: -1 }, /side/],
      [{ idleMs: 100 }, /idleMs/],
      [{ blackHoleGaps: -1 }, /blackHoleGaps/],
    ];
    for (const [options, message] of flow) expect(() => new FlowSide(options)).toThrow(message);
    const network: [object, RegExp][] = [
      [{ sides: 0 }, /sides/],
      [{ linkFlows: 9 }, /linkFlows/],
      [{ queueThreshold: -1 }, /queueThreshold/],
      [{ queueStatistic: 'median' }, /queueStatistic/],
      [{ waitMs: 5000, forgetMs: 1000 }, /forgetMs/],
    ];
    for (const [options, message] of network) expect(() => new NetworkSide(options)).toThrow(message);
  });

  it('and times and rows out of range, too', () => {
    const processor = new StreamProcessor();
    expect(() => processor.advance(Number.NaN)).toThrow(RangeError);
    const batch = batchOf([pathReport(START_US, 1, [1])]);
    expect(() => processor.observe(batch, 0, 2)).toThrow(RangeError);
    processor.flush();
    expect(processor.totals()).toMatchObject({ flowSide: { reports: 0 }, networkSide: { partials: 0 } });
  });
});

describe('what has no room', () => {
  it('is counted, and what has room goes on', () => {
    const processor = new StreamProcessor({
      flowSide: { flows: 2, switches: 2, links: 1, queues: 1, reporters: 1, sequenceBlocks: 1 },
    });
    const reports = [1, 2, 3, 4].map((flow) => pathReport(START_US + flow, flow, [flow, flow + 1, 9]));
    const batch = batchOf(reports);
    processor.observe(batch);
    expect(processor.totals().flowSide).toMatchObject({ reports: 4, untracked: 2, flows: 2 });
  });

  it('is counted for late reports and reports without a flow', () => {
    const processor = new StreamProcessor();
    const batch = batchOf([
      pathReport(START_US + 5_000_000, 1, [1, 2]),
      pathReport(START_US, 1, [1, 2]),
      pathReport(START_US + 5_000_000, 1, [1, 2], { flow: null }),
      pathReport(START_US + 5_000_000, 1, [1, 2], { code: 3 }),
    ]);
    processor.observe(batch);
    expect(processor.totals().flowSide).toMatchObject({ reports: 3, late: 1, withoutFlow: 1, untracked: 0 });
  });
});
