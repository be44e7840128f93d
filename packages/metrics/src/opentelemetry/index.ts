/**
 * The metrics of a pipeline for OpenTelemetry.
 *
 * @packageDocumentation
 */
export { type ObservePipelineOptions, observePipeline, type PipelineObservation } from './observe.js';
