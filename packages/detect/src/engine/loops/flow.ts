/** Detectors that look at the sum over a report's hops, or at nothing. */
import { REPORT } from '../batch-view.js';
import type { Reading, RunningRule } from '../running-rule.js';
import { type LoopContext, writeEvent } from './context.js';

/** Largest 32-bit number: where sums saturate. */
const FULL = 0xffffffff;
/** Rows that carry no value have this sum. */
const _NO_SUM = -1;

/** noop: always. */
export function noop(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { events, eventStride } = context;
  let at = context.count;
  for (let row = from; row < to; row++) writeEvent(events, eventStride, at++, row, rule, 0, -1, 0, 0, 0);
  context.survivors += to - from;
  context.count = at;
}

/**
 * The sum of a metric over the hops that carry it, saturating at 2^32 - 1.
 * @returns the sum, or -1 if no hop carries the metric
 */
function sumOf(hops: Int32Array, values: number, pairs: number, reading: Reading, count: number): number {
  const { shift, mask } = reading;
  // Two halves of 16 bits: integer additions only, and no overflow for the 256 hops a report can have.
  let low = 0;
  let high = 0;
  let missing = 0;
  for (let hop = 0; hop < count; hop++) {
    const word = hops[values + hop]!;
    if (word === -1 && hops[pairs + hop] === -1) {
      missing++;
      continue;
    }
    const x = (word >>> shift) & mask;
    low += x & 0xffff;
    high += x >>> 16;
  }
  if (missing === count) return -1;
  const sum = high * 0x10000 + low;
  return Math.min(sum, FULL);
}

/** perFlow: absdiff(S, prev[flow]) > T; prev = S. */
export function perFlow(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount, cells } = view;
  const { reading, state } = rule;
  const values = reading.column * hopStride;
  const pairs = reading.pair * hopStride;
  const starts = REPORT.HOP_START * reportStride;
  const threshold = rule.threshold >>> 0;
  let count = context.count;
  const before = count;
  for (let row = from; row < to; row++) {
    const flow = cells[row]!;
    if (flow < 0) {
      context.withoutFlow++;
      continue;
    }
    const first = report[starts + row]!;
    const sum = sumOf(hops, values + first, pairs + first, reading, hopCount[row]!);
    if (sum === -1) continue;
    const cell = state + flow;
    const previous = words[cell]! >>> 0;
    if (Math.abs(sum - previous) > threshold) {
      words[cell] = sum;
      writeEvent(events, eventStride, count++, row, rule, 0, -1, sum | 0, previous | 0, threshold | 0);
    }
  }
  context.survivors += count - before;
  context.count = count;
}

/**
 * movingAverage, integer form: acc' = acc + S - (acc >> w), ema = acc' >> w; absdiff(ema, reported) > T. The
 * accumulator has 48 bits, which a float holds exactly.
 */
export function average(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, floats, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount, cells } = view;
  const { reading, state, reported } = rule;
  const values = reading.column * hopStride;
  const pairs = reading.pair * hopStride;
  const starts = REPORT.HOP_START * reportStride;
  const threshold = rule.threshold >>> 0;
  const scale = 1 / (1 << rule.weight);
  let count = context.count;
  const before = count;
  for (let row = from; row < to; row++) {
    const flow = cells[row]!;
    if (flow < 0) {
      context.withoutFlow++;
      continue;
    }
    const first = report[starts + row]!;
    const sum = sumOf(hops, values + first, pairs + first, reading, hopCount[row]!);
    if (sum === -1) continue;
    const old = floats[state + flow]!;
    const accumulator = old + sum - Math.floor(old * scale);
    floats[state + flow] = accumulator;
    let ema = Math.floor(accumulator * scale);
    // Only after w was lowered, while the accumulator still has the old scale.
    if (ema > FULL) ema = FULL;
    const cell = reported + flow;
    const previous = words[cell]! >>> 0;
    if (Math.abs(ema - previous) > threshold) {
      words[cell] = ema;
      writeEvent(events, eventStride, count++, row, rule, 0, -1, ema | 0, previous | 0, threshold | 0);
    }
  }
  context.survivors += count - before;
  context.count = count;
}

/** movingAverage, float form: ema' = ema + alpha (S - ema); absdiff(ema, reported) > T. */
export function floatAverage(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, floats, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount, cells } = view;
  const { reading, state, reported, alpha } = rule;
  const values = reading.column * hopStride;
  const pairs = reading.pair * hopStride;
  const starts = REPORT.HOP_START * reportStride;
  const threshold = rule.threshold >>> 0;
  let count = context.count;
  const before = count;
  for (let row = from; row < to; row++) {
    const flow = cells[row]!;
    if (flow < 0) {
      context.withoutFlow++;
      continue;
    }
    const first = report[starts + row]!;
    const sum = sumOf(hops, values + first, pairs + first, reading, hopCount[row]!);
    if (sum === -1) continue;
    const old = floats[state + flow]!;
    const ema = old + alpha * (sum - old);
    floats[state + flow] = ema;
    const previous = floats[reported + flow]!;
    if (Math.abs(ema - previous) > threshold) {
      floats[reported + flow] = ema;
      const told = Math.floor(ema) | 0;
      writeEvent(events, eventStride, count++, row, rule, 0, -1, told, Math.floor(previous) | 0, threshold | 0);
    }
  }
  context.survivors += count - before;
  context.count = count;
}

/** threshold (endToEnd): S > T. */
export function thresholdEndToEnd(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount } = view;
  const { reading } = rule;
  const values = reading.column * hopStride;
  const pairs = reading.pair * hopStride;
  const starts = REPORT.HOP_START * reportStride;
  const threshold = rule.threshold >>> 0;
  let count = context.count;
  const before = count;
  for (let row = from; row < to; row++) {
    const first = report[starts + row]!;
    const sum = sumOf(hops, values + first, pairs + first, reading, hopCount[row]!);
    // No sum is -1, which is above no threshold.
    if (sum > threshold) writeEvent(events, eventStride, count++, row, rule, 0, -1, sum | 0, 0, threshold | 0);
  }
  context.survivors += count - before;
  context.count = count;
}

/** change (endToEnd): absdiff(S, the flow's previous S) > T; none at first sight. A cell: seen, sum. */
export function changeEndToEnd(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount, cells } = view;
  const { reading, state } = rule;
  const values = reading.column * hopStride;
  const pairs = reading.pair * hopStride;
  const starts = REPORT.HOP_START * reportStride;
  const threshold = rule.threshold >>> 0;
  let count = context.count;
  const before = count;
  for (let row = from; row < to; row++) {
    const flow = cells[row]!;
    if (flow < 0) {
      context.withoutFlow++;
      continue;
    }
    const first = report[starts + row]!;
    const sum = sumOf(hops, values + first, pairs + first, reading, hopCount[row]!);
    if (sum === -1) continue;
    const cell = state + 2 * flow;
    const previous = words[cell + 1]! >>> 0;
    if (words[cell] !== 0 && Math.abs(sum - previous) > threshold) {
      writeEvent(events, eventStride, count++, row, rule, 0, -1, sum | 0, previous | 0, threshold | 0);
    }
    words[cell] = 1;
    words[cell + 1] = sum;
  }
  context.survivors += count - before;
  context.count = count;
}
