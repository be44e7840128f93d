import { METRIC_NAMES } from '@int/codec';
import type { BucketColumns, GaugeColumns } from '@int/collector';
import type { PipelineParts } from '../options.js';
import {
  byKey,
  type HistogramRows,
  type LabelColumn,
  type MetricDefinition,
  one,
  type ValueRows,
} from './definition.js';

/** The label of everything without a row of its own. */
const OTHER = 'other';

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

/** Hops, hop latency, queues and interfaces. @param latencyUnit seconds in a unit of hop latency */
export function switchMetrics(switches: PipelineParts['switches'], latencyUnit: number): MetricDefinition[] {
  if (switches === undefined) return [];
  const label = (nodeId: Uint32Array): LabelColumn => ({ name: 'switch', values: nodeId, rest: OTHER });
  const histogram = (nodeId: Uint32Array, { bounds, counts, sums }: BucketColumns, unit: number): HistogramRows => ({
    labels: [label(nodeId)],
    // Twelve digits: 2.5e-6, not what 2500 times 1e-9 is in binary.
    bounds: Array.from(bounds, (bound) => Number((bound * unit).toPrecision(12))),
    counts,
    sums: sums.map((total) => total * unit),
  });
  const gauge = (of: string, { nodeId, number, value }: GaugeColumns): ValueRows => ({
    labels: [label(nodeId), { name: of, values: number }],
    values: value,
  });
  return [
    {
      type: 'counter',
      name: 'hops_total',
      help: 'Hops of all reports, over all switches.',
      read: ({ switches: { hops } }) => one(sum(hops)),
    },
    {
      type: 'counter',
      name: 'switch_hops_total',
      help: 'Times that a switch was a hop of a report.',
      read: ({ switches: { nodeId, hops } }) => ({ labels: [label(nodeId)], values: hops }),
    },
    {
      type: 'counter',
      name: 'switch_drop_reports_total',
      help: 'Reports of a switch about packets that it dropped.',
      read: ({ switches: { nodeId, dropReports } }) => ({ labels: [label(nodeId)], values: dropReports }),
    },
    {
      type: 'histogram',
      name: 'hop_latency_seconds',
      help: 'Time that packets took through a switch.',
      read: ({ switches: { nodeId, hopLatency } }) => histogram(nodeId, hopLatency, latencyUnit),
    },
    {
      type: 'histogram',
      name: 'hop_queue_occupancy',
      help: "Queue occupancy that packets met in a switch, in the device's unit.",
      read: ({ switches: { nodeId, queueOccupancy } }) => histogram(nodeId, queueOccupancy, 1),
    },
    {
      type: 'gauge',
      name: 'queue_occupancy',
      help: "Occupancy of a queue as last reported, in the device's unit.",
      read: ({ switches: { queues } }) => gauge('queue', queues),
    },
    {
      type: 'gauge',
      name: 'egress_utilization',
      help: "Utilization of an egress interface as last reported, in the device's unit.",
      read: ({ switches: { interfaces } }) => gauge('interface', interfaces),
    },
    {
      type: 'gauge',
      name: 'switch_measure',
      help: "Another measure of a switch as last reported, by the metric's name, in the device's unit.",
      read: ({ switches: { measures } }) => ({
        labels: [
          label(measures.nodeId),
          { name: 'metric', values: Array.from(measures.number, (metric) => METRIC_NAMES[metric]!) },
        ],
        values: measures.value,
      }),
    },
    {
      type: 'counter',
      name: 'gauges_refused_total',
      help: 'Values of queues and interfaces for which there was no room.',
      read: ({ switches: { refused } }) =>
        byKey('of', [
          ['queue', refused.queues],
          ['interface', refused.interfaces],
        ]),
    },
    {
      type: 'counter',
      name: 'switch_hops_untracked_total',
      help: 'Hops counted under the switch other, because there were more switches than rows: an attack, or too few rows.',
      read: ({ switches: { untracked } }) => one(untracked),
    },
    {
      type: 'counter',
      name: 'switches_replaced_total',
      help: 'Times that a switch has taken the row of another one, whose counters then went to the switch other.',
      read: ({ switches: { replaced } }) => one(replaced),
    },
  ];
}
