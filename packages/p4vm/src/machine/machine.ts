/** The functions that generated code calls by name. */
export * from './arithmetic.js';
export { formatLog } from './log-format.js';
export * from './packing.js';
export * from './varbit.js';
export * from './wide.js';
