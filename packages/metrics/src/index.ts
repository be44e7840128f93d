/**
 * Metrics of a telemetry pipeline for Prometheus, and the endpoint that it scrapes.
 *
 * @packageDocumentation
 */
export { type CountMetric, CountMetrics, type CountMetricsOptions, type LabelledCount } from './count-metrics.js';
export { MetricsServerError } from './errors.js';
export type { PipelineMetricsOptions, PipelineParts, SwitchNames } from './options.js';
export type { Health, PageTotals } from './page/protocol.js';
export { PipelineMetrics } from './pipeline-metrics.js';
export { MetricsServer, type MetricsServerOptions, type MetricsSource } from './server.js';
