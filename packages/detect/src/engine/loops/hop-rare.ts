/** The loops of `hop.ts` for rules with rare options: thresholds by switch, parts of a word or two words, exact switches. */
import { REPORT_COLUMN } from '@int/codec/internals';
import type { RunningRule } from '../running-rule.js';
import type { LoopContext } from './context.js';
import { perHopFirst } from './first-sight.js';

/** Writes event `at`; all numbers are signed words. */
export function writeEvent(
  events: Int32Array,
  stride: number,
  at: number,
  row: number,
  rule: RunningRule,
  hop: number,
  node: number,
  value: number,
  previous: number,
  threshold: number,
): void {
  // In the order of EVENT. Plain numbers: a lookup in a constant object costs more than the store.
  events[at] = row;
  events[at + stride] = rule.slot;
  events[at + 2 * stride] = rule.eventKind;
  events[at + 3 * stride] = hop;
  events[at + 4 * stride] = node;
  events[at + 5 * stride] = value;
  events[at + 6 * stride] = previous;
  events[at + 7 * stride] = threshold;
}

/** absdiff > limit, of unsigned words given as signed ones: as floats, since the difference has 33 bits. */
export function crosses(value: number, previous: number, limit: number): boolean {
  return Math.abs((value >>> 0) - (previous >>> 0)) > limit;
}

/** The threshold at a switch. */
export function thresholdAt(rule: RunningRule, id: number): number {
  return rule.switchThresholds?.get(id) ?? rule.threshold;
}

/** perHop: absdiff(x, prev[switch]) > T; prev = x for the hops that crossed, in path order. */
export function perHopRare(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  if (rule.marksFirst) {
    perHopFirst(context, rule, from, to);
    return;
  }
  const { view, words, switchMask, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount } = view;
  const values = rule.reading.column * hopStride;
  const pairs = rule.reading.pair * hopStride;
  const starts = REPORT_COLUMN.HOP_START * reportStride;
  const { state } = rule;
  const isUniform = rule.switchThresholds === null;
  const { threshold } = rule;
  let count = context.count;
  let survivors = 0;
  for (let row = from; row < to; row++) {
    const end = hopCount[row]!;
    const first = report[starts + row]!;
    const before = count;
    for (let hop = 0; hop < end; hop++) {
      const x = hops[values + first + hop]!;
      const id = hops[first + hop]!;
      if (id === -1 || (x === -1 && hops[pairs + first + hop] === -1)) continue;
      const cell = state + (switchMask < 0 ? context.switchCell(id) : id & switchMask);
      const previous = words[cell]!;
      const limit = isUniform ? threshold : thresholdAt(rule, id);
      if (crosses(x, previous, limit >>> 0)) {
        words[cell] = x;
        writeEvent(events, eventStride, count++, row, rule, hop, id, x, previous, limit);
      }
    }
    if (count !== before) survivors++;
  }
  context.count = count;
  context.survivors += survivors;
}

/** threshold (hop): x > T, at each hop. */
export function thresholdHopRare(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount } = view;
  const values = rule.reading.column * hopStride;
  const pairs = rule.reading.pair * hopStride;
  const starts = REPORT_COLUMN.HOP_START * reportStride;
  const isUniform = rule.switchThresholds === null;
  const { threshold } = rule;
  let count = context.count;
  let survivors = 0;
  for (let row = from; row < to; row++) {
    const end = hopCount[row]!;
    const first = report[starts + row]!;
    const before = count;
    for (let hop = 0; hop < end; hop++) {
      const x = hops[values + first + hop]!;
      const limit = isUniform ? threshold : thresholdAt(rule, hops[first + hop]!);
      if (x >>> 0 <= limit >>> 0) continue;
      if (x === -1 && hops[pairs + first + hop] === -1) continue;
      writeEvent(events, eventStride, count++, row, rule, hop, hops[first + hop]!, x, 0, limit);
    }
    if (count !== before) survivors++;
  }
  context.count = count;
  context.survivors += survivors;
}

/** change (hop): see `changeHop`. */
export function changeHopRare(context: LoopContext, rule: RunningRule, from: number, to: number): void {
  const { view, words, positions, events, eventStride } = context;
  const { hops, hopStride, report, reportStride, hopCount, cells } = view;
  const values = rule.reading.column * hopStride;
  const pairs = rule.reading.pair * hopStride;
  const starts = REPORT_COLUMN.HOP_START * reportStride;
  const size = 1 + 2 * positions;
  const isUniform = rule.switchThresholds === null;
  const { threshold } = rule;
  let count = context.count;
  let survivors = 0;
  for (let row = from; row < to; row++) {
    const all = hopCount[row]!;
    const flow = cells[row]!;
    if (flow < 0) {
      context.withoutFlow++;
      continue;
    }
    const end = Math.min(all, positions);
    context.beyondPositions += all - end;
    const first = report[starts + row]!;
    const cell = rule.state + flow * size;
    const before = count;
    let seen = words[cell]!;
    for (let hop = 0; hop < end; hop++) {
      const x = hops[values + first + hop]!;
      if (x === -1 && hops[pairs + first + hop] === -1) continue;
      const id = hops[first + hop]!;
      const at = cell + 1 + 2 * hop;
      const previous = words[at + 1]!;
      const bit = 1 << hop;
      if ((seen & bit) !== 0 && words[at] === id) {
        const limit = isUniform ? threshold : thresholdAt(rule, id);
        if (crosses(x, previous, limit >>> 0)) {
          writeEvent(events, eventStride, count++, row, rule, hop, id, x, previous, limit);
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
}
