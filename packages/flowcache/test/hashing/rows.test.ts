import { crc32 } from 'node:zlib';
import { type Flow, parseAddress } from '@int/codec';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import xxhash from 'xxhash-wasm';
import { FlowCache, FlowCacheView, type HashName } from '../../src/index.js';
import { recordOf } from '../cache/reports.js';
import { LENGTH, SEED } from '../seed.js';

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
const HASHES: readonly { readonly hash: HashName; readonly seed: number; readonly kernel: boolean }[] = [
  { hash: 'xxh32', seed: 0, kernel: false },
  { hash: 'xxh32', seed: 0x9e3779b1, kernel: true },
  { hash: 'crc32', seed: 0, kernel: false },
  { hash: 'crc32', seed: 0, kernel: true },
];

function reference(hash: HashName, seed: number, each: Flow): number {
  const key = keyOf(each);
  return hash === 'xxh32' ? h32Raw(key, seed) : crc32(key);
}

describe.each(HASHES)('flows hashed with $hash, seed $seed, kernel $kernel', ({ hash, seed, kernel }) => {
  test('have the number that the hash has of the bytes of their keys', () => {
    const cache = new FlowCache({ rows: 7, hash, seed, kernel });
    fc.assert(
      fc.property(flow, (each) => {
        expect(cache.hashOf(each)).toBe(reference(hash, seed, each));
      }),
      { seed: SEED, numRuns: 1000 * LENGTH },
    );
  });

  test.each([1, 2, 7, 64, 100])('are in row hash mod %i, and marked with the hash', (rows) => {
    const cache = new FlowCache({ rows, buckets: 2, hops: 1, hash, seed, kernel });
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
      { seed: SEED, numRuns: 100 * LENGTH },
    );
  });
});

/** The flow among those from 10.0.0.1 to 10.0.0.2, protocol 6, whose ports give the CRC: CRCs are linear. */
function flowOfCrc(crc: number): Flow {
  const base: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 0, destinationPort: 0 };
  const crcOf = (ports: number): number =>
    crc32(keyOf({ ...base, sourcePort: ports >>> 16, destinationPort: ports & 0xffff }));
  const zero = crcOf(0);
  // Gaussian elimination over what each bit of the ports flips.
  const pivots: [flips: number, ports: number][] = [];
  for (let bit = 0; bit < 32; bit++) {
    let ports = (1 << bit) >>> 0;
    let flips = (crcOf(ports) ^ zero) >>> 0;
    for (const [other, otherPorts] of pivots) {
      if ((flips ^ other) >>> 0 < flips) {
        flips = (flips ^ other) >>> 0;
        ports = (ports ^ otherPorts) >>> 0;
      }
    }
    if (flips !== 0) pivots.push([flips, ports]);
    pivots.sort(([a], [b]) => b - a);
  }
  let rest = (crc ^ zero) >>> 0;
  let ports = 0;
  for (const [flips, each] of pivots) {
    if ((rest ^ flips) >>> 0 < rest) {
      rest = (rest ^ flips) >>> 0;
      ports = (ports ^ each) >>> 0;
    }
  }
  return { ...base, sourcePort: ports >>> 16, destinationPort: ports & 0xffff };
}

describe.each([false, true])('rare hashes, kernel %s', (kernel) => {
  const cacheOf = (): FlowCache => new FlowCache({ rows: 5, buckets: 4, hops: 1, hash: 'crc32', kernel });
  const observe = (cache: FlowCache, each: Flow): void =>
    cache.observe(recordOf({ isOk: true, flow: each, nodeId: null, hops: [], timeNs: 0n }));

  test("flows of hash 0 and of hash 1 do not get in each other's way", () => {
    const cache = cacheOf();
    const [zero, one] = [flowOfCrc(0), flowOfCrc(1)];
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
    const first: Flow = { ...flowOfCrc(0xdeadbeef) };
    // Of another protocol, with the ports that make up for it.
    const target = cache.hashOf(first);
    const others = Array.from({ length: 4 }, (_, bit) => ({ ...first, protocol: 17 + bit }));
    const second = others.map((other) => matching(cache, other, target)).find((other) => other !== null)!;
    expect(cache.hashOf(second)).toBe(target);
    observe(cache, first);
    observe(cache, second);
    observe(cache, second);
    expect([cache.get(first)?.packets, cache.get(second)?.packets, cache.size]).toEqual([1, 2, 2]);
  });
});

/** The flow with other ports whose CRC is `target`. */
function matching(cache: FlowCache, flow: Flow, target: number): Flow | null {
  const flips = (cache.hashOf(flow) ^ target) >>> 0;
  // The ports that flip these bits, for any flow: by linearity, those of a difference from 10.0.0.1 to 10.0.0.2.
  const zero: Flow = {
    ...flow,
    source: '10.0.0.1',
    destination: '10.0.0.2',
    protocol: 6,
    sourcePort: 0,
    destinationPort: 0,
  };
  const { sourcePort, destinationPort } = flowOfCrc((cache.hashOf(zero) ^ flips) >>> 0);
  return { ...flow, sourcePort: flow.sourcePort ^ sourcePort, destinationPort: flow.destinationPort ^ destinationPort };
}
