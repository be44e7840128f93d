/**
 * Direct telemetry access: a store of hashed slots that switches write into, its RDMA wire, and its theory.
 *
 * @packageDocumentation
 */
export { type ClusterAnswer, DartCluster } from './cluster/cluster.js';
export { type Collector, CollectorTable } from './cluster/table.js';
export { type KernelEngine, type MemoryRows, storeKernelAvailable } from './kernel/kernel-engine.js';
export { KernelRnic } from './kernel/kernel-rnic.js';
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
export { DartCounters, type DartCountersOptions } from './rdma/counters.js';
export type { DatagramEnds } from './rdma/datagram.js';
export { FrameRows } from './rdma/frame-rows.js';
export {
  decodeMultiWrite,
  encodeMultiWrite,
  MOST_ADDRESSES,
  MULTI_WRITE_OPCODE,
  MULTI_WRITE_VERSION,
  type MultiWrite,
  multiWriteHeaderLength,
} from './rdma/multi-write.js';
export {
  FIRST_REJECT,
  OUTCOME,
  OUTCOME_NAMES,
  type Outcome,
  type OutcomeName,
  type RnicCounters,
} from './rdma/outcomes.js';
export type { QueuePairOptions, Service } from './rdma/queue-pairs.js';
export type { RegionOptions } from './rdma/regions.js';
export { RNIC_STATE_WORDS, type RnicKernel } from './rdma/rnic-state.js';
export { SoftRnic, type SoftRnicOptions } from './rdma/soft-rnic.js';
export type { RdmaTarget } from './rdma/target.js';
export type { PacketFormat } from './rdma/template.js';
export { RdmaWriter, type RdmaWriterOptions } from './rdma/writer.js';
export type { CounterRegion, RdmaCollector } from './rdma/writer-plan.js';
export { flowKey } from './reports/flow-key.js';
export { pathOf, pathValue } from './reports/path-value.js';
export { ReportRows, type ReportRowsCounters, type ReportRowsOptions } from './reports/report-rows.js';
export { type KeyKind, SIMULATED_KEY_BYTES, simulatedKey } from './simulation/keys.js';
export {
  type SimulatedAges,
  type SimulatedShares,
  type SimulateOptions,
  type SimulationResult,
  simulate,
} from './simulation/simulate.js';
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
export {
  AdaptiveCopies,
  type AdaptiveCopiesOptions,
  type AdaptiveOutcomeOptions,
  adaptiveOutcomes,
} from './theory/adaptive-copies.js';
export { type AgeRange, ALL_AGES, averageOverAges, oldest } from './theory/ages.js';
export { arrivingCopies, distinctSlots } from './theory/distinct-slots.js';
export { insertionSuccess, meanInsertionSuccess } from './theory/insertion.js';
export {
  type Bounds,
  emptyBounds,
  emptyProbability,
  type OutcomeBounds,
  OutcomeModel,
  type OutcomeOptions,
  type Outcomes,
  successProbability,
  wrongBounds,
} from './theory/outcomes.js';
export {
  falseMatchProbability,
  overwriteProbability,
  overwriteProbabilityWithModuloBias,
} from './theory/overwriting.js';
export {
  bestCopies,
  bytesPerFlowFor,
  type ChoiceOptions,
  type LoadOptions,
  type Measure,
  type MemoryOptions,
  type MemoryPerFlow,
  type MemoryPlan,
  outcomesAtLoad,
  type PlanOptions,
  planMemory,
} from './theory/plan.js';
