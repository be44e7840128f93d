import { describe, expect, it } from 'vitest';
import { LENGTH } from '../../../../../.ci/test/length.js';
import {
  DETECTORS,
  DISTRIBUTIONS,
  type Draw,
  exponential,
  heldFraction,
  type Load,
  randomOf,
  recoverySeconds,
  run,
} from '../../adapt/loads.js';
import { single } from './controllers.js';

const HELD = 0.95;
const SECONDS = 60;

/** Tenfold from 20 s to 40 s. */
const tenfold = (seconds: number): number => (seconds >= 20 && seconds < 40 ? 10 : 1);
/** Tenfold up over 30 s, and down again. */
const drift = (seconds: number): number => 10 ** (1 - Math.abs(1 - seconds / 30));
/** From a third to three times, in 10 s. */
const wave = (seconds: number): number => 3 ** Math.sin((2 * Math.PI * seconds) / 10);

function events(name: string, target: number, kindName: string, draw: (random: Load['random']) => Draw, part: Varied) {
  const random = randomOf(name);
  const { kind, make } = DETECTORS[kindName]!;
  const controller = single({ target, initial: 3000, kind });
  const reports = part.reports ?? (() => 5 * target);
  const load = { random, seconds: SECONDS, draw: draw(random), detect: make(random), ...part, reports };
  return run(controller, load);
}
type Varied = Partial<Pick<Load, 'reports' | 'scale'>>;

describe('after a tenfold step of the load, up and down, within a second', () => {
  function expectSteps(counts: Int32Array, target: number): void {
    expect(recoverySeconds(counts, target, 20)).toBeLessThanOrEqual(1);
    expect(recoverySeconds(counts, target, 40)).toBeLessThanOrEqual(1);
    expect(heldFraction(counts, target, 21, 40)).toBeGreaterThanOrEqual(HELD);
    expect(heldFraction(counts, target, 41, 60)).toBeGreaterThanOrEqual(HELD);
  }

  it.each(Object.keys(DISTRIBUTIONS))('1,000 events/s are back when the report rate steps: %s', (name) => {
    const part = { reports: (at: number) => 2000 * tenfold(at) };
    expectSteps(events(`rate ${name}`, 1000, 'threshold', DISTRIBUTIONS[name]!, part), 1000);
  });

  it.each(Object.keys(DISTRIBUTIONS))('1,000 events/s are back when the scale of the metric steps: %s', (name) => {
    expectSteps(events(`scale ${name}`, 1000, 'threshold', DISTRIBUTIONS[name]!, { scale: tenfold }), 1000);
  });

  const rates: readonly (readonly [number, number])[] = [
    [5000, 4],
    [50_000, 1.1],
  ];
  it.each(LENGTH > 1 ? rates : rates.slice(0, 1))(
    '%d events/s are back when the report rate steps',
    (target, times) => {
      const part = { reports: (at: number) => times * target * tenfold(at) };
      expectSteps(events(`rate ${target}`, target, 'threshold', DISTRIBUTIONS.exponential!, part), target);
    },
  );

  it.each(LENGTH > 1 ? [5000, 50_000] : [5000])('%d events/s are back when the scale of the metric steps', (target) => {
    const part = { scale: tenfold, reports: () => 1.5 * target };
    expectSteps(events(`scale ${target}`, target, 'threshold', DISTRIBUTIONS.exponential!, part), target);
  });

  it.each(Object.keys(DETECTORS))('1,000 events/s of %s are back when the report rate steps', (name) => {
    const part = { reports: (at: number) => 2000 * tenfold(at) };
    expectSteps(events(`rate ${name}`, 1000, name, DISTRIBUTIONS.exponential!, part), 1000);
  });

  it.each(Object.keys(DETECTORS))('1,000 events/s of %s are back when the scale of the metric steps', (name) => {
    expectSteps(events(`scale ${name}`, 1000, name, DISTRIBUTIONS.exponential!, { scale: tenfold }), 1000);
  });

  it('values in a narrow range far below the threshold are found, though no event shows the way', () => {
    const random = randomOf('far below');
    const controller = single({ target: 1000, initial: 3000, kind: 'level' });
    const draw = (at: number): number => (at < 20 ? 10_000_000 : 100_000) + 10_000 * random.uniform();
    const detect = DETECTORS.threshold!.make(random);
    const counts = run(controller, { random, seconds: 30, reports: () => 20_000, draw, detect });
    expect(recoverySeconds(counts, 1000, 20)).toBeLessThanOrEqual(1);
  });

  it('a start far above and one far below the right threshold are no worse', () => {
    for (const initial of [0, 0xffff_ffff]) {
      const random = randomOf(`start ${initial}`);
      const controller = single({ target: 1000, initial, kind: 'level' });
      const draw = exponential(random, 1000);
      const detect = DETECTORS.threshold!.make(random);
      const counts = run(controller, { random, seconds: 10, reports: () => 10_000, draw, detect });
      expect(recoverySeconds(counts, 1000, 0)).toBeLessThanOrEqual(1);
    }
  });
});

describe('on a drifting load', () => {
  it.each(Object.keys(DETECTORS))('holds 1,000 events/s of %s while the report rate drifts by 10 in 30 s', (name) => {
    const part = { reports: (at: number) => 2000 * drift(at) };
    const counts = events(`drift rate ${name}`, 1000, name, (random) => exponential(random, 1000), part);
    expect(heldFraction(counts, 1000, 2)).toBeGreaterThanOrEqual(HELD);
  });

  it.each(Object.keys(DETECTORS))('holds 1,000 events/s of %s while the metric drifts by 10 in 30 s', (name) => {
    const counts = events(`drift scale ${name}`, 1000, name, (random) => exponential(random, 1000), { scale: drift });
    expect(heldFraction(counts, 1000, 2)).toBeGreaterThanOrEqual(HELD);
  });

  it.each(Object.keys(DETECTORS))('holds 1,000 events/s of %s while the metric swings by 9 in 5 s', (name) => {
    const counts = events(`wave scale ${name}`, 1000, name, (random) => exponential(random, 1000), { scale: wave });
    expect(heldFraction(counts, 1000, 2)).toBeGreaterThanOrEqual(HELD);
  });

  it.each([5000, 10_000])('holds %d events/s while the report rate swings by 9 in 5 s', (target) => {
    const part = { reports: (at: number) => 3.5 * target * wave(at) };
    const counts = events(`wave ${target}`, target, 'threshold', (random) => exponential(random, 1000), part);
    expect(heldFraction(counts, target, 2)).toBeGreaterThanOrEqual(HELD);
  });

  it('holds the mean over 1 s while reports come every other 50 ms only', () => {
    const part = { reports: (at: number) => (Math.round(at * 100) % 10 < 5 ? 20_000 : 0) };
    const counts = events('on and off', 1000, 'threshold', (random) => exponential(random, 1000), part);
    expect(heldFraction(counts, 1000, 2)).toBeGreaterThanOrEqual(HELD);
  });

  it('a threshold that does not move fails these', () => {
    const random = randomOf('fixed');
    const fixed = { threshold: () => 3000, observe(): void {}, tick: (): number => 0 };
    const draw = exponential(random, 1000);
    const detect = DETECTORS.threshold!.make(random);
    const counts = run(fixed, { random, seconds: SECONDS, reports: (at) => 10_000 * drift(at), draw, detect });
    expect(heldFraction(counts, 1000, 2)).toBeLessThan(0.2);
    expect(recoverySeconds(counts, 1000, 20)).toBeGreaterThan(1);
  });
});
