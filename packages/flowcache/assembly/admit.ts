/** Buckets: whose they are, and how another flow gets one. */

import { address, BUCKET_STRIDE, BUCKETS, context, ENTRIES, field, HOP_STRIDE, HOPS, HOPS_AT, METRICS, NONE } from './context';
import {
  COMPACT_FIRST,
  COMPACT_META,
  COMPACT_PACKETS,
  COMPACT_PORTS,
  EVICTED,
  EXACT_DESTINATION,
  EXACT_END_TO_END,
  EXACT_FIRST,
  EXACT_META,
  EXACT_PACKETS,
  EXACT_PORTS,
  META_KEY,
  META_REASON_SHIFT,
  RETIRED,
} from './layout';
import { oldest, tagBits } from './row';

/** Records in the outbox. */
export let entryCount: u32 = 0;
export let inserted: u64 = 0;
export let live: u64 = 0;
/** Whether the flow that was last let in had been there before. */
export let wasKnown: bool = false;

export function setEntryCount(count: u32): void {
  entryCount = count;
  inserted = live = 0;
}

// A key is two vectors, of which the compact layout uses the first words only, and ports | META << 32.

@inline
export function holds(isExact: bool, bucket: usize, source: v128, destination: v128, rest: u64): bool {
  const mask: u64 = (<u64>META_KEY << 32) | 0xffffffff;
  if (isExact) {
    const other = v128.or(
      v128.xor(v128.load(bucket), source),
      v128.xor(v128.load(bucket, EXACT_DESTINATION), destination),
    );
    return !v128.any_true(other) && (load<u64>(bucket, EXACT_PORTS) & mask) == rest;
  }
  return (
    load<u32>(bucket) == <u32>i32x4.extract_lane(source, 0) &&
    load<u32>(bucket, 4) == <u32>i32x4.extract_lane(destination, 0) &&
    (load<u64>(bucket, COMPACT_PORTS) & mask) == rest
  );
}

function handOn(isExact: bool, bucket: usize, reason: u32): void {
  const stride = address(BUCKET_STRIDE);
  const to = address(ENTRIES) + <usize>entryCount * stride;
  for (let at: usize = 0; at < stride; at += 8) store<u64>(to + at, load<u64>(bucket + at));
  const meta = to + (isExact ? EXACT_META : COMPACT_META);
  store<u32>(meta, load<u32>(meta) | (reason << META_REASON_SHIFT));
  entryCount++;
}

/** Makes a bucket that of a new flow, of which nothing is known but the time of its first report. */
function reset(isExact: bool, bucket: usize, source: v128, destination: v128, rest: u64, time: u64): void {
  const stride = address(BUCKET_STRIDE);
  for (let at: usize = 0; at < stride; at += 8) store<u64>(bucket + at, 0);
  if (isExact) {
    v128.store(bucket, source);
    v128.store(bucket, destination, EXACT_DESTINATION);
    store<u64>(bucket, rest, EXACT_PORTS);
    store<u64>(bucket, time, EXACT_FIRST);
    store<u32>(bucket, NONE, EXACT_END_TO_END);
  } else {
    store<u32>(bucket, i32x4.extract_lane(source, 0));
    store<u32>(bucket, i32x4.extract_lane(destination, 0), 4);
    store<u64>(bucket, rest, COMPACT_PORTS);
    store<u64>(bucket, time, COMPACT_FIRST);
  }
  const hopStride = address(HOP_STRIDE);
  const lasts: usize = isExact ? 4 : 8;
  const lastBytes = <usize>field(METRICS) << 2;
  let hop = bucket + address(HOPS_AT);
  const end = hop + <usize>field(HOPS) * hopStride;
  for (; hop < end; hop += hopStride) {
    store<u32>(hop, NONE);
    for (let last: usize = 0; last < lastBytes; last += 4) store<u32>(hop + lasts + last, NONE);
  }
}

/**
 * Lets a flow in: finds its bucket, or gives it one; and a new one if its packet count is full.
 *
 * @param first the first bucket of the row
 * @returns the bucket's number
 */
export function admit(
  isExact: bool,
  row: usize,
  first: usize,
  tag: u32,
  source: v128,
  destination: v128,
  rest: u64,
  time: u64,
): u32 {
  const here = context;
  const buckets = field(BUCKETS);
  const stride = address(BUCKET_STRIDE);
  let bucket: u32 = NONE;
  for (let bits = tagBits(here, row, tag, buckets); bits != 0; bits &= bits - 1) {
    const flow = first + <usize>ctz<u64>(bits) * stride;
    if (!holds(isExact, flow, source, destination, rest)) continue;
    bucket = <u32>ctz<u64>(bits);
    wasKnown = load<u32>(flow + (isExact ? EXACT_PACKETS : COMPACT_PACKETS)) != 0xffffffff;
    if (wasKnown) return bucket;
    handOn(isExact, flow, RETIRED);
    break;
  }
  wasKnown = false;
  if (bucket == NONE) {
    const empty = tagBits(here, row, 0, buckets);
    if (empty != 0) {
      bucket = <u32>ctz<u64>(empty);
      live++;
    } else {
      bucket = oldest(here, row, buckets);
      handOn(isExact, first + <usize>bucket * stride, EVICTED);
    }
  }
  inserted++;
  store<u32>(row + (<usize>bucket << 2), tag);
  reset(isExact, first + <usize>bucket * stride, source, destination, rest, time);
  return bucket;
}
