import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import load from 'xxhash-wasm';
import { xxh64, xxh64Into, xxh64Words13Into, xxh64Words37Into } from '../../src/index.js';
import { randomBytes, seed, wordSequence } from '../seed.js';

const { h64Raw } = await load();
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const anySeed = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const seeds = [0n, 1n, 0xffffffffn, 0x100000000n, 0x9e3779b185ebca87n, 2n ** 63n, 2n ** 64n - 1n];
/** What is added to a seed at the start; seeds that bring the low word of a sum to 0, or to just below it. */
const addends = [0x27d4eb2f165667c5n, 0x60ea27eeadc0b5d6n, 0xc2b2ae3d27d4eb4fn, 0x61c8864e7a143579n];
const edgeSeeds = addends.flatMap((addend) => [BigInt.asUintN(64, -addend), BigInt.asUintN(64, -addend - 1n)]);

function joined(out: Uint32Array): bigint {
  return (BigInt(out[1]!) << 32n) | BigInt(out[0]!);
}

function halves(value: bigint): [low: number, high: number] {
  return [Number(BigInt.asUintN(32, value)), Number(value >> 32n)];
}

function wordsOf(key: Uint8Array, count: number, offset = 0): number[] {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  return Array.from({ length: count }, (_, index) => view.getUint32(offset + 4 * index));
}

describe('xxh64', () => {
  it.each([
    ['', 0n, 0xef46db3751d8e999n],
    ['a', 0n, 0xd24ec4f1a98c6e5bn],
    ['abc', 0n, 0x44bc2cf5ad770999n],
    ['Nobody inspects the spammish repetition', 0n, 0xfbcea83c8a378bf1n],
  ])('gives the published hash of "%s" with seed %s', (message, start, expected) => {
    expect(xxh64(text(message), 0, undefined, start)).toBe(expected);
  });

  it('equals xxhash-wasm at every length to 200, with every seed, at unaligned offsets', () => {
    const bytes = randomBytes(220);
    const out = new Uint32Array(2);
    for (let length = 0; length <= 200; length++) {
      const offset = length % 7;
      for (const start of [...seeds, ...edgeSeeds]) {
        const expected = h64Raw(bytes.subarray(offset, offset + length), start);
        expect(xxh64(bytes, offset, length, start)).toBe(expected);
        xxh64Into(out, bytes, offset, length, ...halves(start));
        expect(joined(out)).toBe(expected);
      }
    }
  });

  it('equals xxhash-wasm for any bytes and seed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), anySeed, fc.nat(5), (bytes, start, offset) => {
        const buffer = new Uint8Array(offset + bytes.length + 3).fill(0x5a);
        buffer.set(bytes, offset);
        expect(xxh64(buffer, offset, bytes.length, start)).toBe(h64Raw(bytes, start));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('takes a seed modulo 2^64', () => {
    expect(xxh64(text('abc'), 0, 3, -1n)).toBe(xxh64(text('abc'), 0, 3, 2n ** 64n - 1n));
    expect(xxh64(text('abc'), 0, 3, 2n ** 64n + 5n)).toBe(xxh64(text('abc'), 0, 3, 5n));
  });

  it('may write its result over its input', () => {
    const words = new Uint32Array(20);
    const bytes = new Uint8Array(words.buffer);
    bytes.set(randomBytes(80));
    const expected = h64Raw(bytes);
    xxh64Into(words, bytes);
    expect(joined(words)).toBe(expected);
  });

  it('refuses a range that is not inside the bytes, and an output too small', () => {
    const out = new Uint32Array(2);
    expect(() => xxh64(new Uint8Array(4), 5)).toThrow(RangeError);
    expect(() => xxh64Into(out, new Uint8Array(4), 0, 5)).toThrow(RangeError);
    expect(() => xxh64Into(new Uint32Array(1), new Uint8Array(4))).toThrow(RangeError);
    expect(() => xxh64Words13Into(new Uint32Array(1), 0, 0, 0, 0)).toThrow(RangeError);
    const array: Uint32Array = JSON.parse('[0, 0]');
    expect(() => xxh64Into(array, new Uint8Array(4))).toThrow(TypeError);
  });
});

describe('the word forms of xxh64', () => {
  it('equal xxhash-wasm on the same bytes, for signed and unsigned words and seeds', () => {
    const out = new Uint32Array(2);
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 40, maxLength: 40 }), anySeed, (bytes, start) => {
        for (const signed of [false, true]) {
          const cast = (value: number): number => (signed ? value | 0 : value);
          const [low, high] = halves(start).map(cast) as [number, number];
          const [w0, w4, w8, w12, w16, w20, w24, w28] = wordsOf(bytes, 8).map(cast);
          const word9 = cast(wordsOf(bytes, 1, 9)[0]!);
          const word33 = cast(wordsOf(bytes, 1, 33)[0]!);
          xxh64Words13Into(out, w0!, w4!, bytes[8]!, word9, low, high);
          expect(joined(out)).toBe(h64Raw(bytes.subarray(0, 13), start));
          xxh64Words37Into(out, w0!, w4!, w8!, w12!, w16!, w20!, w24!, w28!, bytes[32]!, word33, low, high);
          expect(joined(out)).toBe(h64Raw(bytes.subarray(0, 37), start));
        }
      }),
      { seed, numRuns: 1000 },
    );
  });

  it('carry right with seeds at the edge of a carry', () => {
    const out = new Uint32Array(2);
    const bytes = randomBytes(40);
    const [w0, w4, w8, w12, w16, w20, w24, w28] = wordsOf(bytes, 8);
    const [word33] = wordsOf(bytes, 1, 33);
    for (const start of edgeSeeds) {
      xxh64Words13Into(out, w0!, w4!, bytes[8]!, wordsOf(bytes, 1, 9)[0]!, ...halves(start));
      expect(joined(out)).toBe(h64Raw(bytes.subarray(0, 13), start));
      xxh64Words37Into(out, w0!, w4!, w8!, w12!, w16!, w20!, w24!, w28!, bytes[32]!, word33!, ...halves(start));
      expect(joined(out)).toBe(h64Raw(bytes.subarray(0, 37), start));
    }
  });

  // A carry that is lost only now and then shows once in about 2^17 keys.
  it('equal xxhash-wasm on half a million keys', () => {
    const next = wordSequence();
    const words = new Uint32Array(10);
    const bytes = new Uint8Array(40);
    const view = new DataView(bytes.buffer);
    const key13 = bytes.subarray(0, 13);
    const key37 = bytes.subarray(0, 37);
    const out = new Uint32Array(2);
    let wrong = 0;
    for (let key = 0; key < 1 << 19; key++) {
      for (let index = 0; index < 10; index++) {
        words[index] = next();
        view.setUint32(4 * index, words[index]!);
      }
      const [w0, w4, w8, w12, w16, w20, w24, w28, w32] = words;
      xxh64Words13Into(out, w0!, w4!, w8! >>> 24, view.getUint32(9));
      wrong += joined(out) === h64Raw(key13) ? 0 : 1;
      xxh64Words37Into(out, w0!, w4!, w8!, w12!, w16!, w20!, w24!, w28!, w32! >>> 24, view.getUint32(33));
      wrong += joined(out) === h64Raw(key37) ? 0 : 1;
      if ((key & 1) === 0) {
        xxh64Into(out, key37, 0, 30 + (key & 7));
        wrong += joined(out) === h64Raw(bytes.subarray(0, 30 + (key & 7))) ? 0 : 1;
      }
    }
    expect(wrong).toBe(0);
  });

  it('carry right through words of all zeros and all ones', () => {
    const out = new Uint32Array(2);
    for (let mask = 0; mask < 1024; mask++) {
      const bytes = new Uint8Array(40);
      for (let index = 0; index < 10; index++) {
        bytes.fill(((mask >>> index) & 1) === 0 ? 0x00 : 0xff, 4 * index, 4 * index + 4);
      }
      const [w0, w4, w8, w12, w16, w20, w24, w28] = wordsOf(bytes, 8);
      const [word33] = wordsOf(bytes, 1, 33);
      for (const start of seeds) {
        xxh64Words37Into(out, w0!, w4!, w8!, w12!, w16!, w20!, w24!, w28!, bytes[32]!, word33!, ...halves(start));
        expect(joined(out)).toBe(h64Raw(bytes.subarray(0, 37), start));
      }
    }
  });

  it('have seed 0 if none is given, and take a byte modulo 256', () => {
    const zero = new Uint8Array(40);
    const out = new Uint32Array(2);
    xxh64Words13Into(out, 0, 0, 0x100, 0);
    expect(joined(out)).toBe(h64Raw(zero.subarray(0, 13)));
    xxh64Words37Into(out, 0, 0, 0, 0, 0, 0, 0, 0, 0x100, 0);
    expect(joined(out)).toBe(h64Raw(zero.subarray(0, 37)));
  });
});
