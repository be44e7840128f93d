/** Finds where in the cache the reports of a block belong, ahead of the updates, so that memory is asked for early. */

import { address, BAD_HOPS, BAD_TIMES, cell, context, field } from './context';
import * as block from './context';
import { oldest, tagBits } from './row';

export let notOk: u32 = 0;
export let noFlow: u32 = 0;
export let unsupported: u32 = 0;
/** Cache lines of a bucket that the reports listed last may need. */
export let lines: u32 = 0;

/** Counts the reports of rows that do not concern the cache. */
export function countOthers(from: u32, to: u32): void {
  const codes = address(block.CODE);
  const flags = address(block.FLAGS);
  const isExact = field(block.IS_EXACT) != 0;
  notOk = noFlow = unsupported = 0;
  for (let row = from; row < to; row++) {
    const bits = load<u32>(cell(flags, row));
    if (load<u8>(codes + row) != 0) notOk++;
    else if ((bits & block.FLAG_FLOW) == 0) noFlow++;
    else if (!isExact && (bits & block.FLAG_IPV6) != 0) unsupported++;
  }
}

/**
 * Lists the reports that concern the cache.
 * @returns how many there are, BAD_HOPS or BAD_TIMES
 */
export function place(from: u32, to: u32): u32 {
  const codes = address(block.CODE);
  const flags = address(block.FLAGS);
  const counts = address(block.HOP_COUNT);
  const starts = address(block.HOP_START);
  const hopBase = field(block.HOP_BASE);
  const hopRows = <u64>field(block.HOP_ROWS);
  const times = address(block.TIME_INDEX);
  const timeBase = field(block.TIME_BASE);
  const timeCount = field(block.TIME_COUNT);
  const hashes = address(block.HASHES) - (<usize>from << 2);
  const unwanted = field(block.IS_EXACT) != 0 ? 0 : block.FLAG_IPV6;
  const rows = field(block.ROWS);
  const mask = field(block.ROW_MASK);
  const rowsAt = address(block.ROWS_AT);
  const rowStride = address(block.ROW_STRIDE);
  const bucketsAt = address(block.BUCKETS_AT);
  const bucketsStride = address(block.BUCKETS) * address(block.BUCKET_STRIDE);
  const places = address(block.PLACES);
  let most: u32 = 0;
  let union: u32 = 0;
  let at = places;
  for (let row = from; row < to; row++) {
    if (load<u8>(codes + row) != 0) continue;
    const bits = load<u32>(cell(flags, row));
    if ((bits & (block.FLAG_FLOW | unwanted)) != block.FLAG_FLOW) continue;
    const hops = <u32>load<u8>(counts + row);
    const first: u32 = load<u32>(cell(starts, row)) - hopBase;
    if (<u64>first + <u64>hops > hopRows && hops != 0) return BAD_HOPS;
    if (load<u32>(cell(times, row)) - timeBase >= timeCount) return BAD_TIMES;
    const hash = load<u32>(cell(hashes, row));
    const cacheRow = <usize>(mask != 0 ? hash & mask : hash % rows);
    most = max(most, hops);
    union |= bits;
    store<u32>(at, row);
    store<u32>(at, hash == 0 ? 1 : hash, block.PLACE_TAG);
    store<u32>(at, <u32>(rowsAt + cacheRow * rowStride), block.PLACE_TAGS);
    store<u32>(at, <u32>(bucketsAt + cacheRow * bucketsStride), block.PLACE_FIRST);
    at += block.PLACE_BYTES;
  }
  store<u32>(context + block.HAS_IPV6, union & block.FLAG_IPV6);
  const bytes = address(block.HOPS_AT) + <usize>min<u32>(most, field(block.HOPS)) * address(block.HOP_STRIDE);
  // Buckets begin at multiples of 32 bytes, those of the compact layout at multiples of 8.
  lines = <u32>((bytes + (field(block.IS_EXACT) != 0 ? 95 : 119)) >> 6);
  return <u32>((at - places) / block.PLACE_BYTES);
}

/**
 * Finds the buckets of places by their tags alone; for a flow that is not there, the bucket that it will get. An empty
 * bucket
 * must not be read: the system would map memory that was never written twice, for reading and for writing.
 */
export function seek(from: u32, to: u32): void {
  const here = context;
  const places = address(block.PLACES);
  const buckets = field(block.BUCKETS);
  const bucketStride = address(block.BUCKET_STRIDE);
  const end = places + <usize>to * block.PLACE_BYTES;
  for (let at = places + <usize>from * block.PLACE_BYTES; at < end; at += block.PLACE_BYTES) {
    const tags = <usize>load<u32>(at, block.PLACE_TAGS);
    let bits = tagBits(here, tags, load<u32>(at, block.PLACE_TAG), buckets);
    let isEmpty = false;
    if (bits == 0) {
      bits = tagBits(here, tags, 0, buckets);
      isEmpty = bits != 0;
    }
    const bucket = bits != 0 ? <u32>ctz<u64>(bits) : oldest(here, tags, buckets);
    const flow = <usize>load<u32>(at, block.PLACE_FIRST) + <usize>bucket * bucketStride;
    store<u32>(at, bucket, block.PLACE_BUCKET);
    store<u32>(at, <u32>(isEmpty ? here + block.NOWHERE : flow), block.PLACE_FLOW);
  }
}
