import { Random } from '@int/random';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlowTable } from '../../src/table/flows.js';
import { KeyTable } from '../../src/table/keys.js';
import { SEED } from '../seed.js';

const key = (k: number): Uint32Array => Uint32Array.of(0, 0, 0xffff, k);

describe('KeyTable', () => {
  it('is a map as long as there is room', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 200 }), (keys) => {
        const table = new KeyTable(64, () => expect.unreachable());
        const model = new Map<number, number>();
        for (const k of keys) {
          const row = table.rowOf(key(k), 0, 0);
          expect(model.get(k) ?? row).toBe(row);
          model.set(k, row);
        }
        expect(table.size).toBe(model.size);
        for (let k = 0; k <= 60; k++) expect(table.find(key(k), 0)).toBe(model.get(k) ?? -1);
      }),
      { seed: SEED },
    );
  });

  it('keeps what matters while keys flood it, and counts what gave way', () => {
    const forgotten: number[] = [];
    const table = new KeyTable(64, (row) => forgotten.push(row));
    for (let k = 0; k < 8; k++) table.weight[table.rowOf(key(k), 0, 0)] = 100;
    for (let k = 8; k < 10_000; k++) table.rowOf(key(k), 0, k);
    for (let k = 0; k < 8; k++) expect(table.find(key(k), 0)).toBe(k);
    expect(table.evicted).toBe(10_000 - 64);
    expect(forgotten.length).toBe(table.evicted);
    // Each row is found by the key it has now, and by no other.
    let found = 0;
    for (let k = 0; k < 10_000; k++) if (table.find(key(k), 0) >= 0) found++;
    expect(found).toBe(64);
  });

  it('keeps the newest of those that weigh the same', () => {
    const table = new KeyTable(16, () => {});
    for (let k = 0; k < 100; k++) table.rowOf(key(k), 0, k);
    for (let k = 84; k < 100; k++) expect(table.find(key(k), 0)).toBeGreaterThanOrEqual(0);
  });
});

describe('FlowTable', () => {
  it('finds a flow in both directions, as a map does, also after others gave way', () => {
    const random = new Random('flows');
    const table = new FlowTable(128);
    const [words, kept] = [new Uint32Array(8), new Uint32Array(8)];
    const model = new Map<string, number>();
    let time = 0;
    for (let k = 0; k < 5000; k++) {
      // Some addresses are of IPv4; the ends of the others are the same.
      for (const at of [0, 4]) {
        words.fill(0, at, at + 3);
        const kind = random.integer(3);
        if (kind === 0) words[at + 2] = 0xffff;
        else words[at + kind - 1] = kind;
        words[at + 3] = random.integer(6);
      }
      const [from, to, protocol] = [random.integer(3), random.integer(3), 6 + random.integer(2)];
      const row = table.find(words, ((from << 16) | to) >>> 0, protocol);
      const [source, destination] = [words.slice(0, 4), words.slice(4)].map((each) => each.join('.'));
      const forward = `${source}:${from}-${destination}:${to}/${protocol}`;
      const backward = `${destination}:${to}-${source}:${from}/${protocol}`;
      const known = model.get(forward) ?? model.get(backward);
      if (row >= 0) {
        expect(row).toBe(known);
        expect(table.isForward).toBe(model.has(forward));
        table.copyAddresses(row, kept);
        expect([...kept]).toEqual(table.isForward ? [...words] : [...words.slice(4), ...words.slice(0, 4)]);
        table.touch(row, ++time);
        continue;
      }
      expect(known).toBeUndefined();
      const inserted = table.insert(words, ((from << 16) | to) >>> 0, protocol, ++time);
      for (const [name, other] of model) if (other === inserted) model.delete(name);
      model.set(forward, inserted);
      expect([table.service(inserted), table.protocol(inserted)]).toEqual([to, protocol]);
    }
    expect(model.size).toBe(128);
    expect(table.evicted).toBeGreaterThan(0);
  });
});
