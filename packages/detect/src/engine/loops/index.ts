import { complex } from './complex.js';
import type { Loop } from './context.js';
import { average, changeEndToEnd, floatAverage, noop, perFlow, thresholdEndToEnd } from './flow.js';
import { changeHop, perHop, thresholdHop } from './hop.js';
import { pathChange } from './path.js';

/** The loop of each LOOP number. */
export const LOOPS: readonly Loop[] = [
  noop,
  perHop,
  perFlow,
  average,
  floatAverage,
  thresholdHop,
  thresholdEndToEnd,
  changeHop,
  changeEndToEnd,
  pathChange,
  complex,
];
