/** How a flow gets a bucket. */

import { address, cell, context, field, NONE } from './context';
import * as block from './context';
import * as layout from './layout';
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
  const stride = address(block.BUCKET_STRIDE);
  const to = address(block.ENTRIES) + <usize>entryCount * stride;
  for (let at: usize = 0; at < stride; at += 8) store<u64>(to + at, load<u64>(bucket + at));
  const meta = to + (isExact ? layout.EXACT_META : layout.COMPACT_META);
  store<u32>(meta, load<u32>(meta) | (reason << layout.META_REASON_SHIFT));
  entryCount++;
}

/** Gives a bucket to a new flow, of which only the time of its first report is known. */
function reset(isExact: bool, bucket: usize, row: u32): void {
  const here = context;
  const source = sourceOf(here, row);
  const destination = destinationOf(here, row);
  const stride = address(block.BUCKET_STRIDE);
  for (let at: usize = 0; at < stride; at += 8) store<u64>(bucket + at, 0);
  if (isExact) {
    v128.store(bucket, source);
    v128.store(bucket, destination, layout.EXACT_DESTINATION);
    store<u64>(bucket, portsAndMeta(here, row), layout.EXACT_PORTS);
    store<u64>(bucket, timeOf(here, row), layout.EXACT_FIRST);
    store<u32>(bucket, NONE, layout.EXACT_END_TO_END);
  } else {
    v128.store_lane<u32>(bucket, source, 0);
    v128.store_lane<u32>(bucket, destination, 0, 4);
    store<u64>(bucket, portsAndMeta(here, row), layout.COMPACT_PORTS);
    store<u64>(bucket, timeOf(here, row), layout.COMPACT_FIRST);
  }
  const hopStride = address(block.HOP_STRIDE);
  const lasts: usize = isExact ? 4 : 8;
  const lastBytes = <usize>field(block.METRICS) << 2;
  let hop = bucket + address(block.HOPS_AT);
  const end = hop + <usize>field(block.HOPS) * hopStride;
  for (; hop < end; hop += hopStride) {
    store<u32>(hop, NONE);
    for (let last: usize = 0; last < lastBytes; last += 4) store<u32>(hop + lasts + last, NONE);
  }
}

/** The bucket for the flow of a place, if it is not found yet. */
function bucketFor(isExact: bool, place: usize): u32 {
  const here = context;
  const row = load<u32>(place);
  const tags = <usize>load<u32>(place, block.PLACE_TAGS);
  const first = <usize>load<u32>(place, block.PLACE_FIRST);
  const tag = load<u32>(place, block.PLACE_TAG);
  const buckets = field(block.BUCKETS);
  const stride = address(block.BUCKET_STRIDE);
  let bucket: u32 = NONE;
  for (let bits = tagBits(here, tags, tag, buckets); bits != 0; bits &= bits - 1) {
    const flow = first + <usize>ctz<u64>(bits) * stride;
    if (v128.any_true(keyDifference(isExact, here, row, flow))) continue;
    bucket = <u32>ctz<u64>(bits);
    // An earlier report of the block has added this flow.
    if (load<u32>(flow + (isExact ? layout.EXACT_PACKETS : layout.COMPACT_PACKETS)) != 0xffffffff) return bucket;
    handOn(isExact, flow, layout.RETIRED);
    break;
  }
  if (bucket == NONE) {
    const empty = tagBits(here, tags, 0, buckets);
    if (empty != 0) {
      bucket = <u32>ctz<u64>(empty);
      live++;
    } else {
      bucket = oldest(here, tags, buckets);
      handOn(isExact, first + <usize>bucket * stride, layout.EVICTED);
    }
  }
  inserted++;
  store<u32>(cell(tags, bucket), tag);
  reset(isExact, first + <usize>bucket * stride, row);
  return bucket;
}

/** Makes sure that a place's bucket holds its flow and can count another packet. A new bucket has counted none. */
export function settle(place: usize): void {
  const bucket = field(block.IS_EXACT) != 0 ? bucketFor(true, place) : bucketFor(false, place);
  store<u32>(place, bucket, block.PLACE_BUCKET);
  store<u32>(place, load<u32>(place, block.PLACE_FIRST) + bucket * field(block.BUCKET_STRIDE), block.PLACE_FLOW);
}
