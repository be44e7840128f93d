/** How a flow gets a bucket. */

import {
  address,
  BUCKET_STRIDE,
  BUCKETS,
  cell,
  context,
  ENTRIES,
  field,
  HOP_STRIDE,
  HOPS,
  HOPS_AT,
  IS_EXACT,
  METRICS,
  NONE,
  PLACE_BUCKET,
  PLACE_FIRST,
  PLACE_FLOW,
  PLACE_TAG,
  PLACE_TAGS,
} from './context';
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
  META_REASON_SHIFT,
  RETIRED,
} from './layout';
import { destinationOf, keyDifference, portsAndMeta, sourceOf, timeOf } from './report';
import { oldest, tagBits } from './row';

/** Records in the outbox. */
export let entryCount: u32 = 0;
export let inserted: u64 = 0;
export let live: u64 = 0;

export function setEntryCount(count: u32): void {
  entryCount = count;
  inserted = live = 0;
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
function reset(isExact: bool, bucket: usize, row: u32): void {
  const here = context;
  const source = sourceOf(here, row);
  const destination = destinationOf(here, row);
  const stride = address(BUCKET_STRIDE);
  for (let at: usize = 0; at < stride; at += 8) store<u64>(bucket + at, 0);
  if (isExact) {
    v128.store(bucket, source);
    v128.store(bucket, destination, EXACT_DESTINATION);
    store<u64>(bucket, portsAndMeta(here, row), EXACT_PORTS);
    store<u64>(bucket, timeOf(here, row), EXACT_FIRST);
    store<u32>(bucket, NONE, EXACT_END_TO_END);
  } else {
    v128.store_lane<u32>(bucket, source, 0);
    v128.store_lane<u32>(bucket, destination, 0, 4);
    store<u64>(bucket, portsAndMeta(here, row), COMPACT_PORTS);
    store<u64>(bucket, timeOf(here, row), COMPACT_FIRST);
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

/** The bucket that is to hold the flow of a place, where it is not already found. */
function bucketFor(isExact: bool, place: usize): u32 {
  const here = context;
  const row = load<u32>(place);
  const tags = <usize>load<u32>(place, PLACE_TAGS);
  const first = <usize>load<u32>(place, PLACE_FIRST);
  const tag = load<u32>(place, PLACE_TAG);
  const buckets = field(BUCKETS);
  const stride = address(BUCKET_STRIDE);
  let bucket: u32 = NONE;
  for (let bits = tagBits(here, tags, tag, buckets); bits != 0; bits &= bits - 1) {
    const flow = first + <usize>ctz<u64>(bits) * stride;
    if (v128.any_true(keyDifference(isExact, here, row, flow))) continue;
    bucket = <u32>ctz<u64>(bits);
    // Another report of this flow came between.
    if (load<u32>(flow + (isExact ? EXACT_PACKETS : COMPACT_PACKETS)) != 0xffffffff) return bucket;
    handOn(isExact, flow, RETIRED);
    break;
  }
  if (bucket == NONE) {
    const empty = tagBits(here, tags, 0, buckets);
    if (empty != 0) {
      bucket = <u32>ctz<u64>(empty);
      live++;
    } else {
      bucket = oldest(here, tags, buckets);
      handOn(isExact, first + <usize>bucket * stride, EVICTED);
    }
  }
  inserted++;
  store<u32>(cell(tags, bucket), tag);
  reset(isExact, first + <usize>bucket * stride, row);
  return bucket;
}

/** Sees to it that a place's bucket holds its flow and can count one packet more. In a new one there are none yet. */
export function settle(place: usize): void {
  const bucket = field(IS_EXACT) != 0 ? bucketFor(true, place) : bucketFor(false, place);
  store<u32>(place, bucket, PLACE_BUCKET);
  store<u32>(place, load<u32>(place, PLACE_FIRST) + bucket * field(BUCKET_STRIDE), PLACE_FLOW);
}
