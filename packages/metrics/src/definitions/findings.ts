import type { RuleFigures, SequenceCounts } from '@int/collector';
import type { PipelineParts, SwitchNames } from '../options.js';
import {
  byKey,
  counter,
  gauge,
  type MetricDefinition,
  nameColumns,
  one,
  type PipelineReading,
  type ValueRows,
} from './definition.js';

/** The label of reporters without a row of their own. */
const OTHER = 'other';

/** Events by rule. */
export function detectionMetrics(detection: PipelineParts['detection']): MetricDefinition[] {
  if (detection === undefined) return [];
  /** The figures of each rule; reports that no rule matched are of the rule `default`, as in the rules file. */
  const byRule =
    (of: keyof RuleFigures) =>
    ({ detection: { byRule: rules, byDefault } }: PipelineReading): ValueRows =>
      byKey(
        'rule',
        [...rules, ['default', byDefault] as const].map(([rule, figures]) => [rule, figures[of]]),
      );
  return [
    counter('detection_reports_total', 'Reports that a rule looked at.', byRule('reports')),
    counter('events_total', 'Events found, by rule.', byRule('events')),
    counter('detection_survivors_total', 'Reports with at least one event.', byRule('survivors')),
  ];
}

/** The flow cache. */
export function flowMetrics(flows: PipelineParts['flows']): MetricDefinition[] {
  if (flows === undefined) return [];
  return [
    gauge('flows', 'Flows in the cache.', () => one(flows.cache.size)),
    counter('flow_cache_total', "The flow cache's counters, by their names.", ({ flows: totals }) =>
      byKey('counter', Object.entries(totals)),
    ),
  ];
}

/** Report packets that did not arrive. */
export function lossMetrics(loss: PipelineParts['loss'], names?: SwitchNames): MetricDefinition[] {
  if (loss === undefined) return [];
  const nameOf = names === undefined ? null : (id: number): string | null => names.switchName(id);
  const each =
    (name: keyof SequenceCounts) =>
    ({ loss: { nodeId, hwId, counts } }: PipelineReading): ValueRows => ({
      labels: [
        { name: 'node', values: nodeId, rest: OTHER },
        ...nameColumns('node_name', nodeId, nameOf),
        { name: 'hw', values: hwId, rest: OTHER },
      ],
      values: counts[name],
    });
  return [
    counter(
      'report_packets_lost_total',
      'Report packets that never arrived, by gaps in sequence numbers.',
      each('lost'),
    ),
    gauge('report_packets_missing', 'Report packets not seen yet that may still come.', each('missing')),
    counter('report_packets_reordered_total', 'Report packets that came behind a later one.', each('reordered')),
    counter('report_packets_duplicate_total', 'Report packets that came twice.', each('duplicates')),
    counter('report_packets_late_total', 'Report packets that came after they had been counted as lost.', each('late')),
    counter('reporter_restarts_total', 'Times that a reporter began to count anew.', each('restarts')),
    counter('report_packets_untracked_total', 'Report packets of reporters that are not followed.', () =>
      one(loss.totals().untracked),
    ),
  ];
}
