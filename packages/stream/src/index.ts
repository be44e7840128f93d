/**
 * Stream processing: windowed statistics of flows and switches, and immediate events, as a function of reports and time.
 *
 * @packageDocumentation
 */
export { StreamError, type StreamErrorCode } from './errors.js';
export { FlowSide, type FlowSideTotals } from './flow/side.js';
export {
  type BlackHoleEvent,
  IMMEDIATE_KINDS,
  type ImmediateEvent,
  type ImmediateKind,
  type LinkFailureEvent,
  type LoopEvent,
  type PathChangeEvent,
  type PersistentCongestionEvent,
  type ReportLossEvent,
} from './model/event.js';
export type { FlowSideOutput, NetworkSideOutput, StreamOutput } from './model/output.js';
export type {
  NetworkPartial,
  PartialLink,
  PartialQueue,
  PartialRefusals,
  PartialReporter,
  PartialSwitch,
  SliceContents,
} from './model/partial.js';
export type { StateChange } from './model/state.js';
export type {
  FlowHop,
  FlowWindow,
  LinkWindow,
  NetworkWindow,
  QueueWindow,
  Summary,
  SwitchWindow,
  WindowCorrection,
} from './model/window.js';
export { NetworkSide, type NetworkSideTotals } from './network/side.js';
export type { FlowSideOptions, NetworkSideOptions, StreamProcessorOptions, TimeOptions } from './options.js';
export { decodePartial, encodePartial } from './partial/bytes.js';
export { StreamProcessor } from './processor.js';
