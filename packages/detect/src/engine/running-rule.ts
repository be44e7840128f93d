import { type MetricName, metricOf } from '@int/codec';
import type { Cnf } from '../expression/model.js';
import { DETECTOR_KINDS, type DetectorKind, type Match, type Rule } from '../rules/model.js';
import { KEY_METRICS } from '../watch/key-table.js';
import type { Watch } from '../watch/watch.js';
import { KIND, NO_METRIC, NO_RULE, SCOPES } from './event-columns.js';
import { type HopFit, hopFitOf } from './hop-fit.js';
import type { Program } from './loops/program.js';
import { type StateArray, type StateKind, type StatePool, stateOf } from './state.js';

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

/** A complex expression as its loop reads it. */
export interface RunningExpression {
  readonly cnf: Cnf;
  /** The metrics that it names. */
  readonly names: readonly MetricName[];
  readonly metrics: readonly Reading[];
  /** Base of each metric's previous sums, or -1 if no delta names it. */
  readonly sums: readonly number[];
  /** Base of the history cells, or -1. */
  readonly history: number;
  /** Made when the loop first meets the expression, because its columns take memory. */
  program: Program | null;
}

/** What the loops read of a rule: flat, always of the same shape. */
export class RunningRule {
  readonly slot: number;
  /** Index in {@link LOOP_NAMES}. */
  readonly loop: number;
  /** The `kind` word of its events. */
  readonly eventKind: number;
  readonly reading: Reading;
  /** Signed word. */
  threshold = 0;
  /** Thresholds of some switches (signed), by switch id (signed); `null`: the same everywhere. */
  switchThresholds: Map<number, number> | null = null;
  /** Of a moving average: w of the integer form, alpha of the float form. */
  readonly smoothing: number;
  /** Bases of the state in the pool, in words or floats. */
  readonly state: number;
  readonly reported: number;
  readonly expression: RunningExpression | null;
  readonly needsFlow: boolean;
  /** Whether its first value of a switch or flow is marked, instead of compared with 0. */
  readonly marksFirst: boolean;
  readonly sampleEvery: number;
  readonly sampleNs: number;
  readonly sampleState: number;
  /** The hops that it looks at; `null`: all. */
  readonly hops: HopFit | null;
  /** The hop columns that it reads, beside the switch id. */
  readonly columns: readonly number[];
  /** The watch of a rule that looks at time. */
  watch: Watch | null = null;

  /** @param isAlone whether it shares state with no other rule */
  constructor(
    slot: number,
    rule: Pick<Rule, 'detector' | 'sample'> & { readonly match?: Match },
    pool: StatePool,
    isAlone = false,
  ) {
    const { detector, sample, match } = rule;
    this.slot = slot;
    const arrays = stateOf(rule, isAlone ? slot : null).map((key) => pool.take(key));
    this.hops = hopFitOf(match?.hops ?? null);
    const name = 'metric' in detector ? detector.metric : null;
    this.reading = readingOf(name ?? 'hopLatency');
    const scope =
      detector.kind === 'perHop' ? 'hop' : 'scope' in detector ? detector.scope : ('flow' as (typeof SCOPES)[number]);
    this.loop = LOOP_NAMES.indexOf(loopOf(detector.kind, scope, 'alpha' in detector));
    this.eventKind =
      DETECTOR_KINDS.indexOf(detector.kind) |
      ((name === null ? NO_METRIC : this.reading.id) << KIND.METRIC_SHIFT) |
      (SCOPES.indexOf(scope) << KIND.SCOPE_SHIFT);
    this.smoothing = 'weight' in detector ? detector.weight : 'alpha' in detector ? detector.alpha : 0;
    this.state = arrays[0]?.base ?? -1;
    this.reported = arrays[1]?.base ?? -1;
    this.expression = detector.kind === 'complex' ? expressionOf(detector.expression, arrays) : null;
    const keys = 'key' in detector ? KEY_METRICS[detector.key].map(readingOf) : [];
    const readings = [this.reading, ...(this.expression?.metrics ?? []), ...keys];
    this.columns = [...new Set(readings.flatMap(({ column, pair }) => [column, pair]))];
    this.needsFlow = arrays.some(({ isPerSwitch }) => !isPerSwitch);
    this.marksFirst = pool.cells.marksFirst === true && (detector.kind === 'perHop' || detector.kind === 'perFlow');
    this.sampleEvery = sample !== null && 'oneIn' in sample ? sample.oneIn : 0;
    this.sampleNs = sample !== null && 'everyNs' in sample ? sample.everyNs : 0;
    this.sampleState = sample === null ? -1 : arrays.at(-1)!.base;
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

/** The loops that detectors run as. */
export const LOOP_NAMES = [
  'noop',
  'perHop',
  'perFlow',
  'average',
  'floatAverage',
  'thresholdHop',
  'thresholdEndToEnd',
  'changeHop',
  'changeEndToEnd',
  'pathChange',
  'complex',
  'watch',
] as const;
export type LoopName = (typeof LOOP_NAMES)[number];

function loopOf(kind: DetectorKind, scope: string, isFloat: boolean): LoopName {
  if (kind === 'baseline' || kind === 'rate' || kind === 'absent' || kind === 'burst') return 'watch';
  if (kind === 'movingAverage') return isFloat ? 'floatAverage' : 'average';
  return kind === 'threshold' || kind === 'change' ? `${kind}${scope === 'hop' ? 'Hop' : 'EndToEnd'}` : kind;
}

/** @param arrays the state of the rule */
function expressionOf(cnf: Cnf, arrays: readonly StateArray[]): RunningExpression {
  const names = [...new Set(cnf.flat().flatMap(({ metric }) => metric ?? []))];
  const metrics = names.map(readingOf);
  const base = (kind: StateKind, metric: number | null): number =>
    arrays.find((array) => array.kind === kind && array.metric === metric)?.base ?? -1;
  const sums = metrics.map(({ id }) => base('historySum', id));
  return { cnf, names, metrics, sums, history: base('history', null), program: null };
}

/** The rule that stands for `default: report`. */
export function defaultRule(pool: StatePool): RunningRule {
  return new RunningRule(NO_RULE, { detector: { kind: 'noop' }, sample: null }, pool);
}
