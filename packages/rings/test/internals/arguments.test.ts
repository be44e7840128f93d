import { runInNewContext } from 'node:vm';
import { RingError, SpscRing } from '@int/rings';
import { describe, expect, it } from 'vitest';
import { MAX_CAPACITY, MAX_RECORD_WORDS, RING_HEADER_BYTES } from '../../src/layout.js';

const wrongCounts = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 32, '1' as unknown as number];

describe('making a ring', () => {
  it('rounds the capacity up to a power of two, and makes shared memory of the right size', () => {
    for (const [capacity, rounded] of [
      [1, 1],
      [2, 2],
      [3, 4],
      [5, 8],
      [64, 64],
      [65, 128],
    ] as const) {
      const ring = new SpscRing({ recordWords: 3, capacity });
      expect(ring.capacity).toBe(rounded);
      expect(ring.buffer).toBeInstanceOf(SharedArrayBuffer);
      expect(ring.buffer.byteLength).toBe(RING_HEADER_BYTES + 12 * rounded);
      expect(SpscRing.byteLength(3, capacity)).toBe(ring.buffer.byteLength);
      expect(ring.words.length).toBe(3 * rounded);
      expect(ring.shared).toBe(true);
    }
    expect(new SpscRing({ recordWords: 1 }).capacity).toBe(65536);
    expect(SpscRing.byteLength(MAX_RECORD_WORDS, MAX_CAPACITY)).toBe(RING_HEADER_BYTES + 2 ** 52);
  });

  it('overwrites what was in the memory', () => {
    const buffer = new ArrayBuffer(SpscRing.byteLength(2, 4) + 8);
    new Uint8Array(buffer).fill(0xff);
    const ring = new SpscRing({ recordWords: 2, capacity: 4, buffer, byteOffset: 8 });
    expect(ring).toMatchObject({ length: 0, pushed: 0, popped: 0, lostTotal: 0, closed: false, shared: false });
    ring.push(new Int32Array(6), 0, 3);
    ring.close();
    expect(new SpscRing({ recordWords: 2, capacity: 4, buffer, byteOffset: 8 }).length).toBe(0);
    expect(SpscRing.attach(buffer, 8).closed).toBe(false);
  });

  it('lets two rings share one buffer', () => {
    const bytes = SpscRing.byteLength(2, 4);
    const buffer = new SharedArrayBuffer(2 * bytes);
    const first = new SpscRing({ recordWords: 2, capacity: 4, buffer });
    const second = new SpscRing({ recordWords: 2, capacity: 4, buffer, byteOffset: bytes });
    expect(first.push(Int32Array.of(1, 2), 0, 1)).toBe(1);
    expect(second.length).toBe(0);
    expect(second.push(Int32Array.of(3, 4), 0, 1)).toBe(1);
    const into = new Int32Array(2);
    expect(SpscRing.attach(buffer).pop(into, 0, 4 - 3)).toBe(1);
    expect([...into]).toEqual([1, 2]);
  });

  it('refuses sizes out of range and memory that does not fit', () => {
    for (const recordWords of [0, -1, 1.5, Number.NaN, MAX_RECORD_WORDS + 1]) {
      expect(() => new SpscRing({ recordWords, capacity: 4 }), `${recordWords}`).toThrow(RangeError);
      expect(() => SpscRing.byteLength(recordWords, 4), `${recordWords}`).toThrow(RangeError);
    }
    for (const capacity of [0, -1, 1.5, Number.NaN, MAX_CAPACITY + 1]) {
      expect(() => new SpscRing({ recordWords: 1, capacity }), `${capacity}`).toThrow(RangeError);
      expect(() => SpscRing.byteLength(1, capacity), `${capacity}`).toThrow(RangeError);
    }
    const buffer = new ArrayBuffer(SpscRing.byteLength(2, 4));
    const make = (byteOffset: number, recordWords = 2) =>
      new SpscRing({ recordWords, capacity: 4, buffer, byteOffset });
    expect(() => make(0)).not.toThrow();
    for (const byteOffset of [4, 2, -4, Number.NaN, 4096]) expect(() => make(byteOffset)).toThrow(RangeError);
    expect(() => make(0, 3)).toThrow(RangeError);
    const wrong = new Uint8Array(4096) as unknown as ArrayBuffer;
    expect(() => new SpscRing({ recordWords: 2, capacity: 4, buffer: wrong })).toThrow(TypeError);
  });
});

describe('the methods of a ring', () => {
  const make = (): SpscRing => new SpscRing({ recordWords: 3, capacity: 4 });

  it('refuse records that are not within their array, and change nothing', () => {
    const ring = make();
    const words = new Int32Array(10);
    ring.push(words, 0, 2);
    const cases: [at: number, records: number][] = [
      [0, 4],
      [2, 3],
      [8, 1],
      [11, 0],
      [-1, 1],
      [0.5, 1],
      [Number.NaN, 1],
      [2 ** 32, 0],
      ...wrongCounts.map((records): [number, number] => [0, records]),
    ];
    for (const [at, records] of cases) {
      expect(() => ring.push(words, at, records), `push ${at} ${records}`).toThrow(RangeError);
      expect(() => ring.pop(words, at, records), `pop ${at} ${records}`).toThrow(RangeError);
    }
    expect([ring.pushed, ring.popped]).toEqual([2, 0]);
    expect(ring.push(words, 10, 0)).toBe(0);
    expect(ring.push(words, 1, 3)).toBe(2);
  });

  it('refuse arrays of other words', () => {
    const ring = make();
    const arrays = [new Float32Array(9), new Uint8Array(9), new BigInt64Array(9), [1, 2, 3, 4, 5, 6, 7, 8, 9], null];
    for (const wrong of arrays) {
      expect(() => ring.push(wrong as unknown as Int32Array, 0, 1)).toThrow(TypeError);
      expect(() => ring.pop(wrong as unknown as Int32Array, 0, 1)).toThrow(TypeError);
    }
    expect(ring.pushed).toBe(0);
  });

  it('take arrays of another realm', () => {
    const ring = make();
    const [signed, unsigned] = runInNewContext('[Int32Array.of(1, 2, -3), new Uint32Array(3)]') as [
      Int32Array,
      Uint32Array,
    ];
    expect(signed).not.toBeInstanceOf(Int32Array);
    expect(ring.push(signed, 0, 1)).toBe(1);
    expect(ring.pop(unsigned, 0, 1)).toBe(1);
    expect([...unsigned]).toEqual([1, 2, 2 ** 32 - 3]);
    const buffer = runInNewContext(`new SharedArrayBuffer(${SpscRing.byteLength(3, 4)})`) as SharedArrayBuffer;
    expect(new SpscRing({ recordWords: 3, capacity: 4, buffer }).wait(1)).toBe('timed-out');
  });

  it('refuse to commit and release more than they offered', () => {
    const ring = make();
    expect(() => ring.commit(1)).toThrow(RangeError);
    expect(ring.room(3)).toBe(3);
    expect(() => ring.commit(4)).toThrow(RangeError);
    ring.commit(1);
    expect(() => ring.commit(3)).toThrow(RangeError);
    ring.commit(2);
    expect(() => ring.commit(1)).toThrow(RangeError);
    expect(() => ring.release(1)).toThrow(RangeError);
    expect(ring.readable(2)).toBe(2);
    expect(() => ring.release(3)).toThrow(RangeError);
    ring.release(1);
    ring.release(1);
    expect(() => ring.release(1)).toThrow(RangeError);
    expect(ring.readable()).toBe(1);
    ring.pop(new Int32Array(3), 0, 1);
    expect(() => ring.release(1), 'popped meanwhile').toThrow(RangeError);
    expect(ring.room(1)).toBe(1);
    ring.push(new Int32Array(3), 0, 1);
    expect(() => ring.commit(1), 'pushed meanwhile').toThrow(RangeError);
    for (const records of wrongCounts) {
      for (const method of ['room', 'commit', 'readable', 'release'] as const) {
        expect(() => ring[method](records), `${method} ${records}`).toThrow(RangeError);
      }
    }
  });

  it('refuse kinds of loss and numbers out of range', () => {
    const ring = make();
    for (const kind of [-1, 8, 0.5, Number.NaN]) {
      expect(() => ring.lose(kind, 1), `${kind}`).toThrow(RangeError);
      expect(() => ring.lost(kind), `${kind}`).toThrow(RangeError);
    }
    for (const records of [-1, 0.5, Number.NaN, 2 ** 31]) {
      expect(() => ring.lose(0, records), `${records}`).toThrow(RangeError);
    }
    expect(ring.lostTotal).toBe(0);
  });

  it('refuse to wait for nothing, for more than there can be, and for no time at all', async () => {
    const ring = make();
    for (const records of [0, 5, -1, 1.5, Number.NaN]) {
      expect(() => ring.wait(0, records), `${records}`).toThrow(RangeError);
      expect(() => ring.waitForRoom(records, 0), `${records}`).toThrow(RangeError);
      await expect(ring.waitAsync(0, records), `${records}`).rejects.toThrow(RangeError);
      await expect(ring.waitForRoomAsync(records, 0), `${records}`).rejects.toThrow(RangeError);
    }
    for (const timeoutMs of [-1, Number.NaN, '5' as unknown as number]) {
      expect(() => ring.wait(timeoutMs), `${timeoutMs}`).toThrow(RangeError);
      expect(() => ring.waitForRoom(1, timeoutMs), `${timeoutMs}`).toThrow(RangeError);
      await expect(ring.waitAsync(timeoutMs), `${timeoutMs}`).rejects.toThrow(RangeError);
      await expect(ring.waitForRoomAsync(1, timeoutMs), `${timeoutMs}`).rejects.toThrow(RangeError);
    }
  });
});

describe('a RingError', () => {
  it('is known by its brand, and nothing else is', () => {
    const error = new RingError('ERR_RING_MAGIC', 0, 'there is no ring here');
    expect(RingError.is(error)).toBe(true);
    expect(error).toMatchObject({ name: 'RingError', code: 'ERR_RING_MAGIC', offset: 0 });
    for (const other of [new Error('x'), new RangeError('x'), null, 'x', {}]) expect(RingError.is(other)).toBe(false);
  });
});
