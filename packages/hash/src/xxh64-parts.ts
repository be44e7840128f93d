import { swapBytes } from './words.js';

/*
 * The parts of XXH64, as in the xxHash fast digest algorithm specification 0.2.0, section "XXH64", without BigInt: a
 * 64-bit number is two 32-bit halves, and `x *= P` is written out each time as
 *
 *   middle      (upper half of x.low) * P.lower + the carry of (lower half of x.low) * P.lower, where halves have 16
 *               bits, so that it stays below 2^32
 *   high word   the rest of x.low * P.low beyond 32 bits, + x.high * P.low + x.low * P.high, modulo 2^32
 *   low word    x.low * P.low, modulo 2^32
 *
 * All products of halves are exact as numbers. The product is written out because V8 inlines only a few hundred bytes
 * of bytecode into a function. The primes are literals because bundlers turn module constants into variables, which V8
 * does not fold:
 *
 *   P1 = 0x9e3779b185ebca87, P2 = 0xc2b2ae3d27d4eb4f, P3 = 0x165667b19e3779f9, P4 = 0x85ebca77c2b2ae63,
 *   P5 = 0x27d4eb2f165667c5
 *
 * Between parts the hash rests in a pair of words, low word first.
 */

/** Starts the hash of a key below 32 bytes: seed + P5 + its length. */
export function start(out: Uint32Array, length: number, seedLow: number, seedHigh: number): void {
  let hashLow = seedLow | 0;
  let hashHigh = seedHigh | 0;
  hashLow = (hashLow + 0x165667c5) | 0;
  hashHigh = (hashHigh + 0x27d4eb2f + (hashLow >>> 0 < 0x165667c5 ? 1 : 0)) | 0;
  hashLow = (hashLow + length) | 0;
  hashHigh = (hashHigh + (hashLow >>> 0 < length ? 1 : 0)) | 0;
  out[0] = hashLow;
  out[1] = hashHigh;
}

/** Mixes in eight bytes, given as two little-endian words. */
export function mixLane(out: Uint32Array, low: number, high: number): void {
  let hashLow = out[0]! | 0;
  let hashHigh = out[1]! | 0;
  let laneLow = low;
  let laneHigh = high;
  let middle = 0;
  let swap = 0;
  middle = (laneLow >>> 16) * 0xeb4f + (((laneLow & 0xffff) * 0xeb4f) >>> 16); // lane *= P2
  laneHigh =
    ((laneLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((laneLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(laneHigh, 0x27d4eb4f) +
      Math.imul(laneLow, 0xc2b2ae3d)) |
    0;
  laneLow = Math.imul(laneLow, 0x27d4eb4f);
  swap = laneLow;
  laneLow = (laneLow << 31) | (laneHigh >>> 1);
  laneHigh = (laneHigh << 31) | (swap >>> 1);
  middle = (laneLow >>> 16) * 0xca87 + (((laneLow & 0xffff) * 0xca87) >>> 16); // lane *= P1
  laneHigh =
    ((laneLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((laneLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(laneHigh, 0x85ebca87) +
      Math.imul(laneLow, 0x9e3779b1)) |
    0;
  laneLow = Math.imul(laneLow, 0x85ebca87);
  hashLow ^= laneLow;
  hashHigh ^= laneHigh;
  swap = hashLow;
  hashLow = (hashLow << 27) | (hashHigh >>> 5);
  hashHigh = (hashHigh << 27) | (swap >>> 5);
  middle = (hashLow >>> 16) * 0xca87 + (((hashLow & 0xffff) * 0xca87) >>> 16); // hash *= P1
  hashHigh =
    ((hashLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x85ebca87) +
      Math.imul(hashLow, 0x9e3779b1)) |
    0;
  hashLow = Math.imul(hashLow, 0x85ebca87);
  hashLow = (hashLow + 0xc2b2ae63) | 0;
  hashHigh = (hashHigh + 0x85ebca77 + (hashLow >>> 0 < 0xc2b2ae63 ? 1 : 0)) | 0;
  out[0] = hashLow;
  out[1] = hashHigh;
}

/** The last step makes every bit of the hash depend on every other. */
export function avalanche(out: Uint32Array): void {
  let hashLow = out[0]! | 0;
  let hashHigh = out[1]! | 0;
  let middle = 0;
  hashLow ^= hashHigh >>> 1; // hash ^= hash >>> 33
  middle = (hashLow >>> 16) * 0xeb4f + (((hashLow & 0xffff) * 0xeb4f) >>> 16); // hash *= P2
  hashHigh =
    ((hashLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x27d4eb4f) +
      Math.imul(hashLow, 0xc2b2ae3d)) |
    0;
  hashLow = Math.imul(hashLow, 0x27d4eb4f);
  hashLow ^= (hashLow >>> 29) | (hashHigh << 3); // hash ^= hash >>> 29
  hashHigh ^= hashHigh >>> 29;
  middle = (hashLow >>> 16) * 0x79f9 + (((hashLow & 0xffff) * 0x79f9) >>> 16); // hash *= P3
  hashHigh =
    ((hashLow >>> 16) * 0x9e37 +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x9e37 + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x9e3779f9) +
      Math.imul(hashLow, 0x165667b1)) |
    0;
  hashLow = Math.imul(hashLow, 0x9e3779f9);
  out[0] = hashLow ^ hashHigh; // hash ^= hash >>> 32
  out[1] = hashHigh;
}

/** Mixes in the last five bytes of a flow key, then does the last step. The ports straddle a lane. */
export function finishFlow(out: Uint32Array, protocol: number, ports: number): void {
  let hashLow = out[0]! | 0;
  let hashHigh = out[1]! | 0;
  let laneLow = (swapBytes(ports) << 8) | (protocol & 0xff);
  let laneHigh = 0;
  let middle = 0;
  let swap = 0;
  middle = (laneLow >>> 16) * 0xca87 + (((laneLow & 0xffff) * 0xca87) >>> 16); // four bytes: lane *= P1
  laneHigh =
    ((laneLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((laneLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(laneLow, 0x9e3779b1)) |
    0;
  laneLow = Math.imul(laneLow, 0x85ebca87);
  hashLow ^= laneLow;
  hashHigh ^= laneHigh;
  swap = hashLow;
  hashLow = (hashLow << 23) | (hashHigh >>> 9);
  hashHigh = (hashHigh << 23) | (swap >>> 9);
  middle = (hashLow >>> 16) * 0xeb4f + (((hashLow & 0xffff) * 0xeb4f) >>> 16); // hash *= P2
  hashHigh =
    ((hashLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x27d4eb4f) +
      Math.imul(hashLow, 0xc2b2ae3d)) |
    0;
  hashLow = Math.imul(hashLow, 0x27d4eb4f);
  hashLow = (hashLow + 0x9e3779f9) | 0;
  hashHigh = (hashHigh + 0x165667b1 + (hashLow >>> 0 < 0x9e3779f9 ? 1 : 0)) | 0;
  laneLow = ports & 0xff;
  middle = laneLow * 0x1656 + ((laneLow * 0x67c5) >>> 16); // one byte: lane *= P5, and a byte has no upper half
  laneHigh = ((middle >>> 16) + Math.imul(laneLow, 0x27d4eb2f)) | 0;
  laneLow = Math.imul(laneLow, 0x165667c5);
  hashLow ^= laneLow;
  hashHigh ^= laneHigh;
  swap = hashLow;
  hashLow = (hashLow << 11) | (hashHigh >>> 21);
  hashHigh = (hashHigh << 11) | (swap >>> 21);
  middle = (hashLow >>> 16) * 0xca87 + (((hashLow & 0xffff) * 0xca87) >>> 16); // hash *= P1
  hashHigh =
    ((hashLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x85ebca87) +
      Math.imul(hashLow, 0x9e3779b1)) |
    0;
  hashLow = Math.imul(hashLow, 0x85ebca87);
  hashLow ^= hashHigh >>> 1; // hash ^= hash >>> 33
  middle = (hashLow >>> 16) * 0xeb4f + (((hashLow & 0xffff) * 0xeb4f) >>> 16); // hash *= P2
  hashHigh =
    ((hashLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x27d4eb4f) +
      Math.imul(hashLow, 0xc2b2ae3d)) |
    0;
  hashLow = Math.imul(hashLow, 0x27d4eb4f);
  hashLow ^= (hashLow >>> 29) | (hashHigh << 3); // hash ^= hash >>> 29
  hashHigh ^= hashHigh >>> 29;
  middle = (hashLow >>> 16) * 0x79f9 + (((hashLow & 0xffff) * 0x79f9) >>> 16); // hash *= P3
  hashHigh =
    ((hashLow >>> 16) * 0x9e37 +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x9e37 + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x9e3779f9) +
      Math.imul(hashLow, 0x165667b1)) |
    0;
  hashLow = Math.imul(hashLow, 0x9e3779f9);
  out[0] = hashLow ^ hashHigh; // hash ^= hash >>> 32
  out[1] = hashHigh;
}

/** Mixes in four bytes after the last whole lane: hash = rotate(hash ^ lane * P1, 23) * P2 + P3. */
export function mixWord(out: Uint32Array, word: number): void {
  let hashLow = out[0]! | 0;
  let hashHigh = out[1]! | 0;
  let laneLow = word;
  let laneHigh = 0;
  let middle = 0;
  let swap = 0;
  middle = (laneLow >>> 16) * 0xca87 + (((laneLow & 0xffff) * 0xca87) >>> 16); // lane *= P1
  laneHigh =
    ((laneLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((laneLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(laneLow, 0x9e3779b1)) |
    0;
  laneLow = Math.imul(laneLow, 0x85ebca87);
  hashLow ^= laneLow;
  hashHigh ^= laneHigh;
  swap = hashLow;
  hashLow = (hashLow << 23) | (hashHigh >>> 9);
  hashHigh = (hashHigh << 23) | (swap >>> 9);
  middle = (hashLow >>> 16) * 0xeb4f + (((hashLow & 0xffff) * 0xeb4f) >>> 16); // hash *= P2
  hashHigh =
    ((hashLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x27d4eb4f) +
      Math.imul(hashLow, 0xc2b2ae3d)) |
    0;
  hashLow = Math.imul(hashLow, 0x27d4eb4f);
  hashLow = (hashLow + 0x9e3779f9) | 0;
  hashHigh = (hashHigh + 0x165667b1 + (hashLow >>> 0 < 0x9e3779f9 ? 1 : 0)) | 0;
  out[0] = hashLow;
  out[1] = hashHigh;
}

/** Mixes in a byte after the last four: hash = rotate(hash ^ byte * P5, 11) * P1. */
export function mixByte(out: Uint32Array, byte: number): void {
  let hashLow = out[0]! | 0;
  let hashHigh = out[1]! | 0;
  let middle = byte * 0x1656 + ((byte * 0x67c5) >>> 16); // byte * P5, and a byte has no upper half
  let swap = 0;
  hashHigh ^= (middle >>> 16) + Math.imul(byte, 0x27d4eb2f);
  hashLow ^= Math.imul(byte, 0x165667c5);
  swap = hashLow;
  hashLow = (hashLow << 11) | (hashHigh >>> 21);
  hashHigh = (hashHigh << 11) | (swap >>> 21);
  middle = (hashLow >>> 16) * 0xca87 + (((hashLow & 0xffff) * 0xca87) >>> 16); // hash *= P1
  hashHigh =
    ((hashLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x85ebca87) +
      Math.imul(hashLow, 0x9e3779b1)) |
    0;
  hashLow = Math.imul(hashLow, 0x85ebca87);
  out[0] = hashLow;
  out[1] = hashHigh;
}

/**
 * Mixes a lane into an accumulator: accumulator = rotate(accumulator + lane * P2, 31) * P1.
 *
 * @param accumulators pairs of words
 * @param index index of the accumulator's low word
 */
export function mixStripeLane(accumulators: Uint32Array, index: number, low: number, high: number): void {
  let laneLow = low;
  let laneHigh = high;
  let middle = 0;
  let swap = 0;
  middle = (laneLow >>> 16) * 0xeb4f + (((laneLow & 0xffff) * 0xeb4f) >>> 16); // lane *= P2
  laneHigh =
    ((laneLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((laneLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(laneHigh, 0x27d4eb4f) +
      Math.imul(laneLow, 0xc2b2ae3d)) |
    0;
  laneLow = Math.imul(laneLow, 0x27d4eb4f);
  laneLow = (laneLow + accumulators[index]!) | 0; // lane += accumulator
  laneHigh = (laneHigh + accumulators[index + 1]! + (laneLow >>> 0 < accumulators[index]! ? 1 : 0)) | 0;
  swap = laneLow;
  laneLow = (laneLow << 31) | (laneHigh >>> 1);
  laneHigh = (laneHigh << 31) | (swap >>> 1);
  middle = (laneLow >>> 16) * 0xca87 + (((laneLow & 0xffff) * 0xca87) >>> 16); // lane *= P1
  laneHigh =
    ((laneLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((laneLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(laneHigh, 0x85ebca87) +
      Math.imul(laneLow, 0x9e3779b1)) |
    0;
  laneLow = Math.imul(laneLow, 0x85ebca87);
  accumulators[index] = laneLow;
  accumulators[index + 1] = laneHigh;
}

/** Mixes an accumulator into the hash: hash = (hash ^ rotate(accumulator * P2, 31) * P1) * P1 + P4. */
export function mergeAccumulator(out: Uint32Array, low: number, high: number): void {
  let hashLow = out[0]! | 0;
  let hashHigh = out[1]! | 0;
  let laneLow = low;
  let laneHigh = high;
  let middle = 0;
  let swap = 0;
  middle = (laneLow >>> 16) * 0xeb4f + (((laneLow & 0xffff) * 0xeb4f) >>> 16); // lane *= P2
  laneHigh =
    ((laneLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((laneLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(laneHigh, 0x27d4eb4f) +
      Math.imul(laneLow, 0xc2b2ae3d)) |
    0;
  laneLow = Math.imul(laneLow, 0x27d4eb4f);
  swap = laneLow;
  laneLow = (laneLow << 31) | (laneHigh >>> 1);
  laneHigh = (laneHigh << 31) | (swap >>> 1);
  middle = (laneLow >>> 16) * 0xca87 + (((laneLow & 0xffff) * 0xca87) >>> 16); // lane *= P1
  laneHigh =
    ((laneLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((laneLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(laneHigh, 0x85ebca87) +
      Math.imul(laneLow, 0x9e3779b1)) |
    0;
  laneLow = Math.imul(laneLow, 0x85ebca87);
  hashLow ^= laneLow;
  hashHigh ^= laneHigh;
  middle = (hashLow >>> 16) * 0xca87 + (((hashLow & 0xffff) * 0xca87) >>> 16); // hash *= P1
  hashHigh =
    ((hashLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((hashLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(hashHigh, 0x85ebca87) +
      Math.imul(hashLow, 0x9e3779b1)) |
    0;
  hashLow = Math.imul(hashLow, 0x85ebca87);
  hashLow = (hashLow + 0xc2b2ae63) | 0;
  hashHigh = (hashHigh + 0x85ebca77 + (hashLow >>> 0 < 0xc2b2ae63 ? 1 : 0)) | 0;
  out[0] = hashLow;
  out[1] = hashHigh;
}
