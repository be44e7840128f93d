import { reportIndex } from '@int/collector/internals';
import type { Event, EventBatch, Evidence } from '@int/detect';
import { Topology } from '@int/network';
import { switchText, withNames } from '../network/names.js';
import type { Colours } from './colour.js';
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
export function eventJson({ frame, index, timeNs, event }: PlacedEvent, topology: Topology = Topology.NONE): string {
  const rest = JSON.stringify(withNames(event, topology));
  return `{"type":"event","timeNs":"${timeNs}","frame":${frame},"index":${index},${rest.slice(1)}`;
}

/** A condition that held: `max(queueOccupancy) 150 at switch 2, hop 1`. */
function evidenceText({ aggregate, metric, value, nodeId, hop }: Evidence, topology: Topology): string {
  const place = hop === null ? '' : ` at switch ${switchText(nodeId, topology)}, hop ${hop}`;
  return `${aggregate}(${metric ?? ''}) ${grouped(value)}${place}`;
}

/** How a finding of a rule that looks at time goes on. */
const STATE_TEXTS = { once: '', open: '', on: ' (goes on)', close: ' (over)' } as const;
const WATCHES: readonly string[] = ['baseline', 'rate', 'absent', 'burst'];

/** `baseline hopLatency at switch 2: median 5,400, usual 1,200, deviation 12 (goes on)` */
function watchText({ detector, metric, nodeId, evidence, state }: Event, topology: Topology): string {
  const what = metric === null ? detector : `${detector} ${metric}`;
  const place = nodeId === null ? '' : ` at switch ${switchText(nodeId, topology)}`;
  const numbers = (evidence ?? []).map(({ aggregate, value }) => `${aggregate} ${grouped(value)}`);
  return `${what}${place}: ${numbers.join(', ')}${STATE_TEXTS[state]}`;
}

/** The event found: `perHop hopLatency at switch 2, hop 1: 1,200 to 5,400 (threshold 1,000)`. */
export function findingText(event: Event, topology: Topology = Topology.NONE): string {
  const { detector, metric, scope, nodeId, hop, value, previous, threshold, evidence } = event;
  if (WATCHES.includes(detector)) return watchText(event, topology);
  if (evidence !== null) return `${detector}: ${evidence.map((each) => evidenceText(each, topology)).join(', ')}`;
  const place = scope === 'hop' ? ` at switch ${switchText(nodeId, topology)}, hop ${hop ?? '?'}` : '';
  if (metric === null || value === null) return `${detector}${place}`;
  const from = previous === null ? '' : `${grouped(previous)} to `;
  const limit = threshold === null ? '' : ` (threshold ${grouped(threshold)})`;
  return `${detector} ${metric}${place}: ${from}${grouped(value)}${limit}`;
}

export function ruleText(rule: string | null): string {
  return rule ?? '(no rule)';
}

/** The line of text. */
export function eventText(
  { frame, index, timeNs, event }: PlacedEvent,
  colour: Colours,
  topology: Topology = Topology.NONE,
): string {
  const number = frame === null ? '-' : index === 0 ? `#${frame}` : `#${frame}.${index}`;
  const parts = [
    colour.bold(number),
    colour.dim(timeText(timeNs)),
    colour.yellow(ruleText(event.rule)),
    findingText(event, topology),
  ];
  if (event.flow !== null) parts.push(colour.cyan(flowText(event.flow)));
  return parts.join('  ');
}
