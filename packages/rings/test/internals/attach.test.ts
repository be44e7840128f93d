import { RING_HEADER, RingError, type RingErrorCode, SpscRing } from '@int/rings';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  LOSS_KINDS,
  MAX_CAPACITY,
  MAX_RECORD_WORDS,
  RING_HEADER_BYTES,
  RING_MAGIC,
  RING_VERSION,
} from '../../src/layout.js';
import { checkWord, setCounter } from '../preset.js';
import { seed } from '../seed.js';

const WORDS = RING_HEADER_BYTES / 4;
const OFFSET = 20;

/** What attaching says: null if it is content. */
function verdict(buffer: ArrayBufferLike, byteOffset = OFFSET): RingErrorCode | null {
  try {
    SpscRing.attach(buffer, byteOffset);
    return null;
  } catch (error) {
    if (!RingError.is(error)) throw error;
    expect(error.message).toMatch(/ \(byte \d+\)$/);
    if (error.code !== 'ERR_RING_TRUNCATED') expect(error.offset % 4).toBe(0);
    return error.code;
  }
}

/** A ring in use, of 4 records of 3 words, in the middle of a buffer with room behind it. */
function inUse(): { buffer: ArrayBuffer; header: Int32Array } {
  const bytes = SpscRing.byteLength(3, 4);
  const buffer = new ArrayBuffer(OFFSET + bytes + 4 * bytes);
  const ring = new SpscRing({ recordWords: 3, capacity: 4, buffer, byteOffset: OFFSET });
  const words = new Int32Array(12);
  for (let turn = 0; turn < 5; turn++) {
    ring.push(words, 0, 3);
    ring.pop(words, 0, 2 + (turn % 2));
  }
  ring.lose(2, 77);
  return { buffer, header: new Int32Array(buffer, OFFSET, WORDS) };
}

const used = new Map<number, string>();
for (const name of ['MAGIC', 'VERSION', 'RECORD_WORDS', 'CAPACITY', 'CHECK'] as const)
  used.set(RING_HEADER[name], name);
for (const name of ['RECORDS_WANTED', 'ROOM_WANTED', 'CLOSED'] as const) used.set(RING_HEADER[name], name);
for (const name of ['PUSHED', 'POPPED'] as const) {
  used.set(RING_HEADER[name], name);
  used.set(RING_HEADER[name] + 1, `${name} halves`);
}
for (let kind = 0; kind < LOSS_KINDS; kind++) {
  used.set(RING_HEADER.LOST + 2 * kind, 'LOST');
  used.set(RING_HEADER.LOST + 2 * kind + 1, 'LOST halves');
}

/** The count that two words stand for, in numbers of any size: said once more, with BigInt. */
function count(header: Int32Array, at: number): bigint {
  const low = BigInt(header[at]! >>> 0);
  let halves = BigInt(header[at + 1]! >>> 0);
  if ((halves & 1n) !== low >> 31n) halves++;
  return (halves << 31n) + (low & 0x7fffffffn);
}

/** Whether a ring of 4 records may have this header, given that its first five words are as they were. */
function possible(header: Int32Array): boolean {
  const pushed = count(header, RING_HEADER.PUSHED);
  const popped = count(header, RING_HEADER.POPPED);
  const upper = [...used].filter(([, name]) => name.endsWith('halves')).map(([word]) => header[word]! >>> 0);
  return (
    [RING_HEADER.RECORDS_WANTED, RING_HEADER.ROOM_WANTED].every((word) => header[word]! >>> 0 <= 4) &&
    (header[RING_HEADER.CLOSED] === 0 || header[RING_HEADER.CLOSED] === 1) &&
    upper.every((halves) => halves < 2 ** 22) &&
    pushed >= popped &&
    pushed - popped <= 4n &&
    header.every((word, index) => used.has(index) || word === 0)
  );
}

describe('attaching to a ring', () => {
  it('accepts one in use, at any offset that is a multiple of 4', () => {
    const { buffer, header } = inUse();
    expect(verdict(buffer)).toBe(null);
    const ring = SpscRing.attach(buffer, OFFSET);
    expect(ring).toMatchObject({ recordWords: 3, capacity: 4, buffer, byteOffset: OFFSET, closed: false });
    expect([ring.pushed, ring.popped, ring.length, ring.lost(2)]).toEqual([
      header[RING_HEADER.PUSHED],
      header[RING_HEADER.POPPED],
      header[RING_HEADER.PUSHED]! - header[RING_HEADER.POPPED]!,
      77,
    ]);
    expect(ring.length).toBeGreaterThan(0);
  });

  it('refuses memory that ends anywhere before the ring does', () => {
    const { buffer } = inUse();
    const whole = OFFSET + SpscRing.byteLength(3, 4);
    for (let bytes = OFFSET; bytes < whole; bytes++) {
      expect(verdict(buffer.slice(0, bytes)), `${bytes} bytes`).toBe('ERR_RING_TRUNCATED');
    }
    expect(verdict(buffer.slice(0, whole))).toBe(null);
  });

  it('refuses memory without a ring, a ring of the other byte order, and one of another version', () => {
    expect(verdict(new ArrayBuffer(4096))).toBe('ERR_RING_MAGIC');
    const { buffer, header } = inUse();
    expect(verdict(buffer, OFFSET + 4)).toBe('ERR_RING_MAGIC');
    const swapped = buffer.slice(0);
    const view = new DataView(swapped);
    for (let at = 0; at < swapped.byteLength; at += 4) view.setInt32(at, view.getInt32(at, true), false);
    expect(verdict(swapped)).toBe('ERR_RING_MAGIC');
    header[RING_HEADER.VERSION] = RING_VERSION + 1;
    expect(verdict(buffer)).toBe('ERR_RING_VERSION');
  });

  it.each([
    [RING_HEADER.RECORD_WORDS, [0, -1, MAX_RECORD_WORDS + 1, -(2 ** 31), 2 ** 31 - 1], [1, 2, 4, 15]],
    [RING_HEADER.CAPACITY, [0, -4, 3, 5, 6, 7, 2 * MAX_CAPACITY, MAX_CAPACITY + 1], [1, 2, 8, 16]],
  ])('refuses every other value of word %d, with the check word of before', (word, impossible, others) => {
    for (const value of [...impossible, ...others]) {
      const { buffer, header } = inUse();
      header[word] = value;
      expect(verdict(buffer), `${value}`).toBe('ERR_RING_GEOMETRY');
    }
    for (const value of impossible) {
      const { buffer, header } = inUse();
      header[word] = value;
      header[RING_HEADER.CHECK] = checkWord(header);
      expect(verdict(buffer), `${value} with its check word`).toBe('ERR_RING_GEOMETRY');
    }
  });

  it('computes the check word as the README says', () => {
    const { header } = inUse();
    expect(header[RING_HEADER.CHECK]).toBe(checkWord(header));
  });

  it('refuses each header with one bit of its constant part, of a flag or of an unused word changed', () => {
    const codes: Record<string, RingErrorCode> = {
      MAGIC: 'ERR_RING_MAGIC',
      VERSION: 'ERR_RING_VERSION',
      RECORD_WORDS: 'ERR_RING_GEOMETRY',
      CAPACITY: 'ERR_RING_GEOMETRY',
      CHECK: 'ERR_RING_GEOMETRY',
      PUSHED: 'ERR_RING_INDICES',
      'PUSHED halves': 'ERR_RING_INDICES',
      POPPED: 'ERR_RING_INDICES',
      'POPPED halves': 'ERR_RING_INDICES',
    };
    let refused = 0;
    for (let word = 0; word < WORDS; word++) {
      for (let bit = 0; bit < 32; bit++) {
        const { buffer, header } = inUse();
        header[word]! ^= 1 << bit;
        const name = used.get(word) ?? '';
        const fine = word > RING_HEADER.CHECK && possible(header);
        const expected = fine ? null : (codes[name] ?? 'ERR_RING_STATE');
        expect(verdict(buffer), `bit ${bit} of word ${word} ${name}`).toBe(expected);
        if (!fine) refused++;
        if (!/PUSHED|POPPED|LOST|WANTED|CLOSED/.test(name)) expect(fine).toBe(false);
      }
    }
    expect(refused).toBeGreaterThan(32 * (WORDS - used.size + 5));
  });

  it('says yes exactly to headers that a ring may have, whatever is written over them', () => {
    const interesting = fc.oneof(
      fc.constantFrom(0, 1, 2, 4, 5, -1, 2 ** 22 - 1, 2 ** 22, 2 ** 31 - 1, -(2 ** 31)),
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      fc.integer({ min: 0, max: 20 }),
    );
    const places = fc.constantFrom(...[...used.keys()].filter((word) => word > RING_HEADER.CHECK), WORDS - 1, 20);
    const seen = { yes: 0, no: 0 };
    fc.assert(
      fc.property(
        fc.array(fc.tuple(places, interesting), { maxLength: 4 }),
        fc.option(fc.tuple(fc.maxSafeInteger(), fc.integer({ min: -3, max: 8 })), { freq: 3 }),
        (changes, counts) => {
          const { buffer, header } = inUse();
          if (counts !== null) {
            const pushed = Math.abs(counts[0]);
            setCounter(header, RING_HEADER.PUSHED, pushed);
            setCounter(header, RING_HEADER.POPPED, Math.max(0, Math.min(2 ** 53 - 1, pushed - counts[1])));
          }
          for (const [word, value] of changes) header[word] = value;
          const fine = possible(header);
          expect(verdict(buffer) === null).toBe(fine);
          seen[fine ? 'yes' : 'no']++;
        },
      ),
      { seed, numRuns: 5000 },
    );
    expect(Math.min(seen.yes, seen.no)).toBeGreaterThan(200);
  });

  it('refuses random bytes, also behind a magic number and a version', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1000 }), fc.integer({ min: 0, max: 2 }), (bytes, words) => {
        const { buffer } = bytes.slice();
        const start = new Int32Array(buffer, 0, Math.min(words, buffer.byteLength >> 2));
        start.set([RING_MAGIC, RING_VERSION].slice(0, start.length));
        expect(verdict(buffer, 0)).not.toBe(null);
      }),
      { seed, numRuns: 2000 },
    );
  });

  it('blames the caller for an offset or a buffer that cannot be one', () => {
    const { buffer } = inUse();
    for (const byteOffset of [-4, 1, 2, 3, 0.5, Number.NaN, buffer.byteLength + 4]) {
      expect(() => SpscRing.attach(buffer, byteOffset), `${byteOffset}`).toThrow(RangeError);
    }
    for (const wrong of [new Int32Array(200), {}, null, undefined, 'ring']) {
      expect(() => SpscRing.attach(wrong as unknown as ArrayBuffer)).toThrow(TypeError);
    }
  });
});

describe('a ring whose indices somebody overwrites', () => {
  it('says so at the next look, and reads and writes nothing outside of it', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(RING_HEADER.PUSHED, RING_HEADER.POPPED),
        fc.oneof(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.integer({ min: -8, max: 24 })),
        fc.boolean(),
        (word, value, again) => {
          const { buffer, header } = inUse();
          const before = SpscRing.attach(buffer, OFFSET);
          const words = new Int32Array(30);
          before.readable();
          before.room();
          header[word] = value;
          const ring = again ? before : attachOrNull(buffer);
          if (ring === null) return;
          const used = (header[RING_HEADER.PUSHED]! - header[RING_HEADER.POPPED]!) | 0;
          const damaged = used < 0 || used > 4;
          const calls = [
            () => ring.push(words, 0, 4),
            () => ring.pop(words, 0, 4),
            () => ring.room(),
            () => ring.readable(),
            () => ring.wait(0),
            () => ring.waitForRoom(4, 0),
          ];
          for (const call of calls) {
            try {
              call();
            } catch (error) {
              expect(RingError.is(error) && error.code).toBe('ERR_RING_INDICES');
            }
          }
          if (damaged) expect(calls[4]).toThrow(RingError);
          expect(ring.length).toBeLessThanOrEqual(4);
          const end = OFFSET + SpscRing.byteLength(3, 4);
          expect(new Uint8Array(buffer, 0, OFFSET).every((byte) => byte === 0)).toBe(true);
          expect(new Uint8Array(buffer, end).every((byte) => byte === 0)).toBe(true);
        },
      ),
      { seed, numRuns: 1000 },
    );
  });

  function attachOrNull(buffer: ArrayBuffer): SpscRing | null {
    return verdict(buffer) === null ? SpscRing.attach(buffer, OFFSET) : null;
  }
});
