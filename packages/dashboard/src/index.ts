/**
 * A page and a programming interface that show a running collector.
 *
 * @packageDocumentation
 */

export type { ControlSource } from './control/control-source.js';
export { Dashboard, type DashboardNetwork, type DashboardOptions } from './dashboard.js';
export { DashboardError, type DashboardErrorCode } from './errors.js';
export { Filter, FilterError, type FilterNetwork, type SubjectKind } from './filter/index.js';
export type * from './protocol/control.js';
export { BUCKET_MS, type Entity, type EntityKey, SERIES_METRICS, type SeriesMetric } from './protocol/entities.js';
export type * from './protocol/http.js';
export type { SeriesFrame, ServerMessage, ViewerMessage } from './protocol/live.js';
export type { RetentionOptions } from './retention/geometry.js';
export { type RulesProgram, RunningRules } from './rules/running-rules.js';
