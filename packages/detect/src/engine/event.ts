import { type Flow, METRIC_NAMES, type MetricName, NOT_AVAILABLE } from '@int/codec';
import { AGGREGATES, type Aggregate } from '../expression/model.js';
import { DETECTOR_KINDS, type DetectorKind } from '../rules/model.js';
import type { EventBatch } from './event-batch.js';
import { EVIDENCE, type EventScope, KIND, NO_METRIC, SCOPES } from './event-columns.js';

const COMPLEX = /* @__PURE__ */ DETECTOR_KINDS.indexOf('complex');

/** A condition of a complex expression that held, its value, and where it was seen. */
export interface Evidence {
  readonly aggregate: Aggregate;
  /** `null`: count. */
  readonly metric: MetricName | null;
  /**
   * In the unit of the device: the aggregate, or the value of one hop. For `any` that of the first hop that holds, for
   * `all` the one nearest to the constant.
   */
  readonly value: number;
  /** The switch; `null` if it did not name itself, and for `sum`, `delta` and `count`, which have no place. */
  readonly nodeId: number | null;
  /** Position on the path; `null` for `sum`, `delta` and `count`. */
  readonly hop: number | null;
}

/** An event as an object: the names are those of the `int` command's JSON. `null`: does not apply. */
export interface Event {
  /** Name of the rule; `null`: the default. */
  readonly rule: string | null;
  readonly detector: DetectorKind;
  readonly metric: MetricName | null;
  readonly scope: EventScope;
  /** The switch; also `null` if it did not name itself. */
  readonly nodeId: number | null;
  /** Position on the path, 0 = INT source. */
  readonly hop: number | null;
  /** In the unit of the device: the hop's value, the sum over the hops, or the average. */
  readonly value: number | null;
  /** What it was compared with. */
  readonly previous: number | null;
  readonly threshold: number | null;
  /** What made the expression true: an entry for each clause of its conjunctive normal form. `null`: not complex. */
  readonly evidence: readonly Evidence[] | null;
  /** `null`: not known. */
  readonly flow: Flow | null;
}

/** The evidence of row `row` of an event batch; `null` if it is no complex event. */
export function evidenceOf({ kind, evidence, stride }: EventBatch, row: number): Evidence[] | null {
  if ((kind[row]! & KIND.DETECTOR_MASK) !== COMPLEX) return null;
  const found: Evidence[] = [];
  for (let slot = 0; slot < EVIDENCE.SLOTS; slot++) {
    const at = slot * EVIDENCE.COLUMNS * stride + row;
    const what = evidence[at + EVIDENCE.WHAT * stride]!;
    if (what === EVIDENCE.NONE) break;
    const nodeId = evidence[at + EVIDENCE.NODE * stride]! >>> 0;
    const hop = what >>> EVIDENCE.HOP_SHIFT;
    found.push({
      aggregate: AGGREGATES[(what >>> EVIDENCE.AGGREGATE_SHIFT) & EVIDENCE.AGGREGATE_MASK]!,
      metric: METRIC_NAMES[what & EVIDENCE.METRIC_MASK] ?? null,
      value: evidence[at + EVIDENCE.VALUE * stride]! >>> 0,
      nodeId: nodeId === NOT_AVAILABLE ? null : nodeId,
      hop: hop === EVIDENCE.NO_HOP ? null : hop,
    });
  }
  return found;
}

/** The object of row `row` of an event batch. */
export function eventOf(events: EventBatch, row: number): Event {
  const kind = events.kind[row]!;
  const detector = DETECTOR_KINDS[kind & KIND.DETECTOR_MASK]!;
  const metric = (kind >>> KIND.METRIC_SHIFT) & KIND.METRIC_MASK;
  const scope = SCOPES[(kind >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK]!;
  const hasValue = metric !== NO_METRIC;
  const nodeId = events.nodeId[row]!;
  return {
    rule: events.ruleName(row),
    detector,
    metric: METRIC_NAMES[metric] ?? null,
    scope,
    nodeId: scope === 'hop' && nodeId !== NOT_AVAILABLE ? nodeId : null,
    hop: scope === 'hop' ? events.hop[row]! : null,
    value: hasValue ? events.value[row]! : null,
    previous: hasValue && detector !== 'threshold' ? events.previous[row]! : null,
    threshold: hasValue ? events.threshold[row]! : null,
    evidence: evidenceOf(events, row),
    flow: events.batch.record(events.report[row]!).flow,
  };
}
