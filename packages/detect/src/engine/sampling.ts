import type { RunningRule } from './running-rule.js';

/** 2^32, and the largest difference of upper words for which the sum is exact. */
const HIGH = 0x1_0000_0000;
const FAR = 0x1f_ffff;

/** Whether a rule that samples looks at this report of a flow. Remembers the report. */
export function admits(rule: RunningRule, words: Int32Array, flow: number, high: number, low: number): boolean {
  return rule.sampleEvery > 0
    ? admitsCount(rule, words, rule.sampleState + flow)
    : admitsTime(rule, words, rule.sampleState + 2 * flow, high, low);
}

/** One in n. The cell counts the reports since the last one looked at, that one included; 0: first sight. */
function admitsCount(rule: RunningRule, words: Int32Array, cell: number): boolean {
  const passed = words[cell]! >>> 0;
  const isDue = passed === 0 || passed >= rule.sampleEvery;
  words[cell] = isDue ? 1 : passed + 1;
  return isDue;
}

/** One per interval. The cell holds the time of the report looked at last; 0: first sight. */
function admitsTime(rule: RunningRule, words: Int32Array, cell: number, high: number, low: number): boolean {
  const lastHigh = words[cell]! >>> 0;
  const lastLow = words[cell + 1]! >>> 0;
  if (lastHigh !== 0 || lastLow !== 0) {
    const highs = high - lastHigh;
    const passed = Math.abs(highs) > FAR ? Number.POSITIVE_INFINITY : highs * HIGH + (low - lastLow);
    // A clock set back by more than an interval must not silence the flow.
    if (passed < rule.sampleNs && passed > -rule.sampleNs) return false;
  }
  words[cell] = high;
  words[cell + 1] = low;
  return true;
}
