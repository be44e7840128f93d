import { EventTracking, type Severity, type TrackedEvent, type TrackedFinding } from '@int/detect';
import type { KnownNetwork } from '../network/known-network.js';
import { withNames } from '../network/names.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';
import type { Colours } from './colour.js';
import { findingText } from './event-text.js';
import { type MetricText, RAW_METRICS } from './metric-text.js';
import { counted } from './numbers.js';
import { timeText } from './record-text.js';

/** An event that begins, goes on or ends, as a rule with a lifecycle tells of it. */
export type Told = TrackedEvent<TrackedFinding>;

const nanoseconds = (timeMs: number): bigint => BigInt(Math.round(timeMs * 1000)) * 1000n;

/** The line of `--json`. The values are those of the finding that is told; at the end of the one told last. */
export function trackedJson(told: Told, { topology }: KnownNetwork = UNKNOWN_NETWORK): string {
  const { id, rule, state, isFirst, beginMs, findings, finding } = told;
  const { severity } = rule.lifecycle;
  const begun = { isFirst, beginNs: String(nanoseconds(beginMs)), findings };
  const head = {
    type: 'event',
    timeNs: String(EventTracking.timeNs(told)),
    id: String(id),
    state,
    severity,
    key: finding.key,
    ...begun,
  };
  // A finding has a state of its own: that of what its detector watches.
  return JSON.stringify({ ...head, ...withNames(finding.event, topology), state });
}

function severityText(severity: Severity, colour: Colours): string {
  if (severity === 'critical') return colour.red(severity);
  return severity === 'warning' ? colour.yellow(severity) : colour.dim(severity);
}

/** The key with the name of its switch. */
function keyText({ finding: { key } }: Told, metrics: MetricText): string {
  return key.replace(/^switch (\d+)/, (_, id: string) => `switch ${metrics.switchName(Number(id))}`);
}

/** The line of text: `begins  critical  queue-of-3  switch 3  threshold queueOccupancy ...`. */
export function trackedText(told: Told, colour: Colours, metrics: MetricText = RAW_METRICS): string {
  const { rule, state, isFirst, beginMs, timeMs, findings, finding } = told;
  const seconds = `${(Math.max(0, timeMs - beginMs) / 1000).toFixed(3)} s`;
  const word = state === 'close' ? colour.green('ends') : isFirst ? colour.red('begins') : colour.red('goes on');
  const parts = [
    colour.dim(timeText(EventTracking.timeNs(told))),
    word,
    severityText(rule.lifecycle.severity, colour),
    colour.yellow(rule.name),
    colour.cyan(keyText(told, metrics)),
    state === 'close' ? `after ${seconds}, ${counted(findings, 'finding')}` : findingText(finding.event, metrics),
  ];
  return parts.join('  ');
}
