import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RepeatFilter } from '../../../src/source/repeats.js';
import { SEED } from '../../seed.js';

describe('a filter of repeats', () => {
  it('lets each record of every writer through once, wherever the writer begins again', () => {
    const writer = fc.record({ partition: fc.nat(2), high: fc.nat(1), low: fc.nat(1) });
    // Runs of a writer's numbers; each begins at or before the place that the one before has reached.
    const runs = fc.array(fc.record({ writer, back: fc.nat(5), length: fc.nat(8), gap: fc.nat(3) }), { maxLength: 30 });
    fc.assert(
      fc.property(runs, (made) => {
        const filter = new RepeatFilter();
        const next = new Map<string, number>();
        const seen = new Set<string>();
        for (const { writer: one, back, length, gap } of made) {
          const key = JSON.stringify(one);
          let number = Math.max(0, (next.get(key) ?? 0) - back);
          for (let k = 0; k < length; k++, number += 1 + gap) {
            const id = `${key} ${number}`;
            const isNew = number >= (next.get(key) ?? 0);
            expect(filter.isRepeat(one.partition, one.high, one.low, number)).toBe(!isNew);
            if (isNew) expect(seen.has(id)).toBe(false);
            seen.add(id);
            next.set(key, Math.max(next.get(key) ?? 0, number + 1));
          }
        }
      }),
      { seed: SEED, numRuns: 300 },
    );
  });

  it('forgets the writer heard of least recently, and no other', () => {
    const filter = new RepeatFilter();
    for (let writer = 0; writer < 4096; writer++) filter.isRepeat(0, 0, writer, 5);
    expect(filter.isRepeat(0, 0, 0, 5)).toBe(true);
    expect(filter.isRepeat(0, 0, 9999, 5)).toBe(false);
    expect(filter.isRepeat(0, 0, 0, 5)).toBe(true);
    expect(filter.isRepeat(0, 0, 2, 5)).toBe(true);
    expect(filter.isRepeat(0, 0, 1, 5)).toBe(false);
  });
});
