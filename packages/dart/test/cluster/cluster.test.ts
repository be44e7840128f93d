import { CollectorTable, DartCluster, type DartCollector, DartStore, fixedKeyRows } from '@int/dart';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';

function collectors(count: number, slots = 4096): DartCollector[] {
  return Array.from({ length: count }, (_, id) => ({
    id,
    address: `10.9.0.${id + 1}`,
    port: 4791,
    queuePair: 0x100 + id,
    remoteKey: 0x1000 + id,
    base: 0x7f00_0000_0000n,
    slots,
  }));
}

const keyOf = (id: number): Uint8Array => {
  const key = new Uint8Array(13);
  new DataView(key.buffer).setUint32(2, id);
  return key;
};
const pathOf = (id: number): Uint8Array => new Uint8Array(20).fill(id & 0xff, 1);

describe('a cluster', () => {
  it('has all copies of a key at its collector, and at a second one if there are two replicas', () => {
    const arbitrary = fc.record({
      count: fc.integer({ min: 2, max: 7 }),
      replicas: fc.constantFrom(1 as const, 2 as const),
      hash: fc.constantFrom('xxhash' as const, 'crc' as const),
      ids: fc.uniqueArray(fc.nat(10_000), { minLength: 1, maxLength: 300 }),
    });
    fc.assert(
      fc.property(arbitrary, ({ count, replicas, hash, ids }) => {
        const table = new CollectorTable(collectors(count), replicas);
        const [one, many] = [new DartCluster(table, { hash }), new DartCluster(table, { hash })];
        const keys = fixedKeyRows(Buffer.concat(ids.map(keyOf)), 13);
        many.writeRows(keys, Buffer.concat(ids.map(pathOf)));
        for (const id of ids) one.write(keyOf(id), pathOf(id));
        for (let collector = 0; collector < count; collector++) {
          const alone = new DartStore({ slots: 4096, hash });
          const own = ids.filter((id) => one.collectorsOf(keyOf(id)).includes(collector));
          for (const id of own) alone.write(keyOf(id), pathOf(id));
          expect(Buffer.compare(one.store(collector)!.pieces[0]!, alone.pieces[0]!)).toBe(0);
          expect(Buffer.compare(many.store(collector)!.pieces[0]!, alone.pieces[0]!)).toBe(0);
        }
        for (const id of ids) {
          const key = keyOf(id);
          const places = one.collectorsOf(key);
          expect(new Set(places).size).toBe(replicas);
          expect(places[0]).toBe(one.store(0)!.collectorOf(key));
        }
      }),
      { seed: SEED, numRuns: runs(20) },
    );
  });

  it('spreads keys and their seconds evenly', () => {
    for (const hash of ['xxhash', 'crc'] as const) {
      const cluster = new DartCluster(new CollectorTable(collectors(5, 64), 2), { hash });
      const pairs = new Map<string, number>();
      for (let id = 0; id < 20_000; id++) {
        const pair = cluster.collectorsOf(keyOf(Math.imul(id, 0x9e3779b1) >>> 0)).join();
        pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
      }
      expect(pairs.size).toBe(20);
      // 1000 expected, standard deviation 31; 20 pairs and 2 families: 4.5 of them.
      for (const count of pairs.values()) expect(Math.abs(count - 1000)).toBeLessThan(140);
    }
  });

  it.each(['xxhash', 'crc'] as const)('with one replica, the keys of a dead collector are unavailable (%s)', (hash) => {
    const cluster = new DartCluster(new CollectorTable(collectors(4, 65_536)), { hash });
    for (let id = 0; id < 500; id++) cluster.write(keyOf(id), pathOf(id));
    cluster.fail(2);
    for (let id = 0; id < 500; id++) {
      const isThere = cluster.collectorsOf(keyOf(id))[0] !== 2;
      expect(cluster.query(keyOf(id)).status === 'unavailable').toBe(!isThere);
    }
    const before = cluster.lostWrites;
    for (let id = 0; id < 500; id++) cluster.write(keyOf(id), pathOf(id));
    const lost = Array.from({ length: 500 }, (_, id) => cluster.collectorsOf(keyOf(id))[0]).filter((at) => at === 2);
    expect(cluster.lostWrites - before).toBe(lost.length);
    cluster.restore(2);
    for (let id = 0; id < 500; id++) {
      const isThere = cluster.collectorsOf(keyOf(id))[0] !== 2;
      expect(cluster.query(keyOf(id)).status).toBe(isThere ? 'value' : 'absent');
    }
  });

  it.each(['xxhash', 'crc'] as const)(
    'with two replicas, every key is still answered when one collector dies (%s)',
    (hash) => {
      for (let dead = 0; dead < 4; dead++) {
        // 16384 slots a collector for 250 keys, their replicas included: nothing that matters is overwritten.
        const cluster = new DartCluster(new CollectorTable(collectors(4, 16_384), 2), { hash, copies: 4 });
        for (let id = 0; id < 500; id++) cluster.write(keyOf(id), pathOf(id));
        cluster.fail(dead);
        for (let id = 0; id < 500; id++) {
          const { status, value, collector } = cluster.query(keyOf(id));
          expect(status).toBe('value');
          expect(value).toEqual(pathOf(id));
          expect(collector).not.toBe(dead);
        }
        // What is written meanwhile is answered by the second even after the first is back, empty.
        for (let id = 500; id < 700; id++) cluster.write(keyOf(id), pathOf(id));
        cluster.restore(dead);
        for (let id = 0; id < 700; id++) expect(cluster.query(keyOf(id)).value).toEqual(pathOf(id));
      }
    },
  );

  it('refuses stores and tables that do not belong', () => {
    const cluster = new DartCluster(new CollectorTable(collectors(2)), {});
    expect(() => cluster.restore(1, new DartStore({ slots: 4096, hash: 'crc' }))).toThrow(TypeError);
    expect(() => cluster.restore(1, new DartStore({ slots: 4096, seed: 1 }))).toThrow(TypeError);
    expect(() => cluster.restore(1, new DartStore({ slots: 4095 }))).toThrow(TypeError);
    expect(() => cluster.fail(2)).toThrow(RangeError);
    expect(() => cluster.query(new Uint8Array(65_536))).toThrow(RangeError);
    expect(() => new CollectorTable([])).toThrow(RangeError);
    expect(() => new CollectorTable(collectors(1), 2)).toThrow(RangeError);
    expect(() => new CollectorTable(collectors(2).reverse())).toThrow(RangeError);
  });
});
