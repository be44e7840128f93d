/** The sum of a metric over a report's hops. */
import type { Reading } from '../running-rule.js';

/** Bits that a value below 2^27 has not. */
const DOUBT = 0xf8000000 | 0;

/**
 * Bits of a metric. If no hop has one of them set, every hop carries the metric, and the sum of 31 hops has 32 bits. 0:
 * no such promise, because the item is one of two words.
 */
export function doubtOf({ column, pair }: Reading): number {
  return pair === column ? DOUBT : 0;
}

/**
 * The sum of a metric over the hops that carry it, saturating at 2^32 - 1.
 *
 * @param values index of the metric of the first hop
 * @param pairs index of the other word of the item, or the same
 * @param doubt see {@link doubtOf}
 * @returns the sum, or -1 if no hop carries the metric
 */
export function sumOf(hops: Int32Array, values: number, pairs: number, count: number, doubt: number): number {
  if (count === 0) return -1;
  if (doubt === 0 || count > 31) return exactSumOf(hops, values, pairs, count);
  let sum = 0;
  let bits = 0;
  const end = (values + count) | 0;
  let at = values | 0;
  // Several at a time: see the note in context.ts.
  for (; at + 3 < end; at = (at + 4) | 0) {
    const x0 = hops[at]!;
    const x1 = hops[(at + 1) | 0]!;
    const x2 = hops[(at + 2) | 0]!;
    const x3 = hops[(at + 3) | 0]!;
    sum = (sum + x0 + x1 + x2 + x3) | 0;
    bits |= x0 | x1 | x2 | x3;
  }
  for (; at < end; at = (at + 1) | 0) {
    const x = hops[at]!;
    sum = (sum + x) | 0;
    bits |= x;
  }
  return (bits & doubt) === 0 ? sum >>> 0 : exactSumOf(hops, values, pairs, count);
}

/** The same, for any values. */
function exactSumOf(hops: Int32Array, values: number, pairs: number, count: number): number {
  let sum = 0;
  let carried = 0;
  for (let hop = 0; hop < count; hop++) {
    const word = hops[values + hop]!;
    if (word === -1 && hops[pairs + hop] === -1) continue;
    sum += word >>> 0;
    carried++;
  }
  return carried === 0 ? -1 : Math.min(sum, 0xffffffff);
}
