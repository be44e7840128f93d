import { crc32 } from 'node:zlib';
import { type Flow, formatIpv6, parseAddress } from '@int/codec';
import { FlowCache, FlowCacheView, type HashName } from '@int/flowcache';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import xxhash from 'xxhash-wasm';
import { runs } from '../../../../.ci/test/length.js';
import { recordOf } from '../cache/reports.js';
import { SEED } from '../seed.js';

let h32Raw: (bytes: Uint8Array, seed?: number) => number;
beforeAll(async () => {
  ({ h32Raw } = await xxhash());
});

/** The key of a flow: 13 or 37 bytes, big-endian. */
function keyOf({ source, destination, protocol, sourcePort, destinationPort }: Flow): Uint8Array {
  const words = [...parseAddress(source).words, ...parseAddress(destination).words];
  const key = new Uint8Array(words.length * 4 + 5);
  const view = new DataView(key.buffer);
  words.forEach((word, index) => {
    view.setUint32(index * 4, word);
  });
  view.setUint8(words.length * 4, protocol);
  view.setUint16(words.length * 4 + 1, sourcePort);
  view.setUint16(words.length * 4 + 3, destinationPort);
  return key;
}

const port = fc.nat(0xffff);
const flow: fc.Arbitrary<Flow> = fc
  .oneof(fc.tuple(fc.ipV4(), fc.ipV4()), fc.tuple(fc.ipV6(), fc.ipV6()))
  .chain(([source, destination]) =>
    fc.record({
      source: fc.constant(source),
      destination: fc.constant(destination),
      protocol: fc.nat(255),
      sourcePort: port,
      destinationPort: port,
    }),
  );
const HASHES: readonly { readonly hash: HashName; readonly seed: number; readonly accelerator: boolean }[] = [
  { hash: 'xxh32', seed: 0, accelerator: false },
  { hash: 'xxh32', seed: 0x9e3779b1, accelerator: true },
  { hash: 'crc32', seed: 0, accelerator: false },
  { hash: 'crc32', seed: 0, accelerator: true },
];

function reference(hash: HashName, seed: number, each: Flow): number {
  const key = keyOf(each);
  return hash === 'xxh32' ? h32Raw(key, seed) : crc32(key);
}

describe.each(HASHES)(
  'flows hashed with $hash, seed $seed, accelerator $accelerator',
  ({ hash, seed, accelerator }) => {
    test('have the number that the hash has of the bytes of their keys', () => {
      const cache = new FlowCache({ rows: 7, hash, seed, accelerator });
      fc.assert(
        fc.property(flow, (each) => {
          expect(cache.hashOf(each)).toBe(reference(hash, seed, each));
        }),
        { seed: SEED, numRuns: runs(1000) },
      );
    });

    test.each([1, 2, 7, 64, 100])('are in row hash mod %i, and marked with the hash', (rows) => {
      const cache = new FlowCache({ rows, buckets: 2, hops: 1, hash, seed, accelerator });
      const { geometry, words, buffer, byteOffset } = cache;
      const view = new FlowCacheView(buffer, byteOffset);
      fc.assert(
        fc.property(flow, (each) => {
          cache.observe(recordOf({ isOk: true, flow: each, nodeId: null, hops: [], timeNs: 0n }));
          const expected = reference(hash, seed, each);
          const first = geometry.rowsAt + (expected % rows) * geometry.rowStride;
          expect([...words.subarray(first, first + 2)]).toContain(expected === 0 ? 1 : expected | 0);
          expect(view.get(each)).toEqual(cache.get(each));
          expect(cache.get(each)?.packets).toBeGreaterThan(0);
        }),
        { seed: SEED, numRuns: runs(100) },
      );
    });
  },
);

/**
 * The bits of a word of the key that flip these bits of the CRC: CRCs are linear, and 32 bits in a row of the key can give
 * any.
 * @param crcOf the CRC of the key with the word flipped like this
 */
function solve(crcOf: (bits: number) => number, flips: number): number {
  const zero = crcOf(0);
  // Gaussian elimination over what each bit of the word flips, the largest first.
  const pivots: [flips: number, bits: number][] = [];
  const reduce = (from: number): [rest: number, bits: number] => {
    let [rest, bits] = [from, 0];
    for (const [each, its] of pivots) {
      if ((rest ^ each) >>> 0 < rest) {
        rest = (rest ^ each) >>> 0;
        bits = (bits ^ its) >>> 0;
      }
    }
    return [rest, bits];
  };
  for (let bit = 0; bit < 32; bit++) {
    const word = (1 << bit) >>> 0;
    const [rest, bits] = reduce((crcOf(word) ^ zero) >>> 0);
    if (rest !== 0) pivots.push([rest, (bits ^ word) >>> 0]);
    pivots.sort(([left], [right]) => right - left);
  }
  return reduce(flips >>> 0)[1];
}

const withPorts = (flow: Flow, bits: number): Flow => ({
  ...flow,
  sourcePort: flow.sourcePort ^ (bits >>> 16),
  destinationPort: flow.destinationPort ^ (bits & 0xffff),
});

/** The flow with other ports that has this CRC. */
function ofCrc(flow: Flow, crc: number): Flow {
  const crcOf = (bits: number): number => crc32(keyOf(withPorts(flow, bits)));
  return withPorts(flow, solve(crcOf, crcOf(0) ^ crc));
}

const IPV4: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 0, destinationPort: 0 };
const IPV6_WORDS: readonly number[] = [0x20010db8, 1, 2, 3, 0x20010db8, 4, 5, 6];

/** The flow from the first four words to the others. */
function ofWords(words: readonly number[]): Flow {
  const [a, b, c, d, e, f, g, h] = words as [number, number, number, number, number, number, number, number];
  return { ...IPV4, source: formatIpv6(a, b, c, d), destination: formatIpv6(e, f, g, h) };
}

describe.each([false, true])('rare hashes, accelerator %s', (accelerator) => {
  const cacheOf = (): FlowCache => new FlowCache({ rows: 5, buckets: 4, hops: 1, hash: 'crc32', accelerator });
  const observe = (cache: FlowCache, each: Flow): void =>
    cache.observe(recordOf({ isOk: true, flow: each, nodeId: null, hops: [], timeNs: 0n }));

  test("flows of hash 0 and of hash 1 do not get in each other's way", () => {
    const cache = cacheOf();
    const [zero, one] = [ofCrc(IPV4, 0), ofCrc(IPV4, 1)];
    expect([cache.hashOf(zero), cache.hashOf(one)]).toEqual([0, 1]);
    observe(cache, zero);
    const { rowsAt, rowStride } = cache.geometry;
    expect(cache.words[rowsAt]).toBe(1);
    observe(cache, zero);
    observe(cache, one);
    expect(cache.words[rowsAt + rowStride]).toBe(1);
    expect([cache.get(zero)?.packets, cache.get(one)?.packets, cache.size]).toEqual([2, 1, 2]);
    expect(cache.remove(zero)?.packets).toBe(2);
    expect(cache.get(zero)).toBeUndefined();
    expect(cache.get(one)?.packets).toBe(1);
  });

  test('flows of the same hash are two flows', () => {
    const cache = cacheOf();
    const first = ofCrc(IPV4, 0xdeadbeef);
    const second = ofCrc({ ...IPV4, protocol: 17 }, 0xdeadbeef);
    expect([cache.hashOf(first), cache.hashOf(second)]).toEqual([0xdeadbeef, 0xdeadbeef]);
    observe(cache, first);
    observe(cache, second);
    observe(cache, second);
    expect([cache.get(first)?.packets, cache.get(second)?.packets, cache.size]).toEqual([1, 2, 2]);
  });

  test('flows of the same hash are two flows, whichever words of their addresses differ', () => {
    const first = ofWords(IPV6_WORDS);
    for (let word = 0; word < 8; word++) {
      for (let other = word + 1; other < 8; other++) {
        const flipped = (bits: number): number[] =>
          IPV6_WORDS.map((value, index) => (value ^ (index === word ? 1 : index === other ? bits : 0)) >>> 0);
        const crcOf = (bits: number): number => crc32(keyOf(ofWords(flipped(bits))));
        const second = ofWords(flipped(solve(crcOf, crcOf(0) ^ crc32(keyOf(first)))));
        const cache = cacheOf();
        expect(cache.hashOf(second)).toBe(cache.hashOf(first));
        observe(cache, first);
        observe(cache, second);
        observe(cache, second);
        expect([cache.get(first)?.packets, cache.get(second)?.packets, cache.size]).toEqual([1, 2, 2]);
      }
    }
  });
});
