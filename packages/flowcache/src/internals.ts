/**
 * What other packages of this repository need of this one. Without a promise: any release may change it.
 *
 * @packageDocumentation
 */
export { acceleratorBytes } from './accelerator/accelerator-engine.js';
export { HEADER, HEADER_WORDS, hopWords, LAYOUT_VERSION, LAYOUTS, MAGIC, MAX_METRICS, METRIC_WORDS } from './layout.js';
