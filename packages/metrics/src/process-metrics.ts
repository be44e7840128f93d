import { collectDefaultMetrics, type Registry, type RegistryContentType } from 'prom-client';

/**
 * Gauges of prom-client whose names end in `_total`, which only counters may have: `promtool check metrics` rejects
 * them. Each is the sum over the labels of the gauge without that suffix.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Registers prom-client's metrics of the process, except the misnamed ones. */
export function registerProcessMetrics(registry: Registry<RegistryContentType>): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
