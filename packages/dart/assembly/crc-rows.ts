/** The hashes of the family `crc`: a CRC-32 of the key for each use. */

import { address, at, cell, context, copies, KEYS, LENGTHS, OFFSETS, PARAMETERS, places, TABLES } from './context';
import { advance, makeTables, TABLE_BYTES } from './crc';
import { FLOW_KEY, FLOW_TABLE_BYTES, flowCrcs, LANES, makeLane } from './flow-crc';

/** Tables of a use's polynomial. */
@inline
function crcOf(use: u32): usize {
  return address(TABLES) + <usize>use * TABLE_BYTES;
}

/** Tables of four uses for 13-byte keys. One use that is left over has none. */
@inline
function flowOf(use: u32): usize {
  return crcOf(copies + 1) + <usize>(use / LANES) * FLOW_TABLE_BYTES;
}

export function makeAllTables(): void {
  for (let use: u32 = 0; use <= copies; use++) {
    makeTables(crcOf(use), load<u32>(context + (<usize>use << 2), PARAMETERS));
    if (use < copies || use % LANES != 0) makeLane(flowOf(use), use % LANES, crcOf(use));
  }
}

@inline
function keyOf(row: u32): usize {
  return address(KEYS) + <usize>load<u32>(cell(address(OFFSETS), row));
}

@inline
function lengthOf(row: u32): u32 {
  return load<u32>(cell(address(LENGTHS), row));
}

@inline
function hash(use: u32, index: u32, key: usize, length: u32): void {
  store<u32>(at(places, use, index), ~advance(crcOf(use), u32.MAX_VALUE, key, length));
}

@inline
function flowRows(index: u32, a: usize, b: usize, c: usize, d: usize): void {
  let use: u32 = 0;
  for (; use < copies; use += LANES) {
    flowCrcs(flowOf(use), a, b, c, d, at(places, use, index), min<u32>(copies + 1 - use, LANES));
  }
  if (use > copies) return;
  hash(use, index, a, FLOW_KEY);
  hash(use, index + 1, b, FLOW_KEY);
  hash(use, index + 2, c, FLOW_KEY);
  hash(use, index + 3, d, FLOW_KEY);
}

/** Four rows at a time if they are flow keys. Columns have room for rows up to the next multiple of four. */
export function crcRows(from: u32, to: u32): void {
  for (let row = from; row < to; row += 4) {
    const b = min<u32>(row + 1, to - 1);
    const c = min<u32>(row + 2, to - 1);
    const d = min<u32>(row + 3, to - 1);
    const others =
      (lengthOf(row) ^ FLOW_KEY) | (lengthOf(b) ^ FLOW_KEY) | (lengthOf(c) ^ FLOW_KEY) | (lengthOf(d) ^ FLOW_KEY);
    if (others == 0) {
      flowRows(row - from, keyOf(row), keyOf(b), keyOf(c), keyOf(d));
      continue;
    }
    for (let each = row; each <= d; each++) {
      for (let use: u32 = 0; use <= copies; use++) hash(use, each - from, keyOf(each), lengthOf(each));
    }
  }
}
