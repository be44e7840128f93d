import { decodePartial, encodePartial, type NetworkPartial, StreamError } from '@int/stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { STREAM_ERROR_CODES } from '../../src/errors.js';
import { SEED } from '../seed.js';

const SLICE_US = 250_000;
const SLICE = 6_800_000_000;

const word = fc.oneof(fc.nat(5), fc.integer({ min: 0, max: 0xffffffff }));
const count = fc.oneof(fc.nat(200), fc.maxSafeNat());
const time = fc.integer({ min: -SLICE_US * 8, max: SLICE_US }).map((offset) => SLICE * SLICE_US + offset);
const ordered = <T>(one: fc.Arbitrary<T>, key: (entry: T) => string): fc.Arbitrary<T[]> =>
  fc.uniqueArray(one, { selector: key, maxLength: 6 }).map((list) => list.sort((a, b) => (key(a) < key(b) ? -1 : 1)));
const pad = (...numbers: number[]): string => numbers.map((number) => String(number).padStart(12, '0')).join();
const pairs = (most: number, value: fc.Arbitrary<number>): fc.Arbitrary<number[]> =>
  fc
    .uniqueArray(fc.tuple(fc.nat(most), value), { selector: ([first]) => first, maxLength: 8 })
    .map((list) => list.sort((a, b) => a[0] - b[0]).flat());

const partials: fc.Arbitrary<NetworkPartial> = fc.record({
  side: word,
  number: fc.maxSafeNat(),
  closed: fc.maxSafeNat(),
  whole: fc.boolean(),
  ended: fc.boolean(),
  broken: fc.option(
    fc.tuple(fc.nat(), fc.integer({ min: 1, max: 999 })).map(([from, slices]) => [from, from + slices] as const),
  ),
  slice: fc.constant(SLICE),
  sliceUs: fc.constant(SLICE_US),
  switches: ordered(
    fc.record({
      nodeId: word,
      reports: count,
      lastSeenUs: time,
      count,
      sum: count,
      min: word,
      max: word,
      buckets: pairs(123, fc.integer({ min: 1, max: 0xffffffff })),
    }),
    ({ nodeId }) => pad(nodeId),
  ),
  links: ordered(
    fc.record({
      from: word,
      to: word,
      packets: count,
      lastSeenUs: time,
      flows: fc.array(fc.tuple(word, time), { maxLength: 8 }).map((list) => list.flat()),
    }),
    ({ from, to }) => pad(from, to),
  ),
  queues: ordered(
    fc.record({ nodeId: word, queueId: word, count, sum: count, min: word, max: word, congested: count }),
    ({ nodeId, queueId }) => pad(nodeId, queueId),
  ),
  reporters: ordered(
    fc.record({
      nodeId: word,
      hwId: fc.nat(63),
      bits: fc.constantFrom(22, 32),
      blocks: pairs(2 ** 17 - 1, fc.integer({ min: 1, max: 0xffffffff })),
    }),
    ({ nodeId, hwId, bits }) => pad(nodeId, 32 - bits, hwId),
  ),
  refused: fc.record({ switches: count, links: count, queues: count, sequences: count, late: count }),
});

describe('a partial', () => {
  it('is the same after a way through bytes, and through JSON', () => {
    fc.assert(
      fc.property(partials, fc.nat(9), (partial, offset) => {
        const bytes = encodePartial(partial);
        const inside = new Uint8Array(bytes.length + 20).subarray(offset, offset + bytes.length);
        inside.set(bytes);
        expect(decodePartial(inside)).toEqual(partial);
        expect(encodePartial(decodePartial(inside))).toEqual(bytes);
        expect(JSON.parse(JSON.stringify(partial))).toEqual(partial);
      }),
      { seed: SEED, numRuns: runs(800) },
    );
  });

  it('is refused with a typed error wherever its bytes end too early, or go on', () => {
    const [partial] = fc.sample(partials, { seed: SEED, numRuns: 1 });
    const bytes = encodePartial(partial!);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodePartial(bytes.subarray(0, length))).toThrow(StreamError);
    }
    expect(() => decodePartial(Uint8Array.of(...bytes, 0))).toThrow(/bytes too many/);
    expect(() => decodePartial(Uint8Array.of(9))).toThrow(/layout 9/);
  });

  it('whose bytes were changed is another partial with the same bytes, or a typed error with a position', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(partials, edits, (partial, changes) => {
        const bytes = encodePartial(partial);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        try {
          expect(encodePartial(decodePartial(bytes))).toEqual(bytes);
        } catch (error) {
          if (!StreamError.is(error)) throw error;
          expect(STREAM_ERROR_CODES).toContain(error.code);
          expect(error.offset).toBeLessThanOrEqual(bytes.length);
        }
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });

  it('of random bytes is a typed error, and takes no more memory than they are worth', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          decodePartial(Uint8Array.of(2, ...bytes));
        } catch (error) {
          if (!StreamError.is(error)) throw error;
        }
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
    const many = Uint8Array.of(2, 0, 0, 0, 1, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f);
    expect(() => decodePartial(many)).toThrow(/entries in 13 bytes/);
  });
});
