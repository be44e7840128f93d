/** Detectors that look at the sum over a report's hops, or at nothing. */

import { address, bareEvent, close, column, context, difference, flowEvent, NO_SUM, NONE, values, withoutFlow, word } from './context';
import * as block from './context';

export function noop(from: u32, to: u32, slot: u32, kind: u32): void {
  let count = load<u32>(context + block.COUNT);
  for (let row = from; row < to; row++) bareEvent(count++, row, slot, kind);
  close(count, to - from);
}

/** Saturating sum, or NO_SUM. */
@inline
function sum(items: usize, first: u32, hops: u32): u64 {
  let total: u64 = 0;
  let carried: u32 = 0;
  let at = items + (<usize>first << 2);
  const end = at + (<usize>hops << 2);
  for (; at < end; at += 4) {
    const item = load<u32>(at);
    if (item == NONE) continue;
    total += <u64>item;
    carried++;
  }
  return carried == 0 ? NO_SUM : min<u64>(total, 0xffffffff);
}

export function perFlow(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32, state: u32): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const cells = address(block.CELLS);
  const items = values(metric);
  const base = address(block.STATE) + (<usize>state << 2);
  const begin = load<u32>(context + block.COUNT);
  let count = begin;
  for (let row = from; row < to; row++) {
    const flow = word(cells, row);
    if (flow == NONE) {
      withoutFlow();
      continue;
    }
    const total = sum(items, word(starts, row), <u32>load<u8>(counts + row));
    if (total == NO_SUM) continue;
    const x = <u32>total;
    const cell = base + (<usize>flow << 2);
    const p = load<u32>(cell);
    if (difference(x, p) > threshold) {
      store<u32>(cell, x);
      flowEvent(count++, row, slot, kind, x, p, threshold);
    }
  }
  close(count, count - begin);
}

export function average(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32, state: u32, reported: u32, weight: u32): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const cells = address(block.CELLS);
  const items = values(metric);
  const base = address(block.STATE) + (<usize>state << 3);
  const told = address(block.STATE) + (<usize>reported << 2);
  const begin = load<u32>(context + block.COUNT);
  let count = begin;
  for (let row = from; row < to; row++) {
    const flow = word(cells, row);
    if (flow == NONE) {
      withoutFlow();
      continue;
    }
    const total = sum(items, word(starts, row), <u32>load<u8>(counts + row));
    if (total == NO_SUM) continue;
    // A float holds the 48 bits exactly, and is what TypeScript keeps.
    const at = base + (<usize>flow << 3);
    let accumulator = <u64>load<f64>(at);
    accumulator += total - (accumulator >> weight);
    store<f64>(at, <f64>accumulator);
    const x = <u32>min<u64>(accumulator >> weight, 0xffffffff);
    const cell = told + (<usize>flow << 2);
    const p = load<u32>(cell);
    if (difference(x, p) > threshold) {
      store<u32>(cell, x);
      flowEvent(count++, row, slot, kind, x, p, threshold);
    }
  }
  close(count, count - begin);
}

export function floatAverage(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32, state: u32, reported: u32, alpha: f64): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const cells = address(block.CELLS);
  const items = values(metric);
  const base = address(block.STATE) + (<usize>state << 3);
  const told = address(block.STATE) + (<usize>reported << 3);
  const limit = <f64>threshold;
  const begin = load<u32>(context + block.COUNT);
  let count = begin;
  for (let row = from; row < to; row++) {
    const flow = word(cells, row);
    if (flow == NONE) {
      withoutFlow();
      continue;
    }
    const total = sum(items, word(starts, row), <u32>load<u8>(counts + row));
    if (total == NO_SUM) continue;
    const at = base + (<usize>flow << 3);
    const old = load<f64>(at);
    const x = old + alpha * (<f64>total - old);
    store<f64>(at, x);
    const cell = told + (<usize>flow << 3);
    const p = load<f64>(cell);
    if (abs(x - p) > limit) {
      store<f64>(cell, x);
      flowEvent(count++, row, slot, kind, <u32>x, <u32>p, threshold);
    }
  }
  close(count, count - begin);
}

export function thresholdEndToEnd(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const items = values(metric);
  const begin = load<u32>(context + block.COUNT);
  let count = begin;
  for (let row = from; row < to; row++) {
    const total = sum(items, word(starts, row), <u32>load<u8>(counts + row));
    if (total == NO_SUM || <u32>total <= threshold) continue;
    flowEvent(count++, row, slot, kind, <u32>total, 0, threshold);
  }
  close(count, count - begin);
}

export function changeEndToEnd(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32, state: u32): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const cells = address(block.CELLS);
  const items = values(metric);
  const base = address(block.STATE) + (<usize>state << 2);
  const begin = load<u32>(context + block.COUNT);
  let count = begin;
  for (let row = from; row < to; row++) {
    const flow = word(cells, row);
    if (flow == NONE) {
      withoutFlow();
      continue;
    }
    const total = sum(items, word(starts, row), <u32>load<u8>(counts + row));
    if (total == NO_SUM) continue;
    const x = <u32>total;
    const cell = base + (<usize>flow << 3);
    const p = load<u32>(cell, 4);
    if (load<u32>(cell) != 0 && difference(x, p) > threshold) flowEvent(count++, row, slot, kind, x, p, threshold);
    store<u32>(cell, 1);
    store<u32>(cell, x, 4);
  }
  close(count, count - begin);
}
