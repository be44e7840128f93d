import { TelemetryBatch } from '@int/codec';
import { Detector, type DetectorConfig, EventBatch, type Match, type Rule, RulesError } from '@int/detect';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { ANY, address, latencies, record, rule, ruleSet } from '../../engine/reports.js';
import { fillBatch } from '../../reference/fill-batch.js';
import { Random } from '../../reference/random.js';
import { crc32, flowKey, type ReferenceReport } from '../../reference/reference.js';
import { SEED } from '../../seed.js';
import { ReportSource, randomDetector } from '../reference/reports.js';

const PER_FLOW: DetectorConfig = { kind: 'perFlow', metric: 'hopLatency', threshold: 10 };
const NOOP: DetectorConfig = { kind: 'noop' };

function to(port: number): Match {
  return { ...ANY, destinationPort: { from: port, to: port } };
}

function from(flow: number): Match {
  const [a, b, c, d] = address(flow).split('.').map(Number) as [number, number, number, number];
  return { ...ANY, source: { version: 4, words: [((a << 24) | (b << 16) | (c << 8) | d) >>> 0], length: 32 } };
}

function codeOf(run: () => void): string {
  try {
    run();
  } catch (error) {
    if (RulesError.is(error)) return error.problems[0]!.code;
    throw error;
  }
  return 'accepted';
}

describe('rules that change while traffic runs', () => {
  it('decide from the next report on, in both directions of a cached decision', () => {
    const detector = new Detector(ruleSet([rule('low', NOOP)]));
    const decided = (flow: number): (string | null)[] => detector.observe(record([], flow)).map((event) => event.rule);
    expect(decided(1)).toEqual(['low']);
    detector.addRule(rule('high', NOOP, { priority: 5, match: from(1) }));
    expect([decided(1), decided(2)]).toEqual([['high'], ['low']]);
    detector.replaceRule(rule('high', NOOP, { priority: 5, match: from(2) }));
    expect([decided(1), decided(2)]).toEqual([['low'], ['high']]);
    detector.replaceRule(rule('high', NOOP, { priority: -5, match: from(2) }));
    expect([decided(1), decided(2)]).toEqual([['low'], ['low']]);
    detector.removeRule('low');
    expect([decided(1), decided(2)]).toEqual([[], ['high']]);
    detector.removeRule('high');
    expect([decided(1), decided(2)]).toEqual([[], []]);
    expect(detector.totals()).toMatchObject({ reports: 11, unmatched: 3 });
  });

  it('falls to the default where none matches: a report, or nothing', () => {
    const rules = [rule('one', NOOP, { match: to(443) })];
    expect(new Detector(ruleSet(rules, 'report')).observe(record([]))).toMatchObject([
      { rule: null, detector: 'noop' },
    ]);
    expect(new Detector(ruleSet(rules, 'drop')).observe(record([]))).toEqual([]);
  });

  it('let the highest priority decide, alone', () => {
    const quiet: DetectorConfig = { kind: 'threshold', metric: 'hopLatency', threshold: 0xffffffff, scope: 'hop' };
    const detector = new Detector(ruleSet([rule('loud', NOOP), rule('quiet', quiet, { priority: 1, match: to(80) })]));
    expect(detector.observe(record(latencies(5)))).toEqual([]);
    expect(detector.totals().byRule).toEqual(
      new Map([
        ['loud', { reports: 0, events: 0 }],
        ['quiet', { reports: 1, events: 0 }],
      ]),
    );
  });

  it('keep the state of the flows they decide, and of all others', () => {
    const detector = new Detector(
      ruleSet([rule('a', PER_FLOW, { match: from(1) }), rule('b', PER_FLOW, { match: from(2) })]),
    );
    const events = (flow: number, value: number): number => detector.observe(record(latencies(value), flow)).length;
    expect([events(1, 100), events(2, 100)]).toEqual([1, 1]);
    detector.replaceRule(rule('a', { ...PER_FLOW, threshold: 50 }, { match: from(1) }));
    expect([events(1, 150), events(1, 151), events(2, 105), events(2, 111)]).toEqual([0, 1, 0, 1]);
    detector.removeRule('a');
    detector.addRule(rule('c', PER_FLOW, { match: from(1) }));
    expect([events(1, 155), events(2, 112)]).toEqual([0, 0]);
    detector.setRules(ruleSet([rule('b', PER_FLOW, { match: from(2) }), rule('d', PER_FLOW, { priority: -1 })]));
    expect([events(1, 155), events(2, 112), events(2, 122)]).toEqual([0, 0, 1]);
  });

  it('keep a threshold that was moved, and the counters, where a new set holds the same rule', () => {
    const one = rule('one', PER_FLOW);
    const detector = new Detector(ruleSet([one]));
    detector.setThreshold('one', 1000);
    detector.observe(record(latencies(5000)));
    detector.setRules(ruleSet([rule('other', NOOP, { priority: 9, match: to(1) }), one]));
    expect(detector.threshold('one')).toBe(1000);
    expect(detector.totals().byRule.get('one')).toEqual({ reports: 1, events: 1 });
    detector.setRules(ruleSet([{ ...one, priority: 3 }]));
    expect(detector.threshold('one')).toBe(10);
  });

  it('do not disturb flows whose rule stays: held against a detector whose other rules never change', () => {
    for (let k = 0; k < runs(40); k++) {
      const seed = SEED + k;
      const random = new Random(seed);
      const steady = (match: Match): Rule =>
        rule(
          'steady',
          randomDetector(new Random(seed), { kinds: ['perFlow', 'movingAverage', 'change', 'pathChange'] }),
          {
            priority: 100,
            match,
          },
        );
      const watched = { ...ANY, protocol: 17 };
      const calm = new Detector(ruleSet([steady(watched)]), { stateBytes: 64 << 20 });
      const busy = new Detector(ruleSet([steady(watched)]), { stateBytes: 64 << 20 });
      // Others share cells by design; here they must not, to see what a change of rules does.
      const cells = new Map<number, string>();
      const isAlone = ({ flow }: ReferenceReport): boolean => {
        if (flow === null) return false;
        const cell = crc32(flowKey(flow)) % 65_536;
        const key = flowKey(flow).join();
        if (!cells.has(cell)) cells.set(cell, key);
        return cells.get(cell) === key;
      };
      const reports = new ReportSource(seed).take(2000).filter(isAlone);
      const found = [calm, busy].map((detector) => {
        const batch = new TelemetryBatch({ frames: 1, hops: 256 });
        const events = new EventBatch(256);
        const told: string[] = [];
        reports.forEach((report, index) => {
          if (detector === busy && random.chance(0.2)) change(busy, random);
          fillBatch(batch, [report]);
          events.clear();
          expect(detector.detect(batch, events, 0, 1)).toBe(1);
          for (let e = 0; e < events.count; e++) {
            const { rule: name, value, previous, hop } = events.event(e);
            if (name === 'steady') told.push(`${index} ${value} ${previous} ${hop}`);
          }
        });
        expect(detector.totals().reports).toBe(reports.length);
        return told;
      });
      expect(found[1], `seed ${seed}`).toEqual(found[0]);
    }
  });

  it('are refused as a whole: overlap, name, room for rules, room for state', () => {
    const detector = new Detector(ruleSet([rule('a', PER_FLOW, { match: to(80) })]), {
      maxRules: 2,
      stateBytes: 65_536 * 4,
    });
    const before = detector.rules();
    expect(codeOf(() => detector.addRule(rule('b', NOOP)))).toBe('OVERLAP');
    expect(codeOf(() => detector.addRule(rule('a', NOOP, { priority: 1 })))).toBe('DUPLICATE_NAME');
    expect(codeOf(() => detector.addRule(rule('b', { ...PER_FLOW, metric: 'queueOccupancy' }, { priority: 1 })))).toBe(
      'CAPACITY',
    );
    expect(codeOf(() => detector.replaceRule(rule('a', { kind: 'pathChange' })))).toBe('CAPACITY');
    expect(codeOf(() => detector.setRules(ruleSet([rule('x', NOOP), rule('y', NOOP)])))).toBe('OVERLAP');
    expect(codeOf(() => detector.setRules(ruleSet([rule('x', NOOP), rule('x', NOOP, { priority: 2 })])))).toBe(
      'DUPLICATE_NAME',
    );
    expect(codeOf(() => detector.setRules(ruleSet([1, 2, 3].map((n) => rule(`r${n}`, NOOP, { priority: n })))))).toBe(
      'CAPACITY',
    );
    expect(() => detector.replaceRule(rule('none', NOOP))).toThrow(RangeError);
    expect(() => detector.removeRule('none')).toThrow(RangeError);
    expect(() => detector.setThreshold('none', 1)).toThrow(RangeError);
    expect(() => detector.addRule(rule('n', { ...PER_FLOW, threshold: -1 }, { priority: 1 }))).toThrow(RangeError);
    expect(detector.rules()).toEqual(before);
    expect(detector.observe(record(latencies(11)))).toMatchObject([{ rule: 'a' }]);
    detector.addRule(rule('b', NOOP, { priority: 1, match: to(443) }));
    expect(codeOf(() => detector.addRule(rule('c', NOOP, { priority: 7 })))).toBe('CAPACITY');
  });

  it('say at construction what memory they need, and take no more', () => {
    const config = rule('a', PER_FLOW);
    expect(codeOf(() => new Detector(ruleSet([config]), { stateBytes: 1000 }))).toBe('CAPACITY');
    const detector = new Detector(ruleSet([config]), { stateBytes: 65_536 * 4 });
    expect(detector.byteLength).toBeGreaterThanOrEqual(65_536 * 4);
    expect(detector.byteLength).toBeLessThan(65_536 * 4 + 4096);
  });

  it('need what they ask for: times to sample by, bytes to find MAC addresses in', () => {
    const batch = new TelemetryBatch({ frames: 1 });
    fillBatch(batch, new ReportSource(SEED).take(1));
    batch.isTimed = false;
    batch.bytes = new Uint8Array(0);
    const timed = new Detector(ruleSet([rule('a', NOOP, { sample: { everyNs: 5 } })]));
    expect(() => timed.detect(batch, new EventBatch())).toThrow(TypeError);
    const macs = new Detector(ruleSet([rule('a', NOOP, { match: { ...ANY, sourceMac: 5 } })]));
    expect(() => macs.detect(batch, new EventBatch())).toThrow(TypeError);
    expect(() => timed.detect(batch, new EventBatch(), 0, 2)).toThrow(RangeError);
    expect(() => new EventBatch().event(0)).toThrow(RangeError);
  });

  it('name their options that are out of range', () => {
    for (const options of [
      { flowCells: 0 },
      { switchCells: 1.5 },
      { positions: 33 },
      { idleMs: -1 },
      { maxRules: 0 },
    ]) {
      expect(() => new Detector(ruleSet([]), options)).toThrow(new RegExp(Object.keys(options)[0]!));
    }
    expect(() => new Detector(ruleSet([]), { state: 'fuzzy' as never })).toThrow(/register or exact/);
    expect(() => new EventBatch(255)).toThrow(RangeError);
  });
});

/** A random change that does not touch the rule named steady. */
function change(detector: Detector, random: Random): void {
  const others = detector.rules().filter(({ name }) => name !== 'steady');
  const config = randomDetector(random, { kinds: ['perFlow', 'movingAverage', 'perHop', 'noop'] });
  const priority = random.below(90);
  if (others.length > 0 && random.chance(0.4)) {
    detector.removeRule(random.pick(others).name);
  } else if (others.length > 0 && random.chance(0.5)) {
    detector.replaceRule({ ...random.pick(others), detector: config });
  } else if (others.every((other) => other.priority !== priority)) {
    detector.addRule(rule(`other ${priority}`, config, { priority, match: random.chance(0.5) ? ANY : to(80) }));
  }
}
