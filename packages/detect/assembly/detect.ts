/**
 * The detectors' loops as a WebAssembly accelerator. Written in AssemblyScript; compiled by build.mjs.
 *
 * The rules are those of ../src/engine/loops, event by event and cell by cell; a property test holds the two together.
 * Only items of one word are read here: the few metrics that are half of an 8-byte item stay with TypeScript, as do
 * complex rules, thresholds that differ by switch, and exact state of switches.
 *
 * All addresses are bytes in the one memory, all indices rows, words or floats as in TypeScript.
 */

export { attach } from './context';
export { average, changeEndToEnd, floatAverage, noop, perFlow, thresholdEndToEnd } from './flow';
export { hashRows, init, prepare } from './hash';
export { changeHop, perHop, thresholdHop } from './hop';
export { pathChange } from './path';
