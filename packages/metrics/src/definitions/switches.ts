import { METRIC_NAMES } from '@int/codec';
import type { SwitchColumns } from '@int/collector';
import type { Measured, MetricUnit } from '@int/network';
import type { PipelineParts, SwitchNames } from '../options.js';
import { byKey, counter, gauge, type LabelColumn, type MetricDefinition, nameColumns, one } from './definition.js';
import { type Base, basesOf, inBase, inWords, suffixOf } from './units.js';

/** The label of everything without a row of its own. */
const OTHER = 'other';

interface GaugeRows {
  readonly nodeId: Uint32Array;
  readonly number: Uint32Array;
  /** Of the second label. */
  readonly values: LabelColumn['values'];
  readonly value: Float64Array;
}

const sum = (values: Float64Array): number => values.reduce((total, value) => total + value, 0);

/**
 * Hops, hop latency, queues and interfaces. The end of a name says what its values are in.
 * @param names for labels beside the ids
 */
export function switchMetrics(switches: PipelineParts['switches'], names?: SwitchNames): MetricDefinition[] {
  if (switches === undefined) return [];
  const { device } = switches;
  const nameOf = names === undefined ? null : (id: number): string | null => names.switchName(id);
  const label = (nodeId: Uint32Array): LabelColumn[] => [
    { name: 'switch', values: nodeId, rest: OTHER },
    ...nameColumns('switch_name', nodeId, nameOf),
  ];
  const perSwitch = (name: string, help: string, of: 'hops' | 'dropReports'): MetricDefinition =>
    counter(name, help, ({ switches: columns }) => ({ labels: label(columns.nodeId), values: columns[of] }));
  const histograms = (
    name: string,
    plain: string,
    help: string,
    of: 'hopLatency' | 'queueOccupancy',
  ): MetricDefinition[] =>
    basesOf(device, of).map((base) => ({
      type: 'histogram',
      name: `${name}${suffixOf(base, plain)}`,
      help: `${help}, in ${inWords(base)}.`,
      read: ({ switches: columns }) => {
        const { nodeId, bounds, counts, sums } = columns[of].find((each) => each.base === base)!;
        return { labels: label(nodeId), bounds: Array.from(bounds), counts, sums };
      },
    }));
  /** @param rows the values of the columns that are in a base unit, with the values of the second label */
  const gauges = (
    name: string,
    help: string,
    bases: readonly Base[],
    second: string,
    rows: (columns: SwitchColumns, base: Base) => GaugeRows,
  ): MetricDefinition[] =>
    bases.map((base) =>
      gauge(`${name}${suffixOf(base)}`, `${help}, in ${inWords(base)}.`, ({ switches: columns }) => {
        const { nodeId, number, values, value } = rows(columns, base);
        const labels = [...label(nodeId), { name: second, values }];
        if (second !== 'interface') return { labels, values: value };
        const portOf = names === undefined ? null : (port: number, row: number) => names.portName(nodeId[row]!, port);
        return { labels: [...labels, ...nameColumns('interface_name', number, portOf)], values: value };
      }),
    );
  const numbered =
    (of: 'queues' | 'interfaces', measured: Measured) =>
    (columns: SwitchColumns, base: Base): GaugeRows => {
      const found = inBase(columns[of], base, (row) => device.unit(measured, columns[of].nodeId[row]!));
      return { ...found, values: found.number };
    };
  return [
    counter('hops_total', 'Hops of all reports, over all switches.', ({ switches: { hops } }) => one(sum(hops))),
    perSwitch('switch_hops_total', 'Times that a switch was a hop of a report.', 'hops'),
    perSwitch('switch_drop_reports_total', 'Reports of a switch about packets that it dropped.', 'dropReports'),
    ...histograms('hop_latency', '_device_units', 'Time that packets took through a switch', 'hopLatency'),
    ...histograms('hop_queue_occupancy', '', 'Queue occupancy that packets met in a switch', 'queueOccupancy'),
    ...gauges(
      'queue_occupancy',
      'Occupancy of a queue as last reported',
      basesOf(device, 'queueOccupancy'),
      'queue',
      numbered('queues', 'queueOccupancy'),
    ),
    ...gauges(
      'egress_utilization',
      'Utilization of an egress interface as last reported',
      basesOf(device, 'egressUtilization'),
      'interface',
      numbered('interfaces', 'egressUtilization'),
    ),
    ...gauges(
      'switch_measure',
      "Another measure of a switch as last reported, by the metric's name",
      [...new Set([null, ...basesOf(device, 'bufferOccupancy')])],
      'metric',
      ({ measures }, base) => {
        const unitOf = (row: number): MetricUnit | null =>
          device.unit(METRIC_NAMES[measures.number[row]!]!, measures.nodeId[row]!);
        const found = inBase(measures, base, unitOf);
        return { ...found, values: Array.from(found.number, (metric) => METRIC_NAMES[metric]!) };
      },
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
