/** Event records: see ../src/layout.ts. */

import {
  address,
  cell,
  context,
  EVENTS,
  field,
  HOP_STRIDE,
  IS_EXACT,
  METRIC,
  METRICS,
  NONE,
  PREVIOUS,
  PREVIOUS_BYTES,
  THRESHOLDS,
} from './context';
import {
  COMPACT_FIRST,
  COMPACT_HOPS,
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
  EXACT_HOPS,
  EXACT_META,
  EXACT_PORTS,
  FIRST,
  KIND_CHANGE,
  KIND_END_TO_END,
  KIND_HOP_SHIFT,
  KIND_IPV6,
  KIND_LEVEL,
  KIND_METRIC_SHIFT,
  KIND_PATH,
  KIND_PROTOCOL_SHIFT,
  LAST,
  LIMITS_END_TO_END,
  META_IPV6,
} from './layout';

/** Records in the outbox. */
export let eventCount: u32 = 0;

export function setEventCount(count: u32): void {
  eventCount = count;
}

/** Writes an event of the flow of a bucket whose time is that of the report. */
function raise(bucket: usize, kind: u32, node: u32, value: u32, previous: u32, threshold: u32): void {
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

/** Raises an event if a value is one. `limits` is where its thresholds are. */
function compare(
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
  if (hasPrevious && max(value, previous) - min(value, previous) > change) kind |= KIND_CHANGE;
  if (kind != 0) raise(bucket, kind | place, node, value, previous, (kind & KIND_LEVEL) != 0 ? level : change);
}

/**
 * Raises the events of the hops of a report that was just added to its bucket. Of a new flow, nothing is known that
 * could have changed.
 * @param first where the report is in the hop columns
 */
export function raiseHops(bucket: usize, first: usize, kept: u32): void {
  const isExact = field(IS_EXACT) != 0;
  const metrics = field(METRICS);
  const hopStride = address(HOP_STRIDE);
  const limits = address(THRESHOLDS);
  let hop = bucket + (isExact ? EXACT_HOPS : COMPACT_HOPS);
  let saved = context + PREVIOUS;
  for (let index: u32 = 0; index < kept; index++) {
    const at = first + (<usize>index << 2);
    const lasts = hop + (isExact ? 4 : 8);
    for (let metric: u32 = 0; metric < metrics; metric++) {
      const entry = context + METRIC + (<usize>metric << 3);
      const columns = load<u64>(entry);
      const isMissing = (load<u32>(<usize>columns + at) & load<u32>(<usize>(columns >> 32) + at)) == NONE;
      if (isMissing) continue;
      const place = (metric << KIND_METRIC_SHIFT) | (index << KIND_HOP_SHIFT);
      const previous = load<u32>(cell(saved, metric));
      const value = load<u32>(cell(lasts, metric));
      compare(bucket, limits + (<usize>metric << 3), place, load<u32>(hop), value, previous, previous != NONE);
    }
    saved += PREVIOUS_BYTES;
    hop += hopStride;
  }
}

/** Raises the event of the end-to-end latency, if it is one. */
export function raiseEndToEnd(bucket: usize, sum: u32, previous: u32, hasPrevious: bool): void {
  compare(bucket, address(THRESHOLDS) + LIMITS_END_TO_END, KIND_END_TO_END, NONE, sum, previous, hasPrevious);
}

/** Raises the event of a path that differs from the previous one. */
export function raisePath(bucket: usize, length: u32, previousLength: u32): void {
  raise(bucket, KIND_PATH | KIND_END_TO_END, NONE, length, previousLength, 0);
}
