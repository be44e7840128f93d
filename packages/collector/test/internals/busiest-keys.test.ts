import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BusiestKeys, NO_ROW } from '../../src/statistics/busiest-keys.js';
import { SEED } from '../seed.js';

/** Time between elections, in milliseconds. */
const ELECTION = 5000;

/** The keys that have rows. */
const keysOf = (table: BusiestKeys): number[] =>
  [...table.first].filter((_, row) => table.used[row] === 1).sort((a, b) => a - b);

describe('BusiestKeys', () => {
  test('behaves like a map with a limit, also when rows are released', () => {
    const capacity = 8;
    const word = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 0xfffffffe }));
    const step = fc.oneof(
      { weight: 9, arbitrary: fc.record({ first: word, second: word }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map((modulus) => ({ modulus })) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.nat(), (steps, seed) => {
        const table = new BusiestKeys(capacity, seed);
        const model = new Map<string, number>();
        for (const one of steps) {
          if ('modulus' in one) {
            table.release((row) => row % one.modulus === 0);
            for (const [key, row] of model) if (row % one.modulus === 0) model.delete(key);
          } else {
            const key = `${one.first} ${one.second}`;
            const known = model.get(key);
            expect(table.find(one.first, one.second)).toBe(known ?? NO_ROW);
            const row = table.note(one.first, one.second);
            if (known !== undefined) expect(row).toBe(known);
            else if (model.size === capacity) expect(row).toBe(NO_ROW);
            else {
              expect([...model.values()]).not.toContain(row);
              expect(row).toBeGreaterThanOrEqual(0);
              expect(row).toBeLessThan(capacity);
              model.set(key, row);
            }
          }
          expect(table.size).toBe(model.size);
        }
        for (const [key, row] of model) {
          expect(table.used[row]).toBe(1);
          expect(`${table.first[row]} ${table.second[row]}`).toBe(key);
        }
      }),
      { seed: SEED },
    );
  });

  test('gives the rows of keys that come no more to those that come, within a minute', () => {
    for (const seed of [1, 2, 3]) {
      const table = new BusiestKeys(64, seed);
      const told: number[] = [];
      for (let key = 0; key < 5000; key++) table.note(1_000_000 + key);
      expect(table.size).toBe(64);
      let secondsToReturn = 0;
      for (let second = 0; second <= 60 && table.find(1) === NO_ROW; second++) {
        for (let key = 1; key <= 64; key++) for (let hit = 0; hit < 10; hit++) table.note(key);
        table.elect(second * 1000, (row) => told.push(table.first[row]!));
        secondsToReturn = second;
      }
      for (let second = secondsToReturn; second <= 60; second++) {
        for (let key = 1; key <= 64; key++) for (let hit = 0; hit < 10; hit++) table.note(key);
        table.elect(second * 1000, (row) => told.push(table.first[row]!));
      }
      expect(keysOf(table)).toEqual(Array.from({ length: 64 }, (_, index) => index + 1));
      expect(told).toHaveLength(64);
      expect(told.every((key) => key >= 1_000_000)).toBe(true);
      expect(table.replaced).toBe(64);
    }
  });

  test('keeps the busy ones while new keys are sprayed at a hundred times their rate', () => {
    const table = new BusiestKeys(32, 5);
    let forged = 0x80000000;
    let lost = 0;
    for (let second = 0; second < 60; second++) {
      for (let hit = 0; hit < 200; hit++) {
        for (let key = 1; key <= 8; key++) table.note(key);
        for (let spray = 0; spray < 100; spray++) table.note(forged++);
      }
      table.elect(second * 1000, (row) => {
        if (table.first[row]! <= 8) lost++;
      });
    }
    expect(lost).toBe(0);
    expect(keysOf(table).slice(0, 8)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('finds the busy ones although all rows were taken before, and new keys go on being sprayed', () => {
    const table = new BusiestKeys(32, 6);
    let forged = 0x80000000;
    for (let spray = 0; spray < 5000; spray++) table.note(forged++);
    for (let second = 0; second <= 15; second++) {
      for (let hit = 0; hit < 200; hit++) {
        for (let key = 1; key <= 8; key++) table.note(key);
        for (let spray = 0; spray < 40; spray++) table.note(forged++);
      }
      table.elect(second * 1000, () => {});
    }
    for (let key = 1; key <= 8; key++) expect(table.find(key)).not.toBe(NO_ROW);
  });

  test('lets no more than an eighth of the rows change hands at a time, the busiest first', () => {
    const table = new BusiestKeys(16, 7);
    for (let key = 100; key < 116; key++) table.note(key);
    table.elect(0, () => {});
    // Each as busy as its number.
    for (let key = 2; key < 12; key++) for (let hit = 0; hit < key; hit++) table.note(key);
    let changed = 0;
    table.elect(ELECTION - 1, () => changed++);
    expect(changed).toBe(0);
    table.elect(ELECTION, () => changed++);
    expect(changed).toBe(2);
    expect(keysOf(table).slice(0, 2)).toEqual([10, 11]);
  });

  test('lets two that are alike not take turns, and one that came once not in', () => {
    const table = new BusiestKeys(1, 8);
    for (let round = 0; round < 10; round++) {
      for (let hit = 0; hit < 10; hit++) table.note(1);
      for (let hit = 0; hit < 19; hit++) table.note(2);
      table.elect(round * ELECTION, () => {});
    }
    expect([keysOf(table), table.replaced]).toEqual([[1], 0]);
    // It has paused for two elections, but only strangers that came once stand for its row.
    for (let round = 10; round < 14; round++) {
      table.note(1000 + round);
      table.elect(round * ELECTION, () => {});
    }
    expect(keysOf(table)).toEqual([1]);
  });

  test('refuses capacities out of range', () => {
    expect(() => new BusiestKeys(0)).toThrow(RangeError);
    expect(() => new BusiestKeys(65_537)).toThrow(RangeError);
  });
});
