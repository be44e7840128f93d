/** Where in the cache the reports of a block belong, found ahead of the updates so that memory is asked for early. */

import {
  address,
  BAD_HOPS,
  BAD_TIMES,
  BUCKET_STRIDE,
  BUCKETS,
  BUCKETS_AT,
  cell,
  CODE,
  context,
  field,
  FLAG_FLOW,
  FLAG_IPV6,
  FLAGS,
  HAS_IPV6,
  HASHES,
  HOP_BASE,
  HOP_COUNT,
  HOP_ROWS,
  HOP_START,
  HOP_STRIDE,
  HOPS,
  HOPS_AT,
  IS_EXACT,
  NOWHERE,
  PLACE_BUCKET,
  PLACE_BYTES,
  PLACE_FIRST,
  PLACE_FLOW,
  PLACE_TAG,
  PLACE_TAGS,
  PLACES,
  ROW_MASK,
  ROW_STRIDE,
  ROWS,
  ROWS_AT,
  TIME_BASE,
  TIME_COUNT,
  TIME_INDEX,
} from './context';
import { oldest, tagBits } from './row';

export let notOk: u32 = 0;
export let noFlow: u32 = 0;
export let unsupported: u32 = 0;
/** Cache lines of a bucket that the reports last listed may need. */
export let lines: u32 = 0;

/** Counts the reports of rows that do not concern the cache. */
export function countOthers(from: u32, to: u32): void {
  const codes = address(CODE);
  const flags = address(FLAGS);
  const isExact = field(IS_EXACT) != 0;
  notOk = noFlow = unsupported = 0;
  for (let row = from; row < to; row++) {
    const bits = load<u32>(cell(flags, row));
    if (load<u8>(codes + row) != 0) notOk++;
    else if ((bits & FLAG_FLOW) == 0) noFlow++;
    else if (!isExact && (bits & FLAG_IPV6) != 0) unsupported++;
  }
}

/**
 * Lists the reports that concern the cache.
 * @returns how many there are, BAD_HOPS or BAD_TIMES
 */
export function place(from: u32, to: u32): u32 {
  const codes = address(CODE);
  const flags = address(FLAGS);
  const counts = address(HOP_COUNT);
  const starts = address(HOP_START);
  const hopBase = field(HOP_BASE);
  const hopRows = <u64>field(HOP_ROWS);
  const times = address(TIME_INDEX);
  const timeBase = field(TIME_BASE);
  const timeCount = field(TIME_COUNT);
  const hashes = address(HASHES) - (<usize>from << 2);
  const unwanted = field(IS_EXACT) != 0 ? 0 : FLAG_IPV6;
  const rows = field(ROWS);
  const mask = field(ROW_MASK);
  const rowsAt = address(ROWS_AT);
  const rowStride = address(ROW_STRIDE);
  const bucketsAt = address(BUCKETS_AT);
  const bucketsStride = address(BUCKETS) * address(BUCKET_STRIDE);
  const places = address(PLACES);
  let most: u32 = 0;
  let union: u32 = 0;
  let at = places;
  for (let row = from; row < to; row++) {
    if (load<u8>(codes + row) != 0) continue;
    const bits = load<u32>(cell(flags, row));
    if ((bits & (FLAG_FLOW | unwanted)) != FLAG_FLOW) continue;
    const hops = <u32>load<u8>(counts + row);
    const first: u32 = load<u32>(cell(starts, row)) - hopBase;
    if (<u64>first + <u64>hops > hopRows && hops != 0) return BAD_HOPS;
    if (load<u32>(cell(times, row)) - timeBase >= timeCount) return BAD_TIMES;
    const hash = load<u32>(cell(hashes, row));
    const cacheRow = <usize>(mask != 0 ? hash & mask : hash % rows);
    most = max(most, hops);
    union |= bits;
    store<u32>(at, row);
    store<u32>(at, hash == 0 ? 1 : hash, PLACE_TAG);
    store<u32>(at, <u32>(rowsAt + cacheRow * rowStride), PLACE_TAGS);
    store<u32>(at, <u32>(bucketsAt + cacheRow * bucketsStride), PLACE_FIRST);
    at += PLACE_BYTES;
  }
  store<u32>(context + HAS_IPV6, union & FLAG_IPV6);
  const bytes = address(HOPS_AT) + <usize>min<u32>(most, field(HOPS)) * address(HOP_STRIDE);
  // Buckets begin at multiples of 32 bytes, those of the compact layout at multiples of 8.
  lines = <u32>((bytes + (field(IS_EXACT) != 0 ? 95 : 119)) >> 6);
  return <u32>((at - places) / PLACE_BYTES);
}

/**
 * Finds the buckets of places, as far as can be told without looking into them: by their tags; for a flow that is not
 * there, the bucket that it will get. An empty bucket is not to be read: memory that was never written would be mapped
 * twice, for reading and for writing.
 */
export function seek(from: u32, to: u32): void {
  const here = context;
  const places = address(PLACES);
  const buckets = field(BUCKETS);
  const bucketStride = address(BUCKET_STRIDE);
  const end = places + <usize>to * PLACE_BYTES;
  for (let at = places + <usize>from * PLACE_BYTES; at < end; at += PLACE_BYTES) {
    const tags = <usize>load<u32>(at, PLACE_TAGS);
    let bits = tagBits(here, tags, load<u32>(at, PLACE_TAG), buckets);
    let isEmpty = false;
    if (bits == 0) {
      bits = tagBits(here, tags, 0, buckets);
      isEmpty = bits != 0;
    }
    const bucket = bits != 0 ? <u32>ctz<u64>(bits) : oldest(here, tags, buckets);
    const flow = <usize>load<u32>(at, PLACE_FIRST) + <usize>bucket * bucketStride;
    store<u32>(at, bucket, PLACE_BUCKET);
    store<u32>(at, <u32>(isEmpty ? here + NOWHERE : flow), PLACE_FLOW);
  }
}
