import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Clone, CloneStore } from '../../../src/switches/clone-store.js';
import { SEED } from '../../seed.js';

describe('the clone store', () => {
  it('behaves like a list in order of age, with a bound', () => {
    const key = fc.record({ id: fc.constantFrom(0, 1, 0x7fff), port: fc.constantFrom(0, 1, 0xffff) });
    const action = fc.record({
      kind: fc.constantFrom('add', 'add', 'add', 'confirm', 'expire', 'clear'),
      key,
      pick: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 120 }), (actions) => {
        const store = new CloneStore(8);
        let model: { id: number; port: number; clone: Clone }[] = [];
        for (const [
          time,
          {
            kind,
            key: { id, port },
            pick,
          },
        ] of actions.entries()) {
          const oldest = model.find((each) => each.id === id && each.port === port);
          expect(store.find(id, port)).toBe(oldest?.clone);
          if (kind === 'add') {
            const clone = store.add(id, port, Uint8Array.of(time), time);
            expect(clone === undefined).toBe(model.length === 8);
            if (clone === undefined) continue;
            expect([clone.timeNs, clone.frame[0]]).toEqual([time, time]);
            model.push({ id, port, clone });
          } else if (kind === 'clear' && pick === 0) {
            expect(new Set(store.clear())).toEqual(new Set(model.map(({ clone }) => clone)));
            model = [];
          } else {
            const victim = kind === 'confirm' ? oldest : model[pick];
            if (victim === undefined) continue;
            store.remove(victim.clone);
            model = model.filter((each) => each !== victim);
          }
          expect(store.size).toBe(model.length);
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});
