/** A controller for networks of P4 switches. @packageDocumentation */
export type { Change, ChangePlan } from './change/change.js';
export type { DesiredEntity, DesiredState } from './change/desired-state.js';
export { ControlLoop } from './controller/control-loop.js';
export type { LoopAction, LoopInput, LoopNote, Order } from './controller/loop-io.js';
export type { Measurement } from './controller/measurement.js';
export { type Autonomy, CAUTIOUS, type ControlPolicy, type Rehearsing } from './controller/policy.js';
export type { Effect, Proposal, ProposalState, RehearsalResult, Transition } from './controller/proposal.js';
export type { FlowMatch, PortRange } from './intents/flow-match.js';
export type { Intent, IntentKind } from './intents/intent.js';
export type { ModelSwitch, NetworkModel } from './model/network-model.js';
export type { SwitchConnection } from './reconcile/switch-connection.js';
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
