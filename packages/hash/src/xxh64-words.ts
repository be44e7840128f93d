import { checkWordPair } from './arguments.js';
import { swapBytes } from './words.js';
import { finishFlow, mixLane, start } from './xxh64-parts.js';

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
  // One stripe of four lanes, each mixed into an accumulator of its own.
  let middle = 0;
  let swap = 0;
  let firstLow = swapBytes(word0 | 0);
  let firstHigh = swapBytes(word4 | 0);
  middle = (firstLow >>> 16) * 0xeb4f + (((firstLow & 0xffff) * 0xeb4f) >>> 16); // first *= P2
  firstHigh =
    ((firstLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((firstLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(firstHigh, 0x27d4eb4f) +
      Math.imul(firstLow, 0xc2b2ae3d)) |
    0;
  firstLow = Math.imul(firstLow, 0x27d4eb4f);
  firstLow = (firstLow + seedLow) | 0; // first += seed + P1 + P2
  firstHigh = (firstHigh + seedHigh + (firstLow >>> 0 < seedLow >>> 0 ? 1 : 0)) | 0;
  firstLow = (firstLow + 0xadc0b5d6) | 0;
  firstHigh = (firstHigh + 0x60ea27ee + (firstLow >>> 0 < 0xadc0b5d6 ? 1 : 0)) | 0;
  swap = firstLow;
  firstLow = (firstLow << 31) | (firstHigh >>> 1);
  firstHigh = (firstHigh << 31) | (swap >>> 1);
  middle = (firstLow >>> 16) * 0xca87 + (((firstLow & 0xffff) * 0xca87) >>> 16); // first *= P1
  firstHigh =
    ((firstLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((firstLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(firstHigh, 0x85ebca87) +
      Math.imul(firstLow, 0x9e3779b1)) |
    0;
  firstLow = Math.imul(firstLow, 0x85ebca87);
  let secondLow = swapBytes(word8 | 0);
  let secondHigh = swapBytes(word12 | 0);
  middle = (secondLow >>> 16) * 0xeb4f + (((secondLow & 0xffff) * 0xeb4f) >>> 16); // second *= P2
  secondHigh =
    ((secondLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((secondLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(secondHigh, 0x27d4eb4f) +
      Math.imul(secondLow, 0xc2b2ae3d)) |
    0;
  secondLow = Math.imul(secondLow, 0x27d4eb4f);
  secondLow = (secondLow + seedLow) | 0; // second += seed + P2
  secondHigh = (secondHigh + seedHigh + (secondLow >>> 0 < seedLow >>> 0 ? 1 : 0)) | 0;
  secondLow = (secondLow + 0x27d4eb4f) | 0;
  secondHigh = (secondHigh + 0xc2b2ae3d + (secondLow >>> 0 < 0x27d4eb4f ? 1 : 0)) | 0;
  swap = secondLow;
  secondLow = (secondLow << 31) | (secondHigh >>> 1);
  secondHigh = (secondHigh << 31) | (swap >>> 1);
  middle = (secondLow >>> 16) * 0xca87 + (((secondLow & 0xffff) * 0xca87) >>> 16); // second *= P1
  secondHigh =
    ((secondLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((secondLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(secondHigh, 0x85ebca87) +
      Math.imul(secondLow, 0x9e3779b1)) |
    0;
  secondLow = Math.imul(secondLow, 0x85ebca87);
  let thirdLow = swapBytes(word16 | 0);
  let thirdHigh = swapBytes(word20 | 0);
  middle = (thirdLow >>> 16) * 0xeb4f + (((thirdLow & 0xffff) * 0xeb4f) >>> 16); // third *= P2
  thirdHigh =
    ((thirdLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((thirdLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(thirdHigh, 0x27d4eb4f) +
      Math.imul(thirdLow, 0xc2b2ae3d)) |
    0;
  thirdLow = Math.imul(thirdLow, 0x27d4eb4f);
  thirdLow = (thirdLow + seedLow) | 0; // third += seed
  thirdHigh = (thirdHigh + seedHigh + (thirdLow >>> 0 < seedLow >>> 0 ? 1 : 0)) | 0;
  swap = thirdLow;
  thirdLow = (thirdLow << 31) | (thirdHigh >>> 1);
  thirdHigh = (thirdHigh << 31) | (swap >>> 1);
  middle = (thirdLow >>> 16) * 0xca87 + (((thirdLow & 0xffff) * 0xca87) >>> 16); // third *= P1
  thirdHigh =
    ((thirdLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((thirdLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(thirdHigh, 0x85ebca87) +
      Math.imul(thirdLow, 0x9e3779b1)) |
    0;
  thirdLow = Math.imul(thirdLow, 0x85ebca87);
  let fourthLow = swapBytes(word24 | 0);
  let fourthHigh = swapBytes(word28 | 0);
  middle = (fourthLow >>> 16) * 0xeb4f + (((fourthLow & 0xffff) * 0xeb4f) >>> 16); // fourth *= P2
  fourthHigh =
    ((fourthLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((fourthLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(fourthHigh, 0x27d4eb4f) +
      Math.imul(fourthLow, 0xc2b2ae3d)) |
    0;
  fourthLow = Math.imul(fourthLow, 0x27d4eb4f);
  fourthLow = (fourthLow + seedLow) | 0; // fourth += seed - P1
  fourthHigh = (fourthHigh + seedHigh + (fourthLow >>> 0 < seedLow >>> 0 ? 1 : 0)) | 0;
  fourthLow = (fourthLow + 0x7a143579) | 0;
  fourthHigh = (fourthHigh + 0x61c8864e + (fourthLow >>> 0 < 0x7a143579 ? 1 : 0)) | 0;
  swap = fourthLow;
  fourthLow = (fourthLow << 31) | (fourthHigh >>> 1);
  fourthHigh = (fourthHigh << 31) | (swap >>> 1);
  middle = (fourthLow >>> 16) * 0xca87 + (((fourthLow & 0xffff) * 0xca87) >>> 16); // fourth *= P1
  fourthHigh =
    ((fourthLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((fourthLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(fourthHigh, 0x85ebca87) +
      Math.imul(fourthLow, 0x9e3779b1)) |
    0;
  fourthLow = Math.imul(fourthLow, 0x85ebca87);
  let hashLow = (firstLow << 1) | (firstHigh >>> 31);
  let hashHigh = (firstHigh << 1) | (firstLow >>> 31);
  swap = (secondLow << 7) | (secondHigh >>> 25);
  hashLow = (hashLow + swap) | 0;
  hashHigh = (hashHigh + ((secondHigh << 7) | (secondLow >>> 25)) + (hashLow >>> 0 < swap >>> 0 ? 1 : 0)) | 0;
  swap = (thirdLow << 12) | (thirdHigh >>> 20);
  hashLow = (hashLow + swap) | 0;
  hashHigh = (hashHigh + ((thirdHigh << 12) | (thirdLow >>> 20)) + (hashLow >>> 0 < swap >>> 0 ? 1 : 0)) | 0;
  swap = (fourthLow << 18) | (fourthHigh >>> 14);
  hashLow = (hashLow + swap) | 0;
  hashHigh = (hashHigh + ((fourthHigh << 18) | (fourthLow >>> 14)) + (hashLow >>> 0 < swap >>> 0 ? 1 : 0)) | 0;
  middle = (firstLow >>> 16) * 0xeb4f + (((firstLow & 0xffff) * 0xeb4f) >>> 16); // first into the hash: first *= P2
  firstHigh =
    ((firstLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((firstLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(firstHigh, 0x27d4eb4f) +
      Math.imul(firstLow, 0xc2b2ae3d)) |
    0;
  firstLow = Math.imul(firstLow, 0x27d4eb4f);
  swap = firstLow;
  firstLow = (firstLow << 31) | (firstHigh >>> 1);
  firstHigh = (firstHigh << 31) | (swap >>> 1);
  middle = (firstLow >>> 16) * 0xca87 + (((firstLow & 0xffff) * 0xca87) >>> 16); // first *= P1
  firstHigh =
    ((firstLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((firstLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(firstHigh, 0x85ebca87) +
      Math.imul(firstLow, 0x9e3779b1)) |
    0;
  firstLow = Math.imul(firstLow, 0x85ebca87);
  hashLow ^= firstLow;
  hashHigh ^= firstHigh;
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
  middle = (secondLow >>> 16) * 0xeb4f + (((secondLow & 0xffff) * 0xeb4f) >>> 16); // second into the hash: second *= P2
  secondHigh =
    ((secondLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((secondLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(secondHigh, 0x27d4eb4f) +
      Math.imul(secondLow, 0xc2b2ae3d)) |
    0;
  secondLow = Math.imul(secondLow, 0x27d4eb4f);
  swap = secondLow;
  secondLow = (secondLow << 31) | (secondHigh >>> 1);
  secondHigh = (secondHigh << 31) | (swap >>> 1);
  middle = (secondLow >>> 16) * 0xca87 + (((secondLow & 0xffff) * 0xca87) >>> 16); // second *= P1
  secondHigh =
    ((secondLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((secondLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(secondHigh, 0x85ebca87) +
      Math.imul(secondLow, 0x9e3779b1)) |
    0;
  secondLow = Math.imul(secondLow, 0x85ebca87);
  hashLow ^= secondLow;
  hashHigh ^= secondHigh;
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
  middle = (thirdLow >>> 16) * 0xeb4f + (((thirdLow & 0xffff) * 0xeb4f) >>> 16); // third into the hash: third *= P2
  thirdHigh =
    ((thirdLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((thirdLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(thirdHigh, 0x27d4eb4f) +
      Math.imul(thirdLow, 0xc2b2ae3d)) |
    0;
  thirdLow = Math.imul(thirdLow, 0x27d4eb4f);
  swap = thirdLow;
  thirdLow = (thirdLow << 31) | (thirdHigh >>> 1);
  thirdHigh = (thirdHigh << 31) | (swap >>> 1);
  middle = (thirdLow >>> 16) * 0xca87 + (((thirdLow & 0xffff) * 0xca87) >>> 16); // third *= P1
  thirdHigh =
    ((thirdLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((thirdLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(thirdHigh, 0x85ebca87) +
      Math.imul(thirdLow, 0x9e3779b1)) |
    0;
  thirdLow = Math.imul(thirdLow, 0x85ebca87);
  hashLow ^= thirdLow;
  hashHigh ^= thirdHigh;
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
  middle = (fourthLow >>> 16) * 0xeb4f + (((fourthLow & 0xffff) * 0xeb4f) >>> 16); // fourth into the hash: fourth *= P2
  fourthHigh =
    ((fourthLow >>> 16) * 0x27d4 +
      (middle >>> 16) +
      (((fourthLow & 0xffff) * 0x27d4 + (middle & 0xffff)) >>> 16) +
      Math.imul(fourthHigh, 0x27d4eb4f) +
      Math.imul(fourthLow, 0xc2b2ae3d)) |
    0;
  fourthLow = Math.imul(fourthLow, 0x27d4eb4f);
  swap = fourthLow;
  fourthLow = (fourthLow << 31) | (fourthHigh >>> 1);
  fourthHigh = (fourthHigh << 31) | (swap >>> 1);
  middle = (fourthLow >>> 16) * 0xca87 + (((fourthLow & 0xffff) * 0xca87) >>> 16); // fourth *= P1
  fourthHigh =
    ((fourthLow >>> 16) * 0x85eb +
      (middle >>> 16) +
      (((fourthLow & 0xffff) * 0x85eb + (middle & 0xffff)) >>> 16) +
      Math.imul(fourthHigh, 0x85ebca87) +
      Math.imul(fourthLow, 0x9e3779b1)) |
    0;
  fourthLow = Math.imul(fourthLow, 0x85ebca87);
  hashLow ^= fourthLow;
  hashHigh ^= fourthHigh;
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
  hashLow = (hashLow + 37) | 0;
  hashHigh = (hashHigh + (hashLow >>> 0 < 37 ? 1 : 0)) | 0;
  out[0] = hashLow;
  out[1] = hashHigh;
  finishFlow(out, byte32, word33 | 0);
}
