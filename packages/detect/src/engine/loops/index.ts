import { complex } from './complex.js';
import type { Loop } from './context.js';
import { average, changeEndToEnd, floatAverage, noop, perFlow, thresholdEndToEnd } from './flow.js';
import { changeHop, perHop, thresholdHop } from './hop.js';
import { pathChange } from './path.js';
import { watch } from './watch.js';

/**
 * A loop gets so many reports at a time. V8 optimises a function that is called seldom and runs long from the middle of
 * a turn (on-stack replacement), with its numbers boxed, and may keep that form: the same loop then takes a quarter
 * longer, by chance. It optimises one that is called often as a whole.
 */
const BLOCK = 256;

function inBlocks(loop: Loop): Loop {
  return (context, rule, from, to) => {
    for (let row = from; row < to; row += BLOCK) loop(context, rule, row, Math.min(row + BLOCK, to));
  };
}

/** The loops, in the order of LOOP_NAMES. */
export const LOOPS: readonly Loop[] = /* @__PURE__ */ [
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
  watch,
].map(inBlocks);
