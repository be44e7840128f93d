import { type Flow, METRIC_NAMES, type MetricName, NOT_AVAILABLE, type TelemetryBatch, viewRecord } from '@int/codec';
import { DETECTOR_KINDS, type DetectorKind } from '../rules/model.js';
import { type EventBatch, type EventScope, KIND, NO_METRIC, SCOPES } from './event-batch.js';

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
  /** `null`: not known. */
  readonly flow: Flow | null;
}

/** The object of row `row` of an event batch. */
export function eventOf(batch: TelemetryBatch, events: EventBatch, row: number, rule: string | null): Event {
  const kind = events.kind[row]!;
  const detector = DETECTOR_KINDS[kind & KIND.DETECTOR_MASK]!;
  const metric = (kind >>> KIND.METRIC_SHIFT) & KIND.METRIC_MASK;
  const scope = SCOPES[(kind >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK]!;
  const hasValue = metric !== NO_METRIC;
  const nodeId = events.nodeId[row]!;
  return {
    rule,
    detector,
    metric: METRIC_NAMES[metric] ?? null,
    scope,
    nodeId: scope === 'hop' && nodeId !== NOT_AVAILABLE ? nodeId : null,
    hop: scope === 'hop' ? events.hop[row]! : null,
    value: hasValue ? events.value[row]! : null,
    previous: hasValue && detector !== 'threshold' ? events.previous[row]! : null,
    threshold: hasValue ? events.threshold[row]! : null,
    flow: viewRecord(batch, events.report[row]!).flow,
  };
}
