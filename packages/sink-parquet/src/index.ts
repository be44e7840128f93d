/**
 * History: reports with their hops, events and flows in partitioned Parquet files, queried with SQL.
 *
 * @packageDocumentation
 */
export type { Compression } from './engine/file-writer.js';
export { HistoryError, type HistoryErrorCode, ParquetSinkError, type ParquetSinkErrorCode } from './errors.js';
export {
  History,
  type HistoryOptions,
  QueryResult,
  type ResultColumn,
  type ResultRow,
  type ResultValue,
} from './history/history.js';
export type { CheckedFiles, LeftOutFile } from './history/verification.js';
export type { ViewName } from './history/views.js';
export type {
  CompactionOptions,
  ParquetSinkOptions,
  RetentionOptions,
  RotateOptions,
} from './options.js';
export { type ParquetDropReason, type ParquetFigures, ParquetSink } from './sink.js';
export type { MaintenanceResult } from './store/maintenance.js';
export type { TableName } from './table/table.js';
