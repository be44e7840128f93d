import { METRIC_NAMES } from '@int/codec';
import {
  DETECTOR_KINDS,
  EVIDENCE,
  EVIDENCE_NAMES,
  type EventBatch,
  KIND,
  NO_METRIC,
  NO_RULE,
  SCOPES,
} from '@int/detect';
import type { ReferenceEvent, ReferenceEvidence } from '../reference/reference.js';

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
    previous: hasValue && detector !== 'threshold' && (kind & KIND.FIRST_SIGHT) === 0 ? events.previous[row]! : null,
    threshold: hasValue ? events.threshold[row]! : null,
    evidence: detector === 'complex' ? evidenceAt(events, row) : null,
  };
}

function evidenceAt({ evidence, evidenceSlots, stride }: EventBatch, row: number): ReferenceEvidence[] {
  const found: ReferenceEvidence[] = [];
  for (let slot = 0; slot < EVIDENCE.SLOTS; slot++) {
    const [what, node, value] = [EVIDENCE.WHAT, EVIDENCE.NODE, EVIDENCE.VALUE].map(
      (column) => evidence[(slot * EVIDENCE.COLUMNS + column) * stride + row]!,
    );
    if (slot >= evidenceSlots) throw new Error(`evidence beyond the ${evidenceSlots} slots that are said to be in use`);
    if (what === EVIDENCE.NONE) break;
    const hop = what! >>> EVIDENCE.HOP_SHIFT;
    found.push({
      aggregate: EVIDENCE_NAMES[
        (what! >>> EVIDENCE.AGGREGATE_SHIFT) & EVIDENCE.AGGREGATE_MASK
      ]! as ReferenceEvidence['aggregate'],
      metric: METRIC_NAMES[what! & EVIDENCE.METRIC_MASK] ?? null,
      value: value! >>> 0,
      nodeId: node === -1 ? null : node! >>> 0,
      hop: hop === EVIDENCE.NO_HOP ? null : hop,
    });
  }
  return found;
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
  if (a === undefined || b === undefined || !FIELDS.every((field) => a[field] === b[field])) return false;
  return JSON.stringify(a.evidence) === JSON.stringify(b.evidence);
}
