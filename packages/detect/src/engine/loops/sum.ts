/** The sum of a metric over a report's hops. */
import type { Reading } from '../running-rule.js';

/**
 * Bits of a metric that, where no hop has one set, promise that no hop lacks the metric and that the sum of
 * 31 hops has 32 bits: their values are below 2^27. 0: no such promise, the metric is not a word from bit 0 on.
 */
export function doubtOf({ column, pair, shift, mask }: Reading): number {
  return pair === column && shift === 0 ? mask & (0xf8000000 | ~(mask >>> 1)) : 0;
}

/**
 * The sum of a metric over the hops that carry it, saturating at 2^32 - 1.
 *
 * @param values index of the metric of the first hop
 * @param pairs index of the other word of the item, or the same
 * @param doubt see {@link doubtOf}
 * @returns the sum, or -1 if no hop carries the metric
 */
export function sumOf(
  hops: Int32Array,
  values: number,
  pairs: number,
  count: number,
  reading: Reading,
  mask: number,
  doubt: number,
): number {
  if (count === 0) return -1;
  if (doubt === 0 || count > 31) return exactSumOf(hops, values, pairs, reading, count);
  let sum = 0;
  let bits = 0;
  const end = (values + count) | 0;
  let at = values | 0;
  // Several at a time: see the note in context.ts.
  for (; at + 3 < end; at = (at + 4) | 0) {
    const x0 = hops[at]! & mask;
    const x1 = hops[(at + 1) | 0]! & mask;
    const x2 = hops[(at + 2) | 0]! & mask;
    const x3 = hops[(at + 3) | 0]! & mask;
    sum = (sum + x0 + x1 + x2 + x3) | 0;
    bits |= x0 | x1 | x2 | x3;
  }
  for (; at < end; at = (at + 1) | 0) {
    const x = hops[at]! & mask;
    sum = (sum + x) | 0;
    bits |= x;
  }
  return (bits & doubt) === 0 ? sum >>> 0 : exactSumOf(hops, values, pairs, reading, count);
}

/** The same for any values of any metric. */
function exactSumOf(hops: Int32Array, values: number, pairs: number, reading: Reading, count: number): number {
  const { shift, mask } = reading;
  let sum = 0;
  let carried = 0;
  for (let hop = 0; hop < count; hop++) {
    const word = hops[values + hop]!;
    if (word === -1 && hops[pairs + hop] === -1) continue;
    sum += ((word >>> shift) & mask) >>> 0;
    carried++;
  }
  return carried === 0 ? -1 : Math.min(sum, 0xffffffff);
}
