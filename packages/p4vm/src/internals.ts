/**
 * Exports for the other packages of this repository. Any release may change them.
 *
 * @packageDocumentation
 */
export { LIMIT_NAMES, limitLabel } from './budget/limits.js';
export { parseInteger, parseIpv4, parseIpv6, parseMac } from './control/address-text.js';
export type { ActionProfile } from './externs/action-profile.js';
export type { ExternRuntime } from './externs/extern.js';
export { MISS_METER } from './externs/meter.js';
export { WARNING_KINDS } from './flow/findings.js';
export type { AnnotationValue, DeclaredAnnotation, DeclaredField } from './ir/control-surface.js';
export type { ActionCall, ExternInstance, IrParameter, MatchKind, TableKey, ValueSet } from './ir/program.js';
export { forEachExpression, walkStatement } from './ir/walk.js';
export { lineColumn } from './source/position.js';
export { formatStfResult } from './stf/run-stf.js';
export { PortQueues, type QueueCounters } from './switch/port-queues.js';
export { dataParameters, widthOf } from './tables/data-width.js';
export type { MatchTable } from './tables/match-table.js';
export { traceToJson } from './trace/trace-json.js';
export { formatTrace, hexOf } from './trace/trace-text.js';
export type { BitsType, StructType, Type } from './types/type.js';
