import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Repeats } from '../../src/repeats.js';
import { SEED } from './log.js';

/** A few sinks that write in order, and now and then begin a batch again. */
const steps = fc.array(fc.record({ sink: fc.nat(3), back: fc.oneof(fc.constant(0), fc.nat(5)) }), { maxLength: 60 });

describe('records that were seen before', () => {
  it('are those whose number was seen', () => {
    fc.assert(
      fc.property(steps, fc.nat(60), (all, restart) => {
        let repeats = new Repeats();
        const stored = new Map<string, { high: number; low: number; number: number }>();
        const next = new Map<number, number>();
        const seen = new Set<string>();
        all.forEach(({ sink, back }, step) => {
          // A sink that writes a batch again goes on from there: all behind it comes again as well.
          const number = Math.max(0, (next.get(sink) ?? 0) - back);
          next.set(sink, number + 1);
          const name = `${sink}-${number}`;
          expect(repeats.isNew(sink, 7, number)).toBe(!seen.has(name));
          seen.add(name);
          for (const change of repeats.changes()) {
            stored.set(`${change.high}`, { ...change, number: change.number! });
          }
          if (step !== restart) return;
          repeats = new Repeats();
          for (const { high, low, number: largest } of stored.values()) repeats.restore(high, low, largest);
        });
      }),
      { seed: SEED },
    );
  });

  it('are forgotten with the sink that was not heard for longest', () => {
    const repeats = new Repeats();
    for (let sink = 0; sink < 1024; sink++) repeats.isNew(sink, 0, 5);
    repeats.isNew(0, 0, 6);
    repeats.changes();
    repeats.isNew(1024, 0, 1);
    expect(repeats.changes()).toEqual([
      { high: 1024, low: 0, number: 1 },
      { high: 1, low: 0, number: null },
    ]);
    expect(repeats.isNew(1, 0, 5)).toBe(true);
    expect(repeats.isNew(0, 0, 6)).toBe(false);
  });
});
