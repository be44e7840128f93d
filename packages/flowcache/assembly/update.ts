/** One update: a report is added to the bucket of its flow. */

import { entryCount, settle } from './admit';
import {
  address,
  BUCKETS,
  cell,
  context,
  ENTRY_CAPACITY,
  EVENT_LIMIT,
  field,
  HOP_BASE,
  HOP_COUNT,
  HOP_NODE,
  HOP_START,
  HOPS,
  METRICS,
  NODE,
  NONE,
  PLACE_BUCKET,
  PLACE_BYTES,
  PLACE_FLOW,
  PLACE_TAG,
  PLACE_TAGS,
  PLACES,
  THRESHOLDS,
} from './context';
import { eventCount, raiseEndToEnd, raiseHops, raisePath } from './events';
import { addLatencies, allMetrics, eachMetric, HAS_SUM, IS_ALERT, IS_MOVED, SUM } from './hops';
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
  LAST,
  LIMITS_END_TO_END,
  LIMITS_PATH,
  META_KEY,
  META_LENGTH,
  META_LENGTH_SHIFT,
  META_SEEN,
  META_SEEN_SHIFT,
  PATH_CHANGES,
} from './layout';
import { keyDifference, timeOf } from './report';
import { toFront } from './row';

const TAIL_SEED: u32 = 0x9747b28c;
/** Of the result of `lookBeyond`: the report names a switch. */
const IS_NAMED: u64 = 1 << 32;

export let hopsBeyond: u64 = 0;
export let pathsChanged: u64 = 0;

export function clearCounts(): void {
  hopsBeyond = pathsChanged = 0;
}

@inline
function mixTail(tail: u32, id: u32): u32 {
  return rotl<u32>(tail ^ (rotl<u32>(id * 0xcc9e2d51, 15) * 0x1b873593), 13) * 5 + 0xe6546b64;
}

/** The hash of what the hops of a bucket do not show of a path, or 0; IS_NAMED if the report names a switch. */
function lookBeyond(nodes: usize, kept: u32, length: u32, own: u32): u64 {
  let last: u32 = NONE;
  for (let hop = length; hop != 0 && last == NONE; hop--) last = load<u32>(cell(nodes, hop - 1));
  if (last == NONE && own == NONE) return 0;
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
  return IS_NAMED | (isMixed ? <u64>max<u32>(tail, 1) : 0);
}

/** Counts hop rows that a bucket has no room for. */
function countBeyond(isExact: bool, bucket: usize, hops: u32): void {
  hopsBeyond += <u64>hops;
  if (!isExact) return;
  const beyond = <u64>load<u32>(bucket, EXACT_BEYOND) + <u64>hops;
  store<u32>(bucket, <u32>min<u64>(beyond, 0xffffffff), EXACT_BEYOND);
}

/**
 * Updates the cache with places for which the outboxes have room. All parameters but the places are constants, so that
 * there is one loop for each shape. What it reads of the context is read where it is needed: the engine has too few
 * registers to keep it.
 *
 * @param lanes 1 to 4 where so many metrics go through one vector, else 0
 */
@inline
function updateAll(isExact: bool, lanes: u32, begin: usize, end: usize): void {
  const here = context;
  let place = begin;
  while (place < end) {
    const row = load<u32>(place);
    const tags = <usize>load<u32>(place, PLACE_TAGS);
    const bucket = load<u32>(place, PLACE_BUCKET);
    const flow = <usize>load<u32>(place, PLACE_FLOW);
    const counted = load<u32>(flow + (isExact ? EXACT_PACKETS : COMPACT_PACKETS));
    // An earlier report of the group may have changed the row, and where the packet count is full a bucket begins anew.
    const isOther = (load<u32>(cell(tags, bucket)) ^ load<u32>(place, PLACE_TAG)) | u32(counted == 0xffffffff);
    if (v128.any_true(v128.or(keyDifference(isExact, here, row, flow), i32x4.splat(isOther)))) {
      settle(place);
      continue;
    }
    place += PLACE_BYTES;
    toFront(here, tags, load<u32>(here, BUCKETS), bucket);
    const isKnown = counted != 0;
    const packets = flow + (isExact ? EXACT_PACKETS : COMPACT_PACKETS);
    store<u32>(packets, counted + 1);
    store<u64>(packets, timeOf(here, row), LAST);
    const length = <u32>load<u8>(<usize>load<u32>(here, HOP_COUNT) + row);
    const kept = min<u32>(length, load<u32>(here, HOPS));
    const metaAt = flow + (isExact ? EXACT_META : COMPACT_META);
    const meta = load<u32>(metaAt);
    const previousLength = (meta >> META_LENGTH_SHIFT) & META_LENGTH;
    const start: u32 = load<u32>(cell(<usize>load<u32>(here, HOP_START), row)) - load<u32>(here, HOP_BASE);
    const first = <usize>start << 2;
    const hops = flow + (isExact ? EXACT_HOPS : COMPACT_HOPS);
    let result: u64;
    if (lanes == 0) result = eachMetric(isExact, hops, first, kept, isKnown);
    else result = allMetrics(isExact, lanes, hops, first, kept, isKnown);
    if ((result & IS_ALERT) != 0) raiseHops(flow, first, kept);
    if (length > kept) {
      countBeyond(isExact, flow, length - kept);
      result = addLatencies(result, first + (<usize>kept << 2), length - kept);
    }

    if ((result & HAS_SUM) != 0) {
      const sum = <u32>min<u64>(result & SUM, 0xffffffff);
      const limits = <usize>load<u32>(here, THRESHOLDS) + LIMITS_END_TO_END;
      if (isExact) {
        const count = load<u32>(flow, EXACT_END_TO_END_COUNT);
        const previous = load<u32>(flow, EXACT_END_TO_END);
        store<u32>(flow, sum, EXACT_END_TO_END);
        store<u32>(flow, count + 1, EXACT_END_TO_END_COUNT);
        store<u64>(flow, load<u64>(flow, EXACT_END_TO_END_SUM) + <u64>sum, EXACT_END_TO_END_SUM);
        const step = max(sum, previous) - min(sum, previous);
        if (u32(sum > load<u32>(limits)) | u32(step > load<u32>(limits, 4))) {
          raiseEndToEnd(flow, sum, previous, count != 0);
        }
      } else if (sum > load<u32>(limits)) {
        raiseEndToEnd(flow, sum, NONE, false);
      }
    }

    const own = load<u32>(cell(<usize>load<u32>(here, NODE), row));
    const nodes = <usize>load<u32>(here, HOP_NODE) + first;
    let tail: u64 = IS_NAMED;
    // Most reports come from the last hop of their path.
    if (own == NONE || length == 0 || length > kept || load<u32>(cell(nodes, length - 1)) != own) {
      tail = lookBeyond(nodes, kept, length, own);
    }
    let pathLength = previousLength;
    if ((tail & IS_NAMED) != 0) {
      pathLength = length;
      const now: u32 = isExact ? <u32>tail : 0;
      const previousTail: u32 = isExact ? load<u32>(flow, EXACT_TAIL) : 0;
      if (isExact) store<u32>(flow, now, EXACT_TAIL);
      const isChanged = (length ^ previousLength) | (now ^ previousTail) | u32((result & IS_MOVED) != 0);
      if (isChanged != 0) {
        if (isKnown && (previousLength | previousTail) != 0) {
          store<u32>(packets, load<u32>(packets, PATH_CHANGES) + 1, PATH_CHANGES);
          pathsChanged++;
          if (load<u32>(<usize>load<u32>(here, THRESHOLDS), LIMITS_PATH) != 0) raisePath(flow, length, previousLength);
        }
      }
    }
    const seen = max<u32>((meta >> META_SEEN_SHIFT) & META_SEEN, kept);
    store<u32>(metaAt, (meta & META_KEY) | (seen << META_SEEN_SHIFT) | (pathLength << META_LENGTH_SHIFT));
  }
}

/**
 * Updates the cache with places, as long as the outboxes have room for what a report may bring.
 * @returns the first place not looked at
 */
@inline
export function updatePlaces(isExact: bool, lanes: u32, from: u32, to: u32): u32 {
  const places = address(PLACES);
  const perReport = field(HOPS) * field(METRICS) + 2;
  let place = from;
  while (place < to) {
    if (entryCount >= field(ENTRY_CAPACITY) || eventCount > field(EVENT_LIMIT)) break;
    const room = min<u32>(field(ENTRY_CAPACITY) - entryCount, (field(EVENT_LIMIT) - eventCount) / perReport + 1);
    const stop = min<u32>(to, place + room);
    updateAll(isExact, lanes, places + <usize>place * PLACE_BYTES, places + <usize>stop * PLACE_BYTES);
    place = stop;
  }
  return place;
}
