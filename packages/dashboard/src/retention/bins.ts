/**
 * Bins of 32-bit values for quantiles: values below 32 have a bin each; above, each power of two is cut into 16. The middle of
 * a bin is off by at most 3.2 % of its values. They are coarser than those of the collector's statistics, because there is a
 * histogram for each switch, queue and link.
 */
const SUB_BITS = 4;
const SUB_BINS = 1 << SUB_BITS;
const LINEAR = SUB_BINS * 2;

export const BINS: number = LINEAR + (32 - SUB_BITS - 1) * SUB_BINS;

/** The bin of an unsigned 32-bit value. */
export function binOf(value: number): number {
  if (value >>> 0 < LINEAR) return value;
  const shift = 31 - SUB_BITS - Math.clz32(value);
  return (shift << SUB_BITS) + (value >>> shift);
}

/** The middle of a bin. */
export function binValue(bin: number): number {
  if (bin < LINEAR) return bin;
  const shift = (bin >>> SUB_BITS) - 1;
  const mantissa = (bin & (SUB_BINS - 1)) + SUB_BINS;
  return (mantissa * 2 + 1) * 2 ** (shift - 1);
}

/** How many of `count` values are at most the quantile: the nearest rank. */
export function rankOf(quantile: number, count: number): number {
  return Math.max(1, Math.ceil(quantile * count));
}
