import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventQueue } from '../../src/events.js';
import { SEED } from '../seed.js';

describe('EventQueue', () => {
  it('gives events back in the order of time, and of one time in the order they came', () => {
    const action = fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 30 }) },
      { weight: 2, arbitrary: fc.constant(null) },
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 400 }), (actions) => {
        const queue = new EventQueue();
        const model: { time: number; value: number }[] = [];
        for (const [value, time] of actions.entries()) {
          if (time !== null) {
            queue.push(time, value);
            // After all that are not later.
            const at = model.findIndex((one) => one.time > time);
            model.splice(at < 0 ? model.length : at, 0, { time, value });
            continue;
          }
          expect(queue.nextTime).toBe(model[0]?.time ?? Number.POSITIVE_INFINITY);
          expect(queue.pop()).toBe(model.shift()?.value ?? -1);
          expect(queue.size).toBe(model.length);
        }
        while (model.length > 0) expect(queue.pop()).toBe(model.shift()!.value);
        expect(queue.pop()).toBe(-1);
      }),
      { seed: SEED, numRuns: 300 },
    );
  });
});
