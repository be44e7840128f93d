import { formatIpv4 } from '@int/codec';
import { BackOff } from '@int/collector/internals';
import { EntryReader, geometryOf, readFlowEvent } from '@int/flowcache';
import { flowText, RedisKeys } from '@int/sink-redis';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { parseFlowText } from '../../src/keys.js';
import { AsciiWriter } from '../../src/record/ascii-writer.js';
import { EntryText, entryTextBytes } from '../../src/record/entry-text.js';
import { EVENT_TEXT_BYTES, EventText } from '../../src/record/event-text.js';
import { entryRecord, eventRecord } from '../../src/record/from-object.js';
import { RecordQueue } from '../../src/record/queue.js';
import { entry, event, flow } from '../arbitrary.js';
import { SEED } from '../seed.js';

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });

function written(write: (out: AsciiWriter) => void): string {
  const out = new AsciiWriter(new Uint8Array(100_000));
  write(out);
  return Buffer.from(out.bytes.subarray(0, out.at)).toString('latin1');
}

describe('the writer of texts', () => {
  it('writes numbers of 32 and 64 bits as BigInt does', () => {
    const corners = [0, 1, 9, 10, 99, 100, 999_999_999, 1_000_000_000, 1_000_000_001, 4_294_967_295, 65_535, 65_536];
    const word = fc.oneof(uint32, fc.constantFrom(...corners));
    fc.assert(
      fc.property(word, word, (low, high) => {
        expect(written((out) => out.uint32(low | 0))).toBe(String(low));
        const both = (BigInt(high) << 32n) | BigInt(low);
        expect(written((out) => out.uint64(low | 0, high | 0))).toBe(String(both));
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });

  it('writes 64-bit numbers next to every power of ten', () => {
    for (let power = 1n; power < 1n << 64n; power *= 10n) {
      for (const number of [power - 1n, power, power + 1n]) {
        const low = Number(BigInt.asIntN(32, number));
        const high = Number(BigInt.asIntN(32, number >> 32n));
        expect(written((out) => out.uint64(low, high))).toBe(String(number));
      }
    }
  });

  it('writes decimal numbers to the nearest millionth', () => {
    for (const [value, text] of [
      [0, '0'],
      [0.5, '0.5'],
      [10 / 3, '3.333333'],
      [0.9999996, '1'],
      [99.0000004, '99'],
      [1_000_000_000.000001, '1000000000.000001'],
      [4_294_967_293.9999995, '4294967294'],
    ] as const) {
      expect(written((out) => out.decimal(value))).toBe(text);
    }
    fc.assert(
      fc.property(fc.double({ min: 0, max: 2 ** 32 - 2, noNaN: true }), (value) => {
        const text = written((out) => out.decimal(value));
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d{0,5}[1-9])?$/);
        expect(Math.abs(Number(text) - value)).toBeLessThanOrEqual(5e-7 + value * 2e-16);
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
  });

  it('writes addresses', () => {
    fc.assert(
      fc.property(uint32, (word) => {
        expect(written((out) => out.ipv4(word | 0))).toBe(formatIpv4(word));
      }),
      { seed: SEED },
    );
  });

  it('puts the length in front, in one byte or in two', () => {
    const text = 'x'.repeat(300);
    const whole = written((out) => {
      out.open();
      out.ascii('abc');
      out.close();
      out.openLong();
      out.ascii(text);
      out.close();
    });
    expect(whole).toBe(`\u0003abc\u002c\u0001${text}`);
  });
});

describe('the name of a flow', () => {
  it('says addresses, ports and protocol', () => {
    const four = { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 5000, destinationPort: 80 };
    expect(flowText(four)).toBe('10.0.1.1:5000-10.0.2.2:80/17');
    const six = { ...four, source: '2001:0DB8:0::1', destination: '::ffff:10.0.0.1' };
    expect(flowText(six)).toBe('[2001:db8::1]:5000-[::ffff:10.0.0.1]:80/17');
  });

  it('is read back', () => {
    fc.assert(
      fc.property(flow, (one) => {
        expect(parseFlowText(flowText(one))).toEqual(one);
      }),
      { seed: SEED },
    );
  });

  it.each(['', '10.0.0.1', '10.0.0.1:1-10.0.0.2:2', '[::1:1-[::1]:2/6', 'a:1-b:2/6'])('is not %j', (text) => {
    expect(() => parseFlowText(text)).toThrow(SyntaxError);
  });

  it('is part of the keys', () => {
    const keys = new RedisKeys('lab');
    const one = { source: '1.2.3.4', destination: '5.6.7.8', protocol: 6, sourcePort: 1, destinationPort: 2 };
    expect(keys.flow(one)).toBe('lab:flow:1.2.3.4:1-5.6.7.8:2/6');
    expect(keys.live(flowText(one))).toBe('lab:live:1.2.3.4:1-5.6.7.8:2/6');
    expect([keys.eventsOf(7), keys.writer('w'), keys.values('v')]).toEqual([
      'lab:events:7',
      'lab:writer:w',
      'lab:values:v',
    ]);
  });
});

describe('records made of objects', () => {
  const geometry = geometryOf({ rows: 1 });
  const compact = geometryOf({ rows: 1, layout: 'compact' });

  it('are read as the same events', () => {
    fc.assert(
      fc.property(event(geometry.metrics), (one) => {
        expect(readFlowEvent(eventRecord(one, geometry.metrics), 0, geometry.metrics)).toEqual(one);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it.each([geometry, compact])('are read as the same entries', (shape) => {
    const reader = new EntryReader(shape);
    fc.assert(
      fc.property(entry(shape), (one) => {
        expect(reader.read(entryRecord(one, shape), 0)).toEqual(one);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('never need more bytes as text than is set aside', () => {
    const wide = geometryOf({ rows: 1, hops: 64, metrics: ['hopLatency', 'bufferOccupancy', 'reserved8'] });
    for (const shape of [geometry, compact, wide]) {
      const text = new EntryText(shape);
      fc.assert(
        fc.property(entry(shape), (one) => {
          const length = written((out) => text.write(out, entryRecord(one, shape), 0)).length;
          expect(length).toBeLessThanOrEqual(entryTextBytes(shape));
        }),
        { seed: SEED, numRuns: 100 },
      );
      const ones = new Int32Array(shape.bucketStride).fill(-1);
      expect(written((out) => text.write(out, ones, 0)).length).toBeLessThanOrEqual(entryTextBytes(shape));
    }
    const eventText = new EventText(geometry.metrics);
    const ones = new Int32Array(16).fill(-1);
    // The name of the stream comes on top: 10 digits and a length.
    expect(written((out) => eventText.write(out, ones, 0)).length).toBeLessThan(EVENT_TEXT_BYTES - 11);
  });

  it('keep the sum that a mean stands for', () => {
    const one = { last: 1, mean: 10 / 3, count: 3, sum: null };
    const made = fc.sample(entry(geometry), { seed: SEED, numRuns: 1 })[0]!;
    const words = entryRecord({ ...made, hops: [{ nodeId: 1, metrics: { hopLatency: one } }] }, geometry);
    expect(new EntryReader(geometry).read(words, 0).hops[0]?.metrics.hopLatency?.sum).toBe(10n);
  });

  const good = fc.sample(event(geometry.metrics), { seed: SEED, numRuns: 1 })[0]!;
  const hopEvent = { ...good, kinds: ['threshold'], scope: 'hop', metric: 'hopLatency', hop: 0 } as const;
  it.each([
    ['a metric that is not followed', { ...hopEvent, metric: 'bufferOccupancy' as const }, TypeError],
    ['no metric at a hop', { ...hopEvent, metric: null }, TypeError],
    ['no position of a hop', { ...hopEvent, hop: null }, RangeError],
    ['a value of 33 bits', { ...hopEvent, value: 2 ** 32 }, RangeError],
    ['a time before the epoch', { ...hopEvent, timeNs: -1n }, RangeError],
    ['a port of 17 bits', { ...hopEvent, flow: { ...good.flow, sourcePort: 65_536 } }, RangeError],
    ['two versions of IP', { ...hopEvent, flow: { ...good.flow, source: '1.2.3.4', destination: '::' } }, TypeError],
  ])('are refused for %s', (_what, bad, type) => {
    expect(() => eventRecord(bad, geometry.metrics)).toThrow(type);
  });

  it('are refused if the cache could not hold them', () => {
    const one = fc.sample(entry(geometry), { seed: SEED, numRuns: 1 })[0]!;
    const six = { ...one.flow, source: '::1', destination: '::2' };
    expect(() => entryRecord({ ...one, flow: six, hops: [] }, compact)).toThrow('compact');
    const hop = { nodeId: 1, metrics: {} };
    expect(() => entryRecord({ ...one, hops: Array.from({ length: 6 }, () => hop) }, geometry)).toThrow('follows 5');
  });
});

describe('the queue of records', () => {
  it('is first in, first out, like a list', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })), { maxLength: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 13 }), steps, (capacity, all) => {
        const queue = new RecordQueue(2, capacity);
        const model: number[] = [];
        let next = 0;
        for (const [put, drop] of all) {
          const taken = Math.min(put, capacity - queue.count);
          const words = new Int32Array(2 * (taken + 1));
          for (let k = 0; k < taken; k++, next++) {
            words.set([next, ~next], 2 + 2 * k);
            model.push(next);
          }
          queue.put(words, 2, taken);
          const dropped = Math.min(drop, queue.count);
          queue.drop(dropped);
          model.splice(0, dropped);
          const held = model.map((_, k) => Array.from(queue.words.subarray(queue.wordOf(k), queue.wordOf(k) + 2)));
          expect(held).toEqual(model.map((number) => [number, ~number]));
        }
      }),
      { seed: SEED },
    );
  });
});

describe('waiting times', () => {
  it('double up to the limit, less at most a half', () => {
    const longest = new BackOff(50, 1000, () => 0);
    expect(Array.from({ length: 7 }, () => longest.next())).toEqual([50, 100, 200, 400, 800, 1000, 1000]);
    const shortest = new BackOff(50, 1000, () => 1 - 2 ** -53);
    expect(Math.round(shortest.next())).toBe(25);
    longest.reset();
    expect(longest.next()).toBe(50);
  });

  it('stay finite after any number of attempts', () => {
    const backOff = new BackOff(1, 5000, () => 0.5);
    for (let k = 0; k < 5000; k++) backOff.next();
    expect(backOff.next()).toBe(3750);
  });
});
