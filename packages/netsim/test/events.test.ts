import { Network } from '@int/netsim';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SEED } from './seed.js';

describe('events', () => {
  it('happen in the order of their times, and those of one time in the order they were made', () => {
    const operation = fc.record({ time: fc.integer({ min: 0, max: 20 }), cancel: fc.boolean() });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 300 }), (operations) => {
        const network = new Network({ seed: 1 });
        const seen: number[] = [];
        const timers = operations.map(({ time }, index) => network.at(time, () => seen.push(index)));
        const kept = operations.map(({ time, cancel }, index) => ({ time, index, cancel })).filter((o) => !o.cancel);
        for (const [index, { cancel }] of operations.entries()) if (cancel) expect(timers[index]!.cancel()).toBe(true);
        expect(network.pendingEvents).toBe(kept.length);
        network.run(20);
        expect(seen).toEqual(kept.sort((a, b) => a.time - b.time || a.index - b.index).map((o) => o.index));
        expect([network.pendingEvents, network.executedEvents]).toEqual([0, kept.length]);
      }),
      { seed: SEED },
    );
  });

  it('keep their order when they are made and cancelled while others happen', () => {
    const step = fc.record({ delay: fc.nat(9), cancels: fc.nat(50), makes: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 200 }), (steps) => {
        const network = new Network({ seed: 1 });
        const log: { time: number; order: number }[] = [];
        const timers: { cancel(): boolean }[] = [];
        let made = 0;
        const make = (delay: number): void => {
          const order = made++;
          const { delay: next, cancels, makes } = steps[order % steps.length]!;
          timers.push(
            network.at(network.nowNs + delay, () => {
              log.push({ time: network.nowNs, order });
              for (let i = 0; i < makes && made < 500; i++) make(next);
              timers[cancels]?.cancel();
            }),
          );
        };
        for (const { delay } of steps) make(delay);
        network.run(Number.POSITIVE_INFINITY);
        const sorted = [...log].sort((a, b) => a.time - b.time || a.order - b.order);
        expect(log).toEqual(sorted);
      }),
      { seed: SEED, numRuns: 60 },
    );
  });

  it('are cancelled once, by the handle of their own time only', () => {
    const network = new Network({ seed: 1 });
    const seen: number[] = [];
    const target = { wake: (argument: number): void => void seen.push(argument) };
    const first = network.schedule(1, target, -7);
    network.run(1);
    expect(network.cancel(first)).toBe(false);
    const second = network.schedule(2, target, 2);
    expect(second).not.toBe(first);
    expect(network.cancel(first)).toBe(false);
    expect(network.cancel(second)).toBe(true);
    expect(network.cancel(second)).toBe(false);
    for (const wrong of [-1, 0.5, 2 ** 40, Number.NaN]) expect(network.cancel(wrong)).toBe(false);
    network.schedule(3, target, 2 ** 31 - 1);
    expect(network.nextEventNs).toBe(3);
    network.run(10);
    expect(seen).toEqual([-7, 2 ** 31 - 1]);
    expect(network.nextEventNs).toBe(Number.POSITIVE_INFINITY);
  });

  it('are left alone by run until their time, by runWhile until its condition or limit, and by step one at a time', () => {
    const network = new Network({ seed: 1, startNs: 100 });
    let count = 0;
    for (const time of [110, 120, 130, 140]) network.at(time, () => count++);
    network.run(115);
    expect([count, network.nowNs]).toEqual([1, 115]);
    expect(network.runWhile(() => count < 2)).toBe(true);
    expect([count, network.nowNs]).toEqual([2, 120]);
    expect(network.runWhile(() => true, 135)).toBe(false);
    expect([count, network.nowNs]).toEqual([3, 130]);
    expect([network.step(), network.step()]).toEqual([true, false]);
    expect(network.runWhile(() => true)).toBe(false);
    network.run(Number.POSITIVE_INFINITY);
    expect([count, network.nowNs]).toEqual([4, 140]);
  });

  it('leave a network that can go on when one of them throws', () => {
    const network = new Network({ seed: 1 });
    let after = 0;
    network.at(1, () => {
      throw new Error('of the callback');
    });
    network.at(1, () => after++);
    expect(() => network.run(5)).toThrow('of the callback');
    network.run(5);
    expect([after, network.nowNs]).toEqual([1, 5]);
  });

  it('cannot be put into the past or run from within one another', () => {
    const network = new Network({ seed: 1 });
    network.run(10);
    for (const time of [9, 10.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => network.at(time, () => {})).toThrow(RangeError);
    }
    expect(() => network.run(9)).toThrow(RangeError);
    expect(() => network.run(Number.NaN)).toThrow(RangeError);
    network.at(10, () => network.run(20));
    expect(() => network.run(20)).toThrow(/running/);
    expect(() => new Network({ seed: 1, startNs: -1 })).toThrow(RangeError);
  });

  it('allocate no slots once as many have been in use at once', () => {
    const network = new Network({ seed: 1 });
    const handles = new Set<number>();
    const target = {
      wake: (): void => {
        handles.add(network.schedule(network.nowNs + 1, target) % 2 ** 22);
      },
    };
    for (let i = 0; i < 100; i++) network.schedule(i % 3, target);
    network.run(1000);
    expect(Math.max(...handles)).toBeLessThan(101);
  });
});
