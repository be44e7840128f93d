import { type Hop, TelemetryBatch } from '@int/codec';
import { writeRecord } from '@int/codec/internals';
import { Detector, EventBatch, type Rule, type RuleSet, type WatchConfig } from '@int/detect';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { rule, ruleSet } from '../engine/reports.js';
import { SEED } from '../seed.js';
import { type PlainFinding, plainFindings } from './plain-watches.js';
import { byBatches, byObjects, type Found, report, START, type Timed } from './streams.js';

const SIZES = { flowCells: 64, switchCells: 64, stateBytes: 1 << 16, watchKeys: 64 } as const;

const MS = 1_000_000n;

/** A finding as the plain watches write it. */
function plain(found: Found): PlainFinding {
  const { flow, nodeId, timeNs, value, state, evidence } = found;
  const key =
    flow === null
      ? nodeId === null
        ? 'all'
        : `switch ${nodeId}`
      : `${flow.source} ${flow.destination} ${flow.protocol} ${flow.sourcePort} ${flow.destinationPort}`;
  const numbers = Object.fromEntries(evidence!.map((each) => [each.aggregate, each.value]));
  return { rule: found.rule!, state, timeNs, key, value, evidence: numbers };
}

const bySwitch = (milli: number, nodeId: number, hopLatency: number): Timed => ({
  timeNs: START + BigInt(milli) * MS,
  record: report([{ nodeId, hopLatency }]),
});
const silence = (milli: number): Timed => ({ timeNs: START + BigInt(milli) * MS, record: null });

function findingsOf(config: WatchConfig, stream: readonly Timed[]): Found[] {
  return byObjects(new Detector(ruleSet([rule('watch', config)]), SIZES), stream);
}

const about = ({ state, nodeId, value, timeNs }: Found): unknown[] => [
  state,
  nodeId,
  value,
  Number((timeNs - START) / MS),
];

/** The median of a window is known to some per cent. */
const near = (value: number): number => expect.toSatisfy((found: number) => Math.abs(found / value - 1) < 0.06);

describe('baseline', () => {
  const config: WatchConfig = {
    kind: 'baseline',
    metric: 'hopLatency',
    above: 2,
    below: 0.5,
    key: 'switch',
    learnMs: 30_000,
    season: 'none',
  };
  /** Two switches, ten reports a second; the first is slow in seconds 40 to 42, and silent from 50 to 54. */
  const stream = Array.from({ length: 600 }, (_, k) => k).flatMap((k) => {
    const milli = k * 100;
    const isSlow = milli >= 40_000 && milli < 43_000;
    const isSilent = milli >= 50_000 && milli < 55_000;
    return [bySwitch(milli, 2, 1000), ...(isSilent ? [] : [bySwitch(milli, 1, (isSlow ? 5000 : 1000) + (k % 7))])];
  });

  it('tells each unusual window of a key, the first, the others and the end, with its evidence', () => {
    const found = findingsOf(config, stream);
    expect(found.map(about)).toEqual([
      ['open', 1, near(5000), 40_750],
      ['on', 1, near(5000), 41_750],
      ['on', 1, near(5000), 42_750],
      ['close', 1, near(1000), 43_750],
      ['open', 1, null, 53_750],
      ['on', 1, null, 54_750],
      ['close', 1, near(1000), 55_750],
    ]);
    const [first] = found;
    expect(first).toMatchObject({
      rule: 'watch',
      detector: 'baseline',
      metric: 'hopLatency',
      scope: 'hop',
      flow: null,
    });
    expect([first!.previous, first!.threshold]).toEqual([near(1000), near(2000)]);
    expect(first!.evidence!.map(({ aggregate, metric, nodeId }) => [aggregate, metric, nodeId])).toEqual([
      ['median', 'hopLatency', 1],
      ['usual', 'hopLatency', 1],
      ['deviation', 'hopLatency', 1],
    ]);
  });

  it('finds silence without a report', () => {
    const all = findingsOf(config, [...stream.slice(0, 1000), ...[50_000, 53_800, 54_900].map(silence)]);
    expect(all.slice(-4).map(about)).toEqual([
      ['open', 2, null, 53_750],
      ['open', 1, null, 53_750],
      ['on', 2, null, 54_750],
      ['on', 1, null, 54_750],
    ]);
  });
});

describe('rate', () => {
  it('counts reports, drop reports and events of a second', () => {
    const reports = (second: number, count: number, dropped = false): Timed[] =>
      Array.from({ length: count }, (_, k) => ({
        timeNs: START + BigInt(second * 1000 + k) * MS,
        record: report([{ nodeId: 1 }, { nodeId: 2 }], 0, dropped),
      }));
    const stream = [...reports(0, 5), ...reports(1, 20), ...reports(2, 12, true), ...reports(3, 3), silence(9000)];
    const found = (config: WatchConfig): unknown[] => findingsOf(config, stream).map(about);
    expect(found({ kind: 'rate', above: 10, of: 'reports', key: 'all' })).toEqual([
      ['open', null, 20, 1750],
      ['on', null, 12, 2750],
      ['close', null, 3, 3750],
    ]);
    expect(found({ kind: 'rate', above: 10, of: 'drops', key: 'switch' })).toEqual([
      ['open', 2, 12, 2750],
      ['close', 2, 0, 3750],
    ]);
    expect(found({ kind: 'rate', above: 19.5, of: 'reports', key: 'switch' })).toEqual([
      ['open', 1, 20, 1750],
      ['open', 2, 20, 1750],
      ['close', 1, 12, 2750],
      ['close', 2, 12, 2750],
    ]);
  });
});

describe('absent', () => {
  const config: WatchConfig = { kind: 'absent', key: 'switch', forMs: 3000 };

  it('tells when a switch that was seen is not, and when it comes back', () => {
    const found = findingsOf(config, [
      bySwitch(0, 1, 1),
      ...[0, 1000, 2000, 3000, 4000, 5000].map((milli) => bySwitch(milli, 2, 1)),
      bySwitch(8500, 1, 1),
    ]);
    expect(found.map(about)).toEqual([
      ['open', 1, 3000, 3000],
      ['open', 2, 3000, 8000],
      ['close', 1, 8500, 8500],
    ]);
    expect(found[2]!.evidence).toMatchObject([{ aggregate: 'silenceMs', metric: null, value: 8500, nodeId: 1 }]);
  });

  it('finds it while no report comes at all', () => {
    const stream = [bySwitch(0, 7, 1), silence(1000), silence(2000), silence(3100), silence(60_000)];
    expect(findingsOf(config, stream).map(about)).toEqual([['open', 7, 3000, 3000]]);
  });
});

describe('burst', () => {
  const config: WatchConfig = { kind: 'burst', metric: 'hopLatency', above: 100, withinNs: 5_000_000, key: 'switch' };

  it('tells at the fall, with peak and length; what lasts longer is none', () => {
    const values = [50, 150, 700, 200, 90, 50, 101, 102, 103, 104, 105, 106, 107, 20];
    const found = findingsOf(
      config,
      values.map((value, milli) => bySwitch(milli, 3, value)),
    );
    expect(found.map(about)).toEqual([['once', 3, 700, 4]]);
    expect(found[0]).toMatchObject({ threshold: 100, previous: null });
    expect(found[0]!.evidence!.map(({ aggregate, value }) => [aggregate, value])).toEqual([
      ['peak', 700],
      ['lengthUs', 3000],
    ]);
  });
});

describe('a detector with watches', () => {
  const absent: WatchConfig = { kind: 'absent', key: 'switch', forMs: 1000 };

  it('keeps what a rule has learned while the rule stays as it is, and forgets it with the rule', () => {
    const rules = ruleSet([rule('gone', absent)]);
    const detector = new Detector(rules, SIZES);
    expect(byObjects(detector, [bySwitch(0, 1, 1)])).toEqual([]);
    detector.setRules(ruleSet([rule('gone', absent), rule('other', { kind: 'noop' }, { priority: -1 })]));
    expect(byObjects(detector, [silence(1500)]).map(about)).toEqual([['open', 1, 1000, 1000]]);
    detector.replaceRule(rule('gone', { ...absent, forMs: 2000 }));
    expect(byObjects(detector, [silence(9000)])).toEqual([]);
    expect(detector.totals()).toMatchObject({ events: 1, reports: 1 });
    detector.removeRule('gone');
    expect(detector.totals().events).toBe(1);
  });

  it('follows no more keys than it has room for, counts the others, and lets idle ones make room', () => {
    const detector = new Detector(ruleSet([rule('gone', absent)]), { ...SIZES, watchKeys: 4, idleMs: 5000 });
    const found = byObjects(
      detector,
      [0, 1, 2, 3, 4, 5].map((id) => bySwitch(id, id, 1)),
    );
    expect(found).toEqual([]);
    expect(detector.totals().untracked).toBe(2);
    // All four are absent after a second, and idle after five.
    const later = byObjects(detector, [silence(2000), bySwitch(7000, 9, 1), silence(9000)]);
    expect(later.map(about).at(-1)).toEqual(['open', 9, 1000, 8000]);
    expect(detector.totals()).toMatchObject({ untracked: 2, untold: 0 });
  });

  it('counts what nobody reads', () => {
    const many = Array.from({ length: 5000 }, (_, id) => bySwitch(0, id, 1));
    const detector = new Detector(ruleSet([rule('gone', absent)]), { ...SIZES, watchKeys: 8192 });
    byObjects(detector, many);
    detector.advance(START + 5000n * MS);
    expect(detector.findings()!.count).toBe(4096);
    expect(detector.totals()).toMatchObject({ untold: 5000 - 4096, events: 5000 });
  });

  it('wants times', () => {
    const batch = new TelemetryBatch({ frames: 1, reports: 1, hops: 512 });
    writeRecord(batch, report([{ nodeId: 1 }]));
    const detector = new Detector(ruleSet([rule('gone', absent)]), SIZES);
    expect(() => detector.detect(batch, new EventBatch())).toThrow(TypeError);
  });

  test('observe gives findings with the events of the report', () => {
    const detector = new Detector(ruleSet([rule('gone', absent)]), SIZES);
    detector.observe(report([{ nodeId: 1 }]), START);
    const [event] = detector.observe(report([{ nodeId: 2 }]), START + 3000n * MS);
    expect(event).toMatchObject({ rule: 'gone', detector: 'absent', nodeId: 1, state: 'open', firstSight: false });
    expect(detector.findings()!.count).toBe(0);
  });
});

describe('with decide: all and matches of hops', () => {
  const hops = (switches: number[]): Partial<Rule> => ({
    match: {
      ...rule('', { kind: 'noop' }).match,
      hops: { switches: switches.map((id) => ({ from: id, to: id })), queues: null, egressInterfaces: null },
    },
  });

  it('a rate of events counts those of other rules on the reports that it matches', () => {
    const rules: RuleSet = {
      ...ruleSet([
        rule('slow', { kind: 'threshold', metric: 'hopLatency', threshold: 100, scope: 'hop' }),
        rule('often', { kind: 'rate', of: 'events', above: 2, key: 'switch' }, { priority: 5 }),
        rule('often at 3', { kind: 'rate', of: 'events', above: 2, key: 'switch' }, { priority: 6, ...hops([3]) }),
      ]),
      decide: 'all',
    };
    const stream: Timed[] = [0, 1, 2, 3, 4].map((milli) => ({
      timeNs: START + BigInt(milli) * MS,
      record: report([
        { nodeId: 1, hopLatency: milli < 3 ? 500 : 5 },
        { nodeId: milli < 2 ? 2 : 3, hopLatency: 500 },
      ]),
    }));
    for (const find of [byObjects, (one: Detector, all: Timed[]) => byBatches(one, all, 3)]) {
      const found = find(new Detector(rules, SIZES), [...stream, silence(800)]);
      expect(found.map((each) => [each.rule, ...about(each)])).toEqual([
        ['often', 'open', 1, 3, 750],
        ['often', 'open', 3, 3, 750],
        ['often at 3', 'open', 3, 3, 750],
      ]);
    }
  });

  it("'nothing from leaf-2 for 30 s' looks at that switch alone", () => {
    const rules = ruleSet([rule('leaf-2', { kind: 'absent', key: 'switch', forMs: 30_000 }, hops([2]))]);
    const stream = [0, 100].flatMap((milli) => [bySwitch(milli, 1, 1), bySwitch(milli, 2, 1)]);
    for (const find of [byObjects, (one: Detector, all: Timed[]) => byBatches(one, all, 3)]) {
      const found = find(new Detector(rules, SIZES), [...stream, silence(31_000)]);
      expect(found.map(about)).toEqual([['open', 2, 30_000, 30_100]]);
    }
  });
});

/* ---- against the plain watches ---- */

const hop: fc.Arbitrary<Hop> = fc.record(
  {
    nodeId: fc.constantFrom(1, 2, 0xfffffffe),
    hopLatency: fc.constantFrom(10, 11, 12, 100, 1000, 0xffff_fff0),
    queueId: fc.constantFrom(0, 1),
    queueOccupancy: fc.nat(200),
    l1IngressInterface: fc.constant(1),
    l1EgressInterface: fc.constantFrom(1, 2),
  },
  { requiredKeys: [] },
);
const usualHop: fc.Arbitrary<Hop> = fc.record({
  nodeId: fc.constantFrom(1, 2),
  hopLatency: fc.constantFrom(10, 11, 12, 13, 100, 1000),
});
/** Half an item is none. */
const whole = (given: Hop): Hop => {
  const { queueId, queueOccupancy, l1IngressInterface, l1EgressInterface, ...rest } = given;
  return {
    ...rest,
    ...(queueId !== undefined && queueOccupancy !== undefined && { queueId, queueOccupancy }),
    ...(l1IngressInterface !== undefined &&
      l1EgressInterface !== undefined && { l1IngressInterface, l1EgressInterface }),
  };
};

const key = fc.constantFrom('switch' as const, 'flow' as const);
const watch: fc.Arbitrary<WatchConfig> = fc.oneof(
  fc.record({
    kind: fc.constant('baseline' as const),
    metric: fc.constantFrom('hopLatency' as const, 'queueOccupancy' as const),
    above: fc.constantFrom(null, 1.5),
    below: fc.constantFrom(null, 0.7),
    key,
    learnMs: fc.constantFrom(1000, 3000),
    season: fc.constantFrom('none' as const, 'day' as const),
  }),
  fc.record({
    kind: fc.constant('rate' as const),
    above: fc.constantFrom(0, 1, 2.5),
    of: fc.constantFrom('reports' as const, 'drops' as const),
    key: fc.constantFrom('switch' as const, 'flow' as const, 'all' as const),
  }),
  fc.record({ kind: fc.constant('absent' as const), key, forMs: fc.constantFrom(100, 1500, 4000) }),
  fc.record({
    kind: fc.constant('burst' as const),
    metric: fc.constant('hopLatency' as const),
    above: fc.constantFrom(11, 100),
    withinNs: fc.constantFrom(1_000_000, 2_000_000_000),
    key: fc.constant('switch' as const),
  }),
);

const step = fc.record({
  // Mostly on, sometimes back or far.
  nanoseconds: fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 0, max: 700_000_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: -800_000_000, max: 0 }) },
    { weight: 1, arbitrary: fc.integer({ min: 1_000_000_000, max: 6_000_000_000 }) },
  ),
  record: fc.option(
    fc.record({
      hops: fc.array(fc.oneof({ weight: 4, arbitrary: usualHop }, hop), { maxLength: 4 }),
      flow: fc.constantFrom(null, 1, 2),
      dropped: fc.boolean(),
    }),
    { freq: 8 },
  ),
});

describe('batches, objects and the plain watches', () => {
  it('find the same, in whatever batches the reports come', () => {
    let found = 0;
    fc.assert(
      fc.property(
        fc.array(watch, { minLength: 1, maxLength: 3 }),
        fc.array(step, { minLength: 20, maxLength: 80 }),
        (configs, steps) => {
          let now = START;
          const stream: Timed[] = steps.map(({ nanoseconds, record }) => {
            now += BigInt(nanoseconds);
            if (record === null) return { timeNs: now, record };
            return { timeNs: now, record: report(record.hops.map(whole), record.flow, record.dropped) };
          });
          // The stream begins with a report, so that its first second is known.
          stream.unshift({ timeNs: START, record: report([]) });
          // Each rule has a detector of its own, because one rule decides a report.
          for (const [k, config] of configs.entries()) {
            const one: Rule = rule(`rule-${k}`, config);
            const rules: RuleSet = ruleSet([one]);
            const objects = byObjects(new Detector(rules, SIZES), stream).map(plain);
            for (const size of [1, 7, 100]) {
              expect(byBatches(new Detector(rules, SIZES), stream, size).map(plain)).toEqual(objects);
            }
            const sorted = (all: readonly PlainFinding[]): string[] => all.map(textOf).sort();
            expect(sorted(objects)).toEqual(sorted(plainFindings(one, stream)));
            found += objects.length;
          }
        },
      ),
      { seed: SEED, numRuns: runs(300) },
    );
    expect(found).toBeGreaterThan(300);
  }, 60_000);
});

const textOf = (finding: PlainFinding): string =>
  JSON.stringify(finding, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
