import { createVariableLengthHasher, xxh32, xxh64 } from '@int/hash';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomBytes, seed } from './seed.js';

describe('createVariableLengthHasher', () => {
  it('gives the same numbers as xxh32 and xxh64, range by range', async () => {
    const hasher = await createVariableLengthHasher();
    const anySeed = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), fc.nat(300), anySeed, (bytes, a, b, start) => {
        const offset = Math.min(a, bytes.length);
        const length = Math.min(b, bytes.length - offset);
        const seed32 = Number(BigInt.asUintN(32, start));
        expect(hasher.xxh32(bytes, offset, length, seed32)).toBe(xxh32(bytes, offset, length, seed32));
        expect(hasher.xxh64(bytes, offset, length, start)).toBe(xxh64(bytes, offset, length, start));
        expect(hasher.xxh32(bytes)).toBe(xxh32(bytes));
        expect(hasher.xxh64(bytes)).toBe(xxh64(bytes));
      }),
      { seed, numRuns: 300 },
    );
  });

  it('grows its memory for a long message and goes on with short ones', async () => {
    const { xxh32: wasm32, xxh64: wasm64 } = await createVariableLengthHasher();
    const long = randomBytes(1_000_003);
    expect(wasm32(long)).toBe(xxh32(long));
    expect(wasm64(long, 1)).toBe(xxh64(long, 1));
    expect(wasm32(long, 5, 13)).toBe(xxh32(long, 5, 13));
  });

  it('refuses a range that is not inside the bytes', async () => {
    const hasher = await createVariableLengthHasher();
    expect(() => hasher.xxh32(new Uint8Array(4), 2, 3)).toThrow(RangeError);
    expect(() => hasher.xxh64(new Uint8Array(4), 5)).toThrow(RangeError);
  });
});
