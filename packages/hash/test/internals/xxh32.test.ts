import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import load from 'xxhash-wasm';
import { flowXxh32Ipv6, xxh32, xxh32Words13 } from '../../src/index.js';
import { randomBytes, seed, wordSequence } from '../seed.js';

const { h32Raw } = await load();
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const seeds = [0, 1, 13, 0x7fffffff, 0x80000000, 0x9e3779b1, 0xffffffff];
const word = fc.integer({ min: 0, max: 0xffffffff });

function wordsOf(key: Uint8Array, count: number, offset = 0): number[] {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  return Array.from({ length: count }, (_, index) => view.getUint32(offset + 4 * index));
}

describe('xxh32', () => {
  it.each([
    ['', 0, 0x02cc5d05],
    ['', 0x9e3779b1, 0x36b78ae7],
    ['a', 0, 0x550d7456],
    ['abc', 0, 0x32d153ff],
    ['Nobody inspects the spammish repetition', 0, 0xe2293b2f],
  ])('gives the published hash of "%s" with seed %i', (message, start, expected) => {
    expect(xxh32(text(message), 0, undefined, start)).toBe(expected);
  });

  it('equals xxhash-wasm at every length to 200, with every seed, at unaligned offsets', () => {
    const bytes = randomBytes(220);
    for (let length = 0; length <= 200; length++) {
      const offset = length % 7;
      for (const start of seeds) {
        const range = bytes.subarray(offset, offset + length);
        const expected = h32Raw(range, start);
        expect(xxh32(bytes, offset, length, start)).toBe(expected);
        expect(xxh32(range, 0, undefined, start)).toBe(expected);
      }
    }
  });

  it('equals xxhash-wasm for any bytes and seed', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), word, fc.nat(5), (bytes, start, offset) => {
        const buffer = new Uint8Array(offset + bytes.length + 3).fill(0x5a);
        buffer.set(bytes, offset);
        expect(xxh32(buffer, offset, bytes.length, start)).toBe(h32Raw(bytes, start));
      }),
      { seed, numRuns: 500 },
    );
  });

  it('refuses a range that is not inside the bytes', () => {
    expect(() => xxh32(new Uint8Array(4), 5)).toThrow(RangeError);
    expect(() => xxh32(new Uint8Array(4), 0, 5)).toThrow(RangeError);
    expect(() => xxh32(new Uint8Array(4), -1, 2)).toThrow(RangeError);
  });
});

describe('the word forms of xxh32', () => {
  it('equal xxhash-wasm on the same bytes, for signed and unsigned words and seeds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 40, maxLength: 40 }), word, (bytes, start) => {
        for (const signed of [false, true]) {
          const cast = (value: number): number => (signed ? value | 0 : value);
          const w = wordsOf(bytes, 8).map(cast);
          const s = cast(start);
          const [w0, w4, w8, w12, w16, w20, w24, w28] = w as [number, ...number[]] & number[];
          const word9 = cast(wordsOf(bytes, 1, 9)[0]!);
          const word33 = cast(wordsOf(bytes, 1, 33)[0]!);
          expect(xxh32Words13(w0, w4!, bytes[8]!, word9, s)).toBe(h32Raw(bytes.subarray(0, 13), start));
          expect(flowXxh32Ipv6(w0, w4!, w8!, w12!, w16!, w20!, w24!, w28!, bytes[32]!, word33, s)).toBe(
            h32Raw(bytes.subarray(0, 37), start),
          );
        }
      }),
      { seed, numRuns: 500 },
    );
  });

  it('have seed 0 if none is given, and take a byte modulo 256', () => {
    const zero = new Uint8Array(40);
    expect(xxh32Words13(0, 0, 0x100, 0)).toBe(h32Raw(zero.subarray(0, 13)));
    expect(flowXxh32Ipv6(0, 0, 0, 0, 0, 0, 0, 0, 0x100, 0)).toBe(h32Raw(zero.subarray(0, 37)));
  });

  it('change every output bit about every second time when one input bit is flipped', () => {
    const samples = 2000;
    const next = wordSequence(1);
    const flips = new Uint32Array(104 * 32);
    for (let sample = 0; sample < samples; sample++) {
      const key = [next(), next(), next() & 0xff, next()] as const;
      const hash = xxh32Words13(...key);
      for (let bit = 0; bit < 104; bit++) {
        const [a, b, c, d] = key;
        const changed =
          bit < 32
            ? xxh32Words13(a ^ (1 << bit), b, c, d)
            : bit < 64
              ? xxh32Words13(a, b ^ (1 << (bit - 32)), c, d)
              : bit < 72
                ? xxh32Words13(a, b, c ^ (1 << (bit - 64)), d)
                : xxh32Words13(a, b, c, d ^ (1 << (bit - 72)));
        const difference = hash ^ changed;
        for (let out = 0; out < 32; out++) {
          flips[bit * 32 + out]! += (difference >>> out) & 1;
        }
      }
    }
    const shares = Array.from(flips, (count) => count / samples);
    expect(Math.min(...shares)).toBeGreaterThan(0.44);
    expect(Math.max(...shares)).toBeLessThan(0.56);
  });

  it.each([
    ['source addresses', (index: number) => xxh32Words13(0x0a000000 + index, 0x0a010101, 17, 0x13880050)],
    ['destination addresses', (index: number) => xxh32Words13(0x0a010101, 0x0a000000 + index, 17, 0x13880050)],
    ['ports', (index: number) => xxh32Words13(0x0a010101, 0x0a020202, 6, index)],
    ['address pairs', (index: number) => xxh32Words13(0x0a000000 + (index >>> 9), 0x0b000000 + (index & 511), 6, 80)],
  ])('spread sequential %s over the low bits as evenly as chance', (_, hashOf) => {
    const keys = 1 << 18;
    const rows = 1 << 15;
    const counts = new Uint32Array(rows);
    for (let index = 0; index < keys; index++) {
      counts[hashOf(index) & (rows - 1)]! += 1;
    }
    const mean = keys / rows;
    const chiSquare = counts.reduce((sum, count) => sum + (count - mean) ** 2 / mean, 0);
    // Expected 1 with standard deviation sqrt(2 / rows) = 0.008.
    expect(chiSquare / (rows - 1)).toBeGreaterThan(0.96);
    expect(chiSquare / (rows - 1)).toBeLessThan(1.04);
  });
});
