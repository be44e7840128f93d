/**
 * What the hops of a report add to a bucket. `first` is where the report is in the hop columns.
 *
 * The previous values go to PREVIOUS, for events. Events are rare and raised afterwards, so that the loops call nothing and
 * the engine keeps their values in registers.
 */

import { address, context, field, NONE } from './context';
import * as block from './context';

// A result is the sum of the hop latencies and, above it, bits.
/** At least one hop has a latency. */
export const HAS_SUM: u64 = 1 << 48;
/** A switch has another id than before. If the report before did not reach that far, the path differs anyway. */
export const IS_MOVED: u64 = 1 << 49;
/** There may be an event. */
export const IS_ALERT: u64 = 1 << 50;
export const SUM: u64 = (1 << 48) - 1;

/** Adds the latencies of hop rows to a result. */
@inline
export function addLatencies(result: u64, first: usize, hops: u32): u64 {
  let at = address(block.HOP_LATENCY) + first;
  const end = at + (<usize>hops << 2);
  let total = result;
  for (; at < end; at += 4) {
    const latency = load<u32>(at);
    if (latency != NONE) total = (total + <u64>latency) | HAS_SUM;
  }
  return total;
}

/** Any metrics, one after the other. */
@inline
export function eachMetric(isExact: bool, bucket: usize, first: usize, kept: u32, isKnown: bool): u64 {
  const nodes = address(block.HOP_NODE);
  const metrics = <usize>field(block.METRICS);
  const limits = address(block.THRESHOLDS);
  const table = context + block.METRIC;
  const counts = metrics << 2;
  const hopStride = address(block.HOP_STRIDE);
  let result: u64 = 0;
  let saved = context + block.PREVIOUS;
  let hop = bucket;
  for (let index: u32 = 0; index < kept; index++) {
    const at = first + (<usize>index << 2);
    const id = load<u32>(nodes + at);
    const stored = load<u32>(hop);
    const lasts = hop + (isExact ? 4 : 8);
    if (id != stored && id != NONE) {
      if (stored != NONE) {
        for (let last: usize = 0; last < counts; last += 4) store<u32>(lasts + last, NONE);
        result |= IS_MOVED;
      }
      store<u32>(hop, id);
    }
    let reports: f32 = 0;
    if (!isExact) {
      const count = load<u32>(hop, 4) + 1;
      store<u32>(hop, count, 4);
      reports = <f32>count;
    }
    for (let metric: usize = 0; metric < metrics; metric++) {
      const entry = table + (metric << 3);
      const value = load<u32>(<usize>load<u32>(entry) + at);
      if (value == NONE && load<u32>(<usize>load<u32>(entry, 4) + at) == NONE) continue;
      const last = lasts + (metric << 2);
      const previous = load<u32>(last);
      store<u32>(last, value);
      store<u32>(saved + (metric << 2), previous);
      if (isExact) {
        store<u32>(last + counts, load<u32>(last + counts) + 1);
        const sum = lasts + 2 * counts + (metric << 3);
        store<u64>(sum, load<u64>(sum) + <u64>value);
      } else {
        const mean = load<f32>(last + counts);
        store<f32>(last + counts, mean + (<f32>value - mean) / reports);
      }
      const limit = limits + (metric << 3);
      const step = max(value, previous) - min(value, previous);
      if (value > load<u32>(limit) || (isKnown && step > load<u32>(limit, 4))) result |= IS_ALERT;
    }
    saved += block.PREVIOUS_BYTES;
    hop += hopStride;
  }
  return addLatencies(result, first, kept);
}

/** One to four words. With three, a fourth may be read that lies behind them. */
@inline
function loadWords(at: usize, lanes: u32, isFourthThere: bool): v128 {
  if (lanes == 1) return v128.load_zero<u32>(at);
  if (lanes == 2) return v128.load_zero<u64>(at);
  if (lanes == 4 || isFourthThere) return v128.load(at);
  return v128.load_lane<u32>(at, v128.load_zero<u64>(at), 2, 8);
}

@inline
function storeWords(at: usize, words: v128, lanes: u32, isFourthThere: bool): void {
  if (lanes == 1) v128.store_lane<u32>(at, words, 0);
  else if (lanes == 2) v128.store_lane<u64>(at, words, 0);
  else if (lanes == 4 || isFourthThere) v128.store(at, words);
  else {
    v128.store_lane<u64>(at, words, 0);
    v128.store_lane<u32>(at, words, 2, 8);
  }
}

/**
 * One to four metrics, none half of a pair, in one vector. Lanes without a metric count as missing.
 *
 * With three in the exact layout, the fourth lane holds what lies behind: it is written back as it was, and before what
 * belongs there is written.
 */
@inline
/**
 * One to four metrics, none half of a pair, in one vector. Lanes without a metric count as missing.
 *
 * With three metrics in the exact layout, the fourth lane holds the word behind them. It is written back unchanged,
 * before the
 * value that belongs there is written.
 */
export function allMetrics(isExact: bool, lanes: u32, bucket: usize, first: usize, kept: u32, isKnown: bool): u64 {
  const here = context;
  const nodes = <usize>load<u32>(here, block.HOP_NODE);
  const column0 = <usize>load<u32>(here, block.METRIC);
  const column1 = <usize>load<u32>(here, block.METRIC + 8);
  const column2 = <usize>load<u32>(here, block.METRIC + 16);
  const column3 = <usize>load<u32>(here, block.METRIC + 24);
  const levels = v128.load(here, block.LANE_LEVELS);
  const ones = i32x4.splat(-1);
  // A new flow has no change.
  const changes = isKnown ? v128.load(here, block.LANE_CHANGES) : ones;
  const isWatching = load<u32>(here, block.IS_WATCHING) != 0;
  const group = <usize>lanes << 2;
  let isMoved: u32 = 0;
  let latencies = i64x2.splat(0);
  let neverThere = ones;
  let alert = i64x2.splat(0);
  let saved = here + block.PREVIOUS;
  let hop = bucket;
  let at = first;
  const end = first + (<usize>kept << 2);
  for (; at < end; at += 4) {
    const id = load<u32>(nodes + at);
    const stored = load<u32>(hop);
    let words = v128.load_lane<u32>(column0 + at, ones, 0);
    if (lanes > 1) words = v128.load_lane<u32>(column1 + at, words, 1);
    if (lanes > 2) words = v128.load_lane<u32>(column2 + at, words, 2);
    if (lanes > 3) words = v128.load_lane<u32>(column3 + at, words, 3);
    const lastsAt = hop + (isExact ? 4 : 8);
    let previous = loadWords(lastsAt, lanes, true);
    if (id != stored) {
      // A hop that does not name itself is taken for the switch known there.
      const isOther = u32(id != NONE) & u32(stored != NONE);
      previous = v128.or(previous, v128.and(v128.load(here, block.LANE_ONES), i32x4.splat(0 - isOther)));
      isMoved |= isOther;
      store<u32>(hop, id == NONE ? stored : id);
    }
    const missing = i32x4.eq(words, ones);
    const carried = v128.andnot(words, missing);
    const lasts = v128.or(carried, v128.and(previous, missing));
    const low = i64x2.extend_low_i32x4_u(carried);
    neverThere = v128.and(neverThere, missing);
    latencies = i64x2.add(latencies, low);
    if (isExact) {
      // All loads before all stores: the vectors of three metrics overlap.
      const countsAt = lastsAt + group;
      const sumsAt = countsAt + group;
      const counts = i32x4.sub(loadWords(countsAt, lanes, true), v128.xor(missing, ones));
      let sums0 = lanes == 1 ? v128.load_zero<u64>(sumsAt) : v128.load(sumsAt);
      let sums1 = lanes == 3 ? v128.load_zero<u64>(sumsAt, 16) : ones;
      if (lanes == 4) sums1 = v128.load(sumsAt, 16);
      sums0 = i64x2.add(sums0, low);
      sums1 = i64x2.add(sums1, i64x2.extend_high_i32x4_u(carried));
      storeWords(lastsAt, lasts, lanes, true);
      storeWords(countsAt, counts, lanes, true);
      if (lanes == 1) v128.store_lane<u64>(sumsAt, sums0, 0);
      else v128.store(sumsAt, sums0);
      if (lanes == 3) v128.store_lane<u64>(sumsAt, sums1, 0, 16);
      if (lanes == 4) v128.store(sumsAt, sums1, 16);
      hop += 4 + 4 * group;
    } else {
      // The means end where the next hop begins.
      const meansAt = lastsAt + group;
      const count = load<u32>(hop, 4) + 1;
      const means = loadWords(meansAt, lanes, false);
      const step = f32x4.div(f32x4.sub(f32x4.convert_i32x4_u(words), means), f32x4.splat(<f32>count));
      store<u32>(hop, count, 4);
      storeWords(lastsAt, lasts, lanes, true);
      storeWords(meansAt, v128.bitselect(means, f32x4.add(means, step), missing), lanes, false);
      hop += 8 + 2 * group;
    }
    if (isWatching) {
      const step = i32x4.sub(i32x4.max_u(words, previous), i32x4.min_u(words, previous));
      const isLow = i32x4.eq(i32x4.max_u(words, levels), levels);
      const isNear = i32x4.eq(i32x4.max_u(step, changes), changes);
      const isQuiet = v128.or(v128.and(isLow, isNear), missing);
      alert = v128.or(alert, v128.xor(isQuiet, ones));
      v128.store(saved, previous);
      saved += block.PREVIOUS_BYTES;
    }
  }
  const result = (v128.any_true(alert) ? IS_ALERT : 0) | (isMoved != 0 ? IS_MOVED : 0);
  if (load<u32>(here, block.IS_LATENCY_FIRST) == 0) return addLatencies(result, first, kept);
  const sum = <u64>i64x2.extract_lane(latencies, 0);
  return result | sum | (i32x4.extract_lane(neverThere, 0) == 0 ? HAS_SUM : 0);
}
