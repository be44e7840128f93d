import { type Flow, METRIC_NAMES, type MetricName, NOT_AVAILABLE } from '@int/codec';
import { DETECTOR_KINDS, type DetectorKind } from '../rules/model.js';
import type { EventBatch } from './event-batch.js';
import {
  EVENT_STATES,
  EVIDENCE,
  EVIDENCE_NAMES,
  type EventScope,
  type EventState,
  type EvidenceName,
  hasPrevious,
  hasThreshold,
  hasValue,
  KIND,
  SCOPES,
} from './event-columns.js';

const COMPLEX = /* @__PURE__ */ DETECTOR_KINDS.indexOf('complex');

/** A number that an event rests on: of a complex expression a condition that held, its value, and where it was seen. */
export interface Evidence {
  readonly aggregate: EvidenceName;
  /** `null`: count, rate, silenceMs. */
  readonly metric: MetricName | null;
  /**
   * In the unit of the device: the aggregate, or the value of one hop. For `any` that of the first hop that holds, for
   * `all` the one nearest to the constant.
   */
  readonly value: number;
  /** The switch; `null` if it did not name itself, and for `sum`, `delta` and `count`, which have no place. */
  readonly nodeId: number | null;
  /** Position on the path; `null` for `sum`, `delta` and `count`, and of watches. */
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
  /** What made the expression true: an entry for each clause of its conjunctive normal form; of a watch, what it has found. Else `null`. */
  readonly evidence: readonly Evidence[] | null;
  /** Of a watch: the first finding of its key, one more, or the end; else `once`. */
  readonly state: EventState;
  /** Exact state: this is the first value of its switch or flow, and so there is no previous one. */
  readonly firstSight: boolean;
  /** `null`: not known. */
  readonly flow: Flow | null;
}

/** The evidence of row `row` of an event batch; `null` if it is neither complex nor of a watch. */
export function evidenceOf({ kind, evidence, stride }: EventBatch, row: number): Evidence[] | null {
  if ((kind[row]! & KIND.DETECTOR_MASK) < COMPLEX) return null;
  const found: Evidence[] = [];
  for (let slot = 0; slot < EVIDENCE.SLOTS; slot++) {
    const at = slot * EVIDENCE.COLUMNS * stride + row;
    const what = evidence[at + EVIDENCE.WHAT * stride]!;
    if (what === EVIDENCE.NONE) break;
    const nodeId = evidence[at + EVIDENCE.NODE * stride]! >>> 0;
    const hop = what >>> EVIDENCE.HOP_SHIFT;
    found.push({
      aggregate: EVIDENCE_NAMES[(what >>> EVIDENCE.AGGREGATE_SHIFT) & EVIDENCE.AGGREGATE_MASK]!,
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
  const nodeId = events.nodeId[row]!;
  return {
    rule: events.ruleName(row),
    detector,
    metric: METRIC_NAMES[metric] ?? null,
    scope,
    nodeId: scope === 'hop' && nodeId !== NOT_AVAILABLE ? nodeId : null,
    hop: scope === 'hop' ? events.hop[row]! : null,
    value: hasValue(kind) ? events.value[row]! : null,
    previous: hasPrevious(kind) ? events.previous[row]! : null,
    threshold: hasThreshold(kind) ? events.threshold[row]! : null,
    evidence: evidenceOf(events, row),
    state: EVENT_STATES[(kind >>> KIND.STATE_SHIFT) & KIND.STATE_MASK]!,
    firstSight: (kind & KIND.FIRST_SIGHT) !== 0,
    flow: events.batch.record(events.report[row]!).flow,
  };
}
