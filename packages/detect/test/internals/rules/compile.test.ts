import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { type RuleProblem, RulesError } from '../../../src/errors.js';
import { compileRule, compileRules } from '../../../src/rules/compile.js';
import type { Rule, RuleSet } from '../../../src/rules/model.js';
import { MATCH_ANY } from '../../../src/rules/model.js';
import type { RuleSpec, RulesSpec } from '../../../src/rules/spec.js';
import { SEED } from '../../seed.js';
import { mutatedSpecs, validSpecs } from './arbitraries.js';
import { ruleSetToSpec, ruleToSpec } from './print.js';

const options = { seed: SEED, numRuns: runs(500) };

/** The problems that a value is refused for; none if it is accepted. */
function problemsOf(spec: unknown): readonly RuleProblem[] {
  try {
    compileRules(spec as RulesSpec);
  } catch (error) {
    if (RulesError.is(error)) return error.problems;
    throw error;
  }
  return [];
}

const rule = { name: 'a', priority: 1, match: 'any', detect: { noop: {} } } as const;

/** A rule set of one rule, changed. */
function withRule(change: object, head: object = {}): unknown {
  return { version: 1, ...head, rules: [{ ...rule, ...change }] };
}

const codes = (spec: unknown): string[] => problemsOf(spec).map(({ code, path }) => `${code} ${path.join('.')}`);

const units = {
  hopLatency: { default: 'ns', switches: { 5: 'us', 9: '10ns' } },
  queueOccupancy: { cell: '80B' },
  egressUtilization: { full: 10_000 },
} as const;

describe('compileRules', () => {
  it('makes numbers of the rules that people write', () => {
    const ruleSet = compileRules({
      version: 1,
      default: 'drop',
      units: { hopLatency: 'ns', queueOccupancy: { cell: '80B' }, egressUtilization: { full: 10_000 } },
      adapt: { target: '5000/s' },
      rules: [
        {
          name: 'web-latency',
          priority: 100,
          match: {
            protocol: 'tcp',
            source: '10.0.0.0/8',
            destination: '10.1.2.3',
            sourcePort: 'any',
            destinationPort: '80-443',
          },
          detect: { perHop: { metric: 'hopLatency', threshold: '10us' } },
          sample: { oneIn: 10 },
          adapt: { target: '1000/s', min: '1us', max: '1ms' },
        },
        {
          name: 'smooth',
          priority: 50,
          match: 'any',
          detect: { movingAverage: { metric: 'queueOccupancy', threshold: '64KiB', weight: 3 } },
          sample: { every: '1ms' },
        },
        {
          name: 'both',
          priority: 40,
          match: { destination: '2001:db8::/32', sourceMac: '02:00:00:00:00:01' },
          detect: { complex: 'sum(hopLatency) > 10us and not max(queueOccupancy) <= 100' },
        },
        {
          name: 'end',
          priority: 1,
          match: 'any',
          detect: { change: { metric: 'hopLatency', threshold: 1, scope: 'endToEnd' } },
        },
      ],
    });
    const expected: RuleSet = {
      default: 'drop',
      adapt: { target: 5000 },
      rules: [
        {
          name: 'web-latency',
          priority: 100,
          match: {
            ...MATCH_ANY,
            protocol: 6,
            source: { version: 4, words: [0x0a000000], length: 8 },
            destination: { version: 4, words: [0x0a010203], length: 32 },
            destinationPort: { from: 80, to: 443 },
          },
          detector: { kind: 'perHop', metric: 'hopLatency', threshold: 10_000 },
          sample: { oneIn: 10 },
          adapt: { target: 1000, minimum: 1000, maximum: 1_000_000 },
        },
        {
          name: 'smooth',
          priority: 50,
          match: MATCH_ANY,
          detector: { kind: 'movingAverage', metric: 'queueOccupancy', threshold: 819, weight: 3 },
          sample: { everyNs: 1_000_000 },
          adapt: null,
        },
        {
          name: 'both',
          priority: 40,
          match: {
            ...MATCH_ANY,
            destination: { version: 6, words: [0x20010db8, 0, 0, 0], length: 32 },
            sourceMac: 0x020000000001,
          },
          detector: {
            kind: 'complex',
            expression: [
              [{ aggregate: 'sum', metric: 'hopLatency', operator: '>', constant: 10_000 }],
              [{ aggregate: 'max', metric: 'queueOccupancy', operator: '>', constant: 100 }],
            ],
          },
          sample: null,
          adapt: null,
        },
        {
          name: 'end',
          priority: 1,
          match: MATCH_ANY,
          detector: { kind: 'change', metric: 'hopLatency', threshold: 1, scope: 'endToEnd' },
          sample: null,
          adapt: null,
        },
      ],
    };
    const { warnings, ...rest } = ruleSet;
    expect(rest).toEqual(expected);
    // The rule before them matches everything.
    expect(warnings?.map(({ code, path }) => `${code} ${path.join('.')}`)).toEqual([
      'UNREACHABLE rules.2',
      'UNREACHABLE rules.3',
    ]);
  });

  it('takes hop as scope, and report as default', () => {
    expect(
      compileRules({ version: 1, rules: [{ ...rule, detect: { threshold: { metric: 'queueId', threshold: 3 } } }] }),
    ).toEqual({
      default: 'report',
      adapt: null,
      rules: [
        {
          ...{ name: 'a', priority: 1, match: MATCH_ANY, sample: null, adapt: null },
          detector: { kind: 'threshold', metric: 'queueId', threshold: 3, scope: 'hop' },
        },
      ],
    });
  });

  it('takes a match of nothing but any for any', () => {
    for (const match of ['any', {}, { protocol: 'any', source: 'any', sourcePort: 'any', sourceMac: 'any' }] as const) {
      expect(compileRules({ version: 1, rules: [{ ...rule, match }] }).rules[0]?.match).toEqual(MATCH_ANY);
    }
  });

  it('gives the same rule set when it is printed and compiled again', () => {
    fc.assert(
      fc.property(validSpecs, (spec) => {
        const ruleSet = compileRules(spec);
        const printed = ruleSetToSpec(ruleSet);
        expect(compileRules(printed)).toEqual(ruleSet);
        expect(compileRules(JSON.parse(JSON.stringify(printed)) as RulesSpec)).toEqual(ruleSet);
      }),
      options,
    );
  });

  it('throws nothing but RulesError, with at least one problem, at a place that exists or lacks something', () => {
    fc.assert(
      fc.property(fc.oneof(mutatedSpecs, fc.anything()), (spec) => {
        const problems = problemsOf(spec);
        for (const { path, message } of problems) {
          expect(message.length).toBeGreaterThan(10);
          let value: unknown = spec;
          for (const key of path) {
            expect(Object.hasOwn(value as object, key)).toBe(true);
            value = (value as Record<string | number, unknown>)[key];
          }
        }
      }),
      { ...options, numRuns: runs(1000) },
    );
  });

  it('tells of all problems, not only of the first', () => {
    expect(
      codes({
        version: 3,
        default: 'keep',
        units: { hopLatency: 'B', speed: 'ns' },
        adapt: {},
        rules: [
          {
            name: '',
            priority: 'high',
            match: { protocol: 'tpc', source: '10.0.0.1/8' },
            detect: { perHop: { metric: 'latency' } },
            sample: {},
          },
          { ...rule, extra: 1 },
          { ...rule, detect: { complex: 'sum(hopLatency) > 1KB and count() > 5s or max(queueOccupancy) == 1.5' } },
        ],
      }),
    ).toEqual([
      'BAD_VALUE version',
      'BAD_VALUE default',
      'WRONG_UNIT units.hopLatency',
      'UNKNOWN_METRIC units.speed',
      'MISSING_KEY adapt',
      'BAD_VALUE rules.0.name',
      'WRONG_TYPE rules.0.priority',
      'BAD_VALUE rules.0.match.protocol',
      'BAD_ADDRESS rules.0.match.source',
      'MISSING_KEY rules.0.detect.perHop',
      'UNKNOWN_METRIC rules.0.detect.perHop.metric',
      'MISSING_KEY rules.0.sample',
      'UNKNOWN_KEY rules.1.extra',
      'WRONG_UNIT rules.2.detect.complex',
      'WRONG_UNIT rules.2.detect.complex',
      'INEXACT_QUANTITY rules.2.detect.complex',
      'DUPLICATE_NAME rules.2.name',
      'OVERLAP rules.2.priority',
    ]);
  });

  it('says where in an expression each wrong constant stands', () => {
    const complex = 'sum(hopLatency) > 1KB and not (count() > 5s or max(queueOccupancy) == 1.5)';
    const problems = problemsOf(withRule({ detect: { complex } }));
    expect(problems.map(({ span }) => complex.slice(span?.start, span?.end))).toEqual(['1KB', '5s', '1.5']);
  });

  it('does not tell of a constant whose scale is wrong itself', () => {
    const detect = { complex: 'sum(hopLatency) > 10us' };
    expect(codes(withRule({ detect }, { units: { hopLatency: 'parsec' } }))).toEqual(['BAD_QUANTITY units.hopLatency']);
    expect(
      codes(
        withRule({ detect: { perHop: { metric: 'hopLatency', threshold: '10us' } } }, { units: { hopLatency: {} } }),
      ),
    ).toEqual(['BAD_VALUE units.hopLatency']);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['text', 'version: 1'],
    ['a list', []],
    ['a date', new Date(0)],
    ['a map', new Map([['version', 1]])],
    ['a function', () => ({ version: 1, rules: [] })],
  ])('refuses %s as a rule set', (_what, spec) => {
    expect(codes(spec)).toEqual(['WRONG_TYPE ']);
  });

  it('does not take inherited properties for keys', () => {
    expect(codes(withRule({ match: JSON.parse('{"__proto__": "any"}') as object }))).toEqual([
      'UNKNOWN_KEY rules.0.match.__proto__',
    ]);
    expect(codes(withRule({ detect: { toString: {} } }))).toEqual(['UNKNOWN_KEY rules.0.detect.toString']);
    expect(codes(withRule({}, { units: { constructor: 'ns' } }))).toEqual(['UNKNOWN_METRIC units.constructor']);
    class Spec {
      readonly version = 1;
      readonly rules = [];
    }
    expect(codes(new Spec())).toEqual(['WRONG_TYPE ']);
    expect(codes(Object.assign(Object.create(null) as object, { version: 1, rules: [] }))).toEqual([]);
  });

  it('takes a key whose value is undefined for one that is not there', () => {
    expect(codes(withRule({ sample: undefined, adapt: undefined }, { default: undefined }))).toEqual([]);
    expect(codes(withRule({ name: undefined }))).toEqual(['MISSING_KEY rules.0']);
  });

  it('refuses a list with holes', () => {
    // biome-ignore lint/suspicious/noSparseArray: that is what is tested
    expect(codes({ version: 1, rules: [, rule] })).toEqual(['WRONG_TYPE rules.0']);
  });

  it('names both rules of an overlap, and a packet that both match', () => {
    const [problem] = problemsOf({
      version: 1,
      rules: [
        { ...rule, name: 'first', match: { protocol: 'udp', destination: '10.0.0.0/8' } },
        { ...rule, name: 'other', match: { protocol: 'tcp' } },
        { ...rule, name: 'second', match: { source: '10.9.0.0/16', destinationPort: '53-60' } },
      ],
    });
    expect(problem).toMatchObject({ code: 'OVERLAP', path: ['rules', 2, 'priority'] });
    expect(problem?.message).toContain('"second" and "first" have the same priority 1');
    expect(problem?.message).toContain('udp 10.9.0.0 -> 10.0.0.0 port 53:');
  });

  it('reads ten thousand rules of one priority', () => {
    const rules = Array.from({ length: 10_000 }, (_, i) => ({
      ...rule,
      name: `rule ${i}`,
      match: { protocol: 'tcp', destination: `10.${i >> 8}.${i & 255}.0/24`, destinationPort: '80-443' },
    }));
    expect(compileRules({ version: 1, rules }).rules).toHaveLength(10_000);
  });
});

describe('scales that differ by switch', () => {
  const threshold = (detect: object): unknown => {
    const [compiled] = compileRules(withRule({ detect }, { units }) as RulesSpec).rules;
    return compiled?.detector;
  };

  it('give a hop detector a threshold for each of them', () => {
    const parameters = { metric: 'hopLatency', threshold: '10us' };
    const expected = {
      metric: 'hopLatency',
      threshold: 10_000,
      switchThresholds: new Map([
        [5, 10],
        [9, 1000],
      ]),
    };
    expect(threshold({ perHop: parameters })).toEqual({ kind: 'perHop', ...expected });
    expect(threshold({ threshold: parameters })).toEqual({ kind: 'threshold', scope: 'hop', ...expected });
    expect(threshold({ change: { ...parameters, scope: 'hop' } })).toEqual({
      kind: 'change',
      scope: 'hop',
      ...expected,
    });
  });

  it('do not change a plain number', () => {
    expect(threshold({ perHop: { metric: 'hopLatency', threshold: 7 } })).toEqual({
      kind: 'perHop',
      metric: 'hopLatency',
      threshold: 7,
    });
    expect(threshold({ complex: 'sum(hopLatency) > 7' })).toMatchObject({ kind: 'complex' });
  });

  it('stand beside thresholds that are given by switch', () => {
    expect(
      threshold({
        perHop: { metric: 'hopLatency', threshold: { default: '10us', switches: { 9: '20us', 70: '1us', 3: 4 } } },
      }),
    ).toEqual({
      ...{ kind: 'perHop', metric: 'hopLatency', threshold: 10_000 },
      switchThresholds: new Map([
        [3, 4],
        [5, 10],
        [9, 2000],
        [70, 1000],
      ]),
    });
  });

  it.each([
    ['perFlow', { perFlow: { metric: 'hopLatency', threshold: '10us' } }],
    ['movingAverage', { movingAverage: { metric: 'hopLatency', threshold: '10us', weight: 3 } }],
    ['scope endToEnd', { change: { metric: 'hopLatency', threshold: '10us', scope: 'endToEnd' } }],
    ['max()', { complex: 'max(hopLatency) > 10us' }],
    ['any()', { complex: 'any(hopLatency) > 10us' }],
  ])('refuse a constant with a unit for %s, and say that a plain number works', (what, detect) => {
    const [problem, ...more] = problemsOf(withRule({ detect }, { units }));
    expect(more).toEqual([]);
    expect(problem?.code).toBe('WRONG_UNIT');
    expect(problem?.message).toContain(what);
    expect(problem?.message).toContain('at switch 5 (us) than elsewhere (ns)');
    expect(problem?.message).toContain('write a plain number of device units');
  });

  it('refuse nothing if they are alike after all', () => {
    const same = { hopLatency: { default: 'us', switches: { 5: '1000ns', 6: '0.001 ms' } } };
    expect(
      codes(withRule({ detect: { perFlow: { metric: 'hopLatency', threshold: '10us' } } }, { units: same })),
    ).toEqual([]);
  });

  it('refuse a constant that has no meaning at one of the switches', () => {
    const mixed = { queueOccupancy: { default: { cell: '80B' }, switches: { 7: 'us' } } };
    const spec = withRule({ detect: { perHop: { metric: 'queueOccupancy', threshold: '10KB' } } }, { units: mixed });
    expect(problemsOf(spec)[0]).toMatchObject({
      code: 'WRONG_UNIT',
      message: expect.stringContaining('at switch 7') as string,
    });
  });
});

describe('compileRule', () => {
  it('makes one rule, which prints as what it was made of', () => {
    const spec: RuleSpec = {
      name: 'one',
      priority: -3,
      match: { protocol: 'udp', source: '10.0.0.0/8', sourcePort: 53, destinationPort: '1-2' },
      detect: { threshold: { metric: 'hopLatency', threshold: { default: 5, switches: { 4: 6 } }, scope: 'hop' } },
      sample: { every: '5ns' },
    };
    const made: Rule = compileRule(spec);
    expect(ruleToSpec(made)).toEqual(spec);
    expect(
      compileRule({ ...rule, detect: { perHop: { metric: 'hopLatency', threshold: '1us' } } }, { hopLatency: 'ns' })
        .detector,
    ).toEqual({
      kind: 'perHop',
      metric: 'hopLatency',
      threshold: 1000,
    });
  });

  it('is refused with paths that start in the rule or in the units', () => {
    const run = (): Rule => compileRule({ ...rule, priority: 0.5 }, { hopLatency: 'KB' });
    expect(run).toThrow(RulesError);
    expect(run).toThrow(/^units\.hopLatency: .*\npriority: /);
  });
});
