export { Filter, FilterError, type FilterNetwork, type SubjectKind } from './filter/index.js';
export { BUCKET_MS, type Entity, type EntityKey, SERIES_METRICS, type SeriesMetric } from './protocol/entities.js';
export type * from './protocol/http.js';
export type { SeriesFrame, ServerMessage, ViewerMessage } from './protocol/live.js';
