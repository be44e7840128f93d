/**
 * P4_16 programs for v1model switches, run in JavaScript as the reference switch runs them.
 *
 * @packageDocumentation
 */

export { DEFAULT_LIMITS, type LimitName, type Limits } from './budget/limits.js';
export type { CommandResult } from './control/command-context.js';
export type { CommandErrorCode } from './control/command-errors.js';
export type { ReplicaInput } from './control/control-plane.js';
export {
  type ActionDescription,
  type ArrayDescription,
  describeProgram,
  type ProgramDescription,
  type TableDescription,
  type TypeDescription,
} from './control/describe-program.js';
export type { EntryInput, EntryView, ParameterInput, TargetInput } from './control/table-control.js';
export type { MatchInput, ValueInput } from './control/value-input.js';
export type { ProfileGroup, ProfileMember, ProfileTarget } from './externs/action-profile.js';
export type { CustomCrc } from './externs/calculations.js';
export type { CounterValue } from './externs/counter.js';
export type { Digest, DigestField } from './externs/digest.js';
export type { HashAlgorithm } from './externs/hash.js';
export type { MeterRate } from './externs/meter.js';
export { bmv2Limits } from './flow/bmv2-limits.js';
export { findWarnings, type WarningOptions } from './flow/find-warnings.js';
export type { WarningKind } from './flow/findings.js';
export type { Action, DataType, IrProgram, StructDataType, Table } from './ir/program.js';
export { type BuildOptions, type BuildResult, buildProgram } from './lower/front-end.js';
export { formatUndefinedRead, type PlaceOfRead, type UndefinedRead } from './poison/undefined-reads.js';
export {
  type Diagnostic,
  type DiagnosticLayer,
  formatDiagnostic,
  P4Error,
  type Severity,
} from './source/diagnostics.js';
export type { LineColumn, SourceFile, Span } from './source/position.js';
export { runStf, type StfMessage, type StfResult } from './stf/run-stf.js';
export { type StfStatement, StfSyntaxError } from './stf/statement.js';
export { type CreateSwitchOptions, createSwitch } from './switch/create-switch.js';
export {
  type SwitchClock,
  type SwitchEnvironment,
  type TrafficManager,
  type TransmitConsumer,
  VirtualClock,
} from './switch/environment.js';
export type { InFlightPacket } from './switch/in-flight.js';
export type { MirrorSession, Replica, Replication } from './switch/replication.js';
export type { DropCounters, DropReason, SwitchStatistics } from './switch/statistics.js';
export { V1Switch } from './switch/v1-switch.js';
export type { IncludeRefusal, IncludeRequest, IncludeResolver } from './syntax/preprocessor.js';
export { ControlError, type ControlErrorCode } from './tables/control-error.js';
export type { EntryTarget, TableEntry } from './tables/match-table.js';
export type { PacketTrace, TracedOutput } from './trace/packet-trace.js';
export type { TraceConsumer, TraceEvent } from './trace/trace.js';
export type { JsonValue } from './trace/trace-json.js';
