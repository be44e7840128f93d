import { collectDefaultMetrics, type Registry, type RegistryContentType } from 'prom-client';

/**
 * Gauges of prom-client under names that end as only those of counters may, which `promtool check metrics` complains
 * about. Each is the sum over the labels of the gauge without that ending.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Registers the metrics of the process, as prom-client has them. */
export function registerProcessMetrics(registry: Registry<RegistryContentType>): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
