/** One update: a report is added to the bucket of its flow. */

import { entryCount, settle } from './admit';
import { address, cell, context, field, NONE } from './context';
import * as block from './context';
import { eventCount, raiseEndToEnd, raiseHops, raisePath } from './events';
import { addLatencies, allMetrics, eachMetric, HAS_SUM, IS_ALERT, IS_MOVED, SUM } from './hops';
import * as layout from './layout';
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

/**
 * The hash of the ids of a path that the hops of a bucket do not show, or 0; with IS_NAMED if the report names a
 * switch.
 */
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
  const beyond = <u64>load<u32>(bucket, layout.EXACT_BEYOND) + <u64>hops;
  store<u32>(bucket, <u32>min<u64>(beyond, 0xffffffff), layout.EXACT_BEYOND);
}

/**
 * Updates the cache with places for which the outboxes have room. All parameters but the places are constants, so that
 * there is one loop for each shape. What it reads of the context is read where it is needed: the engine has too few
 * registers to keep it.
 *
 * @param lanes 1 to 4 where so many metrics go through one vector, else 0
 */
@inline
/**
 * Updates the cache with places for which the outboxes have room. The first two parameters are constants, so that there
 * is one
 * loop for each shape. It reads the context where it needs it, because the engine has too few registers to keep it.
 *
 * @param lanes 1 to 4 where so many metrics go through one vector, else 0
 */
function updateAll(isExact: bool, lanes: u32, begin: usize, end: usize): void {
  const here = context;
  let place = begin;
  while (place < end) {
    const row = load<u32>(place);
    const tags = <usize>load<u32>(place, block.PLACE_TAGS);
    const bucket = load<u32>(place, block.PLACE_BUCKET);
    const flow = <usize>load<u32>(place, block.PLACE_FLOW);
    const counted = load<u32>(flow + (isExact ? layout.EXACT_PACKETS : layout.COMPACT_PACKETS));
    // An earlier report of the group may have changed the row. A bucket whose packet count is full begins anew.
    const isOther = (load<u32>(cell(tags, bucket)) ^ load<u32>(place, block.PLACE_TAG)) | u32(counted == 0xffffffff);
    if (v128.any_true(v128.or(keyDifference(isExact, here, row, flow), i32x4.splat(isOther)))) {
      settle(place);
      continue;
    }
    place += block.PLACE_BYTES;
    toFront(here, tags, load<u32>(here, block.BUCKETS), bucket);
    const isKnown = counted != 0;
    const packets = flow + (isExact ? layout.EXACT_PACKETS : layout.COMPACT_PACKETS);
    store<u32>(packets, counted + 1);
    store<u64>(packets, timeOf(here, row), layout.LAST);
    const length = <u32>load<u8>(<usize>load<u32>(here, block.HOP_COUNT) + row);
    const kept = min<u32>(length, load<u32>(here, block.HOPS));
    const metaAt = flow + (isExact ? layout.EXACT_META : layout.COMPACT_META);
    const meta = load<u32>(metaAt);
    const previousLength = (meta >> layout.META_LENGTH_SHIFT) & layout.META_LENGTH;
    const start: u32 = load<u32>(cell(<usize>load<u32>(here, block.HOP_START), row)) - load<u32>(here, block.HOP_BASE);
    const first = <usize>start << 2;
    const hops = flow + (isExact ? layout.EXACT_HOPS : layout.COMPACT_HOPS);
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
      const limits = <usize>load<u32>(here, block.THRESHOLDS) + layout.LIMITS_END_TO_END;
      if (isExact) {
        const count = load<u32>(flow, layout.EXACT_END_TO_END_COUNT);
        const previous = load<u32>(flow, layout.EXACT_END_TO_END);
        store<u32>(flow, sum, layout.EXACT_END_TO_END);
        store<u32>(flow, count + 1, layout.EXACT_END_TO_END_COUNT);
        store<u64>(flow, load<u64>(flow, layout.EXACT_END_TO_END_SUM) + <u64>sum, layout.EXACT_END_TO_END_SUM);
        const step = max(sum, previous) - min(sum, previous);
        if (u32(sum > load<u32>(limits)) | u32(step > load<u32>(limits, 4))) {
          raiseEndToEnd(flow, sum, previous, count != 0);
        }
      } else if (sum > load<u32>(limits)) {
        raiseEndToEnd(flow, sum, NONE, false);
      }
    }

    const own = load<u32>(cell(<usize>load<u32>(here, block.NODE), row));
    const nodes = <usize>load<u32>(here, block.HOP_NODE) + first;
    let tail: u64 = IS_NAMED;
    // Most reports come from the last hop of their path.
    if (own == NONE || length == 0 || length > kept || load<u32>(cell(nodes, length - 1)) != own) {
      tail = lookBeyond(nodes, kept, length, own);
    }
    let pathLength = previousLength;
    if ((tail & IS_NAMED) != 0) {
      pathLength = length;
      const now: u32 = isExact ? <u32>tail : 0;
      const previousTail: u32 = isExact ? load<u32>(flow, layout.EXACT_TAIL) : 0;
      if (isExact) store<u32>(flow, now, layout.EXACT_TAIL);
      const isChanged = (length ^ previousLength) | (now ^ previousTail) | u32((result & IS_MOVED) != 0);
      if (isChanged != 0) {
        if (isKnown && (previousLength | previousTail) != 0) {
          store<u32>(packets, load<u32>(packets, layout.PATH_CHANGES) + 1, layout.PATH_CHANGES);
          pathsChanged++;
          if (load<u32>(<usize>load<u32>(here, block.THRESHOLDS), layout.LIMITS_PATH) != 0) raisePath(flow, length, previousLength);
        }
      }
    }
    const seen = max<u32>((meta >> layout.META_SEEN_SHIFT) & layout.META_SEEN, kept);
    store<u32>(metaAt, (meta & layout.META_KEY) | (seen << layout.META_SEEN_SHIFT) | (pathLength << layout.META_LENGTH_SHIFT));
  }
}

/**
 * Updates the cache with places, as long as the outboxes have room for what a report may bring.
 * @returns the first place not looked at
 */
@inline
/**
 * Updates the cache with places, as long as the outboxes have room for what a report may bring.
 * @returns the first place not looked at
 */
export function updatePlaces(isExact: bool, lanes: u32, from: u32, to: u32): u32 {
  const places = address(block.PLACES);
  const perReport = field(block.HOPS) * field(block.METRICS) + 2;
  let place = from;
  while (place < to) {
    if (entryCount >= field(block.ENTRY_CAPACITY) || eventCount > field(block.EVENT_LIMIT)) break;
    const room = min<u32>(field(block.ENTRY_CAPACITY) - entryCount, (field(block.EVENT_LIMIT) - eventCount) / perReport + 1);
    const stop = min<u32>(to, place + room);
    updateAll(isExact, lanes, places + <usize>place * block.PLACE_BYTES, places + <usize>stop * block.PLACE_BYTES);
    place = stop;
  }
  return place;
}
