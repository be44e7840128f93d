/** Flow hashes: CRC-32 as zlib computes it, over 13 or 37 bytes. Registers and tables are byte-swapped, so that the words of
 * the key need no swap. */

import { address, context, NONE, NOT_OK } from './context';
import * as block from './context';

@inline
function swap(x: u32): u32 {
  return (rotl<u32>(x, 8) & 0x00ff00ff) | (rotl<u32>(x, 24) & 0xff00ff00);
}

@inline
function table(tables: usize, slice: u32, byte: u32): u32 {
  return load<u32>(tables + (<usize>slice << 10) + (<usize>(byte & 255) << 2));
}

/** Fills the 13 tables of 1 KiB at TABLES. */
export function init(): void {
  const tables = address(block.TABLES);
  for (let byte: u32 = 0; byte < 256; byte++) {
    let register = byte;
    for (let bit = 0; bit < 8; bit++) register = (register >> 1) ^ ((register & 1) * 0xedb88320);
    store<u32>(tables + (<usize>byte << 2), swap(register));
  }
  for (let entry: usize = 256; entry < 13 * 256; entry++) {
    const register = load<u32>(tables + ((entry - 256) << 2));
    store<u32>(tables + (entry << 2), table(tables, 0, register >> 24) ^ (register << 8));
  }
}

@inline
function advance4(tables: usize, slice: u32, x: u32): u32 {
  return (
    table(tables, slice + 3, x >> 24) ^ table(tables, slice + 2, x >> 16) ^ table(tables, slice + 1, x >> 8) ^ table(tables, slice, x)
  );
}

@inline
function advance12(tables: usize, a: u32, b: u32, c: u32): u32 {
  return advance4(tables, 8, a) ^ advance4(tables, 4, b) ^ advance4(tables, 0, c);
}

@inline
function flowHash(tables: usize, row: usize, stride: usize, bits: u32, protocol: u32): u32 {
  let first = ~load<u32>(row + block.SOURCE * stride);
  let second = load<u32>(row + block.DESTINATION * stride);
  if ((bits & block.FLAG_IPV6) != 0) {
    const head = advance12(tables, first, load<u32>(row + 8 * stride), load<u32>(row + 9 * stride));
    first = advance12(tables, head ^ load<u32>(row + 10 * stride), second, load<u32>(row + 12 * stride)) ^ load<u32>(row + 13 * stride);
    second = load<u32>(row + 14 * stride);
  }
  const ports = load<u32>(row + block.PORTS * stride);
  return swap(~(advance4(tables, 9, first) ^ advance4(tables, 5, second) ^ table(tables, 4, protocol) ^ advance4(tables, 0, ports)));
}

/** The flow hashes of rows. */
export function hashRows(from: u32, to: u32): void {
  const tables = address(block.TABLES);
  const stride = address(block.REPORT_STRIDE);
  const protocol = address(block.PROTOCOL);
  const out = address(block.HASHES);
  for (let row = from; row < to; row++) {
    const at = address(block.REPORT) + (<usize>row << 2);
    const hash = flowHash(tables, at, stride, load<u32>(at + block.FLAGS * stride), load<u8>(protocol + row));
    store<u32>(out + (<usize>row << 2), hash);
  }
}

/**
 * Finds decisions and, if need be, flow cells of rows that one rule decides: as many rows as have room for their
 * events.
 * @param room events there is room for
 * @returns the end of those rows
 */
export function prepare(from: u32, to: u32, room: u32, slot: u32, needsFlow: bool): u32 {
  const tables = address(block.TABLES);
  const stride = address(block.REPORT_STRIDE);
  const protocol = address(block.PROTOCOL);
  const code = address(block.CODE);
  const counts = address(block.HOP_COUNT);
  const decisions = address(block.DECISIONS);
  const cells = address(block.CELLS);
  const length = load<u32>(context + block.FLOW_CELLS);
  const isPower = (length & (length - 1)) == 0;
  let left = <i32>room;
  let others: u32 = 0;
  let row = from;
  // Sixteen rows at a time, as long as all of them are plain.
  if (!needsFlow) {
    const one = i8x16.splat(1);
    for (; row + 16 <= to; row += 16) {
      if (v128.any_true(v128.load(code + row))) break;
      const hops = i16x8.extadd_pairwise_i8x16_u(v128.max<u8>(v128.load(counts + row), one));
      const sums = i32x4.extadd_pairwise_i16x8_u(hops);
      const needed =
        i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1) + i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3);
      if (needed > left) break;
      left -= needed;
    }
  }
  const swift = row;
  for (; row < to; row++) {
    const at = address(block.REPORT) + (<usize>row << 2);
    left -= <i32>max<u32>(load<u8>(counts + row), 1);
    if (left < 0) break;
    const bits = load<u32>(at + block.FLAGS * stride);
    const decision = load<u8>(code + row) == 0 ? slot : NOT_OK;
    others |= decision ^ slot;
    store<u32>(decisions + (<usize>row << 2), decision);
    if (!needsFlow) continue;
    let cell = NONE;
    if ((bits & block.FLAG_FLOW) != 0) {
      const hash = flowHash(tables, at, stride, bits, load<u8>(protocol + row));
      cell = isPower ? hash & (length - 1) : hash % length;
    }
    store<u32>(cells + (<usize>row << 2), cell);
  }
  // If all rows have one decision, only that of the first is read.
  const told = others != 0 ? swift : min(swift, from + 1);
  for (let k = from; k < told; k++) store<u32>(decisions + (<usize>k << 2), slot);
  store<u32>(context + block.UNIFORM, u32(others == 0));
  return row;
}
