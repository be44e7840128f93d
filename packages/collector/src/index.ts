export type { PipelineCapacity } from './capacity.js';
export type { CollectorTotals, DropStatus, FrameTotals, Refusal } from './counters.js';
export { DartStage, type DartStageOptions, type DartTotals, type RowWriter } from './dart/stage.js';

export type { CodedProblem, Outage, OutageListener } from './delivery/outage.js';
export { QueuedSink, type QueuedSinkOptions } from './delivery/queued-sink.js';
export { detectionMemory } from './detection/memory.js';
export {
  DetectionStage,
  type DetectionStageOptions,
  type DetectionTotals,
  type EventListener,
  type RuleFigures,
} from './detection/stage.js';
export type { SweepOptions } from './flows/ageing.js';
export { FlowStage, type FlowStageOptions } from './flows/stage.js';
export { FrameSlab, isDecoded, type Push, type PushFrames, type SlabCapacity, type SourceFrames } from './frames.js';
export {
  DEGRADED,
  type DegradedPart,
  type DegradedState,
  type HealthReport,
  healthOf,
} from './health/degraded-state.js';
export { DegradedStates, type DegradedStatesOptions } from './health/degraded-states.js';

export { type SequenceCounts, SequenceTracker, type SequenceTrackerOptions } from './loss/sequence-tracker.js';
export { type LossColumns, type LossTotals, ReportLossStage } from './loss/stage.js';
export { Collector } from './pipeline.js';
export type { CollectorChange, CollectorOptions, CollectorProblem, SourceExchange } from './pipeline-options.js';

export { type EventFields, type EventRecord, eventRecord } from './records/event-record.js';

export {
  type FlowFields,
  type FlowHopJson,
  type FlowMetricJson,
  type FlowRecord,
  flowRecord,
} from './records/flow-record.js';
export { RecordIds } from './records/ids.js';

export {
  type ReportRecord,
  type ReportRecordHeader,
  type ReportRecordInt,
  reportRecord,
} from './records/report-record.js';

export { formatUdpAddress, type UdpAddress } from './source/address.js';
export { CaptureSource, type CaptureSourceOptions } from './source/capture.js';
export { type Source, SourceError, type SourceErrorCode } from './source/source.js';
export { type ReceiveBuffer, UdpSource, type UdpSourceOptions } from './source/udp.js';

export {
  type Onward,
  type Outlets,
  RECORD_KINDS,
  type RecordCounts,
  type RecordKind,
  type Sink,
  type SinkTotals,
  type Stage,
} from './stage.js';
export type { CongestedPath } from './statistics/congestion-log.js';
export type { GaugeColumns } from './statistics/gauges.js';
export {
  LiveStatistics,
  type LiveStatisticsOptions,
  type StatisticsSnapshot,
  type SwitchStatistics,
} from './statistics/live.js';
export {
  type RefusedGauges,
  type SwitchColumns,
  SwitchTotals,
  type SwitchTotalsOptions,
} from './statistics/switch-totals.js';
export type { BucketColumns } from './statistics/unit-histograms.js';
export { FlowWorkers, type FlowWorkersOptions } from './workers/flow-workers.js';
export { type FlowWorkerContext, type FlowWorkerParts, serveFlowWorker } from './workers/serve.js';
