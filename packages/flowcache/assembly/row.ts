/** A row of the cache: which bucket a tag is in, and the order in which the buckets were updated. */

import { BYTES, RANK_ONES, WIDE } from './context';

const WIDE_RANKS: u32 = 1;
const WIDE_ROW: u32 = 2;

/** Bit b: bucket b has the tag. */
@inline
export function tagBits(context: usize, row: usize, tag: u32, buckets: u32): u64 {
  const wanted = i32x4.splat(tag);
  // What lies behind the tags is no tag.
  const all = <u64>-1 >> (64 - buckets);
  if ((load<u32>(context, WIDE) & WIDE_ROW) != 0) {
    const low = i16x8.narrow_i32x4_s(i32x4.eq(v128.load(row), wanted), i32x4.eq(v128.load(row, 16), wanted));
    const high = i16x8.narrow_i32x4_s(i32x4.eq(v128.load(row, 32), wanted), i32x4.eq(v128.load(row, 48), wanted));
    return <u64>i8x16.bitmask(i8x16.narrow_i16x8_s(low, high)) & all;
  }
  let bits: u64 = 0;
  if (buckets < 4) {
    for (let b: u32 = 0; b < buckets; b++) bits |= <u64>u32(load<u32>(row + (<usize>b << 2)) == tag) << b;
    return bits;
  }
  for (let b: u32 = 0; b < buckets; b += 4) {
    bits |= <u64>i32x4.bitmask(i32x4.eq(v128.load(row + (<usize>b << 2)), wanted)) << b;
  }
  return bits & all;
}

/** The bucket of the highest rank in a row without empty buckets. */
@inline
export function oldest(context: usize, row: usize, buckets: u32): u32 {
  const ranks = row + (<usize>buckets << 2);
  if ((load<u32>(context, WIDE) & WIDE_RANKS) != 0) {
    const bits = i8x16.bitmask(i8x16.eq(v128.load(ranks), i8x16.splat(<i8>(buckets - 1))));
    // The last bucket if no rank fits, which happens only in a damaged row.
    return min<u32>(ctz<u32>(bits), buckets - 1);
  }
  let bucket: u32 = 0;
  while (bucket < buckets - 1 && <u32>load<u8>(ranks + bucket) != buckets - 1) bucket++;
  return bucket;
}

/** Makes a bucket the one updated last: those before it move back by one. Ranks are below 128. */
@inline
export function toFront(context: usize, row: usize, buckets: u32, bucket: u32): void {
  const ranks = row + (<usize>buckets << 2);
  if ((load<u32>(context, WIDE) & WIDE_RANKS) != 0) {
    const old = v128.load(ranks);
    const before = v128.and(i8x16.lt_s(old, v128.load_splat<u8>(ranks + bucket)), v128.load(context, RANK_ONES));
    const here = i8x16.eq(v128.load(context, BYTES), i8x16.splat(<i8>bucket));
    v128.store(ranks, v128.andnot(i8x16.sub(old, before), here));
  } else {
    toFrontByWords(ranks, buckets, bucket);
  }
}

function toFrontByWords(ranks: usize, buckets: u32, bucket: u32): void {
  const rank = <u32>load<u8>(ranks + bucket) * 0x01010101;
  for (let at = ranks; at < ranks + buckets; at += 4) {
    const four = load<u32>(at);
    // The upper bit of each byte: set unless the byte is below the rank.
    const reached = (four | 0x80808080) - rank;
    store<u32>(at, four + ((~reached & 0x80808080) >> 7));
  }
  store<u8>(ranks + bucket, 0);
}
