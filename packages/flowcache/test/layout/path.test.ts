/** What of a path an entry keeps: the ids of its hops, and a hash of the others. */

import type { Flow } from '@int/codec';
import { EXACT, FlowCache, type LayoutName } from '@int/flowcache';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { recordOf } from '../cache/reports.js';
import { SEED } from '../seed.js';

const FLOW: Flow = { source: '10.0.0.1', destination: '10.0.0.2', protocol: 6, sourcePort: 1, destinationPort: 2 };
const HOPS = 3;

/** The body of MurmurHash3_x86_32 (Austin Appleby, public domain), in 64-bit arithmetic. */
function murmur(ids: readonly number[]): number {
  const rotate = (word: bigint, by: bigint): bigint => BigInt.asUintN(32, (word << by) | (word >> (32n - by)));
  let hash = 0x9747b28cn;
  for (const id of ids) {
    let key = BigInt.asUintN(32, BigInt(id) * 0xcc9e2d51n);
    key = BigInt.asUintN(32, rotate(key, 15n) * 0x1b873593n);
    hash = BigInt.asUintN(32, rotate(hash ^ key, 13n) * 5n + 0xe6546b64n);
  }
  return Number(hash);
}

/** The id whose step from `from` gives `to`. */
function inverse(from: number, to: number): number {
  const rotate = (word: bigint, by: bigint): bigint => BigInt.asUintN(32, (word << by) | (word >> (32n - by)));
  /** The inverse of an odd number modulo 2^32, by Newton's iteration. */
  const invert = (odd: bigint): bigint => {
    let result = 1n;
    for (let step = 0; step < 6; step++) result = BigInt.asUintN(32, result * (2n - odd * result));
    return result;
  };
  const mixed = rotate(BigInt.asUintN(32, (BigInt(to) - 0xe6546b64n) * invert(5n)), 19n) ^ BigInt(from);
  const key = rotate(BigInt.asUintN(32, mixed * invert(0x1b873593n)), 17n);
  return Number(BigInt.asUintN(32, key * invert(0xcc9e2d51n)));
}

class Observer {
  readonly cache: FlowCache;

  constructor(accelerator: boolean, layout: LayoutName = 'exact') {
    this.cache = new FlowCache({ rows: 1, buckets: 2, hops: HOPS, metrics: ['hopLatency'], accelerator, layout });
  }

  observe(path: readonly (number | null)[], nodeId: number | null = null): this {
    const hops = path.map((id) => ({ nodeId: id, values: {} }));
    this.cache.observe(recordOf({ isOk: true, flow: FLOW, nodeId, hops, timeNs: 0n }));
    return this;
  }

  get changes(): number {
    return this.cache.get(FLOW)!.pathChanges;
  }

  get tail(): number {
    return this.cache.words[this.cache.geometry.bucketsAt + EXACT.PATH_TAIL]! >>> 0;
  }
}

describe.each([false, true])('the path of a flow, accelerator %s', (accelerator) => {
  const id = fc.oneof(fc.nat(20), fc.nat(0xfffffffe));

  test('has a tail of the ids behind its hops, as MurmurHash3 mixes them', () => {
    // One cache, to which each path is that of the same flow.
    const observer = new Observer(accelerator);
    fc.assert(
      fc.property(fc.array(fc.option(id), { maxLength: 9 }), fc.option(id), (path, nodeId) => {
        const before = observer.cache.size === 0 ? 0 : observer.tail;
        observer.observe(path, nodeId);
        const named = path.filter((each) => each !== null);
        const hidden = path.slice(HOPS).filter((each) => each !== null);
        if (nodeId !== null && nodeId !== named.at(-1)) hidden.push(nodeId);
        const isNamed = named.length > 0 || nodeId !== null;
        if (!isNamed) expect(observer.tail).toBe(before);
        else expect(observer.tail).toBe(hidden.length === 0 ? 0 : murmur(hidden) || 1);
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  test('has a tail that is not 0 if there is an id in it', () => {
    const zero = inverse(0x9747b28c, 0);
    expect(murmur([zero])).toBe(0);
    const observer = new Observer(accelerator).observe([1, 2, 3, zero]);
    expect(observer.tail).toBe(1);
    expect(observer.observe([1, 2, 3, 5]).changes).toBe(1);
  });

  test('changes unseen if what is hidden has the same hash', () => {
    const other = inverse(murmur([8]), murmur([4, 5]));
    expect(murmur([8, other])).toBe(murmur([4, 5]));
    const observer = new Observer(accelerator).observe([1, 2, 3, 4, 5]).observe([1, 2, 3, 8, other]);
    expect(observer.changes).toBe(0);
    expect(observer.observe([1, 2, 3, 8, 5]).changes).toBe(1);
  });

  test('of a compact cache is that of its hops alone', () => {
    const observer = new Observer(accelerator, 'compact').observe([1, 2, 3, 4], 9).observe([1, 2, 3, 5], 8);
    expect(observer.changes).toBe(0);
    expect(observer.observe([1, 2, 7, 5], 8).changes).toBe(1);
    expect(observer.observe([1, 2, 7], 8).changes).toBe(2);
  });

  test('stays as it was where a report names no switch', () => {
    const observer = new Observer(accelerator).observe([1, 2]).observe([]).observe([null, null, null]).observe([1, 2]);
    expect(observer.changes).toBe(0);
    expect(observer.cache.get(FLOW)).toMatchObject({ packets: 4, path: [1, 2], pathLength: 2 });
  });
});
