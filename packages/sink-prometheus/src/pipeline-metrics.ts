import { collectDefaultMetrics, Registry, type RegistryContentType } from 'prom-client';
import { pipelineMetrics } from './definitions/pipeline.js';
import type { PipelineMetricsOptions } from './options.js';
import { registerSnapshot } from './snapshot-metric.js';

/** A name as Prometheus takes it for metrics. */
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

/**
 * The metrics of a pipeline, in the exposition format of Prometheus.
 *
 * Cardinality is bounded by the stages: per switch, queue and egress interface, as many as `SwitchTotals` has room for; what
 * has none is the switch `other`. Nothing is exported per flow.
 *
 * @example
 * const metrics = new PipelineMetrics({ collector, switches, detection: stage });
 * const server = await MetricsServer.listen({ port: 9464, metrics });
 */
export class PipelineMetrics {
  readonly registry: Registry<RegistryContentType>;

  /** @throws RangeError for a prefix or unit that makes no sense; Error if the registry has such a metric already */
  constructor(options: PipelineMetricsOptions) {
    const { prefix = 'int', labels } = options;
    if (!NAME.test(prefix)) throw new RangeError(`prefix must be a metric's name, not "${prefix}"`);
    const definitions = pipelineMetrics(options);
    const registry: Registry<RegistryContentType> = options.registry ?? new Registry();
    this.registry = registry;
    if (labels !== undefined) registry.setDefaultLabels({ ...labels });
    for (const definition of definitions) registerSnapshot(registry, prefix, definition);
    if (options.process !== false) collectDefaultMetrics({ register: registry });
  }

  /** What a scrape gets. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** Of {@link text}. */
  get contentType(): string {
    return this.registry.contentType;
  }
}
