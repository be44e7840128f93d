import { Network } from '@int/netsim';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameOf, Recorder } from './behaviours.js';
import { SEED } from './seed.js';

function pair(options: Parameters<Network['connect']>[2], seed = 1) {
  const network = new Network({ seed });
  const recorder = new Recorder();
  const a = network.add('a', new Recorder());
  const b = network.add('b', recorder);
  const link = network.connect(a, b, options);
  return { network, a, b, link, recorder };
}

describe('a link', () => {
  it('delivers after the time of its rate and its delay, one frame after the other', () => {
    const { network, a, recorder } = pair({ rateBps: 8e6, delayNs: 500 });
    for (const length of [100, 50]) a.send(0, frameOf(length));
    network.run(1e9);
    // 8 Mbit/s are 1000 ns a byte.
    expect(recorder.times).toEqual([100_500, 150_500]);
  });

  it('delivers at once, but after what happens now, where it has neither', () => {
    const { network, a, recorder } = pair({});
    const order: string[] = [];
    network.at(5, () => {
      a.send(0, frameOf(60));
      order.push(`sent, ${recorder.frames.length} got`);
    });
    network.run(5);
    expect([order, recorder.times]).toEqual([['sent, 0 got'], [5]]);
  });

  it('may differ in its two directions', () => {
    const { network, a, b, link } = pair({ delayNs: 10, bToA: { delayNs: 70, loss: 1 }, aPort: 3, bPort: 9 });
    a.send(3, frameOf(60));
    b.send(9, frameOf(60));
    network.run(100);
    expect(link.counters('ab')).toMatchObject({ offered: 1, delivered: 1 });
    expect(link.counters('ba')).toMatchObject({ offered: 1, delivered: 0, lost: 1 });
    link.configure({ loss: 0 }, 'ba');
    b.send(9, frameOf(60));
    network.run(169);
    expect(link.counters('ba').inFlight).toBe(1);
    network.run(170);
    expect(link.counters('ba')).toMatchObject({ delivered: 1, inFlight: 0 });
  });

  it('lets as many frames wait as its queue holds, the one being sent not counted', () => {
    const { network, a, link, recorder } = pair({ rateBps: 8e9, queuePackets: 3 });
    for (let i = 0; i < 10; i++) a.send(0, frameOf(100, i));
    expect(link.queued('ab')).toBe(3);
    network.run(150);
    expect(link.queued('ab')).toBe(2);
    a.send(0, frameOf(100, 77));
    network.run(1e6);
    expect(recorder.frames.map((frame) => frame[0])).toEqual([0, 1, 2, 3, 77]);
    expect(link.counters('ab')).toMatchObject({ offered: 11, delivered: 5, droppedQueue: 6 });
  });

  it('without a queue takes a frame only when it is free', () => {
    const { network, a, link } = pair({ rateBps: 8e9, queuePackets: 0 });
    for (let i = 0; i < 3; i++) a.send(0, frameOf(100));
    network.run(100);
    a.send(0, frameOf(100));
    network.run(1000);
    expect(link.counters('ab')).toMatchObject({ delivered: 2, droppedQueue: 2 });
  });

  it('loses the share of frames that it is asked to', () => {
    const loss = 0.13;
    const frames = 40_000;
    const { network, a, link } = pair({ loss }, SEED);
    const frame = frameOf(60);
    for (let i = 0; i < frames; i++) a.send(0, frame);
    network.run(1);
    const { lost, delivered } = link.counters('ab');
    expect(lost + delivered).toBe(frames);
    // Five standard deviations of a binomial distribution.
    expect(Math.abs(lost - frames * loss)).toBeLessThan(5 * Math.sqrt(frames * loss * (1 - loss)));
  });

  it('loses frames independently of one another and of the other direction', () => {
    const { network, a, b } = pair({ loss: 0.5 }, SEED);
    const outcome = (from: typeof a, to: typeof a): boolean => {
      const before = to.arrived;
      from.send(0, frameOf(60));
      network.run(network.nowNs + 1);
      return to.arrived > before;
    };
    const forth = Array.from({ length: 4000 }, () => outcome(a, b));
    const back = Array.from({ length: 4000 }, () => outcome(b, a));
    const agreement = forth.filter((each, index) => each === back[index]).length;
    const runs = forth.filter((each, index) => each === forth[index + 1]).length;
    // Each is binomial with p = 1/2: 2000 and a standard deviation of 32.
    expect(Math.abs(agreement - 2000)).toBeLessThan(160);
    expect(Math.abs(runs - 2000)).toBeLessThan(160);
  });

  it('keeps frames in order without jitter, and lets them overtake with it', () => {
    const marks = (jitterNs: number): number[] => {
      const { network, a, recorder } = pair({ rateBps: 8e9, delayNs: 1000, jitterNs }, SEED);
      for (let i = 0; i < 100; i++) a.send(0, frameOf(100, i));
      network.run(1e6);
      return recorder.frames.map((frame) => frame[0]!);
    };
    const straight = Array.from({ length: 100 }, (_, i) => i);
    expect(marks(0)).toEqual(straight);
    expect(marks(5000)).not.toEqual(straight);
    expect(marks(5000).sort((x, y) => x - y)).toEqual(straight);
  });

  it('delivers twice what it duplicates', () => {
    const { network, a, link, recorder } = pair({ duplication: 1 });
    a.send(0, frameOf(60, 5));
    network.run(1);
    expect(recorder.frames.map((frame) => frame[0])).toEqual([5, 5]);
    expect(link.counters('ab')).toMatchObject({ offered: 1, duplicated: 1, delivered: 2 });
  });

  it('drops what is on it when it fails, and all frames until it is repaired', () => {
    const { network, a, link, recorder } = pair({ rateBps: 8e9, delayNs: 1000, queuePackets: 9 });
    network.at(500, () => link.fail());
    network.at(5000, () => link.repair());
    for (let i = 0; i < 3; i++) a.send(0, frameOf(100, i));
    network.at(700, () => a.send(0, frameOf(100, 3)));
    network.at(6000, () => a.send(0, frameOf(100, 4)));
    network.run(600);
    expect([link.isUp, a.isPortUp(0), link.queued('ab')]).toEqual([false, false, 0]);
    expect(link.counters('ab')).toMatchObject({ offered: 3, droppedDown: 3, inFlight: 0 });
    network.run(1e6);
    expect(recorder.frames.map((frame) => frame[0])).toEqual([4]);
    expect(recorder.times).toEqual([7100]);
    expect(link.counters('ab')).toMatchObject({ offered: 5, droppedDown: 4, delivered: 1 });
  });

  it('accounts for every frame, whatever is done to it', () => {
    const action = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ kind: fc.constant('send' as const), value: fc.integer({ min: 20, max: 1500 }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constantFrom('fail' as const, 'repair' as const), value: fc.nat() }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('down' as const, 'up' as const), value: fc.nat() }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('configure' as const), value: fc.nat(100) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), value: fc.nat(3000) }) },
    );
    const settings = fc.record({
      rateBps: fc.constantFrom(1e9, 8e9, Number.POSITIVE_INFINITY),
      delayNs: fc.nat(2000),
      loss: fc.constantFrom(0, 0.1, 0.9),
      queuePackets: fc.constantFrom(0, 1, 5, Number.POSITIVE_INFINITY),
      duplication: fc.constantFrom(0, 0.3),
      jitterNs: fc.constantFrom(0, 3000),
    });
    fc.assert(
      fc.property(
        settings,
        fc.integer({ min: 1, max: 4 }),
        fc.array(action, { maxLength: 150 }),
        (options, queue, actions) => {
          const network = new Network({ seed: SEED });
          const a = network.add('a', new Recorder());
          const recorder = new Recorder();
          const b = network.add('b', recorder, { rate: 2_000_000, queuePackets: queue });
          const link = network.connect(a, b, options);
          let sent = 0;
          const check = (): void => {
            const c = link.counters('ab');
            expect(c.offered).toBe(sent);
            expect(c.offered + c.duplicated).toBe(c.delivered + c.lost + c.droppedQueue + c.droppedDown + c.inFlight);
            expect(b.arrived).toBe(c.delivered);
            expect(b.arrived).toBe(b.processed + b.droppedQueue + b.droppedDown + b.queued);
            expect(recorder.frames.length).toBe(b.processed);
            expect(b.queueDepth).toBeLessThanOrEqual(queue);
          };
          for (const { kind, value } of actions) {
            if (kind === 'send') {
              sent++;
              a.send(0, frameOf(value));
            } else if (kind === 'fail') link.fail();
            else if (kind === 'repair') link.repair();
            else if (kind === 'down') b.fail();
            else if (kind === 'up') b.repair();
            else if (kind === 'configure') link.configure({ loss: value / 100, delayNs: value });
            else network.run(network.nowNs + value);
            check();
          }
          network.run(Number.POSITIVE_INFINITY);
          check();
          expect([link.counters('ab').inFlight, b.queued, network.pendingEvents]).toEqual([0, 0, 0]);
        },
      ),
      { seed: SEED, numRuns: 150 },
    );
  });

  it('refuses values that make no sense, ports that are taken, and nodes that are not there', () => {
    const { network, a, b } = pair({});
    const wrong = [{ rateBps: 0 }, { delayNs: 0.5 }, { loss: 1.1 }, { queuePackets: -1 }, { duplication: Number.NaN }];
    for (const options of [...wrong, { jitterNs: -1 }, { aPort: 65_536 }]) {
      expect(() => network.connect(a, b, options)).toThrow(RangeError);
    }
    expect(() => network.connect(a, b, { aPort: 0 })).toThrow(/port 0 of "a" is taken/);
    expect(() => network.connect(a, a)).toThrow(TypeError);
    expect(() => network.connect(a, new Network({ seed: 1 }).add('c', new Recorder()))).toThrow(TypeError);
    expect(network.links.length).toBe(1);
    expect(network.linkAt(b, 0)).toBe(network.links[0]);
    expect(network.linkAt(b, 1)).toBeUndefined();
  });
});
