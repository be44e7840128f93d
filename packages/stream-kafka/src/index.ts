/**
 * The stream processor as a member of a Kafka consumer group, with results that count each report exactly once.
 *
 * @packageDocumentation
 */
export type {
  FlowWindow,
  ImmediateEvent,
  LinkWindow,
  NetworkWindow,
  SwitchWindow,
  WindowCorrection,
} from '@int/stream';
export { type ProcessCode, ProcessError } from './errors.js';
export { type Topics, topicsOf } from './findings.js';
export type { ReportFormat } from './flow-unit.js';
export type { TopicPartition } from './kafka/assignment.js';
export type { KafkaAccess } from './kafka/connections.js';
export { flowKey } from './message-key.js';
export { Processor, type ProcessorOptions, type ProcessorTotals } from './processor.js';
