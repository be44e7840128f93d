/**
 * Exports for the other packages of this repository. Any release may change them.
 *
 * @packageDocumentation
 */
export { LIMIT_NAMES, limitLabel } from './budget/limits.js';
export { WARNING_KINDS } from './flow/findings.js';
export { lineColumn } from './source/position.js';
export { formatStfResult } from './stf/run-stf.js';
export { PortQueues, type QueueCounters } from './switch/port-queues.js';
export { traceToJson } from './trace/trace-json.js';
export { formatTrace, hexOf } from './trace/trace-text.js';
