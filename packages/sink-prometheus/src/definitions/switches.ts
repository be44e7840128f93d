import type { SwitchCounters, SwitchTotalsSnapshot } from '@int/collector';
import type { PipelineParts } from '../options.js';
import { type HistogramSample, type MetricDefinition, one, type Sample } from './definition.js';

/** The label of what has no switch of its own. */
const OTHER = 'other';

/** Hops, hop latency, queues and interfaces. @param latencyUnit seconds in a unit of hop latency */
export function switchMetrics(switches: PipelineParts['switches'], latencyUnit: number): MetricDefinition[] {
  if (switches === undefined) return [];
  const each = (read: (counters: SwitchCounters) => number): readonly Sample[] => {
    const { switches: known, other } = switches.snapshot();
    return [...known, other].map((counters) => one(read(counters), { switch: counters.nodeId ?? OTHER }));
  };
  const histogram = (
    unit: number,
    of: 'hopLatency' | 'queueOccupancy',
    bounds: (snapshot: SwitchTotalsSnapshot) => readonly number[],
  ): readonly HistogramSample[] => {
    const snapshot = switches.snapshot();
    // Twelve digits: 2.5e-6, not what 2500 times 1e-9 is in binary.
    const inUnit = bounds(snapshot).map((bound) => Number((bound * unit).toPrecision(12)));
    return [...snapshot.switches, snapshot.other].map((counters) => ({
      labels: { switch: counters.nodeId ?? OTHER },
      bounds: inUnit,
      buckets: counters[of].buckets,
      sum: counters[of].sum * unit,
    }));
  };
  return [
    {
      type: 'counter',
      name: 'switch_hops_total',
      help: 'Times that a switch was a hop of a report.',
      samples: () => each(({ hops }) => hops),
    },
    {
      type: 'counter',
      name: 'switch_drop_reports_total',
      help: 'Reports of a switch about packets that it dropped.',
      samples: () => each(({ dropReports }) => dropReports),
    },
    {
      type: 'histogram',
      name: 'hop_latency_seconds',
      help: 'Time that packets took through a switch.',
      samples: () => histogram(latencyUnit, 'hopLatency', ({ latencyBounds }) => latencyBounds),
    },
    {
      type: 'histogram',
      name: 'hop_queue_occupancy',
      help: "Queue occupancy that packets met in a switch, in the device's unit.",
      samples: () => histogram(1, 'queueOccupancy', ({ occupancyBounds }) => occupancyBounds),
    },
    {
      type: 'gauge',
      name: 'queue_occupancy',
      help: "Occupancy of a queue as last reported, in the device's unit.",
      samples: () =>
        switches
          .snapshot()
          .queues.map(({ nodeId, queueId, occupancy }) => one(occupancy, { switch: nodeId, queue: queueId })),
    },
    {
      type: 'gauge',
      name: 'egress_utilization',
      help: "Utilization of an egress interface as last reported, in the device's unit.",
      samples: () =>
        switches
          .snapshot()
          .interfaces.map(({ nodeId, egressInterface, utilization }) =>
            one(utilization, { switch: nodeId, interface: egressInterface }),
          ),
    },
    {
      type: 'counter',
      name: 'gauges_refused_total',
      help: 'Values of queues and interfaces for which there was no room.',
      samples: () => {
        const { refused } = switches.snapshot();
        return [one(refused.queues, { of: 'queue' }), one(refused.interfaces, { of: 'interface' })];
      },
    },
  ];
}
