/** Detectors that look at each hop by itself. */
import { REPORT_COLUMN } from '@int/codec/internals';
import { EVENT_COLUMN } from '../event-columns.js';
import type { RunningRule } from '../running-rule.js';
import { closeThreshold, type LoopContext } from './context.js';
import { changeHopRare, crosses, perHopRare, thresholdHopRare } from './hop-rare.js';

/** Whether a rule reads an item of one word and has one threshold, as nearly all rules do. */
function isPlain(rule: RunningRule): boolean {
  const { pair, column } = rule.reading;
  return pair === column && rule.switchThresholds === null;
}

/** From `row` on, the end of the rows whose hop rows lie behind each other, as decoding leaves them. */
function endOfRun(report: Int32Array, starts: number, hopCount: Uint8Array, row: number, to: number): number {
  let next = (report[starts + row]! + hopCount[row]!) | 0;
  let end = row + 1;
  for (; end < to && report[starts + end] === next; end++) next = (next + hopCount[end]!) | 0;
  return end;
}

/** perHop: absdiff(x, prev[switch]) > T; prev = x for the hops that crossed, in path order. */
export function perHop(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  if (!isPlain(rule) || context.switchMask < 0) {
    perHopRare(context, rule, from, to);
    return;
  }
  const { view, words, events } = context;
  const { hops, report, hopCount } = view;
  const found = context.eventStride * EVENT_COLUMN.HOP;
  const before = context.eventStride * EVENT_COLUMN.PREVIOUS;
  const switchMask = context.switchMask | 0;
  const values = (rule.reading.column * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const state = rule.state | 0;
  const limit = rule.threshold >>> 0;
  for (let row = from | 0; row < to; ) {
    const rows = endOfRun(report, starts, hopCount, row, to);
    const end = (report[starts + rows - 1]! + hopCount[rows - 1]!) | 0;
    let count = context.count | 0;
    for (let at = report[starts + row]!; at < end; ) {
      // Four at a time, see the note in context.ts; one by one if one of them crosses, or lacks id or value.
      const next = Math.min(at + 4, end);
      if (
        next - at === 4 &&
        !crosses(hops[(values + at) | 0]!, words[(state + (hops[at]! & switchMask)) | 0]!, limit) &&
        !crosses(hops[(values + at + 1) | 0]!, words[(state + (hops[(at + 1) | 0]! & switchMask)) | 0]!, limit) &&
        !crosses(hops[(values + at + 2) | 0]!, words[(state + (hops[(at + 2) | 0]! & switchMask)) | 0]!, limit) &&
        !crosses(hops[(values + at + 3) | 0]!, words[(state + (hops[(at + 3) | 0]! & switchMask)) | 0]!, limit)
      ) {
        at = next;
        continue;
      }
      for (; at < next; at = (at + 1) | 0) {
        const x = hops[(values + at) | 0]!;
        const id = hops[at]!;
        if (x === -1 || id === -1) continue;
        const cell = (state + (id & switchMask)) | 0;
        const previous = words[cell]!;
        if (crosses(x, previous, limit)) {
          words[cell] = x;
          events[(count + found) | 0] = at;
          events[(count + before) | 0] = previous;
          count = (count + 1) | 0;
        }
      }
    }
    locateHops(context, rule, row, count);
    row = rows;
  }
}

/** threshold (hop): x > T, at each hop. */
export function thresholdHop(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  if (!isPlain(rule)) {
    thresholdHopRare(context, rule, from, to);
    return;
  }
  const { view, events } = context;
  const { hops, report, hopCount } = view;
  const found = context.eventStride * EVENT_COLUMN.HOP;
  const values = (rule.reading.column * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const limit = rule.threshold >>> 0;
  for (let row = from | 0; row < to; ) {
    const rows = endOfRun(report, starts, hopCount, row, to);
    const end = (report[starts + rows - 1]! + hopCount[rows - 1]!) | 0;
    let count = context.count | 0;
    for (let at = report[starts + row]!; at < end; ) {
      const next = Math.min(at + 4, end);
      if (
        next - at === 4 &&
        hops[(values + at) | 0]! >>> 0 <= limit &&
        hops[(values + at + 1) | 0]! >>> 0 <= limit &&
        hops[(values + at + 2) | 0]! >>> 0 <= limit &&
        hops[(values + at + 3) | 0]! >>> 0 <= limit
      ) {
        at = next;
        continue;
      }
      for (; at < next; at = (at + 1) | 0) {
        const word = hops[(values + at) | 0]!;
        if (word >>> 0 > limit && word !== -1) {
          events[(count + found) | 0] = at;
          count = (count + 1) | 0;
        }
      }
    }
    locateHops(context, rule, row, count);
    row = rows;
  }
}

/** Completes the events of a run of reports: so far, `hop` is a row of the hop columns. */
function locateHops(context: LoopContext, rule: RunningRule, first: number, to: number): void {
  if (context.count === to) return;
  const { view, events } = context;
  const { hops, report, hopCount } = view;
  const found = (context.eventStride * EVENT_COLUMN.HOP) | 0;
  const node = (context.eventStride * EVENT_COLUMN.NODE) | 0;
  const value = (context.eventStride * EVENT_COLUMN.VALUE) | 0;
  const values = (rule.reading.column * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  let row = first | 0;
  let start = report[(starts + row) | 0]!;
  let next = (start + hopCount[row]!) | 0;
  let survivors = 0;
  let survivor = -1;
  for (let count = context.count | 0; count < to; count = (count + 1) | 0) {
    const at = events[(count + found) | 0]!;
    while (at >= next) {
      row = (row + 1) | 0;
      start = next;
      next = (next + hopCount[row]!) | 0;
    }
    events[count] = row;
    events[(count + found) | 0] = at - start;
    events[(count + node) | 0] = hops[at]!;
    events[(count + value) | 0] = hops[(values + at) | 0]!;
    if (row !== survivor) survivors = (survivors + 1) | 0;
    survivor = row;
  }
  closeThreshold(context, rule, to, survivors);
}

/**
 * change (hop): absdiff(x, the flow's previous value at that position) > T. No event at first sight, nor where the
 * switch id has changed. A cell: bits of the positions seen; then switch id and value of each position.
 */
export function changeHop(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  if (!isPlain(rule)) {
    changeHopRare(context, rule, from, to);
    return;
  }
  const { view, words, events } = context;
  const { hops, report, hopCount, cells } = view;
  const found = (context.eventStride * EVENT_COLUMN.HOP) | 0;
  const node = (context.eventStride * EVENT_COLUMN.NODE) | 0;
  const value = (context.eventStride * EVENT_COLUMN.VALUE) | 0;
  const before = (context.eventStride * EVENT_COLUMN.PREVIOUS) | 0;
  const positions = context.positions | 0;
  const size = (1 + 2 * positions) | 0;
  const values = (rule.reading.column * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const state = rule.state | 0;
  const limit = rule.threshold >>> 0;
  const last = to | 0;
  let count = context.count | 0;
  let survivors = 0;
  let withoutFlow = 0;
  let beyond = 0;
  for (let row = from | 0; row < last; row++) {
    const flow = cells[row]!;
    if (flow < 0) {
      withoutFlow++;
      continue;
    }
    const all = hopCount[row]!;
    const end = Math.min(all, positions);
    beyond = (beyond + all - end) | 0;
    const first = report[(starts + row) | 0]!;
    const cell = (state + Math.imul(flow, size)) | 0;
    const counted = count;
    let seen = words[cell]!;
    let at = (cell + 1) | 0;
    for (let hop = 0; hop < end; hop = (hop + 1) | 0) {
      const x = hops[(values + first + hop) | 0]!;
      if (x !== -1) {
        const id = hops[(first + hop) | 0]!;
        const previous = words[(at + 1) | 0]!;
        const bit = 1 << hop;
        if (words[at] === id && (seen & bit) !== 0 && crosses(x, previous, limit)) {
          events[count] = row;
          events[(count + found) | 0] = hop;
          events[(count + node) | 0] = id;
          events[(count + value) | 0] = x;
          events[(count + before) | 0] = previous;
          count = (count + 1) | 0;
        }
        seen |= bit;
        words[at] = id;
        words[(at + 1) | 0] = x;
      }
      at = (at + 2) | 0;
    }
    words[cell] = seen;
    if (count !== counted) survivors++;
  }
  context.withoutFlow += withoutFlow;
  context.beyondPositions += beyond;
  closeThreshold(context, rule, count, survivors);
}
