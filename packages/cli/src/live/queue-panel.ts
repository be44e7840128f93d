import type { CongestedPath } from '@int/collector';
import type { MetricText } from '../output/metric-text.js';
import { repeatedFirst } from '../output/ranking.js';
import { flowText } from '../output/record-text.js';
import { clockTime, withFlow } from './event-panel.js';
import { passes } from './filter.js';
import type { Entry, Line, Panel } from './panel.js';

function queueEntry(
  { timeMs, path, nodeId, depth, peak, flow }: CongestedPath,
  metrics: MetricText,
  width: number,
): Entry {
  const name = (id: number | null): string => (id === null ? '?' : metrics.switchName(id));
  const value = (occupancy: number): string => metrics.value('queueOccupancy', occupancy, nodeId);
  const deep =
    depth === null ? 'flagged by the switch' : `queue ${value(depth)}${peak === null ? '' : `, peak ${value(peak)}`}`;
  const text = `  ${clockTime(timeMs)}  at ${name(nodeId)}: ${deep}  path ${path.map(name).join(' > ')}`;
  return withFlow(text, flow === null ? '' : flowText(flow), width).map((line): Line => ({ text: line }));
}

/** The queues that were deep most recently, with their paths and the last flow of each; those that were deep once are last. */
export function queuePanel(
  congested: readonly CongestedPath[],
  filter: string,
  metrics: MetricText,
  width: number,
): Panel {
  const shown = repeatedFirst(congested).filter(({ path, nodeId, flow }) => {
    const switches = [...path, nodeId];
    const names = switches.map((id) => (id === null ? null : metrics.switchName(id)));
    return passes(filter, { switches, words: [...names, flow?.source ?? null, flow?.destination ?? null] });
  });
  const unit = metrics.unit('queueOccupancy');
  return {
    name: 'queues',
    title: `Congested queues ${congested.length}, latest first${unit === '' ? '' : `  in ${unit}`}`,
    heading: null,
    entries: shown.map((one) => queueEntry(one, metrics, width)),
    urgent: 0,
    nothing: congested.length === 0 ? 'none' : 'no queue matches the filter',
  };
}
