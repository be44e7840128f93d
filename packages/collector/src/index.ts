export type { PipelineCapacity } from './capacity.js';
export { type CollectorTotals, type DropStatus, FrameCounters } from './counters.js';
export { DartStage, type DartStageOptions, type DartTotals, type RowWriter } from './dart/stage.js';
export { detectionMemory } from './detection/memory.js';
export {
  DetectionStage,
  type DetectionStageOptions,
  type DetectionTotals,
  type EventListener,
  type RuleFigures,
  reportIndex,
} from './detection/stage.js';
export type { SweepOptions } from './flows/ageing.js';
export { FlowStage, type FlowStageOptions } from './flows/stage.js';
export { type FrameBatch, FrameSlab, fillFrameTimes, frameTimeMs, type Push, type SlabCapacity } from './frames.js';
export { linkLayerOf, linkTypeOf } from './link-layer.js';
export { type SequenceCounts, SequenceTracker, type SequenceTrackerOptions } from './loss/sequence-tracker.js';
export { type LossTotals, type ReporterLoss, ReportLossStage } from './loss/stage.js';
export { Collector, type CollectorOptions, type CollectorProblem } from './pipeline.js';
export { DEFAULT_REPORT_PORT, formatUdpAddress, parseUdpAddress, type UdpAddress } from './source/address.js';
export { CaptureSource, type CaptureSourceOptions } from './source/capture.js';
export { type Source, SourceError, type SourceErrorCode } from './source/source.js';
export { type ReceiveBuffer, UdpSource, type UdpSourceOptions } from './source/udp.js';
export { WallClock } from './source/wall-clock.js';
export type { Sink, Stage } from './stage.js';
export type { CongestedPath } from './statistics/congestion-log.js';
export {
  LiveStatistics,
  type LiveStatisticsOptions,
  type StatisticsSnapshot,
  type SwitchStatistics,
} from './statistics/live.js';
export {
  type Buckets,
  type InterfaceGauge,
  type QueueGauge,
  type SwitchCounters,
  SwitchTotals,
  type SwitchTotalsOptions,
  type SwitchTotalsSnapshot,
} from './statistics/switch-totals.js';
