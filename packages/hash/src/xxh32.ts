import { rangeEnd } from './arguments.js';
import { checkRows, type FlowColumns } from './flow-columns.js';
import { readWord } from './words.js';

/*
 * XXH32, as in the xxHash fast digest algorithm specification 0.2.0, section "XXH32". A lane is four bytes read
 * little-endian: the swapped form of a big-endian word of a key. The primes are written as literals where they are
 * used, because bundlers turn module constants into variables, which V8 does not fold:
 *
 *   P1 = 0x9e3779b1, P2 = 0x85ebca77, P3 = 0xc2b2ae3d, P4 = 0x27d4eb2f, P5 = 0x165667b1
 */

/** Mixes one lane into one of the four accumulators of a 16-byte stripe. */
function round(accumulator: number, lane: number): number {
  const sum = (accumulator + Math.imul(lane, 0x85ebca77)) | 0;
  return Math.imul((sum << 13) | (sum >>> 19), 0x9e3779b1);
}

/**
 * Mixes the lanes of two big-endian words, one from each stripe of a 32-byte key, into one accumulator.
 *
 * Rounds and swaps are written out: an IPv6 key needs four of these, and V8 inlines only a few hundred bytes of
 * bytecode into a function.
 */
function roundWords(seed: number, first: number, second: number): number {
  const lane1 = (((first << 8) | (first >>> 24)) & 0x00ff00ff) | (((first >>> 8) | (first << 24)) & 0xff00ff00);
  const lane2 = (((second << 8) | (second >>> 24)) & 0x00ff00ff) | (((second >>> 8) | (second << 24)) & 0xff00ff00);
  let sum = (seed + Math.imul(lane1, 0x85ebca77)) | 0;
  sum = (Math.imul((sum << 13) | (sum >>> 19), 0x9e3779b1) + Math.imul(lane2, 0x85ebca77)) | 0;
  return Math.imul((sum << 13) | (sum >>> 19), 0x9e3779b1);
}

/** Merges the four accumulators into one hash. */
function converge(accumulator1: number, accumulator2: number, accumulator3: number, accumulator4: number): number {
  return (
    (((accumulator1 << 1) | (accumulator1 >>> 31)) +
      ((accumulator2 << 7) | (accumulator2 >>> 25)) +
      ((accumulator3 << 12) | (accumulator3 >>> 20)) +
      ((accumulator4 << 18) | (accumulator4 >>> 14))) |
    0
  );
}

/** Mixes in a lane after the last whole stripe. */
function mixLane(hash: number, lane: number): number {
  const sum = (hash + Math.imul(lane, 0xc2b2ae3d)) | 0;
  return Math.imul((sum << 17) | (sum >>> 15), 0x27d4eb2f);
}

/** Mixes in a big-endian word after the last whole stripe. */
function mixWord(hash: number, word: number): number {
  const lane = (((word << 8) | (word >>> 24)) & 0x00ff00ff) | (((word >>> 8) | (word << 24)) & 0xff00ff00);
  const sum = (hash + Math.imul(lane, 0xc2b2ae3d)) | 0;
  return Math.imul((sum << 17) | (sum >>> 15), 0x27d4eb2f);
}

/** Mixes in a byte after the last whole lane. */
function mixByte(hash: number, byte: number): number {
  const sum = (hash + Math.imul(byte, 0x165667b1)) | 0;
  return Math.imul((sum << 11) | (sum >>> 21), 0x9e3779b1);
}

/** Makes every bit of the hash depend on every other; the result is unsigned. */
function avalanche(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca77);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae3d);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * Mixes in the last five bytes of a flow key, then finishes the hash: mixLane, mixByte, avalanche. The ports straddle a
 * lane.
 */
function finishFlow(hash: number, protocol: number, ports: number): number {
  const lane = (((ports << 8) | (ports >>> 24)) & 0x00ff00ff) | (((ports >>> 8) | (ports << 24)) & 0xff00ff00);
  let mixed = (hash + Math.imul((lane << 8) | (protocol & 0xff), 0xc2b2ae3d)) | 0;
  mixed = (Math.imul((mixed << 17) | (mixed >>> 15), 0x27d4eb2f) + Math.imul(ports & 0xff, 0x165667b1)) | 0;
  mixed = Math.imul((mixed << 11) | (mixed >>> 21), 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca77);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae3d);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * xxh32 of a run of bytes of any length. For long keys `createVariableLengthHasher` is faster, above a length that
 * depends on the machine. For the fixed-length keys below, the word forms are faster.
 *
 * @param bytes the message, or a buffer that contains it
 * @param offset its first byte; 0 if absent
 * @param length its length in bytes, below 2^32; up to the end of `bytes` if absent
 * @param seed taken modulo 2^32; 0 if absent
 * @returns the hash, unsigned
 * @throws TypeError if `bytes` is not a Uint8Array; RangeError if the range is not inside it
 */
export function xxh32(bytes: Uint8Array, offset = 0, length?: number, seed = 0): number {
  const end = rangeEnd(bytes, offset, length);
  let position = offset;
  let hash = (seed + 0x165667b1) | 0;
  if (end - position >= 16) {
    let accumulator1 = (seed + 0x24234428) | 0; // P1 + P2
    let accumulator2 = (seed + 0x85ebca77) | 0;
    let accumulator3 = seed | 0;
    let accumulator4 = (seed - 0x9e3779b1) | 0;
    for (; end - position >= 16; position += 16) {
      accumulator1 = round(accumulator1, readWord(bytes, position));
      accumulator2 = round(accumulator2, readWord(bytes, position + 4));
      accumulator3 = round(accumulator3, readWord(bytes, position + 8));
      accumulator4 = round(accumulator4, readWord(bytes, position + 12));
    }
    hash = converge(accumulator1, accumulator2, accumulator3, accumulator4);
  }
  hash = (hash + (end - offset)) | 0;
  for (; end - position >= 4; position += 4) {
    hash = mixLane(hash, readWord(bytes, position));
  }
  for (; position < end; position++) {
    hash = mixByte(hash, bytes[position]!);
  }
  return avalanche(hash);
}

/**
 * xxh32 of a 13-byte key: a word, a word, a byte and a word, each word big-endian. `flowXxh32Ipv4` is the same
 * function: with the source address, the destination address, the protocol and the ports (source port in bits 31..16,
 * destination port in bits 15..0) the key is the IPv4 flow key. xxh32 mixes better than a CRC; use it for tables that
 * only the host keeps. Arguments are taken modulo the width of their field.
 *
 * @param word0 bytes 0..3
 * @param word4 bytes 4..7
 * @param byte8 byte 8
 * @param word9 bytes 9..12
 * @param seed taken modulo 2^32; 0 if absent
 * @returns the hash, unsigned; equal to {@link xxh32} of the same 13 bytes
 */
export function xxh32Words13(word0: number, word4: number, byte8: number, word9: number, seed = 0): number {
  const hash = mixWord((seed + 0x165667be) | 0, word0 | 0); // seed + P5 + 13
  return finishFlow(mixWord(hash, word4 | 0), byte8, word9 | 0);
}

/**
 * xxh32 of an IPv6 flow key. Arguments are taken modulo the width of their field.
 *
 * @param source0 bits 127..96 of the source address; `source1` to `source3` follow
 * @param destination0 bits 127..96 of the destination address; `destination1` to `destination3` follow
 * @param protocol IP protocol number
 * @param ports source port in bits 31..16, destination port in bits 15..0
 * @param seed taken modulo 2^32; 0 if absent
 * @returns the hash, unsigned; equal to {@link xxh32} of the 37 bytes that `writeFlowKeyIpv6` writes
 */
export function flowXxh32Ipv6(
  source0: number,
  source1: number,
  source2: number,
  source3: number,
  destination0: number,
  destination1: number,
  destination2: number,
  destination3: number,
  protocol: number,
  ports: number,
  seed = 0,
): number {
  const hash = converge(
    roundWords((seed + 0x24234428) | 0, source0 | 0, destination0 | 0),
    roundWords((seed + 0x85ebca77) | 0, source1 | 0, destination1 | 0),
    roundWords(seed | 0, source2 | 0, destination2 | 0),
    roundWords((seed - 0x9e3779b1) | 0, source3 | 0, destination3 | 0),
  );
  return finishFlow((hash + 37) | 0, protocol, ports | 0);
}

/**
 * xxh32 of the flow keys in a range of rows: `out[i]` becomes the hash of row i, for i from `from` to `to - 1`.
 *
 * @param columns the keys; IPv4 and IPv6 rows may be mixed
 * @param from first row
 * @param to one past the last row
 * @param out receives each result at the index of its row
 * @param seed taken modulo 2^32; 0 if absent
 * @throws RangeError if the rows are not inside the columns and `out`
 */
export function flowXxh32Columns(columns: FlowColumns, from: number, to: number, out: Uint32Array, seed = 0): void {
  checkRows(columns, from, to, out);
  const { source0, source1, source2, source3, destination0, destination1, destination2, destination3 } = columns;
  const { ports, protocol, flags, ipv6Mask } = columns;
  const seed0 = (seed + 0x165667be) | 0; // P5 + 13
  const seed1 = (seed + 0x24234428) | 0; // P1 + P2
  const seed2 = (seed + 0x85ebca77) | 0; // P2
  const seed3 = seed | 0;
  const seed4 = (seed - 0x9e3779b1) | 0; // P1
  // The word forms are written out, for the reason given at roundWords.
  for (let row = from; row < to; row++) {
    let a = source0[row]!;
    let b = destination0[row]!;
    let hash = 0;
    a = (((a << 8) | (a >>> 24)) & 0x00ff00ff) | (((a >>> 8) | (a << 24)) & 0xff00ff00);
    b = (((b << 8) | (b >>> 24)) & 0x00ff00ff) | (((b >>> 8) | (b << 24)) & 0xff00ff00);
    if ((flags[row]! & ipv6Mask) === 0) {
      a = (seed0 + Math.imul(a, 0xc2b2ae3d)) | 0;
      b = (Math.imul((a << 17) | (a >>> 15), 0x27d4eb2f) + Math.imul(b, 0xc2b2ae3d)) | 0;
      hash = Math.imul((b << 17) | (b >>> 15), 0x27d4eb2f);
    } else {
      a = (seed1 + Math.imul(a, 0x85ebca77)) | 0;
      a = (Math.imul((a << 13) | (a >>> 19), 0x9e3779b1) + Math.imul(b, 0x85ebca77)) | 0;
      a = Math.imul((a << 13) | (a >>> 19), 0x9e3779b1);
      hash = (a << 1) | (a >>> 31);
      a = source1[row]!;
      b = destination1[row]!;
      a = (((a << 8) | (a >>> 24)) & 0x00ff00ff) | (((a >>> 8) | (a << 24)) & 0xff00ff00);
      b = (((b << 8) | (b >>> 24)) & 0x00ff00ff) | (((b >>> 8) | (b << 24)) & 0xff00ff00);
      a = (seed2 + Math.imul(a, 0x85ebca77)) | 0;
      a = (Math.imul((a << 13) | (a >>> 19), 0x9e3779b1) + Math.imul(b, 0x85ebca77)) | 0;
      a = Math.imul((a << 13) | (a >>> 19), 0x9e3779b1);
      hash = (hash + ((a << 7) | (a >>> 25))) | 0;
      a = source2[row]!;
      b = destination2[row]!;
      a = (((a << 8) | (a >>> 24)) & 0x00ff00ff) | (((a >>> 8) | (a << 24)) & 0xff00ff00);
      b = (((b << 8) | (b >>> 24)) & 0x00ff00ff) | (((b >>> 8) | (b << 24)) & 0xff00ff00);
      a = (seed3 + Math.imul(a, 0x85ebca77)) | 0;
      a = (Math.imul((a << 13) | (a >>> 19), 0x9e3779b1) + Math.imul(b, 0x85ebca77)) | 0;
      a = Math.imul((a << 13) | (a >>> 19), 0x9e3779b1);
      hash = (hash + ((a << 12) | (a >>> 20))) | 0;
      a = source3[row]!;
      b = destination3[row]!;
      a = (((a << 8) | (a >>> 24)) & 0x00ff00ff) | (((a >>> 8) | (a << 24)) & 0xff00ff00);
      b = (((b << 8) | (b >>> 24)) & 0x00ff00ff) | (((b >>> 8) | (b << 24)) & 0xff00ff00);
      a = (seed4 + Math.imul(a, 0x85ebca77)) | 0;
      a = (Math.imul((a << 13) | (a >>> 19), 0x9e3779b1) + Math.imul(b, 0x85ebca77)) | 0;
      a = Math.imul((a << 13) | (a >>> 19), 0x9e3779b1);
      hash = (hash + ((a << 18) | (a >>> 14)) + 37) | 0;
    }
    out[row] = finishFlow(hash, protocol[row]!, ports[row]! | 0);
  }
}
