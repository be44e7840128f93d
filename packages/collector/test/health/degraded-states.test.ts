import { DEGRADED, DegradedStates, healthOf } from '@int/collector';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SEED } from '../seed.js';

/** States with a clock of the test's own, and a counter to watch. */
function watching(): { readonly states: DegradedStates; readonly at: { now: number; count: number } } {
  const at = { now: 1000, count: 5 };
  const states = new DegradedStates({ holdMs: 100, now: () => at.now });
  states.watch(
    'shedding',
    () => at.count,
    (grown) => `${grown} lost`,
  );
  return { states, at };
}

describe('DegradedStates', () => {
  test('last from their beginning to their end', () => {
    const { states, at } = watching();
    states.begin('spooling', '1 MiB');
    at.now = 1500;
    states.begin('spooling', '2 MiB');
    states.end('outage');
    expect(states.list()).toEqual([{ name: 'spooling', since: 1000, text: '2 MiB' }]);
    states.end('spooling');
    expect(states.list()).toEqual([]);
    states.begin('spooling', '3 MiB');
    expect(states.list()).toEqual([{ name: 'spooling', since: 1500, text: '3 MiB' }]);
  });

  test('of a counter last while it grows, and are over by themselves', () => {
    const { states, at } = watching();
    expect(states.list()).toEqual([]);
    at.count = 7;
    expect(states.list()).toEqual([{ name: 'shedding', since: 1000, text: '2 lost' }]);
    at.now = 1090;
    at.count = 8;
    expect(states.list()).toEqual([{ name: 'shedding', since: 1000, text: '3 lost' }]);
    at.now = 1189;
    expect(states.list()).toHaveLength(1);
    at.now = 1190;
    expect(states.list()).toEqual([]);
    at.count = 9;
    expect(states.list()).toEqual([{ name: 'shedding', since: 1190, text: '1 lost' }]);
  });

  test('of a counter are told whenever it has grown since the last look, and never for longer than it stood still', () => {
    const step = fc.record({ wait: fc.integer({ min: 0, max: 250 }), grows: fc.integer({ min: 0, max: 2 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { states, at } = watching();
        let grewAt = Number.NEGATIVE_INFINITY;
        for (const { wait, grows } of steps) {
          at.now += wait;
          at.count += grows;
          if (grows > 0) grewAt = at.now;
          expect(states.list().length === 1, `${at.now} ${grewAt}`).toBe(at.now - grewAt < 100);
        }
      }),
      { seed: SEED },
    );
  });
});

describe('healthOf', () => {
  const part = (name: string) => ({ where: 'x', name, since: 1, text: '' });

  test('is failing only where a part does not do its work: load and attacks are no reason for a restart', () => {
    const failing = Object.values(DEGRADED).filter((name) => !healthOf([part('shedding'), part(name)]).healthy);
    expect(failing.sort()).toEqual(['failed', 'outage', 'stalled']);
    expect(healthOf([])).toEqual({ status: 'ok', healthy: true, degraded: [] });
    expect(healthOf([part('untracked')])).toMatchObject({ status: 'degraded', healthy: true });
    expect(healthOf([part('untracked'), part('outage')])).toMatchObject({ status: 'failing', healthy: false });
  });
});
