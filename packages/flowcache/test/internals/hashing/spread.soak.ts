/**
 * How well flows that are numbered consecutively fill the rows of a cache. Everything here is computed from fixed keys:
 * the figures are the same on each run.
 */
import { flowCrc32Ipv4, flowXxh32Ipv4 } from '@int/hash';
import { Random } from '@int/random';
import { describe, expect, test } from 'vitest';
import { shardOf } from '../../../src/node/scatter.js';

type Words = readonly [source: number, destination: number, protocol: number, ports: number];

const A = 0x0a000000; // 10.0.0.0
const B = 0xc0a80001; // 192.168.0.1
const HTTPS = 443;

const random = new Random(1);

/** Flow number i of each kind. */
const PATTERNS: Readonly<Record<string, (i: number) => Words>> = {
  'source addresses counting up': (i) => [A + i, B, 6, (40_000 << 16) | HTTPS],
  'destination addresses counting up': (i) => [A, B + i, 6, (40_000 << 16) | HTTPS],
  'source networks /24 counting up': (i) => [(A + i * 256) >>> 0, B, 6, (40_000 << 16) | HTTPS],
  'both addresses counting up': (i) => [A + i, B + i, 6, (40_000 << 16) | HTTPS],
  'source ports counting up': (i) => [A + (i >>> 16), B, 6, ((i & 0xffff) << 16) | HTTPS],
  'destination ports counting up': (i) => [A + (i >>> 16), B, 6, (40_000 << 16) | (i & 0xffff)],
  'both ports counting up': (i) => [A + (i >>> 16), B, 6, ((i & 0xffff) << 16) | (i & 0xffff)],
  '256 hosts talking to 256 hosts': (i) => [A + (i & 255), B + ((i >>> 8) & 255), 6, ((i >>> 16) << 16) | HTTPS],
  '256 hosts, ports counting up': (i) => [A + (i & 255), B, 17, ((1024 + (i >>> 8)) << 16) | 53],
  'random flows': () => [random.uint32(), random.uint32(), 6, random.uint32()],
};

const xxh32 = (words: Words): number => flowXxh32Ipv4(...words, 0);
const crc32 = (words: Words): number => flowCrc32Ipv4(...words);

/** Flows in each cell. */
function loads(
  flows: number,
  cells: number,
  pattern: (i: number) => Words,
  cellOf: (words: Words) => number,
): Uint32Array {
  const counts = new Uint32Array(cells);
  for (let i = 0; i < flows; i++) {
    const cell = cellOf(pattern(i));
    counts[cell] = counts[cell]! + 1;
  }
  return counts;
}

/**
 * How far Pearson's statistic of equally likely cells is from its mean, in standard deviations; its distribution is
 * close to normal for so many cells. Below 0: more even than chance.
 */
function chiSquareDeviations(counts: Uint32Array): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const statistic = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  const freedom = counts.length - 1;
  return (statistic - freedom) / Math.sqrt(2 * freedom);
}

/** The share of cells with more than `most` flows if each flow takes any cell: Poisson. */
function poissonAbove(most: number, mean: number): number {
  let term = Math.exp(-mean);
  let below = term;
  for (let count = 1; count <= most; count++) {
    term *= mean / count;
    below += term;
  }
  return 1 - below;
}

const used = (counts: Uint32Array): number => counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
const most = (counts: Uint32Array): number => counts.reduce((largest, count) => Math.max(largest, count), 0);

describe('with xxh32', () => {
  const cases = Object.keys(PATTERNS).flatMap((name) => [4096, 65_536, 5000].map((rows) => [name, rows] as const));

  test.each(cases)('%s fill %i rows as chance would', (name, rows) => {
    const mean = 8;
    const counts = loads(mean * rows, rows, PATTERNS[name]!, (words) => xxh32(words) % rows);
    // 5 standard deviations: one in a million.
    expect(Math.abs(chiSquareDeviations(counts))).toBeLessThan(5);
    // The largest load that is expected less than once in a thousand such caches.
    let limit = mean;
    while (poissonAbove(limit, mean) * rows > 1e-3) limit++;
    expect(most(counts)).toBeLessThanOrEqual(limit);
    // Rows with more flows than 12 buckets: as many as chance makes.
    const full = counts.reduce((sum, count) => sum + (count > 12 ? 1 : 0), 0);
    const expected = poissonAbove(12, mean) * rows;
    expect(Math.abs(full - expected)).toBeLessThan(5 * Math.sqrt(expected));
  });

  test.each(Object.keys(PATTERNS))('%s spread over shards and rows independently', (name) => {
    const rows = 1024;
    for (const shards of [2, 3, 4, 7]) {
      const counts = loads(16 * shards * rows, shards * rows, PATTERNS[name]!, (words) => {
        const hash = xxh32(words);
        return shardOf(hash, shards) * rows + (hash % rows);
      });
      expect(Math.abs(chiSquareDeviations(counts))).toBeLessThan(5);
    }
  });
});

test('the shard of a flow is told by the upper bits of its hash', () => {
  for (const shards of [1, 2, 3, 7, 255, 256]) {
    for (let draw = 0; draw < 2000; draw++) {
      const hash = draw < 8 ? 0xffffffff - draw : random.uint32();
      expect(shardOf(hash, shards)).toBe(Math.floor((hash * shards) / 2 ** 32));
    }
  }
});

describe('with crc32', () => {
  /** Flows, rows, and what comes of it. */
  const rowsOf = (name: string, rows: number): Uint32Array =>
    loads(8 * rows, rows, PATTERNS[name]!, (words) => crc32(words) % rows);

  test.each([
    'source addresses counting up',
    'source networks /24 counting up',
    'source ports counting up',
    'both ports counting up',
    '256 hosts, ports counting up',
  ])('%s fill a power of two of rows with exactly the same number of flows', (name) => {
    for (const rows of [4096, 65_536]) {
      const counts = rowsOf(name, rows);
      expect(counts.every((count) => count === 8)).toBe(true);
    }
  });

  test('random flows fill rows as chance would', () => {
    for (const rows of [4096, 65_536, 5000]) {
      expect(Math.abs(chiSquareDeviations(rowsOf('random flows', rows)))).toBeLessThan(5);
    }
  });

  test('destination ports counting up leave half of 65,536 rows empty, and double the load of the others', () => {
    const counts = rowsOf('destination ports counting up', 65_536);
    expect(used(counts)).toBe(32_768);
    expect(counts.every((count) => count === 0 || count === 16)).toBe(true);
    // Not so with one row fewer: no power of two.
    expect(
      used(loads(8 * 65_535, 65_535, PATTERNS['destination ports counting up']!, (words) => crc32(words) % 65_535)),
    ).toBeGreaterThan(65_000);
  });

  test('both ports counting up use a quarter of all pairs of shard and row if the same hash chooses both', () => {
    const rows = 65_536;
    const shards = 4;
    const pairs = (hashOfShard: (words: Words) => number): number =>
      used(
        loads(8 * rows, shards * rows, PATTERNS['both ports counting up']!, (words) => {
          return shardOf(hashOfShard(words), shards) * rows + (crc32(words) % rows);
        }),
      ) /
      (shards * rows);
    expect(pairs(crc32)).toBe(0.25);
    // A sharded cache chooses shards like this: of the eight flows in each row, any number may go to each of four shards.
    expect(pairs(xxh32)).toBeCloseTo(1 - (3 / 4) ** 8, 2);
  });

  test('flows that differ by the same bits have hashes that do', () => {
    const flips = crc32([A, B, 6, 1]) ^ crc32([A, B, 6, 0]);
    for (let ports = 0; ports < 1000; ports += 2) {
      expect(crc32([A + ports, B, 6, ports + 1]) ^ crc32([A + ports, B, 6, ports])).toBe(flips);
    }
  });
});
