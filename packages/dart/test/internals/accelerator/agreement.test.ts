import { AnswerRows, fixedKeyRows, type KeyRows, STATUS } from '@int/dart';
import { FAMILIES, geometryOf } from '@int/dart/internals';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { SEED } from '../../seed.js';
import { EnginePair, HOST_KINDS } from './engines.js';

const SEGMENT_BYTES = 1 << 20;

const geometries = fc
  .record({
    slots: fc.oneof(
      fc.constantFrom(1, 2, 64, 1024, 4096),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 9000 }),
    ),
    valueBytes: fc.oneof(fc.constant(20), fc.integer({ min: 1, max: 64 })),
    checksumBits: fc.oneof(fc.constant(32), fc.integer({ min: 8, max: 32 })),
    copies: fc.oneof(fc.constant(2), fc.integer({ min: 1, max: 8 })),
  })
  .map(({ slots, valueBytes, checksumBits, copies }) =>
    geometryOf(slots, valueBytes, checksumBits, copies, SEGMENT_BYTES),
  );

const lengths = fc.oneof(fc.constant(13), fc.constant(37), fc.integer({ min: 0, max: 200 }));

/** Numbers that follow from a seed (xorshift). */
function randomOf(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Keys that recur, of several lengths and in any order of their bytes. */
function keysOf(rows: number, keys: number, length: () => number, random: (below: number) => number): KeyRows {
  const bytes = new Uint8Array(keys * 201 + 7).map(() => random(256));
  const kinds = Array.from({ length: keys }, (_, key) => ({ offset: key * 201 + random(8), length: length() }));
  const chosen = Array.from({ length: rows }, () => kinds[random(keys)]!);
  return {
    bytes: bytes.subarray(0, bytes.length),
    offsets: Uint32Array.from(chosen, ({ offset }) => offset),
    lengths: Uint32Array.from(chosen, ({ length: count }) => count),
  };
}

describe('the accelerator', () => {
  it('leaves the same slots and marks and gives the same answers as the loops in TypeScript', () => {
    fc.assert(
      fc.property(
        geometries,
        fc.record({
          family: fc.constantFrom(...FAMILIES),
          seed: fc.nat(0xffffffff),
          kind: fc.constantFrom(...HOST_KINDS),
          keyLengths: fc.array(lengths, { minLength: 1, maxLength: 4 }),
          keys: fc.constantFrom(1, 30, 300),
          rows: fc.integer({ min: 1, max: 700 }),
          values: fc.constantFrom(1, 2, 256),
          isInside: fc.boolean(),
          policy: fc.constantFrom(0, 1, 2, 3, 8, 300),
          random: fc.integer(),
        }),
        (geometry, { family, seed, kind, keyLengths, keys, rows, values: kinds, isInside, policy, random: state }) => {
          const random = randomOf(state);
          const pair = new EnginePair(geometry, family, seed, kind, 1 << 18);
          const { valueBytes, copies } = geometry;
          const outside = keysOf(rows, keys, () => keyLengths[random(keyLengths.length)]!, random);
          const values = new Uint8Array(rows * valueBytes);
          for (let row = 0; row < rows; row++) {
            values.fill(random(kinds), row * valueBytes, (row + 1) * valueBytes);
            values[row * valueBytes + random(valueBytes)] = random(kinds);
          }
          const which = new Uint8Array(rows).map(() => random(copies));
          const inside = isInside ? pair.copyIn(outside, values, which) : undefined;
          const given = inside ?? { keys: outside, values, which, answers: new AnswerRows(rows, valueBytes) };
          const from = random(rows);
          const count = 1 + random(copies);
          pair.plain.write(outside, values, from, rows, count);
          pair.accelerator.write(given.keys, given.values, from, rows, count);
          pair.plain.writeCopy(outside, values, which, 0, from);
          pair.accelerator.writeCopy(given.keys, given.values, given.which, 0, from);
          pair.compare();
          const middle = random(rows);
          pair.ask(outside, given.answers, policy, 0, middle, given.keys);
          pair.ask(outside, given.answers, policy, middle, rows, given.keys);
        },
      ),
      { seed: SEED, numRuns: runs(150) },
    );
  }, 60_000);

  it('decides between values that differ as each policy says', () => {
    for (const copies of [2, 3, 4, 5, 8]) {
      for (const valueBytes of [1, 3, 4, 8, 15, 16, 20, 37]) {
        const random = randomOf(SEED + copies * 64 + valueBytes);
        const pair = new EnginePair(geometryOf(5000, valueBytes, 32, copies, SEGMENT_BYTES), 'xxhash', 7, 'own');
        const keys = fixedKeyRows(
          new Uint8Array(13 * 200).map(() => random(256)),
          13,
        );
        const out = new AnswerRows(200, valueBytes);
        const seen = new Set<number>();
        // Each copy of a key gets one of three values, or none, so that all ways to differ occur.
        for (let copy = 0; copy < copies; copy++) {
          const which = new Uint8Array(200).fill(copy);
          const values = new Uint8Array(200 * valueBytes);
          for (let row = 0; row < 200; row++) values[(row + 1) * valueBytes - 1] = random(3);
          for (let row = 0; row < 200; row++) {
            if (random(4) === 0) continue;
            pair.plain.writeCopy(keys, values, which, row, row + 1);
            pair.accelerator.writeCopy(keys, values, which, row, row + 1);
          }
        }
        pair.compare();
        for (const policy of [0, 1, 2, 3, 4]) {
          pair.ask(keys, out, policy, 0, 200);
          for (const status of out.status) seen.add(status);
        }
        expect(seen.has(STATUS.CONFLICT) && seen.has(STATUS.VALUE)).toBe(true);
      }
    }
  });

  it('takes keys of any length, one by one or scattered over more than it copies in at once', () => {
    const random = randomOf(SEED);
    for (const family of FAMILIES) {
      const pair = new EnginePair(geometryOf(3000, 20, 32, 3, SEGMENT_BYTES), family, 3, 'own');
      const bytes = new Uint8Array(400_000).map(() => random(256));
      const offsets = Uint32Array.from({ length: 300 }, (_, row) => (row * 79_777) % 330_000);
      const rowLengths = Uint32Array.from({ length: 300 }, (_, row) => (row % 50 === 0 ? 65_535 - (row >> 6) : row));
      const keys = { bytes, offsets, lengths: rowLengths };
      const values = new Uint8Array(300 * 20).map(() => random(256));
      pair.plain.write(keys, values, 0, 300, 3);
      pair.accelerator.write(keys, values, 0, 300, 3);
      pair.compare();
      pair.ask(keys, new AnswerRows(300, 20), 1, 0, 300);
    }
  });

  it('hashes flow keys for any number of copies, whatever is in their bytes', () => {
    for (const family of FAMILIES) {
      for (let copies = 1; copies <= 8; copies++) {
        const random = randomOf(SEED + copies);
        const pair = new EnginePair(geometryOf(1 << 15, 20, 32, copies, SEGMENT_BYTES), family, 5, 'own');
        const bytes = new Uint8Array(13 * 1001).map(() => random(256));
        // Keys of zeros and of ones, and every byte of a key with all its values.
        bytes.fill(0, 0, 13).fill(255, 13, 26);
        for (let row = 0; row < 256; row++) bytes.fill(row, (row + 2) * 13, (row + 3) * 13);
        const keys = fixedKeyRows(bytes, 13);
        const values = new Uint8Array(1001 * 20).map(() => random(256));
        pair.plain.write(keys, values, 0, 1001, copies);
        pair.accelerator.write(keys, values, 0, 1001, copies);
        pair.compare();
        pair.ask(keys, new AnswerRows(1001, 20), 1, 0, 1001);
      }
    }
  });

  it.each(FAMILIES)('reads no byte behind the last key, value or answer of its memory (%s)', (family) => {
    for (const valueBytes of [1, 2, 5, 9, 17, 20]) {
      const geometry = geometryOf(100, valueBytes, 24, 2, SEGMENT_BYTES);
      const pair = new EnginePair(geometry, family, 1, 'high', 4096);
      const buffer = pair.accelerator.host.buffer;
      const size = buffer.byteLength;
      const random = randomOf(valueBytes);
      for (const length of [0, 1, 5, 13, 15, 16, 37]) {
        const key = new Uint8Array(length).map(() => random(256));
        const value = new Uint8Array(valueBytes).map(() => random(256));
        const outside = { bytes: key, offsets: new Uint32Array(1), lengths: new Uint32Array([length]) };
        pair.plain.write(outside, value, 0, 1, 2);
        const lastBytes = (count: number): Uint8Array => new Uint8Array(buffer, size - count, count);
        lastBytes(valueBytes).set(value);
        pair.accelerator.write(outside, lastBytes(valueBytes), 0, 1, 2);
        lastBytes(length).set(key);
        const rows = pair.accelerator.rows(1, 0);
        rows.keys.lengths[0] = length;
        const inside = { ...rows.keys, bytes: lastBytes(length) };
        const out = new AnswerRows(1, valueBytes, (count) => lastBytes(count));
        pair.accelerator.query(inside, 1, rows.answers, 0, 1);
        expect(rows.answers.status[0]).toBe(STATUS.VALUE);
        expect([...rows.answers.values]).toEqual([...value]);
        pair.accelerator.query(outside, 1, { ...rows.answers, values: out.values }, 0, 1);
        expect([...out.values]).toEqual([...value]);
        pair.compare();
      }
    }
  });
});
