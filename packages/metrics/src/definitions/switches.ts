import { METRIC_NAMES } from '@int/codec';
import type { GaugeColumns } from '@int/collector';
import type { PipelineParts, SwitchNames } from '../options.js';
import {
  byKey,
  counter,
  gauge,
  type LabelColumn,
  type MetricDefinition,
  nameColumns,
  one,
  type ValueRows,
} from './definition.js';

/** The label of everything without a row of its own. */
const OTHER = 'other';

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

/**
 * Hops, hop latency, queues and interfaces.
 * @param latencyUnit seconds in a unit of hop latency
 * @param names for labels beside the ids
 */
export function switchMetrics(
  switches: PipelineParts['switches'],
  latencyUnit: number,
  names?: SwitchNames,
): MetricDefinition[] {
  if (switches === undefined) return [];
  const nameOf = names === undefined ? null : (id: number): string | null => names.switchName(id);
  const label = (nodeId: Uint32Array): LabelColumn[] => [
    { name: 'switch', values: nodeId, rest: OTHER },
    ...nameColumns('switch_name', nodeId, nameOf),
  ];
  const perSwitch = (name: string, help: string, of: 'hops' | 'dropReports'): MetricDefinition =>
    counter(name, help, ({ switches: columns }) => ({ labels: label(columns.nodeId), values: columns[of] }));
  const histogram = (
    name: string,
    help: string,
    of: 'hopLatency' | 'queueOccupancy',
    unit: number,
  ): MetricDefinition => ({
    type: 'histogram',
    name,
    help,
    read: ({
      switches: {
        nodeId,
        [of]: { bounds, counts, sums },
      },
    }) => ({
      labels: label(nodeId),
      // Twelve digits: 2.5e-6, not what 2500 times 1e-9 is in binary.
      bounds: Array.from(bounds, (bound) => Number((bound * unit).toPrecision(12))),
      counts,
      sums: sums.map((total) => total * unit),
    }),
  });
  const last = ({ nodeId, value }: GaugeColumns, name: string, values: LabelColumn['values']): ValueRows => ({
    labels: [...label(nodeId), { name, values }],
    values: value,
  });
  return [
    counter('hops_total', 'Hops of all reports, over all switches.', ({ switches: { hops } }) => one(sum(hops))),
    perSwitch('switch_hops_total', 'Times that a switch was a hop of a report.', 'hops'),
    perSwitch('switch_drop_reports_total', 'Reports of a switch about packets that it dropped.', 'dropReports'),
    histogram('hop_latency_seconds', 'Time that packets took through a switch.', 'hopLatency', latencyUnit),
    histogram(
      'hop_queue_occupancy',
      "Queue occupancy that packets met in a switch, in the device's unit.",
      'queueOccupancy',
      1,
    ),
    gauge(
      'queue_occupancy',
      "Occupancy of a queue as last reported, in the device's unit.",
      ({ switches: { queues } }) => last(queues, 'queue', queues.number),
    ),
    gauge(
      'egress_utilization',
      "Utilization of an egress interface as last reported, in the device's unit.",
      ({ switches: { interfaces } }) => {
        const { nodeId, number } = interfaces;
        const rows = last(interfaces, 'interface', number);
        const portOf = names === undefined ? null : (port: number, row: number) => names.portName(nodeId[row]!, port);
        return { ...rows, labels: [...rows.labels, ...nameColumns('interface_name', number, portOf)] };
      },
    ),
    gauge(
      'switch_measure',
      "Another measure of a switch as last reported, by the metric's name, in the device's unit.",
      ({ switches: { measures } }) =>
        last(
          measures,
          'metric',
          Array.from(measures.number, (metric) => METRIC_NAMES[metric]!),
        ),
    ),
    counter(
      'gauges_refused_total',
      'Values of queues and interfaces for which there was no room.',
      ({ switches: { refused } }) =>
        byKey('of', [
          ['queue', refused.queues],
          ['interface', refused.interfaces],
        ]),
    ),
    counter(
      'switch_hops_untracked_total',
      'Hops counted under the switch other, because there were more switches than rows: an attack, or too few rows.',
      ({ switches: { untracked } }) => one(untracked),
    ),
    counter(
      'switches_replaced_total',
      'Times that a switch has taken the row of another one, whose counters then went to the switch other.',
      ({ switches: { replaced } }) => one(replaced),
    ),
  ];
}
