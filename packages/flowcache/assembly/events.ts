/** Event records: see ../src/layout.ts. */

import {
  address,
  cell,
  context,
  EVENT_COUNT,
  EVENTS,
  field,
  IS_EXACT,
  LANE_MISSING,
  LANE_PREVIOUS,
  LANE_VALUES,
  METRICS,
  NONE,
  THRESHOLDS,
} from './context';
import {
  COMPACT_FIRST,
  COMPACT_META,
  COMPACT_PORTS,
  EVENT_BYTES,
  EVENT_DESTINATION,
  EVENT_NODE,
  EVENT_PORTS,
  EVENT_PREVIOUS,
  EVENT_SOURCE,
  EVENT_THRESHOLD,
  EVENT_TIME,
  EVENT_VALUE,
  EXACT_DESTINATION,
  EXACT_FIRST,
  EXACT_META,
  EXACT_PORTS,
  FIRST,
  KIND_CHANGE,
  KIND_HOP_SHIFT,
  KIND_IPV6,
  KIND_LEVEL,
  KIND_METRIC_SHIFT,
  KIND_PROTOCOL_SHIFT,
  LAST,
  META_IPV6,
} from './layout';

/** Records in the outbox. */
export let eventCount: u32 = 0;

export function setEventCount(count: u32): void {
  eventCount = count;
}

/** Writes an event of the flow of a bucket whose time is that of the report. */
export function raise(bucket: usize, kind: u32, node: u32, value: u32, previous: u32, threshold: u32): void {
  const at = address(EVENTS) + <usize>eventCount * EVENT_BYTES;
  eventCount++;
  const isExact = field(IS_EXACT) != 0;
  const meta = isExact ? load<u32>(bucket, EXACT_META) : load<u32>(bucket, COMPACT_META);
  const family = (meta & META_IPV6) != 0 ? KIND_IPV6 : 0;
  store<u32>(at, kind | family | ((meta & 0xff) << KIND_PROTOCOL_SHIFT));
  store<u32>(at, node, EVENT_NODE);
  store<u32>(at, value, EVENT_VALUE);
  store<u32>(at, previous, EVENT_PREVIOUS);
  store<u32>(at, threshold, EVENT_THRESHOLD);
  if (isExact) {
    store<u64>(at, load<u64>(bucket, EXACT_FIRST - FIRST + LAST), EVENT_TIME);
    store<u32>(at, load<u32>(bucket, EXACT_PORTS), EVENT_PORTS);
    v128.store(at, v128.load(bucket), EVENT_SOURCE);
    v128.store(at, v128.load(bucket, EXACT_DESTINATION), EVENT_DESTINATION);
  } else {
    store<u64>(at, load<u64>(bucket, COMPACT_FIRST - FIRST + LAST), EVENT_TIME);
    store<u32>(at, load<u32>(bucket, COMPACT_PORTS), EVENT_PORTS);
    v128.store(at, v128.load_zero<u32>(bucket), EVENT_SOURCE);
    v128.store(at, v128.load_zero<u32>(bucket, 4), EVENT_DESTINATION);
  }
}

@inline
function difference(a: u32, b: u32): u32 {
  return a > b ? a - b : b - a;
}

/** Raises an event if a value is one. `limits` is where its thresholds are. */
@inline
export function compare(
  bucket: usize,
  limits: usize,
  place: u32,
  node: u32,
  value: u32,
  previous: u32,
  hasPrevious: bool,
): void {
  const level = load<u32>(limits);
  const change = load<u32>(limits, 4);
  let kind: u32 = value > level ? KIND_LEVEL : 0;
  if (hasPrevious && difference(value, previous) > change) kind |= KIND_CHANGE;
  if (kind != 0) raise(bucket, kind | place, node, value, previous, (kind & KIND_LEVEL) != 0 ? level : change);
}

@inline
export function metricPlace(metric: u32, hop: u32): u32 {
  return (metric << KIND_METRIC_SHIFT) | (hop << KIND_HOP_SHIFT);
}

/** Raises the events of a hop whose metrics are in a vector, and of which one may be an event. */
export function raiseLanes(bucket: usize, hop: u32, node: u32, values: v128, previous: v128, missing: v128, isKnown: bool): void {
  v128.store(context + LANE_VALUES, values);
  v128.store(context + LANE_PREVIOUS, previous);
  v128.store(context + LANE_MISSING, missing);
  const metrics = field(METRICS);
  for (let metric: u32 = 0; metric < metrics; metric++) {
    if (load<u32>(cell(context + LANE_MISSING, metric)) != 0) continue;
    const before = load<u32>(cell(context + LANE_PREVIOUS, metric));
    const limits = address(THRESHOLDS) + (<usize>metric << 3);
    const value = load<u32>(cell(context + LANE_VALUES, metric));
    compare(bucket, limits, metricPlace(metric, hop), node, value, before, isKnown && before != NONE);
  }
}
