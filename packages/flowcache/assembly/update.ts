/** One update: a report is added to the bucket of its flow. */

import { admit, entryCount, holds, wasKnown } from './admit';
import {
  address,
  BUCKET_STRIDE,
  BUCKETS,
  cell,
  context,
  DESTINATION,
  ENTRY_CAPACITY,
  EVENT_LIMIT,
  FLAG_IPV6,
  FLAGS,
  HOP_BASE,
  HOP_COUNT,
  HOP_NODE,
  HOP_START,
  HOPS,
  NODE,
  NONE,
  PLACE_BUCKET,
  PLACE_BYTES,
  PLACE_FIRST,
  PLACE_TAG,
  PLACE_TAGS,
  PLACES,
  PORTS,
  PROTOCOL,
  REPORT_STRIDE,
  SOURCE,
  THRESHOLDS,
  TIME_BASE,
  TIME_INDEX,
  TIMES_HIGH,
  TIMES_LOW,
} from './context';
import { compare, eventCount, raise } from './events';
import { addLatencies, allMetrics, eachMetric, isMoved, latencySum, NO_SUM } from './hops';
import {
  COMPACT_HOPS,
  COMPACT_META,
  COMPACT_PACKETS,
  EXACT_BEYOND,
  EXACT_END_TO_END,
  EXACT_END_TO_END_COUNT,
  EXACT_END_TO_END_SUM,
  EXACT_HOPS,
  EXACT_META,
  EXACT_PACKETS,
  EXACT_TAIL,
  KIND_END_TO_END,
  KIND_PATH,
  LAST,
  LIMITS_END_TO_END,
  LIMITS_PATH,
  META_IPV6,
  META_KEY,
  META_LENGTH,
  META_LENGTH_SHIFT,
  META_SEEN,
  META_SEEN_SHIFT,
  PATH_CHANGES,
} from './layout';
import { toFront } from './row';

const TAIL_SEED: u32 = 0x9747b28c;

export let hits: u64 = 0;
export let hopsBeyond: u64 = 0;
export let pathsChanged: u64 = 0;

export function clearCounts(): void {
  hits = hopsBeyond = pathsChanged = 0;
}

@inline
function mixTail(tail: u32, id: u32): u32 {
  return rotl<u32>(tail ^ (rotl<u32>(id * 0xcc9e2d51, 15) * 0x1b873593), 13) * 5 + 0xe6546b64;
}

/** A sum of the hop latency over the path, in 64 bits; NO_SUM if no hop has one. */
@inline
function endToEnd(isExact: bool, bucket: usize, total: u64): void {
  if (total == NO_SUM) return;
  const sum = <u32>min<u64>(total, 0xffffffff);
  const limits = address(THRESHOLDS) + LIMITS_END_TO_END;
  if (isExact) {
    const count = load<u32>(bucket, EXACT_END_TO_END_COUNT);
    const previous = load<u32>(bucket, EXACT_END_TO_END);
    store<u32>(bucket, sum, EXACT_END_TO_END);
    store<u32>(bucket, count + 1, EXACT_END_TO_END_COUNT);
    store<u64>(bucket, load<u64>(bucket, EXACT_END_TO_END_SUM) + <u64>sum, EXACT_END_TO_END_SUM);
    compare(bucket, limits, KIND_END_TO_END, NONE, sum, previous, count != 0);
  } else {
    compare(bucket, limits, KIND_END_TO_END, NONE, sum, NONE, false);
  }
}

/** The hash of what the hops of a bucket do not show of a path; 0 for nothing. */
function tailOf(nodes: usize, kept: u32, length: u32, own: u32, last: u32): u32 {
  let tail = TAIL_SEED;
  let isMixed = false;
  for (let hop = kept; hop < length; hop++) {
    const id = load<u32>(cell(nodes, hop));
    if (id == NONE) continue;
    tail = mixTail(tail, id);
    isMixed = true;
  }
  if (own != NONE && own != last) {
    tail = mixTail(tail, own);
    isMixed = true;
  }
  return isMixed ? max<u32>(tail, 1) : 0;
}

/** Compares the path with the flow's previous one. @returns the path length to remember */
@inline
function comparePath(isExact: bool, bucket: usize, own: u32, nodes: usize, kept: u32, length: u32, previousLength: u32, isKnown: bool): u32 {
  let last: u32 = NONE;
  for (let hop = length; hop != 0 && last == NONE; hop--) last = load<u32>(cell(nodes, hop - 1));
  // A report that names no switch says nothing of the path.
  if (last == NONE && own == NONE) return previousLength;
  let tail: u32 = 0;
  let previousTail: u32 = 0;
  if (isExact) {
    if (length > kept || own != last) tail = tailOf(nodes, kept, length, own, last);
    previousTail = load<u32>(bucket, EXACT_TAIL);
    store<u32>(bucket, tail, EXACT_TAIL);
  }
  if ((length != previousLength || isMoved || tail != previousTail) && isKnown && (previousLength | previousTail) != 0) {
    const packets = bucket + (isExact ? EXACT_PACKETS : COMPACT_PACKETS);
    store<u32>(packets, load<u32>(packets, PATH_CHANGES) + 1, PATH_CHANGES);
    pathsChanged++;
    if (load<u32>(address(THRESHOLDS), LIMITS_PATH) != 0) {
      raise(bucket, KIND_PATH | KIND_END_TO_END, NONE, length, previousLength, 0);
    }
  }
  return length;
}

/**
 * Updates the cache with places. All parameters but the range are constants, so that there is one loop for each shape.
 * What it reads of the context is read where it is needed: the engine has too few registers to keep it.
 *
 * @param lanes 3 or 4 where so many metrics go through one vector, else 0
 * @returns the first place not looked at
 */
@inline
export function updatePlaces(isExact: bool, lanes: u32, from: u32, to: u32): u32 {
  const here = context;
  const begin = <usize>load<u32>(here, PLACES);
  const end = begin + <usize>to * PLACE_BYTES;
  let known: u32 = 0;
  let place = begin + <usize>from * PLACE_BYTES;
  for (; place < end; place += PLACE_BYTES) {
    if (entryCount >= load<u32>(here, ENTRY_CAPACITY) || eventCount > load<u32>(here, EVENT_LIMIT)) break;
    const row = load<u32>(place);
    const sources = cell(<usize>load<u32>(here, SOURCE), row);
    const destinations = cell(<usize>load<u32>(here, DESTINATION), row);
    let source = v128.load_zero<u32>(sources);
    let destination = v128.load_zero<u32>(destinations);
    let protocol = <u32>load<u8>(<usize>load<u32>(here, PROTOCOL) + row);
    if (isExact && (load<u32>(cell(<usize>load<u32>(here, FLAGS), row)) & FLAG_IPV6) != 0) {
      protocol |= META_IPV6;
      const stride = <usize>load<u32>(here, REPORT_STRIDE);
      source = v128.load_lane<u32>(sources + stride, source, 1);
      source = v128.load_lane<u32>(sources + 2 * stride, source, 2);
      source = v128.load_lane<u32>(sources + 3 * stride, source, 3);
      destination = v128.load_lane<u32>(destinations + stride, destination, 1);
      destination = v128.load_lane<u32>(destinations + 2 * stride, destination, 2);
      destination = v128.load_lane<u32>(destinations + 3 * stride, destination, 3);
    }
    const rest = <u64>load<u32>(cell(<usize>load<u32>(here, PORTS), row)) | (<u64>protocol << 32);
    const frame: u32 = load<u32>(cell(<usize>load<u32>(here, TIME_INDEX), row)) - load<u32>(here, TIME_BASE);
    const timeLow = load<u32>(cell(<usize>load<u32>(here, TIMES_LOW), frame));
    const timeHigh = load<u32>(cell(<usize>load<u32>(here, TIMES_HIGH), frame));
    const time = <u64>timeLow | (<u64>timeHigh << 32);

    const tags = <usize>load<u32>(place, PLACE_TAGS);
    const first = <usize>load<u32>(place, PLACE_FIRST);
    const tag = load<u32>(place, PLACE_TAG);
    const offset: usize = isExact ? EXACT_PACKETS : COMPACT_PACKETS;
    let bucket = load<u32>(place, PLACE_BUCKET);
    let flow = first + <usize>bucket * <usize>load<u32>(here, BUCKET_STRIDE);
    let isKnown = true;
    // An earlier report of the group may have changed the row.
    if (
      load<u32>(tags + (<usize>bucket << 2)) != tag ||
      !holds(isExact, flow, source, destination, rest) ||
      load<u32>(flow + offset) == 0xffffffff
    ) {
      bucket = admit(isExact, tags, first, tag, source, destination, rest, time);
      flow = first + <usize>bucket * <usize>load<u32>(here, BUCKET_STRIDE);
      isKnown = wasKnown;
    }
    known += u32(isKnown);
    toFront(here, tags, load<u32>(here, BUCKETS), bucket);

    const packets = flow + offset;
    store<u32>(packets, load<u32>(packets) + 1);
    store<u64>(packets, time, LAST);
    const length = <u32>load<u8>(<usize>load<u32>(here, HOP_COUNT) + row);
    const kept = min<u32>(length, load<u32>(here, HOPS));
    if (length > kept) {
      hopsBeyond += <u64>(length - kept);
      if (isExact) {
        const beyond = <u64>load<u32>(flow, EXACT_BEYOND) + <u64>(length - kept);
        store<u32>(flow, <u32>min<u64>(beyond, 0xffffffff), EXACT_BEYOND);
      }
    }
    const metaAt = flow + (isExact ? EXACT_META : COMPACT_META);
    const meta = load<u32>(metaAt);
    const previousLength = (meta >> META_LENGTH_SHIFT) & META_LENGTH;
    const start: u32 = load<u32>(cell(<usize>load<u32>(here, HOP_START), row)) - load<u32>(here, HOP_BASE);
    const hopRow = <usize>start << 2;
    const hopsAt: usize = isExact ? EXACT_HOPS : COMPACT_HOPS;
    if (lanes == 0) eachMetric(isExact, flow, hopsAt, hopRow, kept, previousLength, isKnown);
    else allMetrics(isExact, lanes == 4, flow, hopsAt, hopRow, kept, previousLength, isKnown);
    let latency = latencySum;
    if (length > kept) latency = addLatencies(latency, hopRow + (<usize>kept << 2), length - kept);
    endToEnd(isExact, flow, latency);
    const own = load<u32>(cell(<usize>load<u32>(here, NODE), row));
    const nodes = <usize>load<u32>(here, HOP_NODE) + hopRow;
    const pathLength = comparePath(isExact, flow, own, nodes, kept, length, previousLength, isKnown);
    const seen = max<u32>((meta >> META_SEEN_SHIFT) & META_SEEN, kept);
    store<u32>(metaAt, (meta & META_KEY) | (seen << META_SEEN_SHIFT) | (pathLength << META_LENGTH_SHIFT));
  }
  hits += <u64>known;
  return <u32>((place - begin) / PLACE_BYTES);
}
