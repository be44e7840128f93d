/** What the hops of a report add to a bucket. `first` is where the report is in the hop columns. */

import {
  address,
  context,
  field,
  HOP_LATENCY,
  HOP_NODE,
  HOP_STRIDE,
  IS_LATENCY_FIRST,
  IS_WATCHING,
  LANE_CHANGES,
  LANE_LEVELS,
  LANE_MASKS,
  LANE_ONES,
  METRIC,
  METRICS,
  NONE,
  THRESHOLDS,
} from './context';
import { compare, metricPlace, raiseLanes } from './events';

/** Of the hops last gone through: whether a switch has another id than before. */
export let isMoved: bool = false;
/** The sum of their latencies; NO_SUM if none has one. */
export let latencySum: u64 = 0;
export const NO_SUM: u64 = 0xffffffffffffffff;

/** Adds the latencies of hop rows to a sum. */
@inline
export function addLatencies(sum: u64, first: usize, hops: u32): u64 {
  let at = address(HOP_LATENCY) + first;
  const end = at + (<usize>hops << 2);
  let total = sum;
  for (; at < end; at += 4) {
    const latency = load<u32>(at);
    if (latency != NONE) total = (total == NO_SUM ? 0 : total) + <u64>latency;
  }
  return total;
}

/** Any metrics, one after the other. */
@inline
export function eachMetric(isExact: bool, bucket: usize, hopsAt: usize, first: usize, kept: u32, previousLength: u32, isKnown: bool): void {
  const nodes = address(HOP_NODE);
  const metrics = <usize>field(METRICS);
  const hopStride = address(HOP_STRIDE);
  const limits = address(THRESHOLDS);
  const table = context + METRIC;
  const counts = metrics << 2;
  isMoved = false;
  let hop = bucket + hopsAt;
  for (let index: u32 = 0; index < kept; index++) {
    const at = first + (<usize>index << 2);
    const id = load<u32>(nodes + at);
    let stored = load<u32>(hop);
    const lasts = hop + (isExact ? 4 : 8);
    if (id != stored && id != NONE) {
      if (stored != NONE) {
        for (let last: usize = 0; last < counts; last += 4) store<u32>(lasts + last, NONE);
        if (index < previousLength) isMoved = true;
      }
      store<u32>(hop, id);
      stored = id;
    }
    let reports: f32 = 0;
    if (!isExact) {
      const count = load<u32>(hop, 4) + 1;
      store<u32>(hop, count, 4);
      reports = <f32>count;
    }
    for (let metric: usize = 0; metric < metrics; metric++) {
      const entry = table + (metric << 4);
      const word = load<u32>(<usize>load<u32>(entry) + at);
      if (word == NONE && load<u32>(<usize>load<u32>(entry, 4) + at) == NONE) continue;
      const value = (word >> load<u32>(entry, 8)) & load<u32>(entry, 12);
      const last = lasts + (metric << 2);
      const previous = load<u32>(last);
      store<u32>(last, value);
      if (isExact) {
        store<u32>(last + counts, load<u32>(last + counts) + 1);
        const sum = lasts + 2 * counts + (metric << 3);
        store<u64>(sum, load<u64>(sum) + <u64>value);
      } else {
        const mean = load<f32>(last + counts);
        store<f32>(last + counts, mean + (<f32>value - mean) / reports);
      }
      const place = metricPlace(<u32>metric, index);
      compare(bucket, limits + (metric << 3), place, stored, value, previous, isKnown && previous != NONE);
    }
    hop += hopStride;
  }
  latencySum = addLatencies(NO_SUM, first, kept);
}

/**
 * Three or four metrics, each the lower bits of its column, in one vector. With three, the fourth lane holds what lies
 * behind: it counts as missing, so that it is written back as it was, and before what belongs there is written.
 */
@inline
export function allMetrics(isExact: bool, isFour: bool, bucket: usize, hopsAt: usize, first: usize, kept: u32, previousLength: u32, isKnown: bool): void {
  const here = context;
  const nodes = <usize>load<u32>(here, HOP_NODE);
  const column0 = <usize>load<u32>(here, METRIC);
  const column1 = <usize>load<u32>(here, METRIC + 16);
  const column2 = <usize>load<u32>(here, METRIC + 32);
  const column3 = <usize>load<u32>(here, METRIC + 48);
  const masks = v128.load(here, LANE_MASKS);
  const levels = v128.load(here, LANE_LEVELS);
  const ones = i32x4.splat(-1);
  // A new flow has no change.
  const changes = isKnown ? v128.load(here, LANE_CHANGES) : ones;
  const isWatching = load<u32>(here, IS_WATCHING) != 0;
  const hopStride: usize = isExact ? (isFour ? 68 : 52) : isFour ? 40 : 32;
  let moved = false;
  let latencies = i64x2.splat(0);
  let neverThere = ones;
  let hop = bucket + hopsAt;
  let at = first;
  const end = first + (<usize>kept << 2);
  for (; at < end; at += 4) {
    const id = load<u32>(nodes + at);
    const stored = load<u32>(hop);
    let words = v128.load_lane<u32>(column0 + at, ones, 0);
    words = v128.load_lane<u32>(column1 + at, words, 1);
    words = v128.load_lane<u32>(column2 + at, words, 2);
    if (isFour) words = v128.load_lane<u32>(column3 + at, words, 3);
    let previous = isExact ? v128.load(hop, 4) : v128.load(hop, 8);
    if (id != stored && id != NONE) {
      if (stored != NONE) {
        previous = v128.or(previous, v128.load(context, LANE_ONES));
        if ((at - first) >> 2 < <usize>previousLength) moved = true;
      }
      store<u32>(hop, id);
    }
    const missing = i32x4.eq(words, ones);
    const values = v128.and(words, masks);
    const carried = v128.andnot(values, missing);
    const lasts = v128.or(carried, v128.and(previous, missing));
    const low = i64x2.extend_low_i32x4_u(carried);
    neverThere = v128.and(neverThere, missing);
    latencies = i64x2.add(latencies, low);
    if (isExact) {
      // All loads before all stores: the vectors of three metrics overlap.
      const counts = isFour ? v128.load(hop, 20) : v128.load(hop, 16);
      const sums0 = isFour ? v128.load(hop, 36) : v128.load(hop, 28);
      const sums1 = isFour ? v128.load(hop, 52) : v128.load_zero<u64>(hop, 44);
      const newCounts = i32x4.sub(counts, v128.xor(missing, ones));
      const newSums0 = i64x2.add(sums0, low);
      const newSums1 = i64x2.add(sums1, i64x2.extend_high_i32x4_u(carried));
      v128.store(hop, lasts, 4);
      if (isFour) {
        v128.store(hop, newCounts, 20);
        v128.store(hop, newSums0, 36);
        v128.store(hop, newSums1, 52);
      } else {
        v128.store(hop, newCounts, 16);
        v128.store(hop, newSums0, 28);
        v128.store_lane<u64>(hop, newSums1, 0, 44);
      }
    } else {
      const count = load<u32>(hop, 4) + 1;
      // The means of three metrics end where the next hop begins.
      const means = isFour ? v128.load(hop, 24) : v128.load_lane<u32>(hop, v128.load_zero<u64>(hop, 20), 2, 28);
      const step = f32x4.div(f32x4.sub(f32x4.convert_i32x4_u(values), means), f32x4.splat(<f32>count));
      const newMeans = v128.bitselect(means, f32x4.add(means, step), missing);
      store<u32>(hop, count, 4);
      v128.store(hop, lasts, 8);
      if (isFour) {
        v128.store(hop, newMeans, 24);
      } else {
        v128.store_lane<u64>(hop, newMeans, 0, 20);
        v128.store_lane<u32>(hop, newMeans, 2, 28);
      }
    }
    if (isWatching) {
      const step = i32x4.sub(i32x4.max_u(values, previous), i32x4.min_u(values, previous));
      const isLow = i32x4.eq(i32x4.max_u(values, levels), levels);
      const isNear = i32x4.eq(i32x4.max_u(step, changes), changes);
      // There may be nothing before to have changed.
      if (v128.any_true(v128.xor(v128.or(v128.and(isLow, isNear), missing), ones))) {
        raiseLanes(bucket, <u32>((at - first) >> 2), id == NONE ? stored : id, values, previous, missing, isKnown);
      }
    }
    hop += hopStride;
  }
  isMoved = moved;
  if (load<u32>(here, IS_LATENCY_FIRST) != 0) {
    latencySum = i32x4.extract_lane(neverThere, 0) != 0 ? NO_SUM : i64x2.extract_lane(latencies, 0);
  } else {
    latencySum = addLatencies(NO_SUM, first, kept);
  }
}
