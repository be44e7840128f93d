/** Detectors that look at each hop by itself. */

import { address, close, column, context, difference, hopEvent, NONE, values, withoutFlow, word } from './context';
import * as block from './context';

export function perHop(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32, state: u32): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const items = values(metric);
  // From an item to the switch id of its hop.
  const nodes = values(0) - items;
  const previous = address(block.STATE) + (<usize>state << 2);
  const switchMask = load<u32>(context + block.SWITCH_MASK);
  let count = load<u32>(context + block.COUNT);
  let survivors: u32 = 0;
  for (let row = from; row < to; row++) {
    const first = items + (<usize>word(starts, row) << 2);
    const end = first + (<usize>load<u8>(counts + row) << 2);
    const before = count;
    for (let at = first; at < end; at += 4) {
      const item = load<u32>(at);
      const id = load<u32>(at + nodes);
      if (item == NONE || id == NONE) continue;
      const cell = previous + (<usize>(id & switchMask) << 2);
      const p = load<u32>(cell);
      if (difference(item, p) > threshold) {
        store<u32>(cell, item);
        hopEvent(count++, row, slot, kind, <u32>(at - first) >> 2, id, item, p, threshold);
      }
    }
    survivors += u32(count != before);
  }
  close(count, survivors);
}

/** Whether the hop rows of consecutive reports lie behind one another, as decoding leaves them. */
function isContiguous(starts: usize, counts: usize, from: u32, to: u32): bool {
  let wrong: u32 = 0;
  for (let row = from; row + 1 < to; row++) {
    wrong |= word(starts, row + 1) ^ (word(starts, row) + <u32>load<u8>(counts + row));
  }
  return wrong == 0;
}

export function thresholdHop(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const items = values(metric);
  // From an item to the switch id of its hop.
  const nodes = values(0) - items;
  let count = load<u32>(context + block.COUNT);
  let survivors: u32 = 0;
  if (from == to) return;
  if (!isContiguous(starts, counts, from, to)) {
    for (let row = from; row < to; row++) {
      const first = items + (<usize>word(starts, row) << 2);
      const end = first + (<usize>load<u8>(counts + row) << 2);
      const before = count;
      for (let at = first; at < end; at += 4) {
        const item = load<u32>(at);
        if (item <= threshold || item == NONE) continue;
        hopEvent(count++, row, slot, kind, <u32>(at - first) >> 2, load<u32>(at + nodes), item, 0, threshold);
      }
      survivors += u32(count != before);
    }
    close(count, survivors);
    return;
  }
  const limits = i32x4.splat(threshold);
  // The loop takes the values as one array, and looks for the report only of those above the threshold.
  let row = from;
  let first = items + (<usize>word(starts, row) << 2);
  let end = first + (<usize>load<u8>(counts + row) << 2);
  const last = items + (<usize>word(starts, to - 1) << 2) + (<usize>load<u8>(counts + to - 1) << 2);
  let told: u32 = NONE;
  let at = first;
  while (at < last) {
    let stop = at + 16;
    if (stop > last) stop = last;
    else if (!v128.any_true(v128.gt<u32>(v128.load(at), limits))) {
      at = stop;
      continue;
    }
    for (; at < stop; at += 4) {
      const item = load<u32>(at);
      if (item <= threshold || item == NONE) continue;
      while (at >= end) {
        row++;
        first = items + (<usize>word(starts, row) << 2);
        end = first + (<usize>load<u8>(counts + row) << 2);
      }
      hopEvent(count++, row, slot, kind, <u32>(at - first) >> 2, load<u32>(at + nodes), item, 0, threshold);
      survivors += u32(row != told);
      told = row;
    }
  }
  close(count, survivors);
}

export function changeHop(from: u32, to: u32, slot: u32, kind: u32, metric: u32, threshold: u32, state: u32): void {
  const starts = column(block.HOP_START);
  const counts = address(block.HOP_COUNT);
  const cells = address(block.CELLS);
  const items = values(metric);
  // From an item to the switch id of its hop.
  const nodes = values(0) - items;
  const positions = load<u32>(context + block.POSITIONS);
  const size = (1 + 2 * <usize>positions) << 2;
  const base = address(block.STATE) + (<usize>state << 2);
  let count = load<u32>(context + block.COUNT);
  let survivors: u32 = 0;
  let beyond: u32 = 0;
  for (let row = from; row < to; row++) {
    const flow = word(cells, row);
    if (flow == NONE) {
      withoutFlow();
      continue;
    }
    const first = items + (<usize>word(starts, row) << 2);
    const all = <u32>load<u8>(counts + row);
    const hops = min(all, positions);
    beyond += all - hops;
    const cell = base + <usize>flow * size;
    const before = count;
    let seen = load<u32>(cell);
    let bit: u32 = 1;
    let at = cell + 4;
    for (let hop: u32 = 0; hop < hops; hop++, at += 8, bit <<= 1) {
      const item = load<u32>(first + (<usize>hop << 2));
      if (item == NONE) continue;
      const id = load<u32>(first + nodes + (<usize>hop << 2));
      const p = load<u32>(at, 4);
      if (difference(item, p) > threshold && (seen & bit) != 0 && load<u32>(at) == id) {
        hopEvent(count++, row, slot, kind, hop, id, item, p, threshold);
      }
      seen |= bit;
      store<u64>(at, <u64>id | (<u64>item << 32));
    }
    store<u32>(cell, seen);
    survivors += u32(count != before);
  }
  store<u32>(context + block.BEYOND_POSITIONS, load<u32>(context + block.BEYOND_POSITIONS) + beyond);
  close(count, survivors);
}
