import type { PipelineParts } from '../options.js';
import { collectorMetrics } from './collector.js';
import type { MetricDefinition } from './definition.js';
import { detectionMetrics, flowMetrics, lossMetrics } from './findings.js';
import { switchMetrics } from './switches.js';

/** The default unit of hop latency in seconds: switches count nanoseconds. */
const NANOSECOND = 1e-9;

/**
 * The metrics of all parts that are given.
 * @throws RangeError for a unit that is not above 0 and at most 1
 */
export function pipelineMetrics(parts: PipelineParts & { readonly latencyUnit?: number }): MetricDefinition[] {
  const { latencyUnit = NANOSECOND } = parts;
  if (!(latencyUnit > 0 && latencyUnit <= 1)) throw new RangeError(`latencyUnit must be above 0 and at most 1 second`);
  return [
    ...collectorMetrics(parts),
    ...switchMetrics(parts.switches, latencyUnit, parts.names),
    ...detectionMetrics(parts.detection),
    ...flowMetrics(parts.flows),
    ...lossMetrics(parts.loss, parts.names),
  ];
}
