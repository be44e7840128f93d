/** What a rule has compared: operands, threshold, and the text of the rule. */
import type { MetricName } from '@int/codec';
import type { EventRecord } from '@int/collector';
import { type DeviceProfile, valueText } from '@int/network';
import type { Biography } from '../protocol/http.js';

type Cause = NonNullable<Biography['rule']>;
type Operand = Cause['operands'][number];

/** @param yaml the rules in force; empty if they are not known */
export function causeOf(event: EventRecord, yaml: string, device: DeviceProfile): Cause {
  return {
    name: event.rule ?? 'default: report',
    yaml: event.rule === null ? '' : ruleText(yaml, event.rule),
    operands: operandsOf(event, device),
    threshold: thresholdOf(event, device),
  };
}

function operandsOf(event: EventRecord, device: DeviceProfile): Operand[] {
  const { metric, nodeId, value, previous, evidence } = event;
  const unitOf = (name: MetricName | null, id: number | null): string | null =>
    name === null ? null : (device.unit(name, id ?? undefined)?.text ?? null);
  const operands: Operand[] = [];
  const name = metric ?? event.detector;
  // A silence is told by its evidence.
  const isSilence = event.detector === 'absent';
  if (value !== null && !isSilence) operands.push({ name, value, unit: unitOf(metric, nodeId), switchId: nodeId });
  if (previous !== null) {
    operands.push({ name: `${name} before`, value: previous, unit: unitOf(metric, nodeId), switchId: nodeId });
  }
  for (const each of evidence ?? []) {
    const of = each.metric === null ? '' : `(${each.metric})`;
    operands.push({
      name: isSilence ? 'silence' : `${each.aggregate}${of}`,
      value: each.value,
      unit: isSilence ? 'ms' : unitOf(each.metric, each.nodeId),
      switchId: each.nodeId,
    });
  }
  if (event.detector === 'pathChange') {
    operands.push({ name: 'path', value: event.path.map((id) => id ?? '?').join(' '), unit: null, switchId: null });
  }
  return operands;
}

/** How each detector compares with its threshold. */
const COMPARED: Readonly<Record<string, string>> = {
  perHop: 'changed by more than',
  perFlow: 'changed by more than',
  change: 'changed by more than',
  movingAverage: 'differs from its average by more than',
  threshold: 'above',
  burst: 'above',
  rate: 'above',
  baseline: 'left the usual',
  absent: 'silent for longer than',
};

function thresholdOf({ detector, metric, nodeId, threshold }: EventRecord, device: DeviceProfile): string | null {
  if (threshold === null) return null;
  if (detector === 'absent') return `${COMPARED.absent} ${threshold} ms`;
  const unit = metric === null ? null : device.unit(metric, nodeId ?? undefined);
  return `${COMPARED[detector] ?? 'above'} ${valueText(threshold, unit)}`;
}

/**
 * The lines of one rule in a text of rules: from its dash to the next entry of the list. It is text for people: a rule in
 * another form of YAML gives an empty text.
 */
function ruleText(yaml: string, name: string): string {
  const lines = yaml.split(/\r?\n/);
  const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const named = new RegExp(`^(\\s*)(-\\s+)?name:\\s*(['"]?)${escaped}\\3\\s*(#.*)?$`);
  const at = lines.findIndex((line) => named.test(line));
  if (at < 0) return '';
  let from = at;
  while (from > 0 && !/^\s*-\s/.test(lines[from]!)) from--;
  const indent = /^\s*/.exec(lines[from]!)![0].length;
  let to = from + 1;
  while (to < lines.length && (lines[to]!.trim() === '' || /^\s*/.exec(lines[to]!)![0].length > indent)) to++;
  const found = lines.slice(from, to);
  while (found.at(-1)?.trim() === '') found.pop();
  return found.map((line) => line.slice(Math.min(indent, line.length))).join('\n');
}
