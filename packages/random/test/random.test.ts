import { mix32, Random, Zipf } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from './seed.js';
import { binomialBound, SIGMAS } from './statistics.js';

describe('Random', () => {
  it('gives the numbers it has always given', () => {
    const random = new Random(1);
    expect(Array.from({ length: 6 }, () => random.uint32())).toMatchInlineSnapshot(`
      [
        1852373010,
        1666568792,
        2852278872,
        1004555744,
        763697222,
        2204129537,
      ]
    `);
    expect(new Random('int').derive('flows', 3).uint32()).toMatchInlineSnapshot(`3618295718`);
  });

  it('follows sfc32 as published, from the state its key gives', () => {
    // The published step, on 64-bit integers, so that no 32-bit trick is shared with the code under test.
    const random = new Random([0x01234567, 0x89abcdef]);
    const M = 0xffff_ffffn;
    let a = BigInt(mix32(0x01234567 + 0x9e3779b9));
    let b = BigInt(mix32(0x89abcdef + Math.imul(0x9e3779b9, 2)));
    let c = BigInt(mix32((0x01234567 ^ 0x89abcdef) + Math.imul(0x9e3779b9, 3)));
    let counter = 1n;
    const step = (): number => {
      const out = (a + b + counter) & M;
      counter = (counter + 1n) & M;
      a = b ^ (b >> 9n);
      b = (c + (c << 3n)) & M;
      c = (((c << 21n) | (c >> 11n)) + out) & M;
      return Number(out);
    };
    for (let i = 0; i < 12; i++) step();
    for (let i = 0; i < 1000; i++) expect(random.uint32()).toBe(step());
  });

  it('treats a number as the text of it, and every seed as one of its own', () => {
    expect(new Random(42).uint32()).toBe(new Random('42').uint32());
    const firsts = new Set(Array.from({ length: 10_000 }, (_, seed) => new Random(seed).uint32()));
    // 10,000 draws of 2^32: a pair in common happens once in 86 times, three pairs practically never.
    expect(firsts.size).toBeGreaterThan(9997);
  });

  it('derives streams that do not depend on what was drawn, only on names', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.nat(20), (seed, name, draws) => {
        const used = new Random(seed);
        for (let i = 0; i < draws; i++) used.uint32();
        const one = used.derive(name, 7);
        const two = new Random(seed).derive(name, 7);
        const other = new Random(seed).derive(`${name}x`, 7);
        const next = new Random(seed).derive(name, 8);
        const four = (random: Random): string => [1, 2, 3, 4].map(() => random.uint32()).join();
        const first = four(one);
        expect(four(two)).toBe(first);
        expect(four(other)).not.toBe(first);
        expect(four(next)).not.toBe(first);
      }),
      { seed: SEED },
    );
  });

  it('spreads 32-bit draws evenly over their upper and over their lower byte', () => {
    const random = new Random(SEED);
    const n = 256_000;
    const upper = new Uint32Array(256);
    const lower = new Uint32Array(256);
    for (let i = 0; i < n; i++) {
      const value = random.uint32();
      upper[value >>> 24]!++;
      lower[value & 255]!++;
    }
    for (const counts of [upper, lower]) {
      const chi = counts.reduce((sum, count) => sum + (count - n / 256) ** 2 / (n / 256), 0);
      expect(Math.abs(chi - 255)).toBeLessThan(SIGMAS * Math.sqrt(2 * 255));
    }
  });

  it('draws integers below a bound, every one as often', () => {
    const random = new Random(SEED);
    for (const bound of [1, 2, 3, 7, 10]) {
      const counts = new Uint32Array(bound);
      for (let i = 0; i < 20_000; i++) counts[random.integer(bound)]!++;
      for (const count of counts)
        expect(Math.abs(count - 20_000 / bound)).toBeLessThan(binomialBound(20_000, 1 / bound));
    }
    for (let i = 0; i < 100; i++) expect(random.integer(0x1_0000_0000)).toBeLessThan(0x1_0000_0000);
    for (const bad of [0, -1, 1.5, Number.NaN, 2 ** 33]) expect(() => random.integer(bad)).toThrow(RangeError);
  });

  it('draws exponentials with the mean and the spread asked for', () => {
    const random = new Random(SEED);
    const n = 200_000;
    let sum = 0;
    let above = 0;
    let least = 0;
    for (let i = 0; i < n; i++) {
      const value = random.exponential(250);
      least = Math.min(least, value);
      sum += value;
      if (value > 250 * Math.LN2) above++;
    }
    expect(least).toBe(0);
    expect(Math.abs(sum / n - 250)).toBeLessThan((SIGMAS * 250) / Math.sqrt(n));
    expect(Math.abs(above - n / 2)).toBeLessThan(binomialBound(n, 0.5));
  });

  it('shuffles into permutations, every one as often', () => {
    const random = new Random(SEED);
    const counts = new Map<string, number>();
    for (let i = 0; i < 24_000; i++) {
      const order = random.shuffle(['a', 'b', 'c', 'd']).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(binomialBound(24_000, 1 / 24));
  });
});

describe('Zipf', () => {
  it.each([
    [1, 1.1],
    [2, 0.5],
    [10, 0],
    [50, 1],
    [1000, 1.1],
    [1000, 2.5],
    [5, 100],
  ])('draws ranks of %i with exponent %f as often as their probability', (size, exponent) => {
    const random = new Random(SEED).derive('zipf', size);
    const zipf = new Zipf(size, exponent);
    const n = 100_000;
    const counts = new Uint32Array(size + 1);
    let outside = 0;
    for (let i = 0; i < n; i++) {
      const rank = zipf.sample(random);
      if (!(rank >= 1 && rank <= size && Number.isInteger(rank))) outside++;
      else counts[rank]!++;
    }
    expect(outside).toBe(0);
    let total = 0;
    for (let k = 1; k <= size; k++) total += k ** -exponent;
    for (let k = 1; k <= Math.min(size, 20); k++) {
      const p = k ** -exponent / total;
      expect(Math.abs(counts[k]! - n * p)).toBeLessThan(binomialBound(n, p));
    }
    const tail = counts.subarray(21).reduce((sum, count) => sum + count, 0);
    let p = 0;
    for (let k = 21; k <= size; k++) p += k ** -exponent / total;
    expect(Math.abs(tail - n * p)).toBeLessThan(binomialBound(n, p));
  });

  it('refuses sizes and exponents out of range', () => {
    for (const size of [0, -1, 1.5, 2 ** 32, Number.NaN]) expect(() => new Zipf(size, 1)).toThrow(RangeError);
    for (const exponent of [-0.1, 101, Number.NaN]) expect(() => new Zipf(10, exponent)).toThrow(RangeError);
  });
});
