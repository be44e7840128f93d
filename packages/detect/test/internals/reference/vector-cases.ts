/** The named cases of the golden vectors, by detector: rules, reports, and registers to begin with. */

import type { MetricName } from '@int/codec';
import { AGGREGATES, type Cnf, type Condition, OPERATORS } from '../../../src/expression/model.js';
import type { DetectorConfig, Match, Rule, RuleSet, Sample } from '../../../src/rules/model.js';
import { Random } from '../../reference/random.js';
import {
  crc32,
  flowKey,
  type ReferenceFlow,
  type ReferenceHop,
  type ReferenceReport,
} from '../../reference/reference.js';
import { METRIC_ITEMS } from '../tables/data-plane.js';
import { ReportSource, randomCnf, randomDetector } from './reports.js';

export interface VectorCase {
  readonly name: string;
  readonly rules: RuleSet;
  readonly reports: readonly ReferenceReport[];
  /** Cells of the reference's registers to set first. */
  readonly before?: Readonly<Record<string, Readonly<Record<number, number>>>>;
}

const MAX32 = 0xffffffff;
const METRICS: readonly MetricName[] = METRIC_ITEMS.map(({ metric }) => metric);

const ANY: Match = {
  protocol: null,
  source: null,
  destination: null,
  sourcePort: null,
  destinationPort: null,
  sourceMac: null,
  destinationMac: null,
};

/* ---- Reports ---- */

const FLOW: ReferenceFlow = {
  source: [10, 0, 1, 1],
  destination: [10, 0, 2, 2],
  protocol: 17,
  sourcePort: 5000,
  destinationPort: 80,
};
const OTHER_FLOW: ReferenceFlow = { ...FLOW, protocol: 6, sourcePort: 443 };
const IPV6_FLOW: ReferenceFlow = {
  source: [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
  destination: [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2],
  protocol: 17,
  sourcePort: 40000,
  destinationPort: 5000,
};

const flowCell = (flow: ReferenceFlow): number => crc32(flowKey(flow)) % 65536;

/** Another flow that has the cell of {@link FLOW}. */
function collidingFlow(): ReferenceFlow {
  for (let host = 3; host < 255; host++) {
    for (let sourcePort = 1; sourcePort < 65536; sourcePort++) {
      const flow = { ...FLOW, destination: [10, 0, 2, host], sourcePort };
      if (flowCell(flow) === flowCell(FLOW)) return flow;
    }
  }
  throw new Error('no flow collides');
}

let clockUs = 0;

/** A report, a millisecond after the one before unless a time is given. */
function report(hops: readonly ReferenceHop[], flow: ReferenceFlow = FLOW, timeUs?: number): ReferenceReport {
  clockUs = timeUs ?? clockUs + 1000;
  return { flow, hops, hasOwnHop: false, nodeId: null, timeNs: BigInt(clockUs) * 1000n };
}

/** Hop latencies of switches 1, 2, 3 and so on. */
function latencies(...values: (number | null)[]): ReferenceHop[] {
  return values.map((hopLatency, index) => ({ nodeId: index + 1, hopLatency }));
}

/** One report of a single hop for each value. */
function series(values: readonly number[], flow: ReferenceFlow = FLOW): ReferenceReport[] {
  return values.map((value) => report(latencies(value), flow));
}

/** Random reports as INT v2.1 can carry them to the sink: known flow, 1 to 8 hops, items of METRIC_ITEMS. */
function randomReports(seed: number, count: number): ReferenceReport[] {
  const source = new ReportSource(seed, { hops: 5, flows: 6, withoutFlow: 0, clockSteps: false });
  const reports: ReferenceReport[] = [];
  while (reports.length < count) {
    const next = source.next();
    const stack = next.hasOwnHop ? next.hops.slice(0, -1) : next.hops;
    const carried = METRICS.filter((name) => stack.some((hop) => name in hop));
    const hops = stack.map(
      (hop) => Object.fromEntries(carried.map((name) => [name, hop[name] ?? null])) as ReferenceHop,
    );
    if (hops.length === 0 || hops.length > 8 || carried.length === 0) continue;
    reports.push(report(hops, next.flow!));
  }
  return reports;
}

/* ---- Rules ---- */

function rule(name: string, priority: number, detector: DetectorConfig, match: Partial<Match> = {}): Rule {
  return { name, priority, match: { ...ANY, ...match }, detector, sample: null, adapt: null };
}

function ruleSet(rules: readonly Rule[], fallback: RuleSet['default'] = 'drop'): RuleSet {
  return { rules, default: fallback, adapt: null };
}

/** A single rule for everything. */
function only(detector: DetectorConfig, sample: Sample | null = null): RuleSet {
  return ruleSet([{ ...rule('only', 0, detector), sample }]);
}

function vectorCase(
  name: string,
  rules: RuleSet | DetectorConfig,
  reports: () => readonly ReferenceReport[],
  before?: VectorCase['before'],
): VectorCase {
  clockUs = 0;
  return {
    name,
    rules: 'kind' in rules ? only(rules) : rules,
    reports: reports(),
    ...(before === undefined ? {} : { before }),
  };
}

/** Random rules of one kind, the first of two metrics, and reports for them. */
function randomCase(seed: number, kind: DetectorConfig['kind'], count = 30): VectorCase {
  const random = new Random(seed);
  const options = { kinds: [kind], metrics: METRICS.slice(0, 3), dataPlane: true };
  const rules = [
    rule('tcp', 2, randomDetector(random, options), { protocol: 6 }),
    rule('rest', 1, randomDetector(random, options)),
  ];
  return vectorCase(`random reports, seed ${seed}`, ruleSet(rules), () => randomReports(seed, count));
}

/* ---- Cases that the detectors of single metrics share ---- */

type Fast = (threshold: number, metric?: MetricName) => DetectorConfig;

function extremeThresholds(of: Fast, form = ''): VectorCase[] {
  const values = [0, 1, 1, 0, MAX32 - 1, 0, 0x80000000, 0x7fffffff, MAX32 - 1, 1];
  return [0, 1, 0x7fffffff, 0x80000000, MAX32 - 2, MAX32 - 1, MAX32].map((threshold) =>
    vectorCase(`threshold ${threshold}, unsigned comparison${form}`, of(threshold), () => series(values)),
  );
}

function missing(of: Fast, form = ''): VectorCase[] {
  const queue = (queueId: number | null, queueOccupancy: number | null): ReferenceHop => ({
    nodeId: 1,
    queueId,
    queueOccupancy,
  });
  const l2 = (l2IngressInterface: number | null, l2EgressInterface: number | null): ReferenceHop => ({
    nodeId: 1,
    l2IngressInterface,
    l2EgressInterface,
  });
  return [
    vectorCase(`hops whose item is all ones are skipped${form}`, of(10), () => [
      report(latencies(100, null, 100)),
      report(latencies(null, null)),
      report(latencies(null, 200, null)),
      report(latencies(MAX32, 300)),
    ]),
    vectorCase(`reports whose instruction bitmap lacks the metric${form}`, of(10), () => [
      report(latencies(100)),
      report([{ nodeId: 1, egressUtilization: 7 }]),
      report(latencies(105)),
      report([{ egressUtilization: 7 }]),
    ]),
    vectorCase(`all ones in 24 of an item of 32 bits is a value${form}`, of(10, 'queueOccupancy'), () => [
      report([queue(0, 0xffffff)]),
      report([queue(0xff, 0)]),
      report([queue(0xff, 0xffffff)]),
      report([queue(null, null)]),
      report([queue(0xfe, 0xffffff)]),
    ]),
    vectorCase(`an item of two words is missing only if both are all ones${form}`, of(10, 'l2EgressInterface'), () => [
      report([l2(5, MAX32)]),
      report([l2(MAX32, 5)]),
      report([l2(MAX32, MAX32)]),
      report([l2(5, 6)]),
    ]),
  ];
}

function everyMetric(of: Fast): VectorCase[] {
  const hop = (k: number): ReferenceHop => Object.fromEntries(METRICS.map((name, index) => [name, 10 * index + k]));
  return METRICS.map((metric) =>
    vectorCase(`metric ${metric}`, of(3, metric), () => [report([hop(1)]), report([hop(8)])]),
  );
}

function flowCells(of: Fast): VectorCase[] {
  return [
    vectorCase('flows of one cell share its state', of(10), () => [
      ...series([100]),
      ...series([105, 50], collidingFlow()),
      ...series([55, 100]),
    ]),
    vectorCase('flows of other cells, IPv4 and IPv6, do not', of(10), () => [
      ...series([100]),
      ...series([100], OTHER_FLOW),
      ...series([100], IPV6_FLOW),
      ...series([105]),
      ...series([105], OTHER_FLOW),
      ...series([105], IPV6_FLOW),
    ]),
  ];
}

function saturation(of: Fast, form = ''): VectorCase {
  return vectorCase(`the sum saturates${form}`, of(0), () => [
    report(latencies(0x80000000, 0x7fffffff)),
    report(latencies(0x80000000, 0x80000000)),
    report(latencies(MAX32 - 1, MAX32 - 1, 5, MAX32 - 1)),
    report(latencies(MAX32 - 1)),
    report(latencies(MAX32 - 1, 1, 1)),
  ]);
}

/* ---- By detector ---- */

function noopCases(): VectorCase[] {
  return [
    vectorCase('every report', { kind: 'noop' }, () => [report(latencies(0)), report([{ egressUtilization: 1 }])]),
    vectorCase('no rule matches, default report', ruleSet([], 'report'), () => [
      report(latencies(1)),
      report(latencies(1), IPV6_FLOW),
    ]),
    vectorCase('no rule matches, default drop', ruleSet([], 'drop'), () => [
      report(latencies(1)),
      report(latencies(1), IPV6_FLOW),
    ]),
  ];
}

function perHopCases(): VectorCase[] {
  const of: Fast = (threshold, metric = 'hopLatency') => ({ kind: 'perHop', metric, threshold });
  const hop = (nodeId: number | null, hopLatency: number): ReferenceHop => ({ nodeId, hopLatency });
  return [
    vectorCase('compares with the value last reported', of(10), () => series([10, 11, 20, 21, 22, 11])),
    vectorCase('each hop has its own state, and several can cross', of(10), () => [
      report(latencies(100, 5, 200)),
      report(latencies(100, 11, 189)),
      report(latencies(111, 22, 190)),
    ]),
    vectorCase('a loop: a later hop sees what an earlier one has written', of(10), () => [
      report([hop(1, 100), hop(2, 50), hop(1, 105), hop(1, 80), hop(1, 100)]),
      report([hop(1, 85), hop(1, 90), hop(1, 95)]),
    ]),
    vectorCase('switch ids of one cell share its state', of(10), () => [
      report([hop(1, 100), hop(4097, 105), hop(8193, 50)]),
      report([hop(0x80000001, 55), hop(4095, 55), hop(0xffffffff - 4096, 60), hop(0, 9), hop(4096, 11)]),
    ]),
    vectorCase('a hop that does not name its switch is skipped', of(10), () => [
      report([hop(null, 100), hop(4095, 50)]),
      report([hop(MAX32, 100), hop(4095, 0)]),
      report([{ hopLatency: 100 }]),
    ]),
    vectorCase(
      'rules on one metric share its state',
      ruleSet([
        rule('tcp', 2, of(10), { protocol: 6 }),
        rule('udp', 1, of(50), { protocol: 17 }),
        rule('rest', 0, of(0, 'nodeId')),
      ]),
      () => [...series([100]), ...series([105, 120], OTHER_FLOW), ...series([160, 171])],
    ),
    vectorCase('eight hops', of(1), () => [
      report(latencies(1, 2, 3, 4, 5, 6, 7, 8)),
      report(latencies(3, 4, 5, 6, 7, 8, 9, 10)),
    ]),
    ...missing(of),
    ...extremeThresholds(of),
    ...everyMetric(of),
    randomCase(10, 'perHop'),
    randomCase(2, 'perHop'),
  ];
}

function perFlowCases(): VectorCase[] {
  const of: Fast = (threshold, metric = 'hopLatency') => ({ kind: 'perFlow', metric, threshold });
  return [
    vectorCase('compares with the sum last reported', of(10), () => [
      report(latencies(5, 5)),
      report(latencies(5, 6)),
      report(latencies(20, 1)),
      report(latencies(21, 1)),
      report(latencies(1, 1, 9)),
    ]),
    saturation(of),
    ...flowCells(of),
    ...missing(of),
    ...extremeThresholds(of),
    ...everyMetric(of),
    randomCase(10, 'perFlow'),
    randomCase(35, 'perFlow'),
  ];
}

function movingAverageCases(): VectorCase[] {
  const of =
    (weight: number): Fast =>
    (threshold, metric = 'hopLatency') => ({ kind: 'movingAverage', metric, threshold, weight });
  const cell = flowCell(FLOW);
  const state = (acc: number, reported: number): VectorCase['before'] => ({
    'average_accumulator hopLatency': { [cell]: acc },
    'average_reported hopLatency': { [cell]: reported },
  });
  const steady = Array.from({ length: 16 }, (_, weight) => {
    // From a little below and a little above where the accumulator comes to rest.
    const full = 1000 * 2 ** weight;
    return [
      vectorCase(
        `steady state from below, weight ${weight}`,
        of(weight)(0),
        () => series(Array<number>(4).fill(1000)),
        state(full - 3, 0),
      ),
      vectorCase(
        `steady state from above, weight ${weight}`,
        of(weight)(0),
        () => series(Array<number>(4).fill(1000)),
        state(full + 2 ** weight + 1, 0),
      ),
    ];
  }).flat();
  const approach = [0, 1, 2, 3, 4].map((weight) =>
    vectorCase(`a step up and down, weight ${weight}`, of(weight)(5), () =>
      series([...Array<number>(12).fill(100), ...Array<number>(12).fill(20)]),
    ),
  );
  return [
    ...steady,
    ...approach,
    vectorCase('the accumulator changes on every report, what was reported only on events', of(3)(10), () =>
      series([80, 80, 80, 80, 0, 0, 0, 0]),
    ),
    vectorCase(
      '48 bits: the largest sums at weight 15',
      of(15)(0),
      () => [report(latencies(MAX32 - 1, 5)), report(latencies(MAX32 - 1, 5)), report(latencies(0))],
      state(MAX32 * 2 ** 15 - 1, MAX32 - 1),
    ),
    vectorCase(
      'an average that saturates, as the weight was made smaller',
      of(1)(0),
      () => series([100, 100, 100]),
      state(2 ** 46 + 12345, 7),
    ),
    saturation(of(0), ', weight 0'),
    saturation(of(2), ', weight 2'),
    ...flowCells(of(1)),
    ...missing(of(0)),
    ...extremeThresholds(of(0)),
    vectorCase(`threshold ${MAX32}`, of(3)(MAX32), () => series([MAX32 - 1, 0])),
    randomCase(17, 'movingAverage'),
    randomCase(22, 'movingAverage'),
  ];
}

function thresholdCases(): VectorCase[] {
  const hop: Fast = (threshold, metric = 'hopLatency') => ({ kind: 'threshold', metric, threshold, scope: 'hop' });
  const endToEnd: Fast = (threshold, metric = 'hopLatency') => ({
    kind: 'threshold',
    metric,
    threshold,
    scope: 'endToEnd',
  });
  const values = (): ReferenceReport[] => [
    report(latencies(10, 11, 4)),
    report(latencies(10, 10)),
    report(latencies(5, 5)),
    report([{ hopLatency: 11 }, { hopLatency: 9 }]),
  ];
  return [
    vectorCase('hop: a level, of hops named or not', hop(10), values),
    vectorCase('endToEnd: the sum', endToEnd(10), values),
    saturation(endToEnd),
    ...missing(hop, ', hop'),
    ...extremeThresholds(hop, ', hop'),
    ...missing(endToEnd, ', endToEnd'),
    ...extremeThresholds(endToEnd, ', endToEnd'),
    randomCase(14, 'threshold'),
    randomCase(28, 'threshold'),
  ];
}

function samplingCases(): VectorCase[] {
  const perFlow: DetectorConfig = { kind: 'perFlow', metric: 'hopLatency', threshold: 10 };
  const cell = flowCell(FLOW);
  const at = (...times: number[]): ReferenceReport[] => times.map((time) => report(latencies(1), FLOW, time));
  return [
    ...[1, 2, 3, MAX32].map((oneIn) =>
      vectorCase(`one in ${oneIn}`, only({ kind: 'noop' }, { oneIn }), () => [
        ...series([1, 1, 1, 1]),
        ...series([1, 1], OTHER_FLOW),
        ...series([1, 1, 1]),
      ]),
    ),
    vectorCase('reports not looked at change no state', only(perFlow, { oneIn: 2 }), () =>
      series([100, 5000, 105, 1, 90]),
    ),
    vectorCase('a report without the metric counts as looked at', only(perFlow, { oneIn: 2 }), () => [
      report([{ nodeId: 1, egressUtilization: 1 }]),
      ...series([100, 100, 200]),
    ]),
    vectorCase('flows of one cell share the count', only({ kind: 'noop' }, { oneIn: 3 }), () => [
      ...series([1]),
      ...series([1, 1, 1], collidingFlow()),
    ]),
    vectorCase('n was made smaller', only({ kind: 'noop' }, { oneIn: 3 }), () => series([1, 1, 1, 1]), {
      sample_count: { [cell]: 900 },
    }),
    vectorCase('one in 2000 us', only({ kind: 'noop' }, { everyNs: 2_000_000 }), () =>
      at(1000, 1001, 2999, 3000, 3001, 4999, 5100, 7099, 7100, 50_000, 51_999),
    ),
    vectorCase('one in a day, 1 us apart at most', only({ kind: 'noop' }, { everyNs: 86_400_000_000_000 }), () =>
      at(1, 2, 86_400_000_000, 86_400_000_001, 86_400_000_002),
    ),
    vectorCase('times beyond 32 bits', only(perFlow, { everyNs: 1000 }), () =>
      at(2 ** 40, 2 ** 40 + 1, 2 ** 40 + 1, 2 ** 40 + 2),
    ),
    vectorCase('complex and sampled', only({ kind: 'complex', expression: [[count('>=', 2)]] }, { oneIn: 2 }), () =>
      series([1, 1, 1, 1, 1]),
    ),
  ];
}

function count(operator: Condition['operator'], constant: number): Condition {
  return { aggregate: 'count', metric: null, operator, constant };
}

function condition(
  aggregate: Condition['aggregate'],
  operator: Condition['operator'],
  constant: number,
  metric: MetricName = 'hopLatency',
): Condition {
  return { aggregate, metric: aggregate === 'count' ? null : metric, operator, constant };
}

/** Each aggregate with each operator. */
function aggregateCases(aggregate: Condition['aggregate']): VectorCase[] {
  const constant = aggregate === 'count' ? 4 : 20;
  return OPERATORS.map((operator) =>
    vectorCase(
      `${aggregate} ${operator} ${constant}`,
      { kind: 'complex', expression: [[condition(aggregate, operator, constant)]] },
      () => [
        report(latencies(20)),
        report(latencies(19, 21)),
        report(latencies(21, 20, 20)),
        report(latencies(20, 20, null)),
        report(latencies(null, 5, 15)),
        report(latencies(0, 40)),
        report(latencies(25, 21)),
        report(latencies(3, 4)),
        report([{ nodeId: 1, egressUtilization: 20 }]),
        report(latencies(MAX32 - 1, 20, MAX32 - 1)),
        report(latencies(20), IPV6_FLOW),
      ],
    ),
  );
}

function expressionCases(): VectorCase[] {
  const complex = (expression: Cnf): DetectorConfig => ({ kind: 'complex', expression });
  const both = (hopLatency: number | null, egressUtilization: number | null): ReferenceReport =>
    report([{ nodeId: 1, hopLatency, egressUtilization }]);
  const cell = flowCell(FLOW);
  const full: Cnf = Array.from({ length: 8 }, (_, clause) =>
    Array.from({ length: 4 }, (__, k) => condition('any', '==', 4 * clause + k)),
  );
  return [
    vectorCase('and', complex([[condition('sum', '>', 10)], [condition('max', '>', 100, 'egressUtilization')]]), () => [
      both(11, 101),
      both(10, 101),
      both(11, 100),
      both(11, null),
      both(null, 101),
    ]),
    vectorCase('or', complex([[condition('sum', '>', 10), condition('max', '>', 100, 'egressUtilization')]]), () => [
      both(11, 0),
      both(0, 101),
      both(10, 100),
      both(11, null),
      both(null, 101),
      both(null, null),
    ]),
    vectorCase(
      'an unknown condition is not true, and neither is its negation',
      complex([
        [condition('sum', '>', 10), condition('sum', '<=', 10)],
        [condition('any', '>=', 0, 'egressUtilization')],
      ]),
      () => [both(11, 0), both(10, 0), both(null, 0), both(11, null), both(null, null)],
    ),
    vectorCase('8 clauses of 4 conditions', complex(full), () => [
      report(latencies(0, 5, 10, 15, 16, 21, 26, 31)),
      report(latencies(0, 5, 10, 15, 16, 21, 26, 27)),
      report(latencies(3, 7, 11, 15, 19, 23, 27, 32)),
      report(latencies(3, 7, 11, 15, 19, 23, 27, 28)),
    ]),
    vectorCase(
      'clauses of different lengths',
      complex([
        [count('>', 1)],
        [condition('any', '<', 5), condition('any', '>', 50), condition('last', '==', 7)],
        [condition('min', '!=', 0), condition('delta', '>', 3)],
      ]),
      () => [
        report(latencies(1)),
        report(latencies(4)),
        report(latencies(60, 7)),
        report(latencies(20, 7)),
        report(latencies(0)),
        report(latencies(0, 3)),
      ],
    ),
    vectorCase('only a count: every report is looked at', complex([[count('==', 2)]]), () => [
      report([{ egressUtilization: 1 }]),
      both(null, null),
      both(1, 1),
    ]),
    vectorCase(
      'a report without the metrics does not count',
      complex([[count('==', 2)], [condition('any', '>=', 0)]]),
      () => [both(1, null), both(null, 1), both(1, 1), both(1, 1)],
    ),
    vectorCase('the count saturates', complex([[count('==', MAX32)]]), () => series([1, 1, 1, 1]), {
      complex_count: { [cell]: MAX32 - 2 },
    }),
    vectorCase(
      'delta is 0 at first sight, also where the cell is not of this metric',
      complex([[condition('delta', '>', 5), condition('delta', '>', 5, 'egressUtilization')]]),
      () => [
        both(100, null),
        both(null, 100),
        both(105, 105),
        both(111, 105),
        both(null, 111),
        both(null, 0),
        both(0, null),
      ],
    ),
    vectorCase('delta of saturated sums', complex([[condition('delta', '<', 2)]]), () => [
      report(latencies(MAX32 - 1, MAX32 - 1)),
      report(latencies(MAX32 - 1)),
      report(latencies(MAX32 - 2)),
      report(latencies(MAX32 - 1, 5)),
      report(latencies(0)),
    ]),
    vectorCase(
      'expressions share the history of a flow; those without history leave it alone',
      ruleSet([
        rule('deltas', 3, complex([[condition('delta', '>', 5)]]), {
          sourcePort: { from: 5000, to: 5000 },
          protocol: 17,
        }),
        rule('counts', 2, complex([[count('>', 2)]]), {
          source: { version: 4, words: [0x0a000101], length: 32 },
          sourcePort: { from: 1, to: 4999 },
        }),
        rule('plain', 1, complex([[condition('sum', '>', 0)]])),
      ]),
      () => [
        ...series([100, 106]),
        ...series([200, 200], collidingFlow()),
        ...series([112], OTHER_FLOW),
        ...series([118, 118]),
      ],
    ),
    ...[9, 10, 11].map((seed) => {
      const expression = randomCnf(new Random(seed), METRICS.slice(0, 3));
      return vectorCase(`random reports, seed ${seed}`, complex(expression), () => randomReports(seed, 20));
    }),
  ];
}

function matchingCases(): VectorCase[] {
  const noop: DetectorConfig = { kind: 'noop' };
  const ten8 = { version: 4, words: [0x0a000000], length: 8 } as const;
  const host = { version: 4, words: [0x0a000202], length: 32 } as const;
  const six32 = { version: 6, words: [0x20010db8, 0, 0, 0], length: 32 } as const;
  const six127 = { version: 6, words: [0x20010db8, 0, 0, 2], length: 127 } as const;
  const any6 = { version: 6, words: [0, 0, 0, 0], length: 0 } as const;
  const any4 = { version: 4, words: [0], length: 0 } as const;
  const flows: ReferenceFlow[] = [
    FLOW,
    OTHER_FLOW,
    IPV6_FLOW,
    { ...FLOW, source: [11, 0, 1, 1] },
    { ...FLOW, destination: [10, 0, 2, 3] },
    { ...FLOW, sourcePort: 4999 },
    { ...FLOW, sourcePort: 6001, destinationPort: 81 },
    { ...FLOW, sourcePort: 0, destinationPort: 65535 },
    { ...FLOW, protocol: 1, sourcePort: 0, destinationPort: 0 },
    { ...IPV6_FLOW, source: [...IPV6_FLOW.source.slice(0, 15), 4], destinationPort: 80 },
    { ...IPV6_FLOW, source: [0x20, 0x01, 0x0d, 0xb9, ...IPV6_FLOW.source.slice(4)], protocol: 6 },
    { ...IPV6_FLOW, destination: [...IPV6_FLOW.destination.slice(0, 15), 4] },
  ];
  const all = (): ReferenceReport[] => flows.map((flow) => report(latencies(1), flow));
  const ethernet = (source: number, destination: number): ReferenceReport => ({
    ...report(latencies(1)),
    sourceMac: source,
    destinationMac: destination,
  });
  return [
    vectorCase(
      'the match of highest priority decides alone',
      ruleSet(
        [
          rule('ten', 10, noop, { source: ten8 }),
          rule(
            'nothing',
            100,
            { kind: 'threshold', metric: 'hopLatency', threshold: 1000, scope: 'hop' },
            { destination: host, destinationPort: { from: 80, to: 80 } },
          ),
          rule('low', -5, noop, { protocol: 17 }),
          rule('six', 10, noop, { source: six32, destination: six127 }),
          rule('ports', 50, noop, { sourcePort: { from: 5000, to: 6000 }, protocol: 6 }),
        ],
        'drop',
      ),
      all,
    ),
    vectorCase(
      'port ranges, and an any prefix that still asks for the IP version',
      ruleSet(
        [
          rule('web', 5, noop, { destinationPort: { from: 80, to: 443 } }),
          rule('high', 4, noop, { sourcePort: { from: 6001, to: 65535 } }),
          rule('zero', 3, noop, { sourcePort: { from: 0, to: 0 } }),
          rule('four', 2, noop, { source: any4 }),
          rule('six', 1, noop, { destination: any6 }),
        ],
        'drop',
      ),
      all,
    ),
    vectorCase(
      'what no rule matches, default report',
      ruleSet([rule('icmp', 0, noop, { protocol: 1 })], 'report'),
      all,
    ),
    vectorCase(
      'MAC addresses',
      ruleSet([
        rule('from', 3, noop, { sourceMac: 0x020000000001 }),
        rule('to', 2, noop, { destinationMac: 0xffffffffffff }),
        rule('both', 4, noop, { sourceMac: 0x020000000001, destinationMac: 0xffffffffffff, protocol: 17 }),
      ]),
      () => [
        ethernet(0x020000000001, 0x020000000002),
        ethernet(0x020000000002, 0xffffffffffff),
        ethernet(0x020000000001, 0xffffffffffff),
        ethernet(0x020000000002, 0x020000000001),
      ],
    ),
  ];
}

/** Parts of a detector's cases that have a file of their own, by how their names begin. */
const PARTS: readonly (readonly [part: string, beginning: string])[] = [
  ['thresholds', 'threshold '],
  ['metrics', 'metric '],
  ['steady', 'steady state'],
  ['random', 'random reports'],
];

/** Cases by file name. */
export function vectorCases(): ReadonlyMap<string, readonly VectorCase[]> {
  const files = new Map<string, VectorCase[]>();
  const add = (name: string, cases: readonly VectorCase[]): void => {
    for (const each of cases) {
      const part = PARTS.find(([, beginning]) => each.name.startsWith(beginning));
      const file = part === undefined ? name : `${name}-${part[0]}`;
      files.set(file, [...(files.get(file) ?? []), each]);
    }
  };
  add('noop', noopCases());
  add('perHop', perHopCases());
  add('perFlow', perFlowCases());
  add('movingAverage', movingAverageCases());
  add('threshold', thresholdCases());
  add('sampling', samplingCases());
  add('matching', matchingCases());
  add('complex', expressionCases());
  for (const aggregate of AGGREGATES) add(`complex-${aggregate}`, aggregateCases(aggregate));
  return files;
}
