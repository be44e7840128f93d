import type { DetectionState } from '../output/detection-state.js';
import { survivorsText } from '../output/detection-summary.js';
import { findingText, type PlacedEvent, ruleText } from '../output/event-text.js';
import type { MetricText } from '../output/metric-text.js';
import { grouped } from '../output/numbers.js';
import { flowText } from '../output/record-text.js';
import { passes } from './filter.js';
import type { Entry, Line, Panel } from './panel.js';
import { inLines, widthOf } from './text-width.js';

/** Where a flow is put that does not fit into the line of its event. */
const INDENT = '    ';

/** The time of day, UTC: `18:48:29.915`. */
export function clockTime(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(11, 23);
}

/** The words of a text that fit into a line, and the others; all of them if the first ones are as long as the line. */
function broken(text: string, width: number): [head: string, rest: string] {
  if (widthOf(text) <= width) return [text, ''];
  const words = text.split(' ');
  let head = '';
  let count = 0;
  for (const word of words) {
    const longer = count === 0 ? word : `${head} ${word}`;
    if (widthOf(longer) > width) break;
    head = longer;
    count++;
  }
  return head.trim() === '' ? [text, ''] : [head, words.slice(count).join(' ')];
}

/**
 * A line and a flow, which is never cut: it follows in the line, or in lines of its own. What the line has no room for stands in
 * front of the flow, if there is room.
 */
export function withFlow(text: string, flow: string, width: number): string[] {
  if (flow === '') return [text];
  if (widthOf(text) + 2 + widthOf(flow) <= width) return [`${text}  ${flow}`];
  const [head, rest] = broken(text, width);
  const behind = `${INDENT}${rest}  ${flow}`;
  if (rest !== '' && widthOf(behind) <= width) return [head, behind];
  if (INDENT.length + widthOf(flow) <= width) return [text, INDENT + flow];
  const [source = '', destination = ''] = flow.split(' > ');
  return [text, ...inLines([`${source} >`], width, INDENT).map((line) => INDENT + line), INDENT + destination];
}

function eventEntry({ timeNs, event }: PlacedEvent, metrics: MetricText, width: number): Entry {
  const time = clockTime(Number(timeNs / 1_000_000n));
  const text = `  ${time}  ${ruleText(event.rule)}  ${findingText(event, metrics)}`;
  const flow = event.flow === null ? '' : flowText(event.flow);
  const mark = event.rule === null ? 'dim' : 'yellow';
  return withFlow(text, flow, width).map((line, index): Line => (index === 0 ? { text: line, mark } : { text: line }));
}

/** The most recent events, each with its flow. */
export function eventPanel(state: DetectionState, filter: string, metrics: MetricText, width: number): Panel {
  const { recent, totals, notShown } = state;
  const shown = recent.filter(({ event }) => {
    const { nodeId, flow, rule } = event;
    const name = nodeId === null ? null : metrics.switchName(nodeId);
    return passes(filter, { switches: [nodeId], words: [rule, name, flow?.source ?? null, flow?.destination ?? null] });
  });
  const left = notShown === 0 ? '' : `  ${grouped(notShown)} not kept`;
  return {
    name: 'events',
    title: `Events ${grouped(totals.events)}  ${survivorsText(state)}${left}`,
    heading: null,
    entries: shown.map((event) => eventEntry(event, metrics, width)),
    urgent: 0,
    nothing: recent.length === 0 ? 'none yet' : 'no event matches the filter',
  };
}
