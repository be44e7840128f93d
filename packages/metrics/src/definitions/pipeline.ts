import type { PipelineParts } from '../options.js';
import { collectorMetrics } from './collector.js';
import type { MetricDefinition } from './definition.js';
import { detectionMetrics, flowMetrics, lossMetrics } from './findings.js';
import { switchMetrics } from './switches.js';

/** Seconds in a unit of hop latency, if nothing else is said: switches count nanoseconds. */
const NANOSECOND = 1e-9;

/**
 * All metrics of the parts that there are.
 * @throws RangeError for a unit that makes no sense
 */
export function pipelineMetrics(parts: PipelineParts & { readonly latencyUnit?: number }): MetricDefinition[] {
  const { latencyUnit = NANOSECOND } = parts;
  if (!(latencyUnit > 0 && latencyUnit <= 1)) throw new RangeError(`latencyUnit must be above 0 and at most 1 second`);
  return [
    ...collectorMetrics(parts),
    ...switchMetrics(parts.switches, latencyUnit),
    ...detectionMetrics(parts.detection),
    ...flowMetrics(parts.flows),
    ...lossMetrics(parts.loss),
  ];
}
