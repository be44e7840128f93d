import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NO_ROW, NodeTable } from '../src/statistics/node-table.js';
import { SEED } from './seed.js';

describe('NodeTable', () => {
  test('behaves like a map with a limit, also when rows are released', () => {
    const capacity = 8;
    const id = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 0xfffffffe }));
    const step = fc.oneof(
      { weight: 9, arbitrary: id.map((node) => ({ node })) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map((modulus) => ({ modulus })) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = new NodeTable(capacity);
        const model = new Map<number, number>();
        for (const one of steps) {
          if ('modulus' in one) {
            table.release((row) => row % one.modulus === 0);
            for (const [node, row] of model) if (row % one.modulus === 0) model.delete(node);
          } else {
            const row = table.rowOf(one.node);
            const known = model.get(one.node);
            if (known !== undefined) expect(row).toBe(known);
            else if (model.size === capacity) expect(row).toBe(NO_ROW);
            else {
              expect([...model.values()]).not.toContain(row);
              expect(row).toBeGreaterThanOrEqual(0);
              expect(row).toBeLessThan(capacity);
              model.set(one.node, row);
            }
          }
          expect(table.size).toBe(model.size);
        }
        for (const [node, row] of model) {
          expect(table.used[row]).toBe(1);
          expect(table.ids[row]).toBe(node);
        }
      }),
      { seed: SEED },
    );
  });

  test('holds a table that is full of ids with one hash', () => {
    const table = new NodeTable(64);
    for (let node = 0; node < 64; node++) expect(table.rowOf(node * 0x10001)).toBe(node);
    for (let node = 64; node < 10_000; node++) expect(table.rowOf(node * 0x10001)).toBe(NO_ROW);
    for (let node = 0; node < 64; node++) expect(table.rowOf(node * 0x10001)).toBe(node);
  });

  test('refuses capacities out of range', () => {
    expect(() => new NodeTable(0)).toThrow(RangeError);
    expect(() => new NodeTable(65_537)).toThrow(RangeError);
  });
});
