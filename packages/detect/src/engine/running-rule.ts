import { METRICS, metricOf } from '@int/codec';
import { AGGREGATES, OPERATORS } from '../expression/model.js';
import { DETECTOR_KINDS, type Rule } from '../rules/model.js';
import { KIND, NO_METRIC, NO_RULE, SCOPES } from './event-columns.js';
import { type StateKind, type StatePool, stateOf } from './state.js';

/** A metric as a loop reads it. */
export interface Reading {
  readonly id: number;
  readonly column: number;
  /** Column of the item's other word, or the same column. */
  readonly pair: number;
}

function readingOf(name: string): Reading {
  const { id, columnIndex, pairIndex } = metricOf(name);
  return { id, column: columnIndex, pair: pairIndex < 0 ? columnIndex : pairIndex };
}

/** One condition of a complex expression, by numbers. */
export interface RunningCondition {
  /** Index in {@link AGGREGATES}. */
  readonly aggregate: number;
  /** Index in {@link OPERATORS}. */
  readonly operator: number;
  readonly constant: number;
  /** Index in the expression's metrics; -1 for count. */
  readonly metric: number;
}

export interface RunningExpression {
  readonly clauses: readonly (readonly RunningCondition[])[];
  /** The metrics it names. */
  readonly metrics: readonly Reading[];
  /** Base of each metric's previous sums, or -1 if no delta names it. */
  readonly sums: readonly number[];
  /** Base of the history cells, or -1. */
  readonly history: number;
}

/** What the loops read of a rule: flat, always of the same shape. */
export class RunningRule {
  readonly slot: number;
  /** Index in DETECTOR_KINDS, with the two forms of some kinds apart: see {@link LOOP}. */
  readonly loop: number;
  /** The `kind` word of its events. */
  readonly eventKind: number;
  readonly reading: Reading;
  /** Signed word. */
  threshold = 0;
  /** Thresholds of some switches (signed), by switch id (signed); `null`: the same everywhere. */
  switchThresholds: Map<number, number> | null = null;
  readonly weight: number;
  readonly alpha: number;
  /** Bases of the state in the pool, in words or floats. */
  readonly state: number;
  readonly reported: number;
  readonly expression: RunningExpression | null;
  readonly needsFlow: boolean;
  readonly sampleEvery: number;
  readonly sampleNs: number;
  readonly sampleState: number;

  constructor(slot: number, rule: Pick<Rule, 'detector' | 'sample'>, pool: StatePool) {
    const { detector, sample } = rule;
    this.slot = slot;
    const keys = stateOf(rule);
    for (const key of keys) pool.take(key);
    const base = (kind: StateKind, metric: number | null): number => pool.find({ kind, metric })?.base ?? -1;
    const name = 'metric' in detector ? detector.metric : null;
    this.reading = readingOf(name ?? 'hopLatency');
    const metric = name === null ? null : this.reading.id;
    const scope =
      detector.kind === 'perHop' ? 'hop' : 'scope' in detector ? detector.scope : ('flow' as (typeof SCOPES)[number]);
    this.loop = loopOf(detector.kind, scope, 'alpha' in detector);
    this.eventKind =
      DETECTOR_KINDS.indexOf(detector.kind) |
      ((metric ?? NO_METRIC) << KIND.METRIC_SHIFT) |
      (SCOPES.indexOf(scope) << KIND.SCOPE_SHIFT);
    this.weight = 'weight' in detector ? detector.weight : 0;
    this.alpha = 'alpha' in detector ? detector.alpha : 0;
    const [first, second] = keys;
    this.state = first === undefined ? -1 : base(first.kind, first.metric);
    this.reported = second === undefined ? -1 : base(second.kind, second.metric);
    this.expression = detector.kind === 'complex' ? running(detector.expression, pool) : null;
    this.needsFlow = keys.some(({ kind }) => kind !== 'perHop');
    this.sampleEvery = sample !== null && 'oneIn' in sample ? sample.oneIn : 0;
    this.sampleNs = sample !== null && 'everyNs' in sample ? sample.everyNs : 0;
    this.sampleState = sample === null ? -1 : base('oneIn' in sample ? 'sampleCount' : 'sampleTime', null);
    if ('threshold' in detector) {
      this.setThreshold(detector.threshold, 'switchThresholds' in detector ? detector.switchThresholds : undefined);
    }
  }

  setThreshold(threshold: number, switches?: ReadonlyMap<number, number>): void {
    this.threshold = threshold | 0;
    this.switchThresholds =
      switches === undefined || switches.size === 0
        ? null
        : new Map([...switches].map(([id, value]) => [id | 0, value | 0]));
  }
}

/** The loops, by number. */
export const LOOP = {
  NOOP: 0,
  PER_HOP: 1,
  PER_FLOW: 2,
  AVERAGE: 3,
  FLOAT_AVERAGE: 4,
  THRESHOLD_HOP: 5,
  THRESHOLD_END_TO_END: 6,
  CHANGE_HOP: 7,
  CHANGE_END_TO_END: 8,
  PATH_CHANGE: 9,
  COMPLEX: 10,
} as const;

function loopOf(kind: (typeof DETECTOR_KINDS)[number], scope: string, isFloat: boolean): number {
  switch (kind) {
    case 'noop':
      return LOOP.NOOP;
    case 'perHop':
      return LOOP.PER_HOP;
    case 'perFlow':
      return LOOP.PER_FLOW;
    case 'movingAverage':
      return isFloat ? LOOP.FLOAT_AVERAGE : LOOP.AVERAGE;
    case 'threshold':
      return scope === 'hop' ? LOOP.THRESHOLD_HOP : LOOP.THRESHOLD_END_TO_END;
    case 'change':
      return scope === 'hop' ? LOOP.CHANGE_HOP : LOOP.CHANGE_END_TO_END;
    case 'pathChange':
      return LOOP.PATH_CHANGE;
    case 'complex':
      return LOOP.COMPLEX;
  }
}

function running(cnf: (Rule['detector'] & { kind: 'complex' })['expression'], pool: StatePool): RunningExpression {
  const names = [...new Set(cnf.flat().flatMap(({ metric }) => metric ?? []))];
  const deltas = new Set(cnf.flat().flatMap(({ aggregate, metric }) => (aggregate === 'delta' ? (metric ?? []) : [])));
  const hasHistory = deltas.size > 0 || cnf.flat().some(({ aggregate }) => aggregate === 'count');
  const id = (name: string): number => METRICS.findIndex((metric) => metric.name === name);
  return {
    clauses: cnf.map((clause) =>
      clause.map(({ aggregate, operator, constant, metric }) => ({
        aggregate: AGGREGATES.indexOf(aggregate),
        operator: OPERATORS.indexOf(operator),
        constant,
        metric: metric === null ? -1 : names.indexOf(metric),
      })),
    ),
    metrics: names.map((name) => readingOf(name)),
    sums: names.map((name) =>
      deltas.has(name) ? (pool.find({ kind: 'historySum', metric: id(name) })?.base ?? -1) : -1,
    ),
    // Others may have made a history: it is this expression's only if it looks at one.
    history: hasHistory ? (pool.find({ kind: 'history', metric: null })?.base ?? -1) : -1,
  };
}

/** The rule that stands for `default: report`. */
export function defaultRule(pool: StatePool): RunningRule {
  return new RunningRule(NO_RULE, { detector: { kind: 'noop' }, sample: null }, pool);
}
