import type { PipelineParts } from '../options.js';
import { collectorMetrics } from './collector.js';
import type { MetricDefinition } from './definition.js';
import { detectionMetrics, flowMetrics, lossMetrics } from './findings.js';
import { switchMetrics } from './switches.js';

/** The metrics of all parts that are given. */
export function pipelineMetrics(parts: PipelineParts): MetricDefinition[] {
  return [
    ...collectorMetrics(parts),
    ...switchMetrics(parts.switches, parts.names),
    ...detectionMetrics(parts.detection),
    ...flowMetrics(parts.flows),
    ...lossMetrics(parts.loss, parts.names),
  ];
}
