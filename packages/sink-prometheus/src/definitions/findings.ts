import type { ReporterLoss, RuleFigures } from '@int/collector';
import type { PipelineParts } from '../options.js';
import { type MetricDefinition, one, type Sample } from './definition.js';

/** Events by rule. */
export function detectionMetrics(detection: PipelineParts['detection']): MetricDefinition[] {
  if (detection === undefined) return [];
  /** The figures of each rule; reports that no rule matched are of the rule `default`, as in the rules file. */
  const byRule = (read: (figures: RuleFigures) => number): readonly Sample[] => {
    const { byRule: rules, byDefault } = detection.totals();
    return [...rules, ['default', byDefault] as const].map(([rule, figures]) => one(read(figures), { rule }));
  };
  return [
    {
      type: 'counter',
      name: 'detection_reports_total',
      help: 'Reports that a rule looked at.',
      samples: () => byRule(({ reports }) => reports),
    },
    {
      type: 'counter',
      name: 'events_total',
      help: 'Events found, by rule.',
      samples: () => byRule(({ events }) => events),
    },
    {
      type: 'counter',
      name: 'detection_survivors_total',
      help: 'Reports with at least one event.',
      samples: () => byRule(({ survivors }) => survivors),
    },
  ];
}

/** The flow cache. */
export function flowMetrics(flows: PipelineParts['flows']): MetricDefinition[] {
  if (flows === undefined) return [];
  return [
    { type: 'gauge', name: 'flows', help: 'Flows in the cache.', samples: () => [one(flows.cache.size)] },
    {
      type: 'counter',
      name: 'flow_cache_total',
      help: "The flow cache's counters, by their names.",
      samples: () => Object.entries(flows.totals()).map(([counter, value]) => one(value, { counter })),
    },
  ];
}

/** Report packets that did not arrive. */
export function lossMetrics(loss: PipelineParts['loss']): MetricDefinition[] {
  if (loss === undefined) return [];
  const each = (read: (reporter: ReporterLoss) => number) => (): readonly Sample[] =>
    loss.reporters().map((reporter) => one(read(reporter), { node: reporter.nodeId, hw: reporter.hwId }));
  return [
    {
      type: 'counter',
      name: 'report_packets_lost_total',
      help: 'Report packets that never arrived, by gaps in sequence numbers.',
      samples: each(({ lost }) => lost),
    },
    {
      type: 'gauge',
      name: 'report_packets_missing',
      help: 'Report packets not seen yet that may still come.',
      samples: each(({ missing }) => missing),
    },
    {
      type: 'counter',
      name: 'report_packets_reordered_total',
      help: 'Report packets that came behind a later one.',
      samples: each(({ reordered }) => reordered),
    },
    {
      type: 'counter',
      name: 'report_packets_duplicate_total',
      help: 'Report packets that came twice.',
      samples: each(({ duplicates }) => duplicates),
    },
    {
      type: 'counter',
      name: 'report_packets_late_total',
      help: 'Report packets that came after they had been counted as lost.',
      samples: each(({ late }) => late),
    },
    {
      type: 'counter',
      name: 'reporter_restarts_total',
      help: 'Times that a reporter began to count anew.',
      samples: each(({ restarts }) => restarts),
    },
    {
      type: 'counter',
      name: 'report_packets_untracked_total',
      help: 'Report packets of reporters that are not followed.',
      samples: () => [one(loss.totals().untracked)],
    },
  ];
}
