/**
 * Number of buckets for 32-bit values, four for each power of two. Values 0 to 7 have a bucket each. Above, the width
 * of a bucket is an eighth to a quarter of its values.
 */
export const BUCKETS = 124;

/** The bucket of an unsigned 32-bit value. */
export function bucketOf(value: number): number {
  if (value < 4) return value;
  const exponent = 31 - Math.clz32(value);
  return (exponent - 1) * 4 + ((value >>> (exponent - 2)) & 3);
}

/** The middle of a bucket. */
export function bucketMiddle(bucket: number): number {
  if (bucket < 8) return bucket;
  const width = 2 ** ((bucket >>> 2) - 1);
  return Math.floor((4 + (bucket & 3)) * width + width / 2);
}

/**
 * The value at or below which a share of all values lies: the middle of its bucket, limited to the range from minimum
 * to maximum.
 * @param buckets counts by bucket
 * @param count sum of the counts, not 0
 */
export function quantile(buckets: ArrayLike<number>, count: number, share: number, min: number, max: number): number {
  const rank = Math.max(1, Math.ceil(share * count));
  let below = 0;
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    below += buckets[bucket]!;
    if (below >= rank) return Math.min(max, Math.max(min, bucketMiddle(bucket)));
  }
  return max;
}
