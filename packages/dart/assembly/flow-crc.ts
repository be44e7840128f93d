/**
 * CRC-32 of 13-byte keys, flow keys of IPv4, with four polynomials at once.
 *
 * A CRC is a sum over the bits of a key. A table for every five bits, whose entries have four uses side by side: look-ups
 * wait for nothing but the key. With a table for every byte there would be fewer, but of 52 KiB, more than the first
 * cache has; and what comes from the second waits behind the slots that are being written.
 */

import { COLUMN } from './context';
import { advance1 } from './crc';

export const FLOW_KEY: u32 = 13;
/** Uses of an entry. */
export const LANES: u32 = 4;
/** A key is cut into halves, these into pieces, of which the last one is shorter. */
const HALF_BITS: u32 = 52;
const PIECE_BITS: u32 = 5;
const PIECES: u32 = (HALF_BITS + PIECE_BITS - 1) / PIECE_BITS;
/** An entry has 16 bytes. */
const PIECE_BYTES: usize = 16 << PIECE_BITS;
/** Bytes of the tables of four uses. */
export const FLOW_TABLE_BYTES: usize = 2 * PIECES * PIECE_BYTES;

/** The register that zeros leave behind a register. */
function skip(crc: usize, register: u32, zeros: u32): u32 {
  for (; zeros > 0; zeros--) register = advance1(crc, register, 0);
  return register;
}

/** Makes the entries of one use for a piece of the key: those with one more bit are those without it, and the bit's CRC. */
function makePiece(table: usize, crc: usize, first: u32, end: u32): void {
  for (let piece: u32 = 0; piece < PIECE_BITS; piece++) {
    const bit = first + piece;
    // Bits behind a half are looked up as well, and do not count.
    const added = bit < end ? skip(crc, load<u32>(crc + (<usize>4 << (bit & 7))), FLOW_KEY - 1 - (bit >> 3)) : 0;
    const size = <usize>16 << piece;
    for (let entry: usize = 0; entry < size; entry += 16) {
      store<u32>(table + size + entry, load<u32>(table + entry) ^ added);
    }
  }
}

/**
 * Makes what belongs to one use.
 *
 * @param flow tables of its four uses
 * @param crc tables of its polynomial
 */
export function makeLane(flow: usize, lane: u32, crc: usize): void {
  let table = flow + (<usize>lane << 2);
  // The register starts with ones and is inverted at the end. What this changes is the same for all keys.
  store<u32>(table, ~skip(crc, u32.MAX_VALUE, FLOW_KEY));
  for (let start: u32 = 0; start < 2 * HALF_BITS; start += HALF_BITS) {
    for (let piece: u32 = 0; piece < PIECES; piece++) {
      makePiece(table, crc, start + piece * PIECE_BITS, start + HALF_BITS);
      table += PIECE_BYTES;
    }
  }
}

@inline
function entry(table: usize, word: u64): v128 {
  return v128.load(table + (<usize>word & (PIECE_BYTES - 16)));
}

/**
 * The CRCs of four keys.
 *
 * @param to where the first use's go; those of others are a column further on each
 * @param uses 1 to 4
 */
@inline
export function flowCrcs(flow: usize, a: usize, b: usize, c: usize, d: usize, to: usize, uses: u32): void {
  let ofA = i32x4.splat(0);
  let ofB = ofA;
  let ofC = ofA;
  let ofD = ofA;
  for (let half: u32 = 0; half < 2; half++) {
    const at = <usize>half * 5;
    // A half is in 52 bits of eight bytes, the lower or the upper ones. Its first bit is to be above those of an offset
    // in an entry.
    const turn: u64 = half == 0 ? 4 : 56;
    let wordA = rotl<u64>(load<u64>(a + at), turn);
    let wordB = rotl<u64>(load<u64>(b + at), turn);
    let wordC = rotl<u64>(load<u64>(c + at), turn);
    let wordD = rotl<u64>(load<u64>(d + at), turn);
    for (let piece: u32 = 0; piece < PIECES; piece++) {
      ofA = v128.xor(ofA, entry(flow, wordA));
      ofB = v128.xor(ofB, entry(flow, wordB));
      ofC = v128.xor(ofC, entry(flow, wordC));
      ofD = v128.xor(ofD, entry(flow, wordD));
      wordA >>= PIECE_BITS;
      wordB >>= PIECE_BITS;
      wordC >>= PIECE_BITS;
      wordD >>= PIECE_BITS;
      flow += PIECE_BYTES;
    }
  }
  // Rows become columns.
  const lowerAB = v128.shuffle<u32>(ofA, ofB, 0, 4, 1, 5);
  const lowerCD = v128.shuffle<u32>(ofC, ofD, 0, 4, 1, 5);
  const upperAB = v128.shuffle<u32>(ofA, ofB, 2, 6, 3, 7);
  const upperCD = v128.shuffle<u32>(ofC, ofD, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<u64>(lowerAB, lowerCD, 0, 2));
  if (uses > 1) v128.store(to, v128.shuffle<u64>(lowerAB, lowerCD, 1, 3), COLUMN);
  if (uses > 2) v128.store(to, v128.shuffle<u64>(upperAB, upperCD, 0, 2), 2 * COLUMN);
  if (uses > 3) v128.store(to, v128.shuffle<u64>(upperAB, upperCD, 1, 3), 3 * COLUMN);
}
