import {
  Adaptation,
  type AdaptiveDetector,
  DETECTOR_KINDS,
  type DetectorConfig,
  type EventRows,
  type Rule,
} from '@int/detect';
import type { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { arrivals, heldFraction, meanRate, randomOf, recoverySeconds, STEP_MS } from './loads.js';

const CAPACITY = 4096;
const FLOWS = 500;

/** Rows of events, as an event batch has them. */
class Rows implements EventRows {
  count = 0;
  readonly rule = new Uint32Array(CAPACITY);
  readonly kind = new Uint32Array(CAPACITY);
  readonly value = new Uint32Array(CAPACITY);
  readonly previous = new Uint32Array(CAPACITY);
  readonly threshold = new Uint32Array(CAPACITY);
}

/** A detector as plain as can be: each rule looks at a stream of its own, of (flow, value). */
class PlainDetector implements AdaptiveDetector {
  readonly moves: string[] = [];
  readonly #slots: (Rule | undefined)[];
  readonly #thresholds: number[] = [];
  readonly #last: Uint32Array[] = [];
  readonly #reports: number[] = [];

  constructor(rules: readonly Rule[]) {
    this.#slots = [];
    for (const rule of rules) this.add(rule);
  }

  add(rule: Rule): void {
    this.#slots.push(rule);
    this.#thresholds.push('threshold' in rule.detector ? rule.detector.threshold : 0);
    this.#last.push(new Uint32Array(FLOWS));
    this.#reports.push(0);
  }

  remove(name: string): void {
    this.#slots[this.slotOf(name)] = undefined;
  }

  rules(): readonly Rule[] {
    return this.#slots.filter((rule) => rule !== undefined);
  }

  slotOf(name: string): number {
    return this.#slots.findIndex((rule) => rule?.name === name);
  }

  threshold(name: string): number {
    return this.#thresholds[this.slotOf(name)]!;
  }

  setThreshold(name: string, threshold: number): void {
    if (!Number.isInteger(threshold)) throw new RangeError(`${threshold}`);
    this.moves.push(name);
    this.#thresholds[this.slotOf(name)] = threshold;
  }

  reportsOf(slot: number): number {
    return this.#reports[slot]!;
  }

  /** `factor`: the threshold of the switch that the report came from, as a multiple of the rule's. */
  look(slot: number, flow: number, value: number, rows: Rows, factor = 1): void {
    const { kind } = this.#slots[slot]!.detector;
    this.#reports[slot]!++;
    const threshold = Math.round(this.#thresholds[slot]! * factor);
    const last = this.#last[slot]!;
    const previous = last[flow]!;
    const statistic = kind === 'threshold' ? value : Math.abs(value - previous);
    if (kind === 'change') last[flow] = value;
    if (kind !== 'noop' && statistic <= threshold) return;
    if (kind === 'perFlow') last[flow] = value;
    const row = rows.count++;
    rows.rule[row] = slot;
    rows.kind[row] = DETECTOR_KINDS.indexOf(kind) | (3 << 8) | (1 << 16);
    rows.value[row] = value;
    // Undefined for a threshold detector: nobody may read it.
    rows.previous[row] = kind === 'threshold' ? 0xdeadbeef : previous;
    rows.threshold[row] = threshold;
  }
}

function rule(name: string, detector: DetectorConfig, adapt: Rule['adapt']): Rule {
  const any = { protocol: null, source: null, destination: null, sourcePort: null, destinationPort: null };
  return { name, priority: 0, match: { ...any, sourceMac: null, destinationMac: null }, detector, sample: null, adapt };
}
const ADAPT = { target: 1000, minimum: 10, maximum: 1_000_000 } as const;
const level = (name: string, adapt: Rule['adapt'] = ADAPT): Rule =>
  rule(name, { kind: 'threshold', metric: 'hopLatency', threshold: 500, scope: 'hop' }, adapt);
const perFlow = (name: string, adapt: Rule['adapt'] = ADAPT): Rule =>
  rule(name, { kind: 'perFlow', metric: 'queueOccupancy', threshold: 90 }, adapt);
const change = (name: string, adapt: Rule['adapt'] = ADAPT): Rule =>
  rule(name, { kind: 'change', metric: 'hopLatency', threshold: 50, scope: 'hop' }, adapt);

/** Mean of the metric of each slot. */
const MEANS = [1000, 50, 20_000, 1000];

/** Runs a detector and its adaptation for some seconds; returns the events of each slot in each 10 ms. */
function run(
  detector: PlainDetector,
  adaptation: Adaptation,
  random: Random,
  options: {
    readonly seconds: number;
    readonly fromMs?: number;
    readonly reports?: (seconds: number, slot: number) => number;
    readonly factor?: () => number;
    readonly each?: (seconds: number) => void;
  },
): Int32Array[] {
  const { seconds, fromMs = 0, reports = () => 8000, factor = () => 1 } = options;
  const steps = (seconds * 1000) / STEP_MS;
  const rows = new Rows();
  const events = MEANS.map(() => new Int32Array(steps));
  adaptation.after(rows, fromMs);
  for (let step = 0; step < steps; step++) {
    const at = (step * STEP_MS) / 1000;
    for (let slot = 0; slot < MEANS.length; slot++) {
      if (!detector.rules().some(({ name }) => detector.slotOf(name) === slot)) continue;
      const count = arrivals(random, (reports(at, slot) * STEP_MS) / 1000);
      const before = rows.count;
      for (let i = 0; i < count; i++) {
        const value = Math.floor(random.exponential(MEANS[slot]!));
        const times = factor();
        detector.look(slot, random.integer(FLOWS), Math.floor(value * times), rows, times);
      }
      events[slot]![step] = rows.count - before;
    }
    // Rows before `from` have been counted: a batch may be read after several calls.
    const keep = step % 2 === 0;
    adaptation.after(rows, fromMs + (step + 1) * STEP_MS, keep ? 0 : from);
    from = keep ? rows.count : 0;
    if (!keep) rows.count = 0;
    options.each?.(at);
  }
  return events;
}
let from = 0;

describe('the adaptation of a detector', () => {
  it('holds the target of each rule that adapts, and leaves the others alone', () => {
    const detector = new PlainDetector([
      level('a'),
      perFlow('b', { ...ADAPT, target: 2000 }),
      change('c', { ...ADAPT, target: 1500 }),
      level('fixed', null),
    ]);
    const adaptation = new Adaptation(detector);
    const events = run(detector, adaptation, randomOf('each'), { seconds: 60 });
    for (const [slot, target] of [1000, 2000, 1500].entries()) {
      expect(heldFraction(events[slot]!, target)).toBeGreaterThanOrEqual(0.95);
    }
    expect(detector.threshold('fixed')).toBe(500);
    expect(detector.moves).not.toContain('fixed');
    const states = adaptation.states();
    expect(states.map(({ rule, target, status }) => [rule, target, status])).toEqual([
      ['a', 1000, 'holding'],
      ['b', 2000, 'holding'],
      ['c', 1500, 'holding'],
    ]);
    for (const { rule, rate, target, threshold } of states) {
      expect(threshold).toBe(detector.threshold(rule!));
      expect(Math.abs(rate / target - 1)).toBeLessThan(0.1);
    }
  });

  it('is back within a second after a tenfold step of the report rate', () => {
    const detector = new PlainDetector([level('a'), perFlow('b')]);
    const adaptation = new Adaptation(detector);
    const reports = (at: number): number => (at >= 20 && at < 40 ? 40_000 : 4000);
    const events = run(detector, adaptation, randomOf('steps'), { seconds: 60, reports });
    for (const slot of [0, 1]) {
      expect(recoverySeconds(events[slot]!, 1000, 20)).toBeLessThanOrEqual(1);
      expect(recoverySeconds(events[slot]!, 1000, 40)).toBeLessThanOrEqual(1);
    }
  });

  it('holds a total over all rules, those that do not adapt included', () => {
    const detector = new PlainDetector([level('a'), perFlow('b'), change('c'), level('fixed', null)]);
    const adaptation = new Adaptation(detector, { total: 3000 });
    const reports = (_: number, slot: number): number => (slot === 3 ? 2000 : 8000);
    const events = run(detector, adaptation, randomOf('total'), { seconds: 60, reports });
    const all = events[0]!.map((count, i) => count + events[1]![i]! + events[2]![i]! + events[3]![i]!);
    expect(heldFraction(all, 3000)).toBeGreaterThanOrEqual(0.95);
    expect(meanRate(events[3]!, 1, 60)).toBeGreaterThan(1000);
    const [state] = adaptation.states();
    expect(state).toMatchObject({ rule: null, target: 3000, status: 'holding' });
    expect(Math.abs(detector.threshold('a') - 500 * state!.threshold)).toBeLessThanOrEqual(1);
    expect(Math.abs(detector.threshold('b') - 90 * state!.threshold)).toBeLessThanOrEqual(1);
  });

  it('takes switches of another unit in proportion', () => {
    const detector = new PlainDetector([level('a')]);
    const adaptation = new Adaptation(detector);
    const random = randomOf('switches');
    const factor = (): number => (random.uniform() < 0.5 ? 1 : 8);
    const events = run(detector, adaptation, random, { seconds: 60, factor });
    expect(heldFraction(events[0]!, 1000)).toBeGreaterThanOrEqual(0.95);
    // Half of 8,000 reports with a mean of 1,000, half in another unit: as one with a mean of 1,000.
    expect(Math.abs(detector.threshold('a') / (1000 * Math.log(8)) - 1)).toBeLessThan(0.15);
  });

  it('sets a threshold that is beyond its limits when it begins', () => {
    const detector = new PlainDetector([level('a', { ...ADAPT, minimum: 600 }), perFlow('b')]);
    new Adaptation(detector);
    expect(detector.threshold('a')).toBe(600);
    expect(detector.threshold('b')).toBe(90);
  });

  it('goes on from a threshold that someone else has set', () => {
    const detector = new PlainDetector([level('a')]);
    const adaptation = new Adaptation(detector);
    const random = randomOf('outside');
    run(detector, adaptation, random, { seconds: 5 });
    detector.setThreshold('a', 100_000);
    const events = run(detector, adaptation, random, { seconds: 10, fromMs: 5000 });
    expect(recoverySeconds(events[0]!, 1000, 0)).toBeLessThanOrEqual(1);
  });

  it('takes over rules that come and go, and keeps what it knows of the others', () => {
    const detector = new PlainDetector([level('a'), perFlow('b')]);
    const adaptation = new Adaptation(detector);
    const random = randomOf('come and go');
    run(detector, adaptation, random, { seconds: 5 });
    const learnt = detector.threshold('a');
    detector.remove('b');
    detector.add(change('c', { ...ADAPT, target: 2000 }));
    adaptation.refresh();
    expect(detector.threshold('a')).toBe(learnt);
    expect(adaptation.states().map(({ rule, status }) => [rule, status])).toEqual([
      ['a', 'holding'],
      ['c', 'warming'],
    ]);
    const events = run(detector, adaptation, random, { seconds: 20, fromMs: 5000 });
    expect(heldFraction(events[0]!, 1000, 0)).toBeGreaterThanOrEqual(0.95);
    expect(heldFraction(events[2]!, 2000, 1)).toBeGreaterThanOrEqual(0.95);
  });

  it('keeps the factor of a total when rules come and go, and has nothing to do without any', () => {
    const detector = new PlainDetector([level('a'), perFlow('b')]);
    const adaptation = new Adaptation(detector, { total: 1000 });
    run(detector, adaptation, randomOf('total, come and go'), { seconds: 5 });
    const { threshold: factor } = adaptation.states()[0]!;
    detector.remove('b');
    adaptation.refresh();
    expect(Math.abs(detector.threshold('a') - 500 * factor)).toBeLessThanOrEqual(1);
    detector.remove('a');
    adaptation.refresh();
    expect(adaptation.states()).toEqual([]);
    adaptation.after(new Rows(), 6000);
    expect(adaptation.byteLength).toBe(0);
  });

  it('moves early when a batch is full of events', () => {
    const detector = new PlainDetector([level('a')]);
    const adaptation = new Adaptation(detector);
    const rows = new Rows();
    adaptation.after(rows, 0);
    for (let i = 0; i < 1000; i++) detector.look(0, 0, 600 + i, rows);
    adaptation.after(rows, 2);
    expect(detector.threshold('a')).toBeGreaterThan(1000);
  });

  it('has memory of fixed size', () => {
    const detector = new PlainDetector([level('a'), perFlow('b')]);
    const adaptation = new Adaptation(detector);
    const bytes = adaptation.byteLength;
    run(detector, adaptation, randomOf('memory'), { seconds: 2 });
    expect(adaptation.byteLength).toBe(bytes);
    expect(bytes).toBeLessThan(20_000);
  });

  it('refuses what makes no sense', () => {
    const noop = rule('n', { kind: 'noop' }, ADAPT);
    expect(() => new Adaptation(new PlainDetector([noop]))).toThrow(TypeError);
    expect(() => new Adaptation(new PlainDetector([level('a')]), { total: 0 })).toThrow(RangeError);
    expect(() => new Adaptation(new PlainDetector([level('a')]), { intervalMs: 5000 })).toThrow(RangeError);
    const adaptation = new Adaptation(new PlainDetector([level('a')]));
    expect(() => adaptation.after(new Rows(), Number.NaN)).toThrow(RangeError);
  });
});
