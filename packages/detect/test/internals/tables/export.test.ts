import { METRIC_NAMES } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { RulesError } from '../../../src/errors.js';
import { AGGREGATES, type Cnf, OPERATORS } from '../../../src/expression/model.js';
import type { DetectorConfig, Match, Rule, RuleSet } from '../../../src/rules/model.js';
import { DETECTOR_KINDS } from '../../../src/rules/model.js';
import { exportTables } from '../../../src/tables/export.js';
import { SCOPE_NUMBERS, TABLE_ACTIONS } from '../../../src/tables/names.js';
import { Random } from '../../reference/random.js';
import type { ReferenceFlow, ReferenceReport } from '../../reference/reference.js';
import { ReferenceDetector } from '../../reference/reference.js';
import { SEED } from '../../seed.js';
import { ReportSource, randomCnf, randomRules } from '../reference/reports.js';
import { METRIC_ITEMS, REGISTERS } from './data-plane.js';
import { type Decision, type Packet, SwitchTables } from './switch-tables.js';

const METRICS = METRIC_ITEMS.map(({ metric }) => metric);
const DATA_PLANE = {
  kinds: ['noop', 'perHop', 'perFlow', 'movingAverage', 'threshold', 'complex'],
  metrics: METRICS,
  dataPlane: true,
} as const;
const ANY: Match = {
  protocol: null,
  source: null,
  destination: null,
  sourcePort: null,
  destinationPort: null,
  sourceMac: null,
  destinationMac: null,
};

function rule(name: string, priority: number, detector: DetectorConfig, rest: Partial<Rule> = {}): Rule {
  return { name, priority, match: ANY, detector, sample: null, adapt: null, ...rest };
}

function ruleSet(...rules: Rule[]): RuleSet {
  return { rules, default: 'report', adapt: null };
}

const PER_HOP: DetectorConfig = { kind: 'perHop', metric: 'hopLatency', threshold: 10_000 };
const PORTS_10_TO_20: Match = { ...ANY, destinationPort: { from: 10, to: 20 } };

function bigAddress(bytes: readonly number[]): bigint {
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function packetOf(flow: ReferenceFlow, sourceMac: number, destinationMac: number): Packet {
  return {
    version: flow.source.length === 4 ? 4 : 6,
    keys: [
      bigAddress(flow.source),
      bigAddress(flow.destination),
      ...[flow.protocol, flow.sourcePort, flow.destinationPort, sourceMac, destinationMac].map(BigInt),
    ],
  };
}

/** The detector that a decision stands for, with an expression read back from the logic registers. */
function detectorOf({ action, parameters }: Decision, tables: SwitchTables): DetectorConfig {
  if (action === TABLE_ACTIONS.complexDetection.name) {
    return { kind: 'complex', expression: expressionOf(Number(parameters[1]), tables) };
  }
  const [, algorithm, metricNumber, scope, threshold, weight] = parameters.map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const kind = DETECTOR_KINDS[algorithm]!;
  const metric = METRIC_NAMES[metricNumber]!;
  switch (kind) {
    case 'noop':
      return { kind };
    case 'perHop':
    case 'perFlow':
      return { kind, metric, threshold };
    case 'movingAverage':
      return { kind, metric, threshold, weight };
    case 'threshold':
      return { kind, metric, threshold, scope: scope === SCOPE_NUMBERS.hop ? 'hop' : 'endToEnd' };
    default:
      throw new Error(`algorithm ${algorithm}`);
  }
}

function expressionOf(index: number, tables: SwitchTables): Cnf {
  const shape = tables.cell(REGISTERS.logicClauses.name, index);
  const cnf: Cnf = Array.from({ length: 8 }, (_, clause) => {
    const conditions = Number((shape >> BigInt(4 * clause)) & 0xfn);
    return Array.from({ length: conditions }, (__, k) => {
      const word = tables.cell(REGISTERS.logicConditions.name, (index * 8 + clause) * 4 + k);
      return {
        aggregate: AGGREGATES[Number(word >> 44n)]!,
        operator: OPERATORS[Number((word >> 40n) & 0xfn)]!,
        metric: METRIC_NAMES[Number((word >> 32n) & 0xffn)] ?? null,
        constant: Number(word & 0xffffffffn),
      };
    });
  }).filter((clause) => clause.length > 0);
  const conditions = cnf.flat();
  const bits = (of: typeof conditions): bigint =>
    of.reduce((mask, { metric }) => (metric === null ? mask : mask | (1n << BigInt(METRIC_NAMES.indexOf(metric)))), 0n);
  expect(tables.cell(REGISTERS.logicMetrics.name, index)).toBe(bits(conditions));
  const history = conditions.some(({ aggregate }) => aggregate === 'count' || aggregate === 'delta');
  expect(tables.cell(REGISTERS.logicHistory.name, index)).toBe(
    bits(conditions.filter(({ aggregate }) => aggregate === 'delta')) | (history ? 1n << 31n : 0n),
  );
  return cnf;
}

describe('table export', () => {
  it('writes one rules file as commands, highest priority first', () => {
    const rules = ruleSet(
      rule(
        'both',
        40,
        {
          kind: 'complex',
          expression: [
            [{ aggregate: 'sum', metric: 'hopLatency', operator: '>', constant: 10_000 }],
            [
              { aggregate: 'max', metric: 'queueOccupancy', operator: '>', constant: 100 },
              { aggregate: 'delta', metric: 'queueOccupancy', operator: '>=', constant: 4_294_967_295 },
              { aggregate: 'count', metric: null, operator: '==', constant: 1 },
            ],
          ],
        },
        {
          match: { ...ANY, destination: { version: 6, words: [0x20010db8, 0, 0, 0], length: 32 } },
          sample: { everyNs: 1_000_000 },
        },
      ),
      rule('web-latency', 100, PER_HOP, {
        match: {
          ...ANY,
          protocol: 6,
          source: { version: 4, words: [0x0a000000], length: 8 },
          destination: { version: 4, words: [0x0a010203], length: 32 },
          destinationPort: { from: 80, to: 443 },
          sourceMac: 0x020000000001,
        },
        sample: { oneIn: 10 },
      }),
      rule('smooth', 50, { kind: 'movingAverage', metric: 'queueOccupancy', threshold: 820, weight: 3 }),
    );
    const { commands, ruleNames, refused } = exportTables(rules);
    expect(ruleNames).toEqual(['both', 'web-latency', 'smooth']);
    expect(refused).toEqual([]);
    expect(commands).toEqual([
      'table_clear IntSink.algorithm_ipv4_a',
      'table_clear IntSink.algorithm_ipv6_a',
      'table_set_default IntSink.algorithm_ipv4_a IntSink.report_all',
      'table_set_default IntSink.algorithm_ipv6_a IntSink.report_all',
      'register_write IntSink.logic_clauses 0 49',
      'register_write IntSink.logic_metrics 0 3',
      'register_write IntSink.logic_history 0 2147483650',
      // sum 2, > 5, metric 0, 10000.
      `register_write IntSink.logic_conditions 0 ${0x2500_00002710}`,
      `register_write IntSink.logic_conditions 4 ${0x3501_00000064}`,
      `register_write IntSink.logic_conditions 5 ${0x6401_ffffffff}`,
      `register_write IntSink.logic_conditions 6 ${0x72ff_00000001}`,
      'table_add IntSink.algorithm_ipv4_a IntSink.fast_detection 0xa000000&&&0xff000000 0xa010203&&&0xffffffff 0x6&&&0xff ' +
        '0->65535 80->443 0x20000000001&&&0xffffffffffff 0x0&&&0x0 => 1 1 0 0 10000 0 10 0 1',
      'table_add IntSink.algorithm_ipv4_a IntSink.fast_detection 0x0&&&0x0 0x0&&&0x0 0x0&&&0x0 ' +
        '0->65535 0->65535 0x0&&&0x0 0x0&&&0x0 => 2 3 1 1 820 3 0 0 2',
      'table_add IntSink.algorithm_ipv6_a IntSink.fast_detection 0x0&&&0x0 0x0&&&0x0 0x0&&&0x0 ' +
        '0->65535 0->65535 0x0&&&0x0 0x0&&&0x0 => 2 3 1 1 820 3 0 0 2',
      'table_add IntSink.algorithm_ipv6_a IntSink.complex_detection 0x0&&&0x0 ' +
        '0x20010db8000000000000000000000000&&&0xffffffff000000000000000000000000 0x0&&&0x0 ' +
        '0->65535 0->65535 0x0&&&0x0 0x0&&&0x0 => 0 0 0 1000 3',
      'register_write IntSink.bank 0 0',
    ]);
  });

  it('gives rules of one priority one rank, and rules that name a version one table', () => {
    const four: Match = { ...ANY, source: { version: 4, words: [0], length: 0 } };
    const six: Match = { ...ANY, destination: { version: 6, words: [0, 0, 0, 0], length: 0 } };
    const { commands } = exportTables({
      ...ruleSet(
        rule('four', 7, { kind: 'noop' }, { match: four }),
        rule('six', 7, { kind: 'noop' }, { match: six }),
        rule('rest', -2, { kind: 'noop' }),
      ),
      default: 'drop',
    });
    const adds = commands.filter((command) => command.startsWith('table_add')).map((command) => command.split(' '));
    expect(adds.map((words) => [words[1], words[words.length - 1]])).toEqual([
      ['IntSink.algorithm_ipv4_a', '1'],
      ['IntSink.algorithm_ipv6_a', '1'],
      ['IntSink.algorithm_ipv4_a', '2'],
      ['IntSink.algorithm_ipv6_a', '2'],
    ]);
    expect(commands).toContain('table_set_default IntSink.algorithm_ipv6_a IntSink.report_none');
  });

  it('decides for random packets what the rules decide, and gives the detector its parameters', () => {
    let decided = 0;
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0x7fffffff }), (seed) => {
        const random = new Random(seed);
        const rules = randomRules(random, { ...DATA_PLANE, rules: 12 });
        const bank = random.pick([0, 1] as const);
        const { commands, ruleNames } = exportTables(rules, { bank });
        const tables = new SwitchTables();
        for (const command of commands) tables.run(command);
        expect(tables.cell(REGISTERS.bank.name, 0)).toBe(BigInt(bank));

        // Rules by themselves, as noop without sampling: who decides.
        const reference = new ReferenceDetector({
          ...rules,
          rules: rules.rules.map((each) => ({ ...each, detector: { kind: 'noop' }, sample: null })),
        });
        for (const report of new ReportSource(seed, { withoutFlow: 0 }).take(40)) {
          const packet: ReferenceReport = {
            ...report,
            sourceMac: report.sourceMac ?? 1,
            destinationMac: report.destinationMac ?? 2,
          };
          const [event] = reference.detect(packet);
          const decision = tables.decide(
            packetOf(packet.flow!, packet.sourceMac!, packet.destinationMac!),
            bank === 0 ? 'a' : 'b',
          );
          if (event === undefined || event.rule === null) {
            const fallback = event === undefined ? TABLE_ACTIONS.reportNone : TABLE_ACTIONS.reportAll;
            expect(decision.action).toBe(fallback.name);
            continue;
          }
          decided++;
          expect(ruleNames[Number(decision.parameters[0])]).toBe(event.rule);
          const { detector, sample } = rules.rules.find(({ name }) => name === event.rule)!;
          expect(detectorOf(decision, tables)).toEqual(detector);
          expect(decision.parameters.slice(-2).map(Number)).toEqual([
            sample !== null && 'oneIn' in sample ? sample.oneIn : 0,
            sample !== null && 'everyNs' in sample ? sample.everyNs / 1000 : 0,
          ]);
        }
      }),
      { seed: SEED, numRuns: runs(500) },
    );
    expect(decided).toBeGreaterThan(1000);
  });

  it('writes expressions that can be read back from the registers', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0x7fffffff }), fc.constantFrom(0 as const, 1 as const), (seed, bank) => {
        const random = new Random(seed);
        const expressions = Array.from({ length: 1 + random.below(5) }, () => randomCnf(random, METRICS));
        const rules = ruleSet(
          ...expressions.map((expression, n) => rule(`r${n}`, -n, { kind: 'complex', expression })),
        );
        const tables = new SwitchTables();
        // What an earlier, larger expression has left in the cells means nothing.
        for (let cell = 0; cell < REGISTERS.logicConditions.size; cell += 3) {
          tables.run(`register_write ${REGISTERS.logicConditions.name} ${cell} ${2 ** 48 - 1}`);
        }
        for (const command of exportTables(rules, { bank }).commands) tables.run(command);
        expect(expressions.map((_, n) => expressionOf(64 * bank + n, tables))).toEqual(expressions);
      }),
      { seed: SEED, numRuns: runs(200) },
    );
  });

  it('leaves the other bank as it is until the last command', () => {
    const tables = new SwitchTables();
    const complex = (constant: number): DetectorConfig => ({
      kind: 'complex',
      expression: [[{ aggregate: 'any', metric: 'hopLatency', operator: '>', constant }]],
    });
    const packet: Packet = { version: 4, keys: [1n, 2n, 6n, 3n, 4n, 5n, 6n] };
    for (const command of exportTables(ruleSet(rule('old', 0, complex(1)))).commands) tables.run(command);
    const { commands } = exportTables(ruleSet(rule('new', 0, complex(2))), { bank: 1 });
    for (const command of commands.slice(0, -1)) {
      tables.run(command);
      expect(detectorOf(tables.decide(packet, 'a'), tables)).toEqual(complex(1));
      expect(tables.cell(REGISTERS.bank.name, 0)).toBe(0n);
    }
    tables.run(commands[commands.length - 1]!);
    expect(tables.cell(REGISTERS.bank.name, 0)).toBe(1n);
    expect(detectorOf(tables.decide(packet, 'b'), tables)).toEqual(complex(2));
  });

  const refusals: [what: string, rule: Rule, code: string, path: (string | number)[]][] = [
    [
      'change',
      rule('r', 0, { kind: 'change', metric: 'hopLatency', threshold: 1, scope: 'hop' }),
      'BAD_VALUE',
      ['detect', 'change'],
    ],
    ['pathChange', rule('r', 0, { kind: 'pathChange' }), 'BAD_VALUE', ['detect', 'pathChange']],
    [
      'a float average',
      rule('r', 0, { kind: 'movingAverage', metric: 'hopLatency', threshold: 1, alpha: 0.5 }),
      'BAD_VALUE',
      ['detect', 'movingAverage', 'alpha'],
    ],
    [
      'thresholds by switch',
      rule('r', 0, { kind: 'perHop', metric: 'hopLatency', threshold: 1, switchThresholds: new Map([[1, 2]]) }),
      'BAD_VALUE',
      ['detect', 'perHop', 'threshold'],
    ],
    [
      'a metric that INT v2.1 does not have',
      rule('r', 0, { kind: 'perFlow', metric: 'queueCongestion', threshold: 1 }),
      'BAD_VALUE',
      ['detect', 'perFlow', 'metric'],
    ],
    [
      'such a metric in an expression',
      rule('r', 0, {
        kind: 'complex',
        expression: [[{ aggregate: 'any', metric: 'reserved9', operator: '>', constant: 1 }]],
      }),
      'BAD_VALUE',
      ['detect', 'complex'],
    ],
    ['half a microsecond', rule('r', 0, PER_HOP, { sample: { everyNs: 1500 } }), 'BAD_VALUE', ['sample', 'every']],
    [
      'nine clauses',
      rule('r', 0, {
        kind: 'complex',
        expression: Array.from({ length: 9 }, () => [{ aggregate: 'count', metric: null, operator: '>', constant: 1 }]),
      }),
      'EXPRESSION_TOO_LARGE',
      ['detect', 'complex'],
    ],
    [
      'five conditions',
      rule('r', 0, {
        kind: 'complex',
        expression: [
          Array.from({ length: 5 }, () => ({ aggregate: 'count', metric: null, operator: '>', constant: 1 }) as const),
        ],
      }),
      'EXPRESSION_TOO_LARGE',
      ['detect', 'complex'],
    ],
  ];
  it.each(refusals)('refuses %s, or has it reported', (_, refused, code, path) => {
    const rules = ruleSet(rule('first', 1, PER_HOP, { match: PORTS_10_TO_20 }), {
      ...refused,
      sample: refused.sample ?? { oneIn: 2 },
    });
    const error = catchRulesError(() => exportTables(rules));
    expect(error.problems.map((problem) => [problem.code, problem.path])).toEqual([[code, ['rules', 1, ...path]]]);

    const { commands, refused: told } = exportTables(rules, { unsupported: 'report' });
    expect(told).toEqual([{ rule: 'r', reason: error.problems[0]!.message }]);
    // noop, without sampling: the host samples.
    expect(commands.filter((command) => / => 1 /.test(command)).map((command) => command.split(' => ')[1])).toEqual([
      '1 0 255 1 0 0 0 0 2',
      '1 0 255 1 0 0 0 0 2',
    ]);
  });

  it('names all that it refuses', () => {
    const rules = ruleSet(
      rule('a', 2, { kind: 'pathChange' }),
      rule('b', 1, PER_HOP),
      rule('c', 0, { kind: 'movingAverage', metric: 'reserved9', threshold: 1, alpha: 1 }),
    );
    expect(catchRulesError(() => exportTables(rules)).problems.map(({ path }) => path[1])).toEqual([0, 2, 2]);
    expect(exportTables(rules, { unsupported: 'report' }).refused.map((each) => each.rule)).toEqual(['a', 'c']);
  });

  it('refuses more than the switch has room for', () => {
    const expression: Cnf = [[{ aggregate: 'count', metric: null, operator: '>', constant: 1 }]];
    const complex = (count: number): RuleSet =>
      ruleSet(...Array.from({ length: count }, (_, n) => rule(`r${n}`, n, { kind: 'complex', expression })));
    expect(exportTables(complex(64), { bank: 1 }).commands).toContain('register_write IntSink.logic_clauses 127 1');
    expect(catchRulesError(() => exportTables(complex(65))).problems[0]!.code).toBe('CAPACITY');
    const four: Match = { ...ANY, source: { version: 4, words: [0x0a000000], length: 8 } };
    const many = (count: number): RuleSet =>
      ruleSet(...Array.from({ length: count }, (_, n) => rule(`r${n}`, n, PER_HOP, { match: four })));
    expect(exportTables(many(4096)).commands).toHaveLength(4 + 4096 + 1);
    expect(catchRulesError(() => exportTables(many(4097))).message).toContain('4097 rules that IPv4 packets can match');
  });

  it('refuses numbers out of range', () => {
    expect(() => exportTables(ruleSet(rule('r', 0, { ...PER_HOP, threshold: 2 ** 32 })))).toThrow(RangeError);
    expect(() => exportTables(ruleSet(), { bank: 2 as 0 })).toThrow(RangeError);
  });
});

function catchRulesError(run: () => unknown): RulesError {
  try {
    run();
  } catch (error) {
    if (RulesError.is(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
