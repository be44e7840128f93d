import { describe, expect, it } from 'vitest';
import type { AdaptiveStatus } from '../../../src/adapt/control.js';
import type { ThresholdController } from '../../../src/adapt/controller.js';
import {
  DETECTORS,
  digits,
  exponential,
  heldFraction,
  meanRate,
  randomOf,
  recoverySeconds,
  run,
} from '../../adapt/loads.js';
import { type SingleOptions, single } from './controllers.js';

/** Rate of digits above a threshold, of `reports` a second. */
function rateAbove(threshold: number, reports: number): number {
  return reports * Math.exp(-(threshold + 1) / 1.2);
}

/** The status that stood longest from a second on. */
function watch(controller: ThresholdController, fromSecond: number) {
  const times = new Map<AdaptiveStatus, number>();
  return {
    each: (seconds: number): void => {
      if (seconds > fromSecond) times.set(controller.status, (times.get(controller.status) ?? 0) + 1);
    },
    share: (status: AdaptiveStatus): number => {
      const all = [...times.values()].reduce((sum, count) => sum + count, 0);
      return (times.get(status) ?? 0) / all;
    },
  };
}

function level(options: SingleOptions): ThresholdController {
  return single({ target: 1000, initial: 1000, kind: 'level', ...options });
}

describe('where the metric is too coarse', () => {
  const REPORTS = 40_000;
  // Rates of thresholds 0 to 5: 17384, 7555, 3283, 1427, 620, 270.
  it.each([
    [1100, 3, 1],
    [2000, 3, 1],
    [2700, 2, 1],
    [5000, 2, 1],
    [11_000, 1, 1],
    [1100, 3, 80],
    [5000, 2, 80],
  ])('holds the rate nearest to %d events/s, of threshold %d, in units of %d, and says so', (target, nearest, unit) => {
    const random = randomOf(`coarse ${target} ${unit}`);
    const controller = level({ target, initial: 3 });
    const seen = watch(controller, 5);
    const detect = DETECTORS.threshold!.make(random);
    const load = { random, seconds: 60, reports: () => REPORTS, draw: digits(random, unit), detect };
    const events = run(controller, load, seen.each);
    const reachable = rateAbove(nearest, REPORTS);
    expect(heldFraction(events, reachable, 5)).toBeGreaterThanOrEqual(0.95);
    expect(seen.share('too-coarse')).toBeGreaterThan(0.95);
    expect(Math.floor(controller.threshold(0) / unit)).toBe(nearest);
    expect(Math.abs(controller.rate / reachable - 1)).toBeLessThan(0.1);
  });

  it('holds the target by turns of two thresholds if one of them is within 10 %', () => {
    const random = randomOf('coarse, but near');
    const target = Math.round(rateAbove(2, REPORTS) * 1.06);
    const controller = level({ target, initial: 3 });
    const detect = DETECTORS.threshold!.make(random);
    const events = run(controller, { random, seconds: 60, reports: () => REPORTS, draw: digits(random), detect });
    expect(heldFraction(events, target, 2)).toBeGreaterThanOrEqual(0.95);
    expect(controller.status).toBe('holding');
  });

  it('notices a change of the load, held or not, and is back within a second', () => {
    const random = randomOf('coarse, changing');
    const controller = level({ target: 2000, initial: 3 });
    const detect = DETECTORS.threshold!.make(random);
    const draw = digits(random);
    const fine = exponential(random, 500);
    const load = {
      random,
      seconds: 60,
      reports: (at: number) => (at < 30 ? REPORTS : REPORTS / 2),
      draw: (at: number) => (at < 30 ? draw(at) : fine(at)),
      detect,
    };
    const events = run(controller, load);
    expect(Math.abs(meanRate(events, 5, 30) / rateAbove(3, REPORTS) - 1)).toBeLessThan(0.1);
    expect(recoverySeconds(events, 2000, 30)).toBeLessThanOrEqual(1);
    expect(controller.status).toBe('holding');
  });

  it('looks at the other threshold now and then, and so sees what does not show at its own', () => {
    const random = randomOf('coarse, hidden change');
    const controller = level({ target: 1000, initial: 99 });
    // All reports have the value 100: 20,000/s above 99, none above 100. Later 0 to 100 are all as frequent.
    const draw = (at: number): number => (at < 10 ? 100 : random.integer(101));
    const detect = DETECTORS.threshold!.make(random);
    const seen = watch(controller, 2);
    const statuses: AdaptiveStatus[] = [];
    const load = { random, seconds: 60, reports: () => 20_000, draw, detect };
    const events = run(controller, load, (seconds) => {
      if (seconds < 10) seen.each(seconds);
      statuses.push(controller.status);
    });
    expect(seen.share('too-coarse')).toBeGreaterThan(0.9);
    expect(meanRate(events, 5, 10)).toBeLessThan(200);
    expect(heldFraction(events, 1000, 45)).toBeGreaterThanOrEqual(0.95);
    expect(statuses.at(-1)).toBe('holding');
  });

  it('does the same for a detector whose state depends on the threshold', () => {
    const random = randomOf('coarse perFlow');
    const controller = single({ target: 3000, initial: 3, kind: 'difference' });
    const seen = watch(controller, 5);
    const { make } = DETECTORS.perFlow!;
    const load = { random, seconds: 60, reports: () => REPORTS, draw: digits(random), detect: make(random) };
    const events = run(controller, load, seen.each);
    // What each threshold gives when it does not move, once the flows' last reported values have settled.
    const rates = [2, 3].map((threshold) => {
      const fixed = { threshold: () => threshold, observe(): void {}, tick: (): number => 0 };
      const other = randomOf(`fixed ${threshold}`);
      const still = { random: other, seconds: 30, reports: () => REPORTS, draw: digits(other), detect: make(other) };
      return meanRate(run(fixed, still), 10, 30);
    });
    const nearest = rates.reduce((best, rate) => (Math.abs(rate - 3000) < Math.abs(best - 3000) ? rate : best));
    expect(Math.abs(nearest / 3000 - 1)).toBeGreaterThan(0.1);
    // Flows settle for minutes, so the rates of both runs drift a little.
    const mean = meanRate(events, 10, 60);
    expect(Math.abs(mean / nearest - 1)).toBeLessThan(0.07);
    expect(heldFraction(events, mean, 10)).toBeGreaterThanOrEqual(0.95);
    expect(seen.share('too-coarse')).toBeGreaterThan(0.95);
  });
});

describe('at its limits', () => {
  it('stays at the minimum and says so, and comes back when the load allows', () => {
    const random = randomOf('minimum');
    const controller = level({ minimum: 500, initial: 3000 });
    const seen = watch(controller, 2);
    const draw = exponential(random, 1000);
    const reports = (at: number): number => (at < 20 ? 1000 : 20_000);
    const load = { random, seconds: 40, reports, draw, detect: DETECTORS.threshold!.make(random) };
    const events = run(controller, load, (seconds) => {
      if (seconds >= 20) return;
      seen.each(seconds);
      if (seconds > 2) expect(controller.threshold(0)).toBe(500);
    });
    expect(seen.share('at-minimum')).toBeGreaterThan(0.95);
    expect(recoverySeconds(events, 1000, 20)).toBeLessThanOrEqual(1);
  });

  it('stays at the maximum and says so, and comes back when the load allows', () => {
    const random = randomOf('maximum');
    const controller = level({ maximum: 2000, initial: 1000 });
    const seen = watch(controller, 2);
    const draw = exponential(random, 1000);
    const reports = (at: number): number => (at < 20 ? 50_000 : 5000);
    const load = { random, seconds: 40, reports, draw, detect: DETECTORS.threshold!.make(random) };
    const events = run(controller, load, (seconds) => {
      if (seconds >= 20) return;
      seen.each(seconds);
      if (seconds > 2) expect(controller.threshold(0)).toBe(2000);
    });
    expect(seen.share('at-maximum')).toBeGreaterThan(0.95);
    expect(recoverySeconds(events, 1000, 20)).toBeLessThanOrEqual(1);
  });

  it('stays put if the limits are the same', () => {
    const random = randomOf('no choice');
    const controller = level({ minimum: 700, maximum: 700, initial: 0 });
    expect(controller.threshold(0)).toBe(700);
    const draw = exponential(random, 1000);
    const detect = DETECTORS.threshold!.make(random);
    run(controller, { random, seconds: 5, reports: () => 50_000, draw, detect });
    expect(controller.threshold(0)).toBe(700);
    expect(controller.status).toBe('at-maximum');
  });
});

describe('without reports, and with odd clocks', () => {
  const random = randomOf('idle');
  const draw = exponential(random, 1000);
  const detect = DETECTORS.threshold!.make(random);

  it('leaves the threshold alone while nothing comes, and goes on where it was', () => {
    const controller = level({});
    const thresholds: number[] = [];
    const reports = (at: number): number => (at >= 10 && at < 20 ? 0 : 20_000);
    const events = run(controller, { random, seconds: 30, reports, draw, detect }, (seconds) => {
      if (seconds > 10.02 && seconds < 19.98) thresholds.push(controller.threshold(0));
      if (seconds > 10.5 && seconds < 19.98) expect(controller.status).toBe('idle');
    });
    expect(new Set(thresholds).size).toBe(1);
    expect(controller.status).toBe('holding');
    expect(recoverySeconds(events, 1000, 20)).toBeLessThanOrEqual(0.5);
  });

  it('does nothing without events and reports', () => {
    const controller = level({ initial: 4711 });
    for (let now = 0; now <= 10_000; now += 10) {
      controller.tick(now, 0);
      expect(controller.threshold(0)).toBe(4711);
    }
    expect(controller.rate).toBe(0);
    expect(controller.status).toBe('idle');
  });

  it('falls to the minimum, however far, if reports raise no event', () => {
    const controller = level({ initial: 0xffff_ffff, minimum: 3 });
    for (let now = 0; now <= 2000; now += 10) controller.tick(now, 100);
    expect(controller.threshold(0)).toBe(3);
    expect(controller.status).toBe('at-minimum');
  });

  it('takes a time that goes backwards as a new start of the clock', () => {
    const controller = level({});
    run(controller, { random, seconds: 10, reports: () => 20_000, draw, detect });
    const threshold = controller.threshold(0);
    const { rate } = controller;
    // The events of the interval are dropped: 1,000 in no time would be a step of the load.
    for (let i = 0; i < 1000; i++) controller.observe(0, threshold + 1 + i);
    controller.tick(-5_000_000, 1000);
    expect(controller.threshold(0)).toBe(threshold);
    expect(controller.rate).toBe(rate);
    controller.tick(-5_000_000 + 9, 0);
    expect(controller.threshold(0)).toBe(threshold);
    const events = run(controller, { random, seconds: 10, reports: () => 20_000, draw, detect });
    expect(heldFraction(events, 1000, 0)).toBeGreaterThanOrEqual(0.95);
  });

  it('does not move before the interval has passed, unless events are far too many', () => {
    const controller = level({});
    controller.tick(0, 0);
    for (let i = 0; i < 100; i++) controller.observe(0, 1001 + i);
    expect(controller.urgent).toBe(false);
    controller.tick(5, 500);
    expect(controller.threshold(0)).toBe(1000);
    for (let i = 0; i < 100; i++) controller.observe(0, 1001 + i);
    expect(controller.urgent).toBe(true);
    controller.tick(6, 500);
    expect(controller.threshold(0)).toBeGreaterThan(1000);
  });

  it('gives the same whether calls come every millisecond or every ten', () => {
    const [often, seldom] = [level({}), level({})];
    for (const each of [often, seldom]) each.tick(0, 0);
    const values = randomOf('often');
    for (let ms = 1; ms <= 3000; ms++) {
      for (let i = 0; i < 20; i++) {
        const value = Math.floor(values.exponential(1000));
        if (value > often.threshold(0)) often.observe(0, value);
        if (value > seldom.threshold(0)) seldom.observe(0, value);
      }
      often.tick(ms, 20);
      if (ms % 10 === 0) seldom.tick(ms, 200);
      expect(often.threshold(0)).toBe(seldom.threshold(0));
    }
    expect(often.threshold(0)).not.toBe(1000);
  });

  it('holds the mean with ticks of half a second', () => {
    const controller = level({ intervalMs: 500 });
    const events = run(controller, { random, seconds: 60, reports: () => 20_000, draw, detect });
    expect(Math.abs(meanRate(events, 10, 60) / 1000 - 1)).toBeLessThan(0.05);
  });

  it('holds the mean of a target of 20 events/s', () => {
    const controller = level({ target: 20 });
    const events = run(controller, { random, seconds: 200, reports: () => 2000, draw, detect });
    expect(Math.abs(meanRate(events, 20, 200) / 20 - 1)).toBeLessThan(0.1);
  });

  it('starts anew from a threshold that was set from outside', () => {
    const controller = level({ maximum: 50_000 });
    run(controller, { random, seconds: 5, reports: () => 20_000, draw, detect });
    controller.moveTo(60_000);
    expect(controller.threshold(0)).toBe(50_000);
    const events = run(controller, { random, seconds: 10, reports: () => 20_000, draw, detect });
    expect(recoverySeconds(events, 1000, 0)).toBeLessThanOrEqual(1);
  });

  it('refuses what makes no sense', () => {
    expect(() => level({ target: 0 })).toThrow(RangeError);
    expect(() => level({ target: Number.NaN })).toThrow(RangeError);
    expect(() => level({ minimum: -1 })).toThrow(RangeError);
    expect(() => level({ minimum: 5, maximum: 4 })).toThrow(RangeError);
    expect(() => level({ maximum: 2 ** 32 })).toThrow(RangeError);
    expect(() => level({ initial: 0.5 })).toThrow(RangeError);
  });
});
