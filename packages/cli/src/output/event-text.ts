import { reportIndex } from '@int/collector/internals';
import type { Event, EventBatch, Evidence } from '@int/detect';
import type { KnownNetwork } from '../network/known-network.js';
import { withNames } from '../network/names.js';
import { UNKNOWN_NETWORK } from '../network/unknown-network.js';
import type { Colours } from './colour.js';
import { type MetricText, RAW_METRICS } from './metric-text.js';
import { grouped } from './numbers.js';
import { flowText, timeText } from './record-text.js';

/** An event and its origin. */
export interface PlacedEvent {
  /** 1-based number of the frame; `null`: no single report has raised it. */
  readonly frame: number | null;
  /** Index of the individual report in that frame. */
  readonly index: number;
  /** Capture or arrival time, nanoseconds since the epoch. */
  readonly timeNs: bigint;
  readonly event: Event;
}

/**
 * Copies row `row` of an event batch, so that it stays valid when the batches are reused.
 * @param firstNumber number of the batch's first frame
 */
export function placedEvent(events: EventBatch, row: number, firstNumber: number): PlacedEvent {
  const { batch } = events;
  const report = events.report[row]!;
  return {
    frame: events.isApart ? null : firstNumber + batch.frame[report]!,
    index: events.isApart ? 0 : reportIndex(batch, report),
    timeNs: batch.timeNs(report),
    event: events.event(row),
  };
}

/** The line of `--json`. */
export function eventJson(
  { frame, index, timeNs, event }: PlacedEvent,
  network: KnownNetwork = UNKNOWN_NETWORK,
): string {
  const rest = JSON.stringify(withNames(event, network.topology));
  return `{"type":"event","timeNs":"${timeNs}","frame":${frame},"index":${index},${rest.slice(1)}`;
}

const placeText = (nodeId: number | null, metrics: MetricText): string =>
  nodeId === null ? '?' : metrics.switchName(nodeId);

function valueText({ metric, value, nodeId }: Evidence, metrics: MetricText): string {
  return metric === null ? grouped(value) : metrics.value(metric, value, nodeId);
}

/** A condition that held: `max(queueOccupancy) 150 cells at switch 2, hop 1`. */
function evidenceText(evidence: Evidence, metrics: MetricText): string {
  const { aggregate, metric, nodeId, hop } = evidence;
  const place = hop === null ? '' : ` at switch ${placeText(nodeId, metrics)}, hop ${hop}`;
  return `${aggregate}(${metric ?? ''}) ${valueText(evidence, metrics)}${place}`;
}

/** How a finding of a rule that looks at time goes on. */
const STATE_TEXTS = { once: '', open: '', on: ' (goes on)', close: ' (over)' } as const;
const WATCHES: readonly string[] = ['baseline', 'rate', 'absent', 'burst'];

/** `baseline hopLatency at switch 2: median 5.4 µs, usual 1.2 µs, deviation 12 (goes on)` */
function watchText({ detector, metric, nodeId, evidence, state }: Event, metrics: MetricText): string {
  const what = metric === null ? detector : `${detector} ${metric}`;
  const place = nodeId === null ? '' : ` at switch ${metrics.switchName(nodeId)}`;
  const numbers = (evidence ?? []).map((each) => `${each.aggregate} ${valueText(each, metrics)}`);
  return `${what}${place}: ${numbers.join(', ')}${STATE_TEXTS[state]}`;
}

/** The event found: `perHop hopLatency at switch 2, hop 1: 1.2 µs to 5.4 µs (threshold 1 µs)`. */
export function findingText(event: Event, metrics: MetricText = RAW_METRICS): string {
  const { detector, metric, scope, nodeId, hop, value, previous, threshold, evidence } = event;
  if (WATCHES.includes(detector)) return watchText(event, metrics);
  if (evidence !== null) return `${detector}: ${evidence.map((each) => evidenceText(each, metrics)).join(', ')}`;
  const place = scope === 'hop' ? ` at switch ${placeText(nodeId, metrics)}, hop ${hop ?? '?'}` : '';
  if (metric === null || value === null) return `${detector}${place}`;
  const text = (number: number): string => metrics.value(metric, number, scope === 'hop' ? nodeId : null);
  const from = previous === null ? '' : `${text(previous)} to `;
  const limit = threshold === null ? '' : ` (threshold ${text(threshold)})`;
  return `${detector} ${metric}${place}: ${from}${text(value)}${limit}`;
}

export function ruleText(rule: string | null): string {
  return rule ?? '(no rule)';
}

/** The line of text. */
export function eventText(
  { frame, index, timeNs, event }: PlacedEvent,
  colour: Colours,
  metrics: MetricText = RAW_METRICS,
): string {
  const number = frame === null ? '-' : index === 0 ? `#${frame}` : `#${frame}.${index}`;
  const parts = [
    colour.bold(number),
    colour.dim(timeText(timeNs)),
    colour.yellow(ruleText(event.rule)),
    findingText(event, metrics),
  ];
  if (event.flow !== null) parts.push(colour.cyan(flowText(event.flow)));
  return parts.join('  ');
}
