/** Event records: see ../src/layout.ts. */

import { address, cell, context, field, NONE } from './context';
import * as block from './context';
import * as layout from './layout';

/** Records in the outbox. */
export let eventCount: u32 = 0;

export function setEventCount(count: u32): void {
  eventCount = count;
}

/** Writes an event of the flow of a bucket whose time is that of the report. */
function raise(bucket: usize, kind: u32, node: u32, value: u32, previous: u32, threshold: u32): void {
  const at = address(block.EVENTS) + <usize>eventCount * layout.EVENT_BYTES;
  eventCount++;
  const isExact = field(block.IS_EXACT) != 0;
  const meta = isExact ? load<u32>(bucket, layout.EXACT_META) : load<u32>(bucket, layout.COMPACT_META);
  const family = (meta & layout.META_IPV6) != 0 ? layout.KIND_IPV6 : 0;
  store<u32>(at, kind | family | ((meta & 0xff) << layout.KIND_PROTOCOL_SHIFT));
  store<u32>(at, node, layout.EVENT_NODE);
  store<u32>(at, value, layout.EVENT_VALUE);
  store<u32>(at, previous, layout.EVENT_PREVIOUS);
  store<u32>(at, threshold, layout.EVENT_THRESHOLD);
  if (isExact) {
    store<u64>(at, load<u64>(bucket, layout.EXACT_FIRST - layout.FIRST + layout.LAST), layout.EVENT_TIME);
    store<u32>(at, load<u32>(bucket, layout.EXACT_PORTS), layout.EVENT_PORTS);
    v128.store(at, v128.load(bucket), layout.EVENT_SOURCE);
    v128.store(at, v128.load(bucket, layout.EXACT_DESTINATION), layout.EVENT_DESTINATION);
  } else {
    store<u64>(at, load<u64>(bucket, layout.COMPACT_FIRST - layout.FIRST + layout.LAST), layout.EVENT_TIME);
    store<u32>(at, load<u32>(bucket, layout.COMPACT_PORTS), layout.EVENT_PORTS);
    v128.store(at, v128.load_zero<u32>(bucket), layout.EVENT_SOURCE);
    v128.store(at, v128.load_zero<u32>(bucket, 4), layout.EVENT_DESTINATION);
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
  let kind: u32 = value > level ? layout.KIND_LEVEL : 0;
  if (hasPrevious && max(value, previous) - min(value, previous) > change) kind |= layout.KIND_CHANGE;
  if (kind != 0) raise(bucket, kind | place, node, value, previous, (kind & layout.KIND_LEVEL) != 0 ? level : change);
}

/**
 * Raises the events of the hops of a report that was just added to its bucket. A new flow has no previous values.
 * @param first where the report is in the hop columns
 */
export function raiseHops(bucket: usize, first: usize, kept: u32): void {
  const isExact = field(block.IS_EXACT) != 0;
  const metrics = field(block.METRICS);
  const hopStride = address(block.HOP_STRIDE);
  const limits = address(block.THRESHOLDS);
  let hop = bucket + (isExact ? layout.EXACT_HOPS : layout.COMPACT_HOPS);
  let saved = context + block.PREVIOUS;
  for (let index: u32 = 0; index < kept; index++) {
    const at = first + (<usize>index << 2);
    const lasts = hop + (isExact ? 4 : 8);
    for (let metric: u32 = 0; metric < metrics; metric++) {
      const entry = context + block.METRIC + (<usize>metric << 3);
      const columns = load<u64>(entry);
      const isMissing = (load<u32>(<usize>columns + at) & load<u32>(<usize>(columns >> 32) + at)) == NONE;
      if (isMissing) continue;
      const place = (metric << layout.KIND_METRIC_SHIFT) | (index << layout.KIND_HOP_SHIFT);
      const previous = load<u32>(cell(saved, metric));
      const value = load<u32>(cell(lasts, metric));
      compare(bucket, limits + (<usize>metric << 3), place, load<u32>(hop), value, previous, previous != NONE);
    }
    saved += block.PREVIOUS_BYTES;
    hop += hopStride;
  }
}

/** Raises the event of the end-to-end latency, if it is one. */
export function raiseEndToEnd(bucket: usize, sum: u32, previous: u32, hasPrevious: bool): void {
  compare(bucket, address(block.THRESHOLDS) + layout.LIMITS_END_TO_END, layout.KIND_END_TO_END, NONE, sum, previous, hasPrevious);
}

/** Raises the event of a path that differs from the previous one. */
export function raisePath(bucket: usize, length: u32, previousLength: u32): void {
  raise(bucket, layout.KIND_PATH | layout.KIND_END_TO_END, NONE, length, previousLength, 0);
}
