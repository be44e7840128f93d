import { checkWordPair } from './arguments.js';
import { swapBytes } from './words.js';
import { avalanche, finishFlow, mixLane, start } from './xxh64-parts.js';
import { stripe } from './xxh64-stripe.js';

/**
 * xxh64 of a 13-byte key: a word, a word, a byte and a word, each word big-endian. With the source address, the
 * destination address, the protocol and the ports this is the IPv4 flow key. Arguments are taken modulo the width of
 * their field. Equal to `xxh64` of the same 13 bytes.
 *
 * @param out receives the hash: its low word in element 0, its high word in element 1
 * @param word0 bytes 0..3
 * @param word4 bytes 4..7
 * @param byte8 byte 8
 * @param word9 bytes 9..12
 * @param seedLow bits 31..0 of the seed; 0 if absent
 * @param seedHigh bits 63..32 of the seed; 0 if absent
 * @throws TypeError if `out` is not a Uint32Array; RangeError if it has fewer than two elements
 */
export function xxh64Words13Into(
  out: Uint32Array,
  word0: number,
  word4: number,
  byte8: number,
  word9: number,
  seedLow = 0,
  seedHigh = 0,
): void {
  checkWordPair(out);
  start(out, 13, seedLow | 0, seedHigh | 0);
  mixLane(out, swapBytes(word0 | 0), swapBytes(word4 | 0));
  finishFlow(out, byte8, word9 | 0);
}

/**
 * xxh64 of a 16-byte key: four big-endian words. Arguments are taken modulo 2^32. Equal to `xxh64` of the same 16
 * bytes.
 *
 * @param out receives the hash: its low word in element 0, its high word in element 1
 * @param word0 bytes 0..3; `word4`, `word8` and `word12` follow
 * @param seedLow bits 31..0 of the seed; 0 if absent
 * @param seedHigh bits 63..32 of the seed; 0 if absent
 * @throws TypeError if `out` is not a Uint32Array; RangeError if it has fewer than two elements
 */
export function xxh64Words16Into(
  out: Uint32Array,
  word0: number,
  word4: number,
  word8: number,
  word12: number,
  seedLow = 0,
  seedHigh = 0,
): void {
  checkWordPair(out);
  start(out, 16, seedLow | 0, seedHigh | 0);
  mixLane(out, swapBytes(word0 | 0), swapBytes(word4 | 0));
  mixLane(out, swapBytes(word8 | 0), swapBytes(word12 | 0));
  avalanche(out);
}

/**
 * xxh64 of a 37-byte key: eight words, a byte and a word, each word big-endian. With the words of the source address,
 * those of the destination address, the protocol and the ports this is the IPv6 flow key. Arguments are taken modulo
 * the width of their field. Equal to `xxh64` of the same 37 bytes.
 *
 * @param out receives the hash: its low word in element 0, its high word in element 1
 * @param word0 bytes 0..3; `word4` to `word28` follow
 * @param byte32 byte 32
 * @param word33 bytes 33..36
 * @param seedLow bits 31..0 of the seed; 0 if absent
 * @param seedHigh bits 63..32 of the seed; 0 if absent
 * @throws TypeError if `out` is not a Uint32Array; RangeError if it has fewer than two elements
 */
export function xxh64Words37Into(
  out: Uint32Array,
  word0: number,
  word4: number,
  word8: number,
  word12: number,
  word16: number,
  word20: number,
  word24: number,
  word28: number,
  byte32: number,
  word33: number,
  seedLow = 0,
  seedHigh = 0,
): void {
  checkWordPair(out);
  stripe(
    out,
    37,
    word0 | 0,
    word4 | 0,
    word8 | 0,
    word12 | 0,
    word16 | 0,
    word20 | 0,
    word24 | 0,
    word28 | 0,
    seedLow | 0,
    seedHigh | 0,
  );
  finishFlow(out, byte32, word33 | 0);
}

/**
 * xxh64 of a 40-byte key: ten big-endian words. Arguments are taken modulo 2^32. Equal to `xxh64` of the same 40 bytes.
 *
 * @param out receives the hash: its low word in element 0, its high word in element 1
 * @param word0 bytes 0..3; `word4` to `word36` follow
 * @param seedLow bits 31..0 of the seed; 0 if absent
 * @param seedHigh bits 63..32 of the seed; 0 if absent
 * @throws TypeError if `out` is not a Uint32Array; RangeError if it has fewer than two elements
 */
export function xxh64Words40Into(
  out: Uint32Array,
  word0: number,
  word4: number,
  word8: number,
  word12: number,
  word16: number,
  word20: number,
  word24: number,
  word28: number,
  word32: number,
  word36: number,
  seedLow = 0,
  seedHigh = 0,
): void {
  checkWordPair(out);
  stripe(
    out,
    40,
    word0 | 0,
    word4 | 0,
    word8 | 0,
    word12 | 0,
    word16 | 0,
    word20 | 0,
    word24 | 0,
    word28 | 0,
    seedLow | 0,
    seedHigh | 0,
  );
  mixLane(out, swapBytes(word32 | 0), swapBytes(word36 | 0));
  avalanche(out);
}
