/**
 * Reports, events and flow entries into OpenSearch or Elasticsearch, in bulk.
 *
 * @packageDocumentation
 */
export type { DropReason } from './client/counts.js';
export type { ShipperTotals } from './client/shipper.js';
export { OpenSearchSinkError, type OpenSearchSinkErrorCode } from './errors.js';
export type { Rotation } from './lines/index-name.js';
export type { OpenSearchAuth, OpenSearchSinkOptions, OpenSearchTls } from './options.js';
export { OpenSearchSink } from './sink.js';
export { type IndexTemplate, indexTemplate, type TemplateOptions, type TemplateScope } from './templates.js';
