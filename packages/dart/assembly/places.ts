/**
 * Where the keys of a block have their slots, and what these hold if they are theirs.
 *
 * Kept by columns of a word for each row of the block: N of hashes, which become addresses of slots, one of checksums,
 * and N of marks.
 */

import {
  address,
  at,
  cell,
  CHECKSUM_MASK,
  checksumBytes,
  context,
  COLUMN,
  copies,
  KEY_SEED,
  KEYS,
  LENGTHS,
  marks,
  OFFSETS,
  PARAMETERS,
  pageShift,
  places,
  RECIPROCAL,
  SLOT_BYTES,
  SLOTS,
  SLOTS_AT,
  TABLES,
} from './context';
import { crcRows } from './crc-rows';
import { useOf, xxh64, xxh64Of13 } from './xxhash';

@inline
function xxhashRow(row: u32, keys: usize, offsets: usize, lengths: usize, seed: u64): u64 {
  const key = keys + <usize>load<u32>(cell(offsets, row));
  const length = load<u32>(cell(lengths, row));
  return length == 13 ? xxh64Of13(key, seed) : xxh64(key, length, seed);
}

/** Keys one by one, then the uses of four at a time. Columns have room for rows up to the next multiple of four. */
function xxhashRows(from: u32, to: u32): void {
  const keys = address(KEYS);
  const offsets = address(OFFSETS);
  const lengths = address(LENGTHS);
  const seed = <u64>load<u32>(context, KEY_SEED);
  const last = to - 1;
  for (let row = from; row < to; row += 4) {
    const first = i64x2.splat(xxhashRow(row, keys, offsets, lengths, seed));
    const second = xxhashRow(min<u32>(row + 1, last), keys, offsets, lengths, seed);
    const third = i64x2.splat(xxhashRow(min<u32>(row + 2, last), keys, offsets, lengths, seed));
    const fourth = xxhashRow(min<u32>(row + 3, last), keys, offsets, lengths, seed);
    const lower = i64x2.replace_lane(first, 1, second);
    const upper = i64x2.replace_lane(third, 1, fourth);
    const low = v128.shuffle<u32>(lower, upper, 0, 2, 4, 6);
    const high = v128.shuffle<u32>(lower, upper, 1, 3, 5, 7);
    let seeds = context;
    let hashes = at(places, 0, row - from);
    for (let use: u32 = 0; use <= copies; use++) {
      v128.store(hashes, useOf(low, high, v128.load_splat<u32>(seeds, PARAMETERS)));
      seeds += 4;
      hashes += COLUMN;
    }
  }
}

/** The upper halves of four products. */
@inline
function highProducts(a: v128, b: v128): v128 {
  const low = i64x2.extmul_low_i32x4_u(a, b);
  const high = i64x2.extmul_high_i32x4_u(a, b);
  return v128.shuffle<u32>(low, high, 1, 3, 5, 7);
}

/**
 * Hashes become addresses, of slots and of the marks of their pages; those of a copy, four rows at a time.
 *
 * The remainder of a hash is found by multiplications: with c = ceil(2^64 / M), h mod M is the upper half of
 * (c h mod 2^64) M (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019; exact for 32 bits).
 */
@inline
function reduce(use: u32, rows: u32): void {
  const count = v128.load_splat<u32>(context, SLOTS);
  const reciprocalLow = v128.load_splat<u32>(context, RECIPROCAL);
  const reciprocalHigh = v128.load_splat<u32>(context, RECIPROCAL + 4);
  const bytes = v128.load_splat<u32>(context, SLOT_BYTES);
  const base = v128.load_splat<u32>(context, SLOTS_AT);
  let from = at(places, use, 0);
  let mark = at(marks, use, 0);
  const end = from + (<usize>rows << 2);
  for (; from < end; from += 16) {
    const hash = v128.load(from);
    // Both halves of c h: the lower ones, and the upper ones.
    const low = i32x4.mul(reciprocalLow, hash);
    const high = i32x4.add(i32x4.mul(reciprocalHigh, hash), highProducts(reciprocalLow, hash));
    // That times M: the carry from its lower half is found by a sum that wraps.
    const middle = i32x4.mul(high, count);
    const sum = i32x4.add(middle, highProducts(low, count));
    const carry = i32x4.lt_u(sum, middle);
    const slot = i32x4.sub(highProducts(high, count), carry);
    v128.store(from, i32x4.add(i32x4.mul(slot, bytes), base));
    v128.store(mark, i32x4.shl(i32x4.shr_u(slot, pageShift), 2));
    mark += 16;
  }
}

/** Checksum hashes become what slots hold: cut, never 0, in the order of bytes that they have there. */
@inline
function cut(rows: u32): void {
  const mask = v128.load_splat<u32>(context, CHECKSUM_MASK);
  const unused = 32 - 8 * checksumBytes;
  let from = at(places, copies, 0);
  const end = from + (<usize>rows << 2);
  for (; from < end; from += 16) {
    const checksum = v128.and(v128.load(from), mask);
    // A comparison gives ones, which are -1.
    const never0 = i32x4.sub(checksum, i32x4.eq(checksum, i32x4.splat(0)));
    const swapped = v128.shuffle<u8>(never0, never0, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12);
    v128.store(from, i32x4.shr_u(swapped, unused));
  }
}

/** Fills places and marks of the rows of a block. */
export function locate(from: u32, to: u32): void {
  if (address(TABLES) != 0) crcRows(from, to);
  else xxhashRows(from, to);
  for (let use: u32 = 0; use < copies; use++) reduce(use, to - from);
  cut(to - from);
}
