/**
 * Direct telemetry access: a store of hashed slots that switches write into, its RDMA wire, and its theory.
 *
 * @packageDocumentation
 */
export { type ClusterAnswer, DartCluster } from './cluster/cluster.js';
export { type Collector, CollectorTable } from './cluster/table.js';
export {
  FAMILIES,
  type FamilyName,
  type Geometry,
  geometryOf,
  HEADER,
  HEADER_BYTES,
  LAYOUT_VERSION,
  MAGIC,
  MAX_COPIES,
  MAX_VALUE_BYTES,
  type SegmentGeometry,
  slotBytesOf,
  slotsFor,
} from './layout.js';
export type { RdmaTarget } from './rdma/target.js';
export { flowKey } from './reports/flow-key.js';
export { pathOf, pathValue } from './reports/path-value.js';
export { ReportRows, type ReportRowsCounters, type ReportRowsOptions } from './reports/report-rows.js';
export { Candidates, type Verdict } from './store/answer.js';
export { DartStore } from './store/dart-store.js';
export { cutChecksum, type HashParameters, hashParameters, KeyHashes } from './store/hashes.js';
export type { DartStoreOptions } from './store/options.js';
export { type Consensus, type Policy, policyNumber } from './store/policy.js';
export { DartReader } from './store/reader.js';
export {
  AnswerRows,
  fixedKeyRows,
  type KeyRows,
  MAX_KEY_BYTES,
  STATUS,
  STATUS_NAMES,
  type StatusName,
} from './store/rows.js';
export { Segment, type SegmentPlace } from './store/segment.js';
export type { Answer } from './store/single.js';
