/**
 * P4Runtime for Node: messages, P4Info of P4 programs, the protobuf text format, a server for switches and a client for
 * controllers.
 */

export type { ClientTls } from './client/channel.js';
export { P4RuntimeClient } from './client/client.js';
export type { DigestList, IdleTimeouts, PacketIn } from './client/client-events.js';
export type {
  Atomicity,
  ElectionId,
  P4RuntimeClientOptions,
  Pipeline,
  SessionState,
  Update,
} from './client/client-options.js';
export type { EventStream } from './client/event-stream.js';
export type { AnyProgram, EntityOf, ProgramTypes, TableTypes } from './client/program-types.js';
export type { Data } from './entities/data.js';
export type {
  ActionCall,
  CloneSession,
  CounterEntry,
  CounterValue,
  DigestEntry,
  DirectCounterEntry,
  DirectMeterEntry,
  Entity,
  EntryAction,
  EntryOptions,
  MeterEntry,
  MeterRates,
  MulticastGroup,
  ProfileGroup,
  ProfileMember,
  ReadTableEntry,
  RegisterEntry,
  Replica,
  TableEntry,
  ValueSetEntry,
  WeightedAction,
} from './entities/entity.js';
export { type Match, type MatchInput, match } from './entities/match.js';
export * as p4config from './messages/p4config.js';
export * as p4v1 from './messages/p4v1.js';
export { p4infoOf } from './p4info/p4info.js';
export { P4InfoError, type P4InfoErrorCode } from './p4info/p4info-error.js';
export type { MachineHost } from './p4vm/machine-host.js';
export { P4vmTarget, type P4vmTargetOptions } from './p4vm/p4vm-target.js';
export type { RealTimeHostOptions } from './p4vm/real-time-host.js';
export type { RoleOptions } from './server/arbitration.js';
export type { DataSpec } from './server/data-spec.js';
export type { DeviceOptions, DeviceStatistics, PipelineOptions } from './server/device.js';
export type { P4RuntimeLimits } from './server/limits.js';
export type {
  ActionSchema,
  ActionUse,
  ArraySchema,
  DigestSchema,
  FieldSchema,
  MeterSchema,
  ParameterSchema,
  PipelineSchema,
  ProfileSchema,
  RegisterSchema,
  TableSchema,
  ValueSetSchema,
} from './server/schema.js';
export {
  type ListenOptions,
  P4RuntimeServer,
  type P4RuntimeServerOptions,
  type RefusedClients,
  type TlsOptions,
} from './server/server.js';
export {
  type P4RuntimeTarget,
  type TargetAction,
  type TargetCall,
  type TargetCloneSession,
  type TargetCount,
  type TargetCounter,
  type TargetEntry,
  TargetError,
  type TargetErrorCode,
  type TargetEvents,
  type TargetMatch,
  type TargetMeter,
  type TargetMeterConfig,
  type TargetPipeline,
  type TargetProfile,
  type TargetRegister,
  type TargetReplica,
  type TargetShare,
  type TargetTable,
  type TargetValueSet,
} from './server/target.js';
export { formatText } from './text/format-text.js';
export { parseText } from './text/parse-text.js';
export { TextFormatError, type TextFormatErrorCode } from './text/text-format-error.js';
export { P4RuntimeError, type P4RuntimeErrorCode, type UpdateError } from './values/p4runtime-error.js';
export type { Value } from './values/parse-value.js';
