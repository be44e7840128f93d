/** Detectors that look at each hop by itself. */
import { REPORT } from '../batch-view.js';
import { EVENT } from '../event-batch.js';
import type { RunningRule } from '../running-rule.js';
import type { LoopContext } from './context.js';
import { changeHopRare, perHopRare, thresholdHopRare } from './hop-rare.js';

/** Whether a rule reads whole words from bit 0 on and has one threshold: nearly all rules do. */
function isPlain(rule: RunningRule): boolean {
  const { pair, column, shift } = rule.reading;
  return pair === column && shift === 0 && rule.switchThresholds === null;
}

/** The end of the rows, from `row` on, whose hop rows lie one behind the other, as decoding leaves them. */
function endOfRun(report: Int32Array, starts: number, hopCount: Uint8Array, row: number, to: number): number {
  let next = (report[starts + row]! + hopCount[row]!) | 0;
  let end = row + 1;
  for (; end < to && report[starts + end] === next; end++) next = (next + hopCount[end]!) | 0;
  return end;
}

/** absdiff > limit, of unsigned words given as signed ones: as floats, since the difference has 33 bits. */
function crosses(value: number, previous: number, limit: number): boolean {
  return Math.abs((value >>> 0) - (previous >>> 0)) > limit;
}

/** perHop: absdiff(x, prev[switch]) > T; prev = x for the hops that crossed, in path order. */
export function perHop(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  if (!isPlain(rule) || context.switchMask < 0) {
    perHopRare(context, rule, from, to);
    return;
  }
  const { view, words, events } = context;
  const { hops, report, hopCount } = view;
  const found = context.eventStride * EVENT.HOP;
  const before = context.eventStride * EVENT.PREVIOUS;
  const switchMask = context.switchMask | 0;
  const mask = rule.reading.mask | 0;
  const values = (rule.reading.column * view.hopStride) | 0;
  const starts = (REPORT.HOP_START * view.reportStride) | 0;
  const state = rule.state | 0;
  const limit = rule.threshold >>> 0;
  for (let row = from | 0; row < to; ) {
    const rows = endOfRun(report, starts, hopCount, row, to);
    const end = (report[starts + rows - 1]! + hopCount[rows - 1]!) | 0;
    let count = context.count | 0;
    for (let at = report[starts + row]!; at < end; at = (at + 1) | 0) {
      // Four at a time: V8 looks at the arrays anew in each turn of a loop.
      while (
        at + 4 <= end &&
        !crosses(hops[(values + at) | 0]! & mask, words[(state + (hops[at]! & switchMask)) | 0]!, limit) &&
        !crosses(
          hops[(values + at + 1) | 0]! & mask,
          words[(state + (hops[(at + 1) | 0]! & switchMask)) | 0]!,
          limit,
        ) &&
        !crosses(
          hops[(values + at + 2) | 0]! & mask,
          words[(state + (hops[(at + 2) | 0]! & switchMask)) | 0]!,
          limit,
        ) &&
        !crosses(hops[(values + at + 3) | 0]! & mask, words[(state + (hops[(at + 3) | 0]! & switchMask)) | 0]!, limit)
      ) {
        at = (at + 4) | 0;
      }
      if (at >= end) break;
      const word = hops[(values + at) | 0]!;
      const id = hops[at]!;
      const x = word & mask;
      const cell = (state + (id & switchMask)) | 0;
      const previous = words[cell]!;
      // Whether the hop has a value and an id is asked last: most have, and few cross.
      if (crosses(x, previous, limit) && word !== -1 && id !== -1) {
        words[cell] = x;
        events[(count + found) | 0] = at;
        events[(count + before) | 0] = previous;
        count = (count + 1) | 0;
      }
    }
    writeHops(context, rule, row, count);
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
  const found = context.eventStride * EVENT.HOP;
  const mask = rule.reading.mask | 0;
  const values = (rule.reading.column * view.hopStride) | 0;
  const starts = (REPORT.HOP_START * view.reportStride) | 0;
  const limit = rule.threshold >>> 0;
  for (let row = from | 0; row < to; ) {
    const rows = endOfRun(report, starts, hopCount, row, to);
    const end = (report[starts + rows - 1]! + hopCount[rows - 1]!) | 0;
    let count = context.count | 0;
    for (let at = report[starts + row]!; at < end; at = (at + 1) | 0) {
      // Four at a time: V8 looks at the array anew in each turn of a loop.
      while (
        at + 4 <= end &&
        (hops[(values + at) | 0]! & mask) >>> 0 <= limit &&
        (hops[(values + at + 1) | 0]! & mask) >>> 0 <= limit &&
        (hops[(values + at + 2) | 0]! & mask) >>> 0 <= limit &&
        (hops[(values + at + 3) | 0]! & mask) >>> 0 <= limit
      ) {
        at = (at + 4) | 0;
      }
      if (at >= end) break;
      const word = hops[(values + at) | 0]!;
      if ((word & mask) >>> 0 > limit && word !== -1) {
        events[(count + found) | 0] = at;
        count = (count + 1) | 0;
      }
    }
    writeHops(context, rule, row, count);
    row = rows;
  }
}

/**
 * Completes the events of a run of reports: their `hop` is the hop row as yet, and `previous` is written.
 * @param from the first report of the run
 */
function writeHops(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  if (context.count === to) return;
  const { view, events, eventStride } = context;
  const { hops, report, hopCount } = view;
  const { mask } = rule.reading;
  const values = rule.reading.column * view.hopStride;
  const starts = REPORT.HOP_START * view.reportStride;
  let row = from;
  let survivor = -1;
  for (let count = context.count; count < to; count++) {
    const at = events[count + eventStride * EVENT.HOP]!;
    while (at >= report[starts + row]! + hopCount[row]!) row++;
    events[count] = row;
    events[count + eventStride] = rule.slot;
    events[count + eventStride * EVENT.KIND] = rule.eventKind;
    events[count + eventStride * EVENT.HOP] = at - report[starts + row]!;
    events[count + eventStride * EVENT.NODE] = hops[at]!;
    events[count + eventStride * EVENT.VALUE] = hops[values + at]! & mask;
    events[count + eventStride * EVENT.THRESHOLD] = rule.threshold;
    if (row !== survivor) context.survivors++;
    survivor = row;
  }
  context.count = to;
}

/**
 * change (hop): absdiff(x, the flow's previous value at that position) > T; none at first sight, nor where the switch
 * id has changed. A cell: bits of the positions seen; then, for each position, switch id and value.
 */
export function changeHop(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  if (!isPlain(rule)) {
    changeHopRare(context, rule, from, to);
    return;
  }
  const { view, words, events } = context;
  const { hops, report, hopCount, cells } = view;
  const stride = context.eventStride | 0;
  const positions = context.positions | 0;
  const size = (1 + 2 * positions) | 0;
  const mask = rule.reading.mask | 0;
  const values = (rule.reading.column * view.hopStride) | 0;
  const starts = (REPORT.HOP_START * view.reportStride) | 0;
  const state = rule.state | 0;
  const slot = rule.slot | 0;
  const kind = rule.eventKind | 0;
  const threshold = rule.threshold | 0;
  const limit = threshold >>> 0;
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
    const end = all > positions ? positions : all;
    beyond = (beyond + all - end) | 0;
    const first = report[starts + row]!;
    const cell = (state + Math.imul(flow, size)) | 0;
    const before = count;
    let seen = words[cell]!;
    for (let hop = 0; hop < end; hop++) {
      const word = hops[(values + first + hop) | 0]!;
      if (word === -1) continue;
      const id = hops[(first + hop) | 0]!;
      const x = word & mask;
      const at = (cell + 1 + 2 * hop) | 0;
      const previous = words[at + 1]!;
      const bit = 1 << hop;
      if ((seen & bit) !== 0 && words[at] === id) {
        if (Math.abs((x >>> 0) - (previous >>> 0)) > limit) {
          events[count] = row;
          events[count + stride] = slot;
          events[count + 2 * stride] = kind;
          events[count + 3 * stride] = hop;
          events[count + 4 * stride] = id;
          events[count + 5 * stride] = x;
          events[count + 6 * stride] = previous;
          events[count + 7 * stride] = threshold;
          count++;
        }
      }
      seen |= bit;
      words[at] = id;
      words[at + 1] = x;
    }
    words[cell] = seen;
    if (count !== before) survivors++;
  }
  context.count = count;
  context.survivors += survivors;
  context.withoutFlow += withoutFlow;
  context.beyondPositions += beyond;
}
