import type { RecordCounts, SinkTotals } from '@int/collector';
import type { PipelineParts } from '../options.js';
import { type MetricDefinition, one, type Sample } from './definition.js';

/** Frames, stages and sinks. */
export function collectorMetrics(collector: PipelineParts['collector']): MetricDefinition[] {
  if (collector === undefined) return [];
  return [...frameMetrics(collector), ...stageMetrics(collector), ...sinkMetrics(collector)];
}

type CollectorPart = NonNullable<PipelineParts['collector']>;

function frameMetrics(collector: CollectorPart): MetricDefinition[] {
  return [
    {
      type: 'counter',
      name: 'frames_received_total',
      help: 'Frames (datagrams, packets) that reached the collector.',
      samples: () => [one(collector.totals().received)],
    },
    {
      type: 'counter',
      name: 'frames_decoded_total',
      help: 'Frames in which nothing was wrong.',
      samples: () => [one(collector.totals().decoded)],
    },
    {
      type: 'counter',
      name: 'reports_total',
      help: 'Individual reports and INT packets decoded.',
      samples: () => [one(collector.totals().reports)],
    },
    {
      type: 'counter',
      name: 'frames_dropped_total',
      help: 'Frames that were not decoded, by reason.',
      samples: () => Object.entries(collector.totals().dropped).map(([reason, value]) => one(value, { reason })),
    },
    {
      type: 'counter',
      name: 'frame_errors_total',
      help: 'Frames that were not decoded, by the decoder code.',
      samples: () => Object.entries(collector.totals().errors).map(([code, value]) => one(value, { code })),
    },
    {
      type: 'counter',
      name: 'kernel_dropped_total',
      help: 'Frames that the kernel discarded before the collector saw them.',
      samples: () => {
        const { kernelDropped } = collector.totals();
        return kernelDropped === null ? [] : [one(kernelDropped)];
      },
    },
  ];
}

function stageMetrics(collector: CollectorPart): MetricDefinition[] {
  return [
    {
      // Some of them are counts of what is there now.
      type: 'gauge',
      name: 'stage_figures',
      help: "The figures of each stage, by the stage's names for them.",
      samples: () =>
        Object.entries(collector.totals().stages).flatMap(([stage, counters]) =>
          Object.entries(counters).map(([counter, value]) => one(value, { stage, counter })),
        ),
    },
  ];
}

/** For each sink, offered is the sum over the outcomes plus pending. */
function sinkMetrics(collector: CollectorPart): MetricDefinition[] {
  const each = (read: (counts: RecordCounts, labels: Sample['labels']) => readonly Sample[]): readonly Sample[] =>
    Object.entries(collector.totals().sinks).flatMap(([sink, totals]: [string, SinkTotals]) =>
      Object.entries(totals).flatMap(([kind, counts]) => read(counts, { sink, kind })),
    );
  return [
    {
      type: 'counter',
      name: 'sink_records_offered_total',
      help: 'Records given to a sink.',
      samples: () => each(({ offered }, labels) => [one(offered, labels)]),
    },
    {
      type: 'counter',
      name: 'sink_records_total',
      help: 'Records that a sink has done with, by outcome: delivered, or why they were dropped.',
      samples: () =>
        each(({ delivered, dropped }, labels) => [
          one(delivered, { ...labels, outcome: 'delivered' }),
          ...Object.entries(dropped).map(([outcome, value]) => one(value, { ...labels, outcome })),
        ]),
    },
    {
      type: 'gauge',
      name: 'sink_records_pending',
      help: 'Records that a sink holds, in memory or in a spool.',
      samples: () => each(({ pending }, labels) => [one(pending, labels)]),
    },
    {
      type: 'gauge',
      name: 'sink_up',
      help: 'Whether a sink is well: 0 in an outage of what it writes to.',
      samples: () => {
        const { sinks } = collector.totals();
        const inTrouble = new Set(collector.trouble?.().map(({ sink }) => sink));
        return [...new Set([...Object.keys(sinks), ...inTrouble])].map((sink) =>
          one(inTrouble.has(sink) ? 0 : 1, { sink }),
        );
      },
    },
  ];
}
