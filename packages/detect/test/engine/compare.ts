import { METRIC_NAMES } from '@int/codec';
import type { EventBatch } from '../../src/engine/event-batch.js';
import { KIND, NO_METRIC, NO_RULE, SCOPES } from '../../src/engine/event-batch.js';
import { DETECTOR_KINDS } from '../../src/rules/model.js';
import type { ReferenceEvent } from '../reference/reference.js';

/** An event row as the reference writes events; `first` is the number of reports before the batch. */
export function eventAt(
  events: EventBatch,
  row: number,
  first: number,
  ruleName: (slot: number) => string | null,
): ReferenceEvent {
  const kind = events.kind[row]!;
  const detector = DETECTOR_KINDS[kind & KIND.DETECTOR_MASK]!;
  const metric = (kind >>> KIND.METRIC_SHIFT) & KIND.METRIC_MASK;
  const scope = SCOPES[(kind >>> KIND.SCOPE_SHIFT) & KIND.SCOPE_MASK]!;
  const hasValue = metric !== NO_METRIC;
  const isHop = scope === 'hop';
  const nodeId = events.nodeId[row]!;
  const slot = events.rule[row]!;
  return {
    report: first + events.report[row]!,
    rule: slot === NO_RULE ? null : ruleName(slot),
    detector,
    metric: hasValue ? METRIC_NAMES[metric]! : null,
    scope,
    hop: isHop ? events.hop[row]! : null,
    nodeId: isHop && nodeId !== 0xffffffff ? nodeId : null,
    value: hasValue ? events.value[row]! : null,
    previous: hasValue && detector !== 'threshold' ? events.previous[row]! : null,
    threshold: hasValue ? events.threshold[row]! : null,
  };
}

const FIELDS = [
  'report',
  'rule',
  'detector',
  'metric',
  'scope',
  'hop',
  'nodeId',
  'value',
  'previous',
  'threshold',
] as const satisfies readonly (keyof ReferenceEvent)[];

/** Whether two events are one; much faster than a deep comparison of a million of them. */
export function isSameEvent(a: ReferenceEvent | undefined, b: ReferenceEvent | undefined): boolean {
  return a !== undefined && b !== undefined && FIELDS.every((field) => a[field] === b[field]);
}
