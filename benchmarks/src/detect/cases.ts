import { DETECTOR_KINDS, type DetectorConfig, type DetectorKind, type MetricName, metricOf } from '@int/detect';

/** A complex expression: all clauses must hold; of each clause, one condition. */
export type Cnf = Extract<DetectorConfig, { readonly kind: 'complex' }>['expression'];
export type Condition = Cnf[number][number];

/** A detector to measure. */
export interface Plan {
  readonly name: string;
  readonly kind: DetectorKind;
  /** The detector with one number left open, or always the same. */
  readonly detector: (threshold: number) => DetectorConfig;
  /** False: there is no threshold, and the share of reports with an event is what it is. */
  readonly isTuned: boolean;
}

const METRIC = 'hopLatency';
const condition = (
  aggregate: Condition['aggregate'],
  metric: MetricName | null,
  operator: Condition['operator'],
  constant: number,
): Condition => ({ aggregate, metric, operator, constant });

/** sum(hopLatency) > T and (max(queueOccupancy) > T / 50 or last(hopLatency) >= T / 4) */
function stateless(threshold: number): Cnf {
  return [
    [condition('sum', METRIC, '>', threshold)],
    [
      condition('max', 'queueOccupancy', '>', Math.floor(threshold / 50)),
      condition('last', METRIC, '>=', Math.floor(threshold / 4)),
    ],
  ];
}

/** delta(hopLatency) > T and count() > 1 and (min(hopLatency) < 1000 or max(queueOccupancy) > 300) */
function withHistory(threshold: number): Cnf {
  return [
    [condition('delta', METRIC, '>', threshold)],
    [condition('count', null, '>', 1)],
    [condition('min', METRIC, '<', 1000), condition('max', 'queueOccupancy', '>', 300)],
  ];
}

export const PLANS: readonly Plan[] = [
  { name: 'noop', kind: 'noop', isTuned: false, detector: () => ({ kind: 'noop' }) },
  {
    name: 'perHop',
    kind: 'perHop',
    isTuned: true,
    detector: (threshold) => ({ kind: 'perHop', metric: METRIC, threshold }),
  },
  {
    name: 'perFlow',
    kind: 'perFlow',
    isTuned: true,
    detector: (threshold) => ({ kind: 'perFlow', metric: METRIC, threshold }),
  },
  {
    name: 'movingAverage',
    kind: 'movingAverage',
    isTuned: true,
    detector: (threshold) => ({ kind: 'movingAverage', metric: METRIC, threshold, weight: 3 }),
  },
  {
    name: 'threshold',
    kind: 'threshold',
    isTuned: true,
    detector: (threshold) => ({ kind: 'threshold', metric: METRIC, threshold, scope: 'hop' }),
  },
  {
    name: 'change',
    kind: 'change',
    isTuned: true,
    detector: (threshold) => ({ kind: 'change', metric: METRIC, threshold, scope: 'hop' }),
  },
  { name: 'pathChange', kind: 'pathChange', isTuned: false, detector: () => ({ kind: 'pathChange' }) },
  {
    name: 'complex',
    kind: 'complex',
    isTuned: true,
    detector: (threshold) => ({ kind: 'complex', expression: stateless(threshold) }),
  },
  {
    name: 'complex, history',
    kind: 'complex',
    isTuned: true,
    detector: (threshold) => ({ kind: 'complex', expression: withHistory(threshold) }),
  },
];

/** As `enum detect_aggregate` of the C program numbers them. */
const NATIVE_AGGREGATES: readonly string[] = ['sum', 'max', 'min', 'last', 'delta', 'count'];
/** What a condition on `count` has for a metric there. */
const NATIVE_NO_METRIC = 4;

/** The values that satisfy a condition, as lowest and number above it. */
function range({ operator, constant }: Condition): readonly [low: number, span: number] {
  switch (operator) {
    case '>':
      return [constant + 1, 0xffffffff - constant - 1];
    case '>=':
      return [constant, 0xffffffff - constant];
    case '<':
      return [0, constant - 1];
    case '<=':
      return [0, constant];
    case '==':
      return [constant, 0];
    case '!=':
      throw new Error('the C program has no !=');
  }
}

/** The rule as the C program reads it. */
export function nativeRule(detector: DetectorConfig): string {
  const expression = detector.kind === 'complex' ? detector.expression : [];
  const names: MetricName[] =
    'metric' in detector
      ? [detector.metric]
      : [...new Set(expression.flat().flatMap(({ metric }) => (metric === null ? [] : [metric])))];
  const metrics = names.flatMap((name) => {
    const { id, columnIndex } = metricOf(name);
    return [id, columnIndex];
  });
  const conditions = expression.flatMap((clause) =>
    clause.flatMap((each, index) => [
      each.metric === null ? NATIVE_NO_METRIC : names.indexOf(each.metric),
      NATIVE_AGGREGATES.indexOf(each.aggregate),
      ...range(each),
      index === clause.length - 1 ? 1 : 0,
    ]),
  );
  const threshold = 'threshold' in detector ? detector.threshold : 0;
  const weight = 'weight' in detector ? detector.weight : 0;
  const head = [DETECTOR_KINDS.indexOf(detector.kind), 0, threshold, weight, names.length, conditions.length / 5];
  return ['rule', ...head, ...metrics, ...conditions].join(' ');
}
