import type { CrcParameters } from './crc-presets.js';
import { swapBytes } from './words.js';

/*
 * All CRCs use one register order.
 *
 * A reflected CRC takes its next input byte into the low end of its register, an unreflected one into the high end.
 * Here the next byte always enters at the top: the register of a reflected CRC is kept with its four bytes swapped, and
 * a register narrower than 32 bits is shifted up. Then one step serves all CRCs,
 *
 *   register = table[(register >>> 24) ^ byte] ^ (register << 8)
 *
 * and a big-endian word of a key enters with a single exclusive-or, whatever the parameters. CRCs differ only in their
 * tables and in the step from register to result (crc.ts).
 */

/** Number of slices: a 13-byte key takes one table look-up per byte, all independent of each other. */
const SLICES = 13;

/**
 * Reverses the order of the lowest bits of a number.
 *
 * @param value the bits; those at and above `width` must be 0
 * @param width number of bits to reverse, 1..32
 * @returns the reversed bits as a signed 32-bit integer
 */
export function reverseBits(value: number, width: number): number {
  let bits = ((value >>> 1) & 0x55555555) | ((value & 0x55555555) << 1);
  bits = ((bits >>> 2) & 0x33333333) | ((bits & 0x33333333) << 2);
  bits = ((bits >>> 4) & 0x0f0f0f0f) | ((bits & 0x0f0f0f0f) << 4);
  return (swapBytes(bits) >>> (32 - width)) | 0;
}

/**
 * Builds the look-up tables of a CRC. Entry `256 * k + b` is the register after the byte `b` and `k` zero bytes,
 * starting from 0 (slicing: Kounavis and Berry, "A systematic approach to building high performance software-based CRC
 * generators", 2005).
 *
 * @param parameters checked parameters
 * @returns 13 slices of 256 entries, 13,312 bytes
 */
export function buildTables(parameters: CrcParameters): Int32Array {
  const { width, polynomial, reflectIn } = parameters;
  const tables = new Int32Array(SLICES * 256);
  const divisor = reflectIn ? reverseBits(polynomial, width) : polynomial << (32 - width);
  for (let byte = 0; byte < 256; byte++) {
    let register = reflectIn ? byte : byte << 24;
    for (let bit = 0; bit < 8; bit++) {
      if (reflectIn) {
        register = (register & 1) === 0 ? register >>> 1 : (register >>> 1) ^ divisor;
      } else {
        register = register >= 0 ? register << 1 : (register << 1) ^ divisor;
      }
    }
    tables[byte] = reflectIn ? swapBytes(register) : register;
  }
  for (let entry = 256; entry < tables.length; entry++) {
    const register = tables[entry - 256]!;
    tables[entry] = tables[register >>> 24]! ^ (register << 8);
  }
  return tables;
}

/**
 * Advances a register over a run of bytes, eight at a time and then one at a time.
 *
 * @returns the register after byte `end - 1`
 */
export function advanceBytes(
  tables: Int32Array,
  register: number,
  bytes: Uint8Array,
  offset: number,
  end: number,
): number {
  let position = offset;
  for (; end - position >= 8; position += 8) {
    register =
      tables[0x700 + ((register >>> 24) ^ bytes[position]!)]! ^
      tables[0x600 + (((register >>> 16) & 0xff) ^ bytes[position + 1]!)]! ^
      tables[0x500 + (((register >>> 8) & 0xff) ^ bytes[position + 2]!)]! ^
      tables[0x400 + ((register & 0xff) ^ bytes[position + 3]!)]! ^
      tables[0x300 + bytes[position + 4]!]! ^
      tables[0x200 + bytes[position + 5]!]! ^
      tables[0x100 + bytes[position + 6]!]! ^
      tables[bytes[position + 7]!]!;
  }
  for (; position < end; position++) {
    register = tables[(register >>> 24) ^ bytes[position]!]! ^ (register << 8);
  }
  return register;
}

/** Advances a register over one word, which is already combined with it: four look-ups. */
export function advanceWord(tables: Int32Array, word: number): number {
  return (
    tables[0x300 + (word >>> 24)]! ^
    tables[0x200 + ((word >>> 16) & 0xff)]! ^
    tables[0x100 + ((word >>> 8) & 0xff)]! ^
    tables[word & 0xff]!
  );
}

/** Advances a register over three words (12 bytes); the first is already combined with it. */
export function advance12(tables: Int32Array, word0: number, word1: number, word2: number): number {
  return (
    tables[0xb00 + (word0 >>> 24)]! ^
    tables[0xa00 + ((word0 >>> 16) & 0xff)]! ^
    tables[0x900 + ((word0 >>> 8) & 0xff)]! ^
    tables[0x800 + (word0 & 0xff)]! ^
    tables[0x700 + (word1 >>> 24)]! ^
    tables[0x600 + ((word1 >>> 16) & 0xff)]! ^
    tables[0x500 + ((word1 >>> 8) & 0xff)]! ^
    tables[0x400 + (word1 & 0xff)]! ^
    tables[0x300 + (word2 >>> 24)]! ^
    tables[0x200 + ((word2 >>> 16) & 0xff)]! ^
    tables[0x100 + ((word2 >>> 8) & 0xff)]! ^
    tables[word2 & 0xff]!
  );
}

/**
 * Advances a register over a word, a word, a byte and a word (13 bytes); the first is already combined with it.
 */
export function advance13(tables: Int32Array, word0: number, word1: number, byte: number, word2: number): number {
  return (
    tables[0xc00 + (word0 >>> 24)]! ^
    tables[0xb00 + ((word0 >>> 16) & 0xff)]! ^
    tables[0xa00 + ((word0 >>> 8) & 0xff)]! ^
    tables[0x900 + (word0 & 0xff)]! ^
    tables[0x800 + (word1 >>> 24)]! ^
    tables[0x700 + ((word1 >>> 16) & 0xff)]! ^
    tables[0x600 + ((word1 >>> 8) & 0xff)]! ^
    tables[0x500 + (word1 & 0xff)]! ^
    tables[0x400 + (byte & 0xff)]! ^
    tables[0x300 + (word2 >>> 24)]! ^
    tables[0x200 + ((word2 >>> 16) & 0xff)]! ^
    tables[0x100 + ((word2 >>> 8) & 0xff)]! ^
    tables[word2 & 0xff]!
  );
}
