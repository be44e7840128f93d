import { DEGRADED, type DegradedPart, type RecordCounts, type SinkTotals } from '@int/collector';
import type { PipelineParts } from '../options.js';
import { byKey, labelled, type MetricDefinition, one, type PipelineReading, type ValueRows } from './definition.js';

/** Frames, stages and sinks, and their degraded states. */
export function collectorMetrics({ collector, degraded }: PipelineParts): MetricDefinition[] {
  return [
    ...(collector === undefined ? [] : [...frameMetrics(), ...stageMetrics(), ...sinkMetrics()]),
    ...(collector?.degraded === undefined && degraded === undefined ? [] : degradedMetrics()),
  ];
}

function frameMetrics(): MetricDefinition[] {
  return [
    {
      type: 'counter',
      name: 'frames_received_total',
      help: 'Frames (datagrams, packets) that reached the collector.',
      read: ({ totals }) => one(totals.received),
    },
    {
      type: 'counter',
      name: 'frames_decoded_total',
      help: 'Frames in which nothing was wrong.',
      read: ({ totals }) => one(totals.decoded),
    },
    {
      type: 'counter',
      name: 'reports_total',
      help: 'Individual reports and INT packets decoded.',
      read: ({ totals }) => one(totals.reports),
    },
    {
      type: 'counter',
      name: 'frames_dropped_total',
      help: 'Frames that were not decoded, by reason.',
      read: ({ totals }) => byKey('reason', Object.entries(totals.dropped)),
    },
    {
      type: 'counter',
      name: 'frame_errors_total',
      help: 'Frames that were not decoded, by the decoder code.',
      read: ({ totals }) => byKey('code', Object.entries(totals.errors)),
    },
    {
      type: 'counter',
      name: 'kernel_dropped_total',
      help: 'Frames that the kernel discarded before the collector saw them.',
      read: ({ totals: { kernelDropped } }) => (kernelDropped === null ? byKey('', []) : one(kernelDropped)),
    },
  ];
}

function stageMetrics(): MetricDefinition[] {
  return [
    {
      // Some of them count what is present now.
      type: 'gauge',
      name: 'stage_figures',
      help: "The figures of each stage, by the stage's names for them.",
      read: ({ totals }) =>
        labelled(
          ['stage', 'counter'],
          Object.entries(totals.stages).flatMap(([stage, counters]) =>
            Object.entries(counters).map(([counter, value]) => ({ of: [stage, counter], value })),
          ),
        ),
    },
  ];
}

/** For each sink, offered is the sum over the outcomes plus pending. */
function sinkMetrics(): MetricDefinition[] {
  /** Values of each sink and kind, by these labels and an optional further one. */
  const each = (
    read: (counts: RecordCounts) => Readonly<Record<string, number>>,
    ...more: readonly string[]
  ): ((pipeline: PipelineReading) => ValueRows) => {
    return ({ totals }) =>
      labelled(
        ['sink', 'kind', ...more],
        Object.entries(totals.sinks).flatMap(([sink, kinds]: [string, SinkTotals]) =>
          Object.entries(kinds).flatMap(([kind, counts]) =>
            Object.entries(read(counts)).map(([outcome, value]) => ({ of: [sink, kind, outcome], value })),
          ),
        ),
      );
  };
  return [
    {
      type: 'counter',
      name: 'sink_records_offered_total',
      help: 'Records given to a sink.',
      read: each(({ offered }) => ({ offered })),
    },
    {
      type: 'counter',
      name: 'sink_records_total',
      help: 'Records that a sink has done with, by outcome: delivered, or why they were dropped.',
      read: each(({ delivered, dropped }) => ({ delivered, ...dropped }), 'outcome'),
    },
    {
      type: 'gauge',
      name: 'sink_records_pending',
      help: 'Records that a sink holds, in memory or in a spool.',
      read: each(({ pending }) => ({ pending })),
    },
    {
      type: 'gauge',
      name: 'sink_up',
      help: 'Whether a sink is well: 0 in an outage of what it writes to.',
      read: ({ totals, degraded }) => {
        const down = new Set(degraded.filter(isDown).map(({ where }) => where));
        return byKey(
          'sink',
          Object.keys(totals.sinks).map((sink) => [sink, down.has(sink) ? 0 : 1]),
        );
      },
    },
  ];
}

const isDown = ({ name }: DegradedPart): boolean => name === DEGRADED.OUTAGE || name === DEGRADED.FAILED;

function degradedMetrics(): MetricDefinition[] {
  return [
    {
      type: 'gauge',
      name: 'degraded',
      help: 'Parts of the process that are not as they should be now, by the name of the state: each is 1, and gone when it is over.',
      read: ({ degraded }) => {
        const states = new Map(degraded.map(({ where, name }) => [JSON.stringify([where, name]), [where, name]]));
        return labelled(
          ['where', 'state'],
          [...states.values()].map((of) => ({ of, value: 1 })),
        );
      },
    },
  ];
}
