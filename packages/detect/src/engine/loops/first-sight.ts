/**
 * perHop and perFlow with exact state: the first value of a switch or flow is compared with nothing. It raises an event only if it is
 * above the threshold by itself, and this event says that it is the first. A cell: the value last told, or the first one; 1.
 */
import { REPORT_COLUMN } from '@int/codec/internals';
import { KIND } from '../event-columns.js';
import type { RunningRule } from '../running-rule.js';
import type { LoopContext } from './context.js';
import { crosses, thresholdAt, writeEvent } from './hop-rare.js';
import { doubtOf, sumOf } from './sum.js';

/** Writes the event of a value, if there is one, and what is remembered. @returns whether there is one */
function meet(
  context: LoopContext,
  rule: RunningRule,
  cell: number,
  row: number,
  hop: number,
  id: number,
  value: number,
  limit: number,
): boolean {
  const { words, events, eventStride } = context;
  const isFirst = words[cell + 1] === 0;
  const previous = words[cell]!;
  const isCrossing = crosses(value, previous, limit >>> 0);
  if (isFirst || isCrossing) words[cell] = value;
  words[cell + 1] = 1;
  if (!isCrossing) return false;
  const at = context.count++;
  writeEvent(events, eventStride, at, row, rule, hop, id, value, previous, limit);
  // The third column is the kind.
  if (isFirst) events[at + 2 * eventStride] = rule.eventKind | KIND.FIRST_SIGHT;
  return true;
}

/** perHop: absdiff(x, prev[switch]) > T; prev = x where it crossed. At first sight x > T; prev = x. */
export function perHopFirst(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { hops, hopStride, report, reportStride, hopCount } = context.view;
  const values = rule.reading.column * hopStride;
  const pairs = rule.reading.pair * hopStride;
  const starts = REPORT_COLUMN.HOP_START * reportStride;
  const isUniform = rule.switchThresholds === null;
  for (let row = from; row < to; row++) {
    const first = report[starts + row]!;
    let hasEvent = false;
    for (let hop = 0; hop < hopCount[row]!; hop++) {
      const x = hops[values + first + hop]!;
      const id = hops[first + hop]!;
      if (id === -1 || (x === -1 && hops[pairs + first + hop] === -1)) continue;
      const cell = rule.state + 2 * context.switchCell(id);
      const limit = isUniform ? rule.threshold : thresholdAt(rule, id);
      if (meet(context, rule, cell, row, hop, id, x, limit)) hasEvent = true;
    }
    if (hasEvent) context.survivors++;
  }
}

/** perFlow: absdiff(S, prev[flow]) > T; prev = S. At first sight S > T; prev = S. */
export function perFlowFirst(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { hops, hopStride, report, reportStride, hopCount, cells } = context.view;
  const { reading, threshold } = rule;
  const starts = REPORT_COLUMN.HOP_START * reportStride;
  const doubt = doubtOf(reading);
  for (let row = from; row < to; row++) {
    const flow = cells[row]!;
    if (flow < 0) {
      context.withoutFlow++;
      continue;
    }
    const first = report[starts + row]!;
    const sum = sumOf(
      hops,
      reading.column * hopStride + first,
      reading.pair * hopStride + first,
      hopCount[row]!,
      doubt,
    );
    if (sum < 0) continue;
    if (meet(context, rule, rule.state + 2 * flow, row, 0, -1, sum, threshold)) context.survivors++;
  }
}
