/**
 * Metrics of a telemetry pipeline for Prometheus, and the endpoint that it scrapes.
 *
 * @packageDocumentation
 */
export type { PipelineMetricsOptions, PipelineParts } from './options.js';
export { PipelineMetrics } from './pipeline-metrics.js';
export { type Health, MetricsServer, MetricsServerError, type MetricsServerOptions } from './server.js';
