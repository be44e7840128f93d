import type { Random } from '@int/random';
import { burstQueue, FluidQueue } from '@int/traffic';
import { workloadOf } from '@int/traffic/internals';
import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../../.ci/test/length.js';
import {
  DETECTORS,
  DISTRIBUTIONS,
  type Draw,
  exponential,
  heldFraction,
  meanRate,
  randomOf,
  run,
} from '../../adapt/loads.js';
import { SEED } from '../../seed.js';
import { single } from './controllers.js';

/** The bar: this part of 1 s windows within 10 %, over 60 s. */
const HELD = 0.95;
const SECONDS = 60;
/** Reports per event, so that large targets do not take long. */
const REPORTS: Readonly<Record<number, number>> = { 1000: 8, 5000: 3, 50000: 1.5 };
const TARGETS = LENGTH > 1 ? [1000, 5000, 50_000] : [1000, 5000];

/** Values of many queues under bursts, each report looking at one of them. */
function queues(random: Random, workload: 'cache' | 'hadoop', count: number): Draw {
  const all = Array.from({ length: count }, (_, i) => {
    return new FluidQueue(random.derive('queue', i), { workload: workloadOf(workload) });
  });
  return (seconds) => {
    const queue = all[random.integer(count)]!;
    const now = Math.round(seconds * 1e9);
    queue.advance(now);
    return queue.delayNs(now);
  };
}

describe('on a stationary load', () => {
  it('the measure fails a threshold that is 15 % off and does not move', () => {
    const random = randomOf('fixed');
    const target = 1000;
    const threshold = Math.round(1000 * Math.log(10 / 1.15));
    const fixed = { threshold: () => threshold, observe(): void {}, tick: (): number => 0 };
    const draw = exponential(random, 1000);
    const detect = DETECTORS.threshold!.make(random);
    const events = run(fixed, { random, seconds: SECONDS, reports: () => 10 * target, draw, detect });
    expect(heldFraction(events, target)).toBeLessThan(0.3);
  });

  for (const target of TARGETS) {
    it.each(Object.keys(DISTRIBUTIONS))(
      `%s: ${target} events/s are within a tenth in 95 of 100 windows of 1 s`,
      (name) => {
        const random = randomOf(`${name} ${target}`);
        const controller = single({ target, initial: 10_000, kind: 'level' });
        const draw = DISTRIBUTIONS[name]!(random);
        const detect = DETECTORS.threshold!.make(random);
        const reports = REPORTS[target]! * target;
        const events = run(controller, { random, seconds: SECONDS, reports: () => reports, draw, detect });
        expect(heldFraction(events, target)).toBeGreaterThanOrEqual(HELD);
        expect(controller.status).toBe('holding');
        expect(Math.abs(meanRate(events, 1, SECONDS) / target - 1)).toBeLessThan(0.005);
        expect(Math.abs(controller.rate / target - 1)).toBeLessThan(0.1);
      },
    );
  }

  for (const target of [1000, 5000] as const) {
    it.each(target === 1000 ? Object.keys(DETECTORS) : ['perHop', 'movingAverage'])(
      `%s: ${target} events/s are within a tenth in 95 of 100 windows of 1 s`,
      (name) => {
        const random = randomOf(`${name} ${target}`);
        const { kind, make } = DETECTORS[name]!;
        const controller = single({ target, initial: 10_000, kind });
        const draw = exponential(random, 1000);
        const reports = REPORTS[target]! * target;
        const load = { random, seconds: SECONDS, reports: () => reports, draw, detect: make(random) };
        const events = run(controller, load);
        expect(heldFraction(events, target, 2)).toBeGreaterThanOrEqual(HELD);
        expect(controller.status).toBe('holding');
      },
    );
  }

  it.each([
    ['hadoop', 16, 1000, 20_000],
    ['hadoop', 4, 1000, 20_000],
    ['cache', 4, 1000, 20_000],
    ['hadoop', 4, 5000, 40_000],
  ] as const)('holds it on queues under bursts: %s, %d queues, %d events/s', (workload, count, target, reports) => {
    const random = randomOf(`${workload} ${count} ${target}`);
    const controller = single({ target, initial: 10_000, kind: 'level' });
    const draw = queues(random, workload, count);
    const detect = DETECTORS.threshold!.make(random);
    const events = run(controller, { random, seconds: SECONDS, reports: () => reports, draw, detect });
    expect(heldFraction(events, target)).toBeGreaterThanOrEqual(HELD);
  });

  it('holds 20,000 events/s on each packet of one queue, where a burst is hundreds of events', () => {
    const random = randomOf('one queue');
    const controller = single({ target: 20_000, initial: 10_000, kind: 'level' });
    const packets = burstQueue('hadoop', { slots: 1e9, seed: SEED });
    const draw = (): number => 1000 * (packets.next().value as number);
    const detect = DETECTORS.threshold!.make(random);
    const events = run(controller, { random, seconds: SECONDS, reports: () => 100_000, draw, detect });
    expect(heldFraction(events, 20_000)).toBeGreaterThanOrEqual(HELD);
  });

  it('keeps the mean where bursts are too large for 1 s windows', () => {
    const random = randomOf('large bursts');
    const controller = single({ target: 1000, initial: 10_000, kind: 'level' });
    // Every report is one of 100 alike.
    let left = 0;
    let value = 0;
    const draw = (): number => {
      if (left-- === 0) {
        left = 99;
        value = random.exponential(1000);
      }
      return value;
    };
    const detect = DETECTORS.threshold!.make(random);
    const events = run(controller, { random, seconds: SECONDS, reports: () => 20_000, draw, detect });
    expect(Math.abs(meanRate(events, 1, SECONDS) / 1000 - 1)).toBeLessThan(0.03);
  });
});
