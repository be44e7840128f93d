import { describe, expect, it } from 'vitest';
import type { ThresholdController } from '../../../src/adapt/controller.js';
import {
  arrivals,
  DETECTORS,
  type Detect,
  type Draw,
  exponential,
  heldFraction,
  lognormal,
  meanRate,
  pareto,
  randomOf,
  recoverySeconds,
  STEP_MS,
} from '../../adapt/loads.js';
import { total } from './controllers.js';

interface Part {
  readonly draw: Draw;
  readonly detect: Detect;
  /** Reports a second. */
  readonly reports: (seconds: number) => number;
}

/** Events of each 10 ms, of all members together and of each. */
function run(controller: ThresholdController, parts: readonly Part[], seconds: number, name: string, others = 0) {
  const random = randomOf(name);
  const steps = (seconds * 1000) / STEP_MS;
  const all = new Int32Array(steps);
  const each = parts.map(() => new Int32Array(steps));
  controller.tick(0, 0);
  for (let step = 0; step < steps; step++) {
    const at = (step * STEP_MS) / 1000;
    let reports = 0;
    for (const [member, { draw, detect, reports: rate }] of parts.entries()) {
      const count = arrivals(random, (rate(at) * STEP_MS) / 1000);
      const threshold = controller.threshold(member);
      for (let i = 0; i < count; i++) {
        const statistic = detect(threshold, Math.floor(draw(at)));
        if (statistic < 0) continue;
        controller.observe(member, statistic);
        each[member]![step]!++;
        all[step]!++;
      }
      reports += count;
    }
    const more = arrivals(random, (others * STEP_MS) / 1000);
    controller.count(more);
    all[step]! += more;
    controller.tick((step + 1) * STEP_MS, reports);
  }
  return { all, each };
}

/** Three rules on three distributions, two of them level detectors. */
function parts(name: string, reports: (seconds: number) => number): Part[] {
  const random = randomOf(name);
  return [
    { draw: exponential(random, 1000), detect: DETECTORS.threshold!.make(random), reports },
    { draw: lognormal(random, 40_000, 1), detect: DETECTORS.threshold!.make(random), reports },
    { draw: pareto(random, 20, 1.5), detect: DETECTORS.perFlow!.make(random), reports },
  ];
}
const MEMBERS: Parameters<typeof total>[1] = [
  { initial: 2000, kind: 'level' },
  { initial: 90_000, kind: 'level' },
  { initial: 100, kind: 'difference' },
];

describe('a target shared by three rules', () => {
  it.each([
    [1000, 4],
    [5000, 2],
    [50_000, 0.5],
  ])('of %d events/s is held within a tenth in 95 of 100 windows of 1 s, in proportion', (target, times) => {
    const controller = total(target, MEMBERS);
    const load = parts(`total ${target}`, () => times * target);
    const { all, each } = run(controller, load, 60, `total ${target}`);
    expect(heldFraction(all, target)).toBeGreaterThanOrEqual(0.95);
    expect(controller.status).toBe('holding');
    expect(Math.abs(controller.rate / target - 1)).toBeLessThan(0.1);
    for (const events of each) expect(meanRate(events, 1, 60)).toBeGreaterThan(0.02 * target);
    for (const [i, { initial }] of MEMBERS.entries()) {
      expect(Math.abs(controller.threshold(i) - initial * controller.position)).toBeLessThanOrEqual(1);
    }
  });

  it('is back within a second after tenfold steps of all, and of one', () => {
    const target = 1000;
    for (const stepped of [[0, 1, 2], [1]]) {
      const controller = total(target, MEMBERS);
      const name = `total step ${stepped.length}`;
      const load = parts(name, () => 3 * target).map((part, i) => {
        const step = (at: number): number => (stepped.includes(i) && at >= 20 && at < 40 ? 10 : 1);
        return { ...part, reports: (at: number) => 3 * target * step(at) };
      });
      const { all } = run(controller, load, 60, name);
      expect(recoverySeconds(all, target, 20)).toBeLessThanOrEqual(1);
      expect(recoverySeconds(all, target, 40)).toBeLessThanOrEqual(1);
      expect(heldFraction(all, target)).toBeGreaterThanOrEqual(0.95);
    }
  });

  it('is held by the others when one has reached its limit', () => {
    const target = 1000;
    const members = MEMBERS.map((member, i) => (i === 1 ? { ...member, maximum: 110_000 } : member));
    const controller = total(target, members);
    const { all, each } = run(
      controller,
      parts('clipped', () => 4 * target),
      60,
      'clipped',
    );
    expect(controller.threshold(1)).toBe(110_000);
    expect(controller.threshold(0)).toBeGreaterThan(2000 * (110_000 / 90_000));
    expect(heldFraction(all, target)).toBeGreaterThanOrEqual(0.95);
    expect(meanRate(each[1]!, 1, 60)).toBeGreaterThan(meanRate(each[0]!, 1, 60));
  });

  it('counts events of rules that do not move', () => {
    const controller = total(2000, MEMBERS);
    const { all, each } = run(
      controller,
      parts('others', () => 4000),
      60,
      'others',
      1200,
    );
    expect(heldFraction(all, 2000)).toBeGreaterThanOrEqual(0.95);
    expect(each.reduce((sum, events) => sum + meanRate(events, 1, 60), 0)).toBeLessThan(900);
  });

  it('says so when all are at their limits', () => {
    const members = MEMBERS.map((member) => ({ ...member, minimum: member.initial, maximum: 2 * member.initial }));
    const low = total(50_000, members);
    run(
      low,
      parts('all at minimum', () => 5000),
      5,
      'all at minimum',
    );
    expect(low.status).toBe('at-minimum');
    expect([0, 1, 2].map((i) => low.threshold(i))).toEqual([2000, 90_000, 100]);
    const high = total(100, members);
    run(
      high,
      parts('all at maximum', () => 20_000),
      5,
      'all at maximum',
    );
    expect(high.status).toBe('at-maximum');
    expect([0, 1, 2].map((i) => high.threshold(i))).toEqual([4000, 180_000, 200]);
  });

  it('can start from another factor', () => {
    const controller = total(1000, MEMBERS);
    controller.moveTo(2);
    expect([0, 1, 2].map((i) => controller.threshold(i))).toEqual([4000, 180_000, 200]);
  });

  it('refuses what makes no sense', () => {
    expect(() => total(-1, MEMBERS)).toThrow(RangeError);
    const wrong = [{ initial: -1, kind: 'level' as const }];
    expect(() => total(1, wrong)).toThrow(RangeError);
  });
});
