import { checkWordPair, rangeEnd } from './arguments.js';
import { readWord } from './words.js';
import { avalanche, mergeAccumulator, mixByte, mixLane, mixStripeLane, mixWord, start } from './xxh64-parts.js';

/*
 * XXH64 of any length, without BigInt inside. The forms for keys of fixed length are in xxh64-words.ts, the steps in
 * xxh64-parts.ts. Between steps the hash and the four accumulators rest in the two arrays below, low word before high
 * word. `| 0` precedes each word that is passed on: V8 boxes an unsigned word above 2^31 - 1 when it does not inline
 * the call.
 */
const hash = /* @__PURE__ */ new Uint32Array(2);
const accumulators = /* @__PURE__ */ new Uint32Array(8);

/** Sets words[index] and words[index + 1] to the sum of two 64-bit numbers. */
function setSum(words: Uint32Array, index: number, low1: number, high1: number, low2: number, high2: number): void {
  const low = (low1 + low2) >>> 0;
  words[index] = low;
  words[index + 1] = (high1 + high2 + (low < low2 >>> 0 ? 1 : 0)) | 0;
}

/** Adds rotate(accumulator, distance) to the hash. */
function addAccumulator(index: number, distance: number): void {
  const low = accumulators[index]!;
  const high = accumulators[index + 1]!;
  const turnedLow = (low << distance) | (high >>> (32 - distance));
  const turnedHigh = (high << distance) | (low >>> (32 - distance));
  setSum(hash, 0, hash[0]! | 0, hash[1]! | 0, turnedLow, turnedHigh);
}

/** Mixes the whole stripes of a message, 32 bytes each, at least one. Returns the offset after the last stripe. */
function mixStripes(bytes: Uint8Array, offset: number, end: number, seedLow: number, seedHigh: number): number {
  setSum(accumulators, 0, seedLow, seedHigh, 0xadc0b5d6, 0x60ea27ee); // P1 + P2
  setSum(accumulators, 2, seedLow, seedHigh, 0x27d4eb4f, 0xc2b2ae3d); // P2
  setSum(accumulators, 4, seedLow, seedHigh, 0, 0);
  setSum(accumulators, 6, seedLow, seedHigh, 0x7a143579, 0x61c8864e); // -P1
  let position = offset;
  for (; end - position >= 32; position += 32) {
    for (let index = 0; index < 8; index += 2) {
      mixStripeLane(
        accumulators,
        index,
        readWord(bytes, position + 4 * index),
        readWord(bytes, position + 4 * index + 4),
      );
    }
  }
  hash[0] = 0;
  hash[1] = 0;
  addAccumulator(0, 1);
  addAccumulator(2, 7);
  addAccumulator(4, 12);
  addAccumulator(6, 18);
  for (let index = 0; index < 8; index += 2) {
    mergeAccumulator(hash, accumulators[index]! | 0, accumulators[index + 1]! | 0);
  }
  setSum(hash, 0, hash[0]! | 0, hash[1]! | 0, end - offset, 0);
  return position;
}

/**
 * xxh64 of a run of bytes of any length, as two 32-bit words and without BigInt. For long or variable-length keys
 * `createVariableLengthHasher` is faster. For fixed-length keys `xxh64Words13Into` and its siblings are faster.
 *
 * @param out receives the hash: its low word in element 0, its high word in element 1
 * @param bytes the message, or a buffer that contains it
 * @param offset its first byte; 0 if absent
 * @param length its length in bytes, below 2^32; up to the end of `bytes` if absent
 * @param seedLow bits 31..0 of the seed; 0 if absent
 * @param seedHigh bits 63..32 of the seed; 0 if absent
 * @throws TypeError if `out` is not a Uint32Array or `bytes` not a Uint8Array; RangeError if `out` has fewer than two
 *   elements or the range is not inside `bytes`
 */
export function xxh64Into(
  out: Uint32Array,
  bytes: Uint8Array,
  offset = 0,
  length?: number,
  seedLow = 0,
  seedHigh = 0,
): void {
  checkWordPair(out);
  const end = rangeEnd(bytes, offset, length);
  let position = offset;
  if (end - offset >= 32) {
    position = mixStripes(bytes, offset, end, seedLow | 0, seedHigh | 0);
  } else {
    start(hash, end - offset, seedLow, seedHigh);
  }
  for (; end - position >= 8; position += 8) {
    mixLane(hash, readWord(bytes, position), readWord(bytes, position + 4));
  }
  if (end - position >= 4) {
    mixWord(hash, readWord(bytes, position));
    position += 4;
  }
  for (; position < end; position++) {
    mixByte(hash, bytes[position]!);
  }
  avalanche(hash);
  // `out` may overlap `bytes`, so it is written last.
  out[0] = hash[0]!;
  out[1] = hash[1]!;
}

/**
 * xxh64 of a run of bytes of any length as a BigInt. It is slower than {@link xxh64Into}; do not call it per packet.
 *
 * @param bytes the message, or a buffer that contains it
 * @param offset its first byte; 0 if absent
 * @param length its length in bytes, below 2^32; up to the end of `bytes` if absent
 * @param seed taken modulo 2^64; 0 if absent
 * @returns the hash, 0..2^64 - 1
 * @throws TypeError if `bytes` is not a Uint8Array; RangeError if the range is not inside it
 */
export function xxh64(bytes: Uint8Array, offset = 0, length?: number, seed = 0n): bigint {
  const words = new Uint32Array(2);
  const seedLow = Number(BigInt.asUintN(32, seed));
  const seedHigh = Number(BigInt.asUintN(32, seed >> 32n));
  xxh64Into(words, bytes, offset, length, seedLow, seedHigh);
  return (BigInt(words[1]!) << 32n) | BigInt(words[0]!);
}
