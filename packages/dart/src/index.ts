/**
 * Direct telemetry access: a store of hashed slots that switches write into, its RDMA wire, and its theory.
 *
 * @packageDocumentation
 */

export type { AcceleratorEngine, MemoryRows } from './accelerator/accelerator-engine.js';
export { AcceleratorRnic } from './accelerator/accelerator-rnic.js';
export { type ClusterAnswer, DartCluster } from './cluster/cluster.js';
export { CollectorTable, type DartCollector } from './cluster/table.js';
export type { FamilyName, SegmentGeometry, StoreGeometry } from './layout.js';
export { DartCounters, type DartCountersOptions } from './rdma/counters.js';
export type { DatagramEnds } from './rdma/datagram.js';
export { FrameRows } from './rdma/frame-rows.js';
export type { Outcome, OutcomeName, RnicCounters } from './rdma/outcomes.js';
export type { QueuePairOptions, Service } from './rdma/queue-pairs.js';
export type { RegionOptions } from './rdma/regions.js';
export type { RnicAccelerator } from './rdma/rnic-state.js';
export { SoftRnic, type SoftRnicOptions } from './rdma/soft-rnic.js';
export type { RdmaTarget } from './rdma/target.js';
export type { PacketFormat } from './rdma/template.js';
export { RdmaWriter } from './rdma/writer.js';
export type { CounterRegion, RdmaCollector, RdmaWriterOptions } from './rdma/writer-plan.js';
export { flowKey } from './reports/flow-key.js';
export { pathOfValue, pathValue } from './reports/path-value.js';
export { ReportRows, type ReportRowsCounters, type ReportRowsOptions } from './reports/report-rows.js';
export {
  type SimulatedAges,
  type SimulatedShares,
  type SimulateOptions,
  type SimulationResult,
  simulate,
} from './simulation/simulate.js';
export type { Verdict } from './store/answer.js';
export { DartStore } from './store/dart-store.js';
export type { HashParameters } from './store/hashes.js';
export type { DartStoreOptions } from './store/options.js';
export type { Consensus, Policy } from './store/policy.js';
export { DartReader } from './store/reader.js';
export { AnswerRows, fixedKeyRows, type KeyRows, STATUS, type StatusName } from './store/rows.js';
export type { SegmentPlace } from './store/segment.js';
export type { Answer } from './store/single.js';
export { AdaptiveCopies, type AdaptiveCopiesOptions } from './theory/adaptive-copies.js';
export { type AgeRange, oldest } from './theory/ages.js';
export {
  type Bounds,
  type OutcomeBounds,
  OutcomeModel,
  type OutcomeOptions,
  type Outcomes,
  wrongBounds,
} from './theory/outcomes.js';
export { overwriteProbability, overwriteProbabilityWithModuloBias } from './theory/overwriting.js';
export {
  bestCopies,
  type ChoiceOptions,
  type LoadOptions,
  type Measure,
  type MemoryOptions,
  type MemoryPlan,
  outcomesAtLoad,
  type PlanOptions,
  planMemory,
} from './theory/plan.js';
