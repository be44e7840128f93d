import { DEGRADED, type DegradedPart, type RecordCounts, type SinkTotals } from '@int/collector';
import type { PipelineParts } from '../options.js';
import {
  byKey,
  counter,
  gauge,
  labelled,
  type MetricDefinition,
  one,
  type PipelineReading,
  type ValueRows,
} from './definition.js';

/** Frames, stages and sinks, and their degraded states. */
export function collectorMetrics({ collector, degraded }: PipelineParts): MetricDefinition[] {
  return [
    ...(collector === undefined ? [] : [...pipelineMetrics(), ...sinkMetrics()]),
    ...(collector?.degraded === undefined && degraded === undefined ? [] : [degradedMetric]),
  ];
}

/** Frames and stages. */
function pipelineMetrics(): MetricDefinition[] {
  return [
    counter('frames_received_total', 'Frames (datagrams, packets) that reached the collector.', ({ totals }) =>
      one(totals.received),
    ),
    counter('frames_decoded_total', 'Frames in which nothing was wrong.', ({ totals }) => one(totals.decoded)),
    counter('reports_total', 'Individual reports and INT packets decoded.', ({ totals }) => one(totals.reports)),
    counter('frames_dropped_total', 'Frames that were not decoded, by reason.', ({ totals }) =>
      byKey('reason', Object.entries(totals.dropped)),
    ),
    counter('frame_errors_total', 'Frames that were not decoded, by the decoder code.', ({ totals }) =>
      byKey('code', Object.entries(totals.errors)),
    ),
    counter(
      'kernel_dropped_total',
      'Frames that the kernel discarded before the collector saw them.',
      ({ totals: { kernelDropped } }) => (kernelDropped === null ? byKey('', []) : one(kernelDropped)),
    ),
    // Some of them count what is present now.
    gauge('stage_figures', "The figures of each stage, by the stage's names for them.", ({ totals }) =>
      labelled(
        ['stage', 'counter'],
        Object.entries(totals.stages).flatMap(([stage, counters]) =>
          Object.entries(counters).map(([name, value]) => ({ of: [stage, name], value })),
        ),
      ),
    ),
  ];
}

/** For each sink, offered is the sum over the outcomes plus pending. */
function sinkMetrics(): MetricDefinition[] {
  /** Values of each sink and kind, by these labels and an optional further one. */
  const each =
    (read: (counts: RecordCounts) => Readonly<Record<string, number>>, ...more: readonly string[]) =>
    ({ totals }: PipelineReading): ValueRows =>
      labelled(
        ['sink', 'kind', ...more],
        Object.entries(totals.sinks).flatMap(([sink, kinds]: [string, SinkTotals]) =>
          Object.entries(kinds).flatMap(([kind, counts]) =>
            Object.entries(read(counts)).map(([outcome, value]) => ({ of: [sink, kind, outcome], value })),
          ),
        ),
      );
  return [
    counter(
      'sink_records_offered_total',
      'Records given to a sink.',
      each(({ offered }) => ({ offered })),
    ),
    counter(
      'sink_records_total',
      'Records that a sink has done with, by outcome: delivered, or why they were dropped.',
      each(({ delivered, dropped }) => ({ delivered, ...dropped }), 'outcome'),
    ),
    gauge(
      'sink_records_pending',
      'Records that a sink holds, in memory or in a spool.',
      each(({ pending }) => ({ pending })),
    ),
    gauge('sink_up', 'Whether a sink is well: 0 in an outage of what it writes to.', ({ totals, degraded }) => {
      const down = new Set(degraded.filter(isDown).map(({ where }) => where));
      return byKey(
        'sink',
        Object.keys(totals.sinks).map((sink) => [sink, down.has(sink) ? 0 : 1]),
      );
    }),
  ];
}

const isDown = ({ name }: DegradedPart): boolean => name === DEGRADED.OUTAGE || name === DEGRADED.FAILED;

const degradedMetric = /* @__PURE__ */ gauge(
  'degraded',
  'Parts of the process that are not as they should be now, by the name of the state: each is 1, and gone when it is over.',
  ({ degraded }) => {
    const states = new Map(degraded.map(({ where, name }) => [JSON.stringify([where, name]), [where, name]]));
    return labelled(
      ['where', 'state'],
      [...states.values()].map((of) => ({ of, value: 1 })),
    );
  },
);
