import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CloneStore } from '../../../src/switches/clone-store.js';
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
        let model: { id: number; port: number; slot: number; time: number }[] = [];
        for (const [
          time,
          {
            kind,
            key: { id, port },
            pick,
          },
        ] of actions.entries()) {
          const oldest = model.find((each) => each.id === id && each.port === port);
          expect(store.find(id, port)).toBe(oldest?.slot ?? -1);
          if (kind === 'add') {
            const slot = store.add(id, port, Uint8Array.of(time), time);
            expect(slot === -1).toBe(model.length === 8);
            if (slot === -1) continue;
            expect(model.some((each) => each.slot === slot)).toBe(false);
            store.setHandle(slot, time);
            model.push({ id, port, slot, time });
          } else if (kind === 'clear' && pick === 0) {
            const handles: number[] = [];
            store.clear((handle) => handles.push(handle));
            expect(handles.sort((a, b) => a - b)).toEqual(model.map((each) => each.time));
            model = [];
          } else {
            const victim = kind === 'confirm' ? oldest : model[pick];
            if (victim === undefined) continue;
            store.remove(victim.slot);
            model = model.filter((each) => each !== victim);
          }
          expect(store.size).toBe(model.length);
          for (const each of model) {
            expect([store.timeOf(each.slot), store.handleOf(each.slot), store.frameOf(each.slot)[0]]).toEqual([
              each.time,
              each.time,
              each.time,
            ]);
          }
        }
      }),
      { seed: SEED, numRuns: 200 },
    );
  });
});
