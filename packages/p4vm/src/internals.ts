/**
 * What other packages of this repository need of this one. Without a promise: any release may change it.
 *
 * @packageDocumentation
 */
export { LIMIT_NAMES, limitLabel } from './budget/limits.js';
export { WARNING_KINDS } from './flow/findings.js';
export { lineColumn } from './source/position.js';
export { formatStfResult } from './stf/run-stf.js';
export { traceToJson } from './trace/trace-json.js';
export { formatTrace, hexOf } from './trace/trace-text.js';
