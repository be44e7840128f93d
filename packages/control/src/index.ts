/** A controller for networks of P4 switches. @packageDocumentation */
export {
  type EventThreshold,
  EventThresholds,
  type EventThresholdsOptions,
  type ThresholdMemory,
} from './adaptation/event-thresholds.js';
export {
  type AdaptedRule,
  type AdaptedThreshold,
  SwitchAdaptation,
  type SwitchAdaptationOptions,
  type ThresholdMove,
} from './adaptation/switch-adaptation.js';
export type { Change, ChangePlan } from './change/change.js';
export type { DesiredEntity, DesiredState } from './change/desired-state.js';
export { type Compiled, compile } from './compile/compile.js';
export type { Unplaced } from './compile/draft.js';
export type { CompileOptions } from './compile/options.js';
export { ControlLoop } from './controller/control-loop.js';
export { Controller } from './controller/controller.js';
export type { ControllerMemory, MemoryKeeper } from './controller/controller-memory.js';
export type { ControllerOptions, Preview } from './controller/controller-options.js';
export type { EntryOrder, LoopAction, LoopInput, LoopNote, Order } from './controller/loop-io.js';
export type { LoopMemory } from './controller/loop-memory.js';
export type { Measurement } from './controller/measurement.js';
export { type Autonomy, CAUTIOUS, type ControlPolicy, type Rehearsing } from './controller/policy.js';
export type {
  Effect,
  LinkEffect,
  LinkEffects,
  Proposal,
  ProposalState,
  RehearsalResult,
  Transition,
} from './controller/proposal.js';
export { TrafficMeter, type TrafficMeterOptions } from './controller/traffic-meter.js';
export type { UndoneEntry } from './controller/undone-entries.js';
export { ControllerMemoryError, IntentError, type IntentErrorCode, type IntentProblem } from './errors.js';
export type { Conflict } from './intents/conflicts.js';
export type { FlowMatch, PortRange } from './intents/flow-match.js';
export type { BlockIntent, DetectIntent, Intent, IntentKind, LimitIntent } from './intents/intent.js';
export { readIntents } from './intents/read-intents.js';
export type { WatchField } from './intents/watch-fields.js';
export { Journal, type JournalOptions } from './journal/journal.js';
export type { JournalEntry } from './journal/journal-entry.js';
export type { JournalFileOptions, JournalFileStatistics } from './journal/journal-file.js';
export { ControllerMemoryFile } from './journal/memory-file.js';
export type { Undo, UndoRefusal } from './journal/undo.js';
export type { ModelSwitch, NetworkModel } from './model/network-model.js';
export { type Overhead, overheadOf, type WatchedFlow } from './overhead/overhead.js';
export type { TelemetryHeader } from './overhead/telemetry-bytes.js';
export {
  type FieldSet,
  planWatching,
  type WatchCandidate,
  type WatchChoice,
  type WatchPlan,
  type WatchQuestion,
} from './overhead/watch-plan.js';
export type { Clock } from './reconcile/clock.js';
export type { Obstacle } from './reconcile/differences.js';
export type { Ownership } from './reconcile/ownership.js';
export { P4RuntimeConnection, type P4RuntimeConnectionOptions } from './reconcile/p4runtime-connection.js';
export { type PlannedChanges, type PlanOptions, planChanges } from './reconcile/plan-changes.js';
export { Reconciler } from './reconcile/reconciler.js';
export type {
  Cause,
  ReconcilerOptions,
  ReconcilerState,
  SwitchStatus,
  WrittenChanges,
} from './reconcile/reconciler-state.js';
export type { Refusal } from './reconcile/refusals.js';
export type { LeadsTo } from './reconcile/removal-order.js';
export type { SwitchConnection, SwitchContents } from './reconcile/switch-connection.js';
export type {
  DroppedFlow,
  Invariants,
  LinkLoad,
  Minute,
  ObservedFlow,
  Rehearsal,
  Rehearse,
  RehearsedStep,
  Violation,
} from './twin/rehearsal.js';
export { Twin } from './twin/twin.js';
