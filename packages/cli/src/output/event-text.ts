import { reportIndex } from '@int/collector/internals';
import type { Event, EventBatch, Evidence } from '@int/detect';
import { Topology } from '@int/network';
import { withNames } from '../network/names.js';
import type { Colours } from './colour.js';
import { type MetricText, RAW_METRICS } from './metric-text.js';
import { grouped } from './numbers.js';
import { flowText, timeText } from './record-text.js';

/** An event and its origin. */
export interface PlacedEvent {
  /** 1-based number of the frame. */
  readonly frame: number;
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
    frame: firstNumber + batch.frame[report]!,
    index: reportIndex(batch, report),
    timeNs: batch.timeNs(report),
    event: events.event(row),
  };
}

/** The line of `--json`. */
export function eventJson({ frame, index, timeNs, event }: PlacedEvent, topology: Topology = Topology.NONE): string {
  const rest = JSON.stringify(withNames(event, topology));
  return `{"type":"event","timeNs":"${timeNs}","frame":${frame},"index":${index},${rest.slice(1)}`;
}

const placeText = (nodeId: number | null, metrics: MetricText): string =>
  nodeId === null ? '?' : metrics.switchName(nodeId);

/** A condition that held: `max(queueOccupancy) 150 at switch 2, hop 1`. */
function evidenceText({ aggregate, metric, value, nodeId, hop }: Evidence, metrics: MetricText): string {
  const place = hop === null ? '' : ` at switch ${placeText(nodeId, metrics)}, hop ${hop}`;
  const text = metric === null ? grouped(value) : metrics.value(metric, value, nodeId);
  return `${aggregate}(${metric ?? ''}) ${text}${place}`;
}

/** The event found: `perHop hopLatency at switch 2, hop 1: 1,200 to 5,400 (threshold 1,000)`. */
export function findingText(event: Event, metrics: MetricText = RAW_METRICS): string {
  const { detector, metric, scope, nodeId, hop, value, previous, threshold, evidence } = event;
  if (evidence !== null) return `${detector}: ${evidence.map((one) => evidenceText(one, metrics)).join(', ')}`;
  const place = scope === 'hop' ? ` at switch ${placeText(nodeId, metrics)}, hop ${hop ?? '?'}` : '';
  if (metric === null || value === null) return `${detector}${place}`;
  const text = (number: number): string => metrics.value(metric, number, nodeId);
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
  const number = index === 0 ? `#${frame}` : `#${frame}.${index}`;
  const parts = [
    colour.bold(number),
    colour.dim(timeText(timeNs)),
    colour.yellow(ruleText(event.rule)),
    findingText(event, metrics),
  ];
  if (event.flow !== null) parts.push(colour.cyan(flowText(event.flow)));
  return parts.join('  ');
}
