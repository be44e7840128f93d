/** Detectors that look at the sum over a report's hops, or at nothing. */
import { REPORT_COLUMN } from '@int/codec/internals';
import { EVENT_COLUMN } from '../event-columns.js';
import type { RunningRule } from '../running-rule.js';
import { closeEvents, closeThreshold, type LoopContext } from './context.js';
import { perFlowFirst } from './first-sight.js';
import { doubtOf, sumOf } from './sum.js';

/** noop: always. */
export function noop(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { events } = context;
  const last = to | 0;
  let at = context.count | 0;
  for (let row = from | 0; row < last; row = (row + 1) | 0) {
    events[at] = row;
    at = (at + 1) | 0;
  }
  closeEvents(context, rule, at);
}

/** perFlow: absdiff(S, prev[flow]) > T; prev = S. */
export function perFlow(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  if (rule.marksFirst) {
    perFlowFirst(context, rule, from, to);
    return;
  }
  const { view, words, events } = context;
  const { hops, report, hopCount, cells } = view;
  const { reading } = rule;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const value = (context.eventStride * EVENT_COLUMN.VALUE) | 0;
  const before = (context.eventStride * EVENT_COLUMN.PREVIOUS) | 0;
  const state = rule.state | 0;
  const limit = rule.threshold >>> 0;
  const doubt = doubtOf(reading) | 0;
  const last = to | 0;
  let count = context.count | 0;
  let withoutFlow = 0;
  for (let row = from | 0; row < last; row = (row + 1) | 0) {
    const flow = cells[row]!;
    if (flow < 0) {
      withoutFlow++;
      continue;
    }
    const first = report[(starts + row) | 0]!;
    const sum = sumOf(hops, (values + first) | 0, (pairs + first) | 0, hopCount[row]!, doubt);
    if (sum < 0) continue;
    const cell = (state + flow) | 0;
    const previous = words[cell]!;
    if (Math.abs(sum - (previous >>> 0)) > limit) {
      words[cell] = sum;
      events[count] = row;
      events[(count + value) | 0] = sum;
      events[(count + before) | 0] = previous;
      count = (count + 1) | 0;
    }
  }
  context.withoutFlow += withoutFlow;
  closeThreshold(context, rule, count);
}

/**
 * movingAverage, integer form: acc' = acc + S - (acc >> w), ema = acc' >> w; absdiff(ema, reported) > T. The
 * accumulator has 48 bits, which a float holds exactly.
 */
export function average(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, floats, events } = context;
  const { hops, report, hopCount, cells } = view;
  const { reading } = rule;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const value = (context.eventStride * EVENT_COLUMN.VALUE) | 0;
  const before = (context.eventStride * EVENT_COLUMN.PREVIOUS) | 0;
  const state = rule.state | 0;
  const reported = rule.reported | 0;
  const limit = rule.threshold >>> 0;
  const scale = 1 / (1 << rule.smoothing);
  const doubt = doubtOf(reading) | 0;
  const last = to | 0;
  let count = context.count | 0;
  let withoutFlow = 0;
  for (let row = from | 0; row < last; row = (row + 1) | 0) {
    const flow = cells[row]!;
    if (flow < 0) {
      withoutFlow++;
      continue;
    }
    const first = report[(starts + row) | 0]!;
    const sum = sumOf(hops, (values + first) | 0, (pairs + first) | 0, hopCount[row]!, doubt);
    if (sum < 0) continue;
    const old = floats[(state + flow) | 0]!;
    const accumulator = old + sum - Math.floor(old * scale);
    floats[(state + flow) | 0] = accumulator;
    // More than 32 bits only after w was lowered, while the accumulator still has the old scale.
    const ema = Math.min(Math.floor(accumulator * scale), 0xffffffff);
    const cell = (reported + flow) | 0;
    const previous = words[cell]!;
    if (Math.abs(ema - (previous >>> 0)) > limit) {
      words[cell] = ema;
      events[count] = row;
      events[(count + value) | 0] = ema;
      events[(count + before) | 0] = previous;
      count = (count + 1) | 0;
    }
  }
  context.withoutFlow += withoutFlow;
  closeThreshold(context, rule, count);
}

/** movingAverage, float form: ema' = ema + alpha (S - ema); absdiff(ema, reported) > T. */
export function floatAverage(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, floats, events } = context;
  const { hops, report, hopCount, cells } = view;
  const { reading, smoothing: alpha } = rule;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const value = (context.eventStride * EVENT_COLUMN.VALUE) | 0;
  const before = (context.eventStride * EVENT_COLUMN.PREVIOUS) | 0;
  const state = rule.state | 0;
  const reported = rule.reported | 0;
  const limit = rule.threshold >>> 0;
  const doubt = doubtOf(reading) | 0;
  const last = to | 0;
  let count = context.count | 0;
  let withoutFlow = 0;
  for (let row = from | 0; row < last; row = (row + 1) | 0) {
    const flow = cells[row]!;
    if (flow < 0) {
      withoutFlow++;
      continue;
    }
    const first = report[(starts + row) | 0]!;
    const sum = sumOf(hops, (values + first) | 0, (pairs + first) | 0, hopCount[row]!, doubt);
    if (sum < 0) continue;
    const old = floats[(state + flow) | 0]!;
    const ema = old + alpha * (sum - old);
    floats[(state + flow) | 0] = ema;
    const previous = floats[(reported + flow) | 0]!;
    if (Math.abs(ema - previous) > limit) {
      floats[(reported + flow) | 0] = ema;
      events[count] = row;
      events[(count + value) | 0] = Math.floor(ema);
      events[(count + before) | 0] = Math.floor(previous);
      count = (count + 1) | 0;
    }
  }
  context.withoutFlow += withoutFlow;
  closeThreshold(context, rule, count);
}

/** threshold (endToEnd): S > T. */
export function thresholdEndToEnd(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, events } = context;
  const { hops, report, hopCount } = view;
  const { reading } = rule;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const value = (context.eventStride * EVENT_COLUMN.VALUE) | 0;
  const limit = rule.threshold >>> 0;
  const doubt = doubtOf(reading) | 0;
  const last = to | 0;
  let count = context.count | 0;
  for (let row = from | 0; row < last; row = (row + 1) | 0) {
    const first = report[(starts + row) | 0]!;
    const sum = sumOf(hops, (values + first) | 0, (pairs + first) | 0, hopCount[row]!, doubt);
    // No sum is -1, which is above no threshold.
    if (sum > limit) {
      events[count] = row;
      events[(count + value) | 0] = sum;
      count = (count + 1) | 0;
    }
  }
  closeThreshold(context, rule, count);
}

/** change (endToEnd): absdiff(S, the flow's previous S) > T; none at first sight. A cell: seen, sum. */
export function changeEndToEnd(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, events } = context;
  const { hops, report, hopCount, cells } = view;
  const { reading } = rule;
  const values = (reading.column * view.hopStride) | 0;
  const pairs = (reading.pair * view.hopStride) | 0;
  const starts = (REPORT_COLUMN.HOP_START * view.reportStride) | 0;
  const value = (context.eventStride * EVENT_COLUMN.VALUE) | 0;
  const before = (context.eventStride * EVENT_COLUMN.PREVIOUS) | 0;
  const state = rule.state | 0;
  const limit = rule.threshold >>> 0;
  const doubt = doubtOf(reading) | 0;
  const last = to | 0;
  let count = context.count | 0;
  let withoutFlow = 0;
  for (let row = from | 0; row < last; row = (row + 1) | 0) {
    const flow = cells[row]!;
    if (flow < 0) {
      withoutFlow++;
      continue;
    }
    const first = report[(starts + row) | 0]!;
    const sum = sumOf(hops, (values + first) | 0, (pairs + first) | 0, hopCount[row]!, doubt);
    if (sum < 0) continue;
    const cell = (state + 2 * flow) | 0;
    const previous = words[(cell + 1) | 0]!;
    if (words[cell] !== 0 && Math.abs(sum - (previous >>> 0)) > limit) {
      events[count] = row;
      events[(count + value) | 0] = sum;
      events[(count + before) | 0] = previous;
      count = (count + 1) | 0;
    }
    words[cell] = 1;
    words[(cell + 1) | 0] = sum;
  }
  context.withoutFlow += withoutFlow;
  closeThreshold(context, rule, count);
}
