import type { RuleFigures, SequenceCounts } from '@int/collector';
import type { PipelineParts } from '../options.js';
import { byKey, type MetricDefinition, one, type PipelineReading, type ValueRows } from './definition.js';

/** The label of reporters without a row of their own. */
const OTHER = 'other';

/** Events by rule. */
export function detectionMetrics(detection: PipelineParts['detection']): MetricDefinition[] {
  if (detection === undefined) return [];
  /** The figures of each rule; reports that no rule matched are of the rule `default`, as in the rules file. */
  const byRule =
    (read: (figures: RuleFigures) => number) =>
    ({ detection: { byRule: rules, byDefault } }: PipelineReading): ValueRows =>
      byKey(
        'rule',
        [...rules, ['default', byDefault] as const].map(([rule, figures]) => [rule, read(figures)]),
      );
  return [
    {
      type: 'counter',
      name: 'detection_reports_total',
      help: 'Reports that a rule looked at.',
      read: byRule(({ reports }) => reports),
    },
    {
      type: 'counter',
      name: 'events_total',
      help: 'Events found, by rule.',
      read: byRule(({ events }) => events),
    },
    {
      type: 'counter',
      name: 'detection_survivors_total',
      help: 'Reports with at least one event.',
      read: byRule(({ survivors }) => survivors),
    },
  ];
}

/** The flow cache. */
export function flowMetrics(flows: PipelineParts['flows']): MetricDefinition[] {
  if (flows === undefined) return [];
  return [
    { type: 'gauge', name: 'flows', help: 'Flows in the cache.', read: () => one(flows.cache.size) },
    {
      type: 'counter',
      name: 'flow_cache_total',
      help: "The flow cache's counters, by their names.",
      read: ({ flows: totals }) => byKey('counter', Object.entries(totals)),
    },
  ];
}

/** Report packets that did not arrive. */
export function lossMetrics(loss: PipelineParts['loss']): MetricDefinition[] {
  if (loss === undefined) return [];
  const each =
    (name: keyof SequenceCounts) =>
    ({ loss: { nodeId, hwId, counts } }: PipelineReading): ValueRows => ({
      labels: [
        { name: 'node', values: nodeId, rest: OTHER },
        { name: 'hw', values: hwId, rest: OTHER },
      ],
      values: counts[name],
    });
  return [
    {
      type: 'counter',
      name: 'report_packets_lost_total',
      help: 'Report packets that never arrived, by gaps in sequence numbers.',
      read: each('lost'),
    },
    {
      type: 'gauge',
      name: 'report_packets_missing',
      help: 'Report packets not seen yet that may still come.',
      read: each('missing'),
    },
    {
      type: 'counter',
      name: 'report_packets_reordered_total',
      help: 'Report packets that came behind a later one.',
      read: each('reordered'),
    },
    {
      type: 'counter',
      name: 'report_packets_duplicate_total',
      help: 'Report packets that came twice.',
      read: each('duplicates'),
    },
    {
      type: 'counter',
      name: 'report_packets_late_total',
      help: 'Report packets that came after they had been counted as lost.',
      read: each('late'),
    },
    {
      type: 'counter',
      name: 'reporter_restarts_total',
      help: 'Times that a reporter began to count anew.',
      read: each('restarts'),
    },
    {
      type: 'counter',
      name: 'report_packets_untracked_total',
      help: 'Report packets of reporters that are not followed.',
      read: () => one(loss.totals().untracked),
    },
  ];
}
