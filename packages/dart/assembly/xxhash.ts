/** xxh32 of four keys at once, or of one key with four seeds. */

const P1: u32 = 0x9e3779b1;
const P2: u32 = 0x85ebca77;
const P3: u32 = 0xc2b2ae3d;
const P4: u32 = 0x27d4eb2f;
const P5: u32 = 0x165667b1;

/**
 * The first four primes, 16 bytes each, all four lanes alike. Kept in memory: the engine would build a constant anew, in
 * several instructions, wherever it is used.
 */
let primes: usize = 0;

/** Takes the address of 64 bytes. */
export function keepPrimes(to: usize): void {
  primes = to;
  v128.store(to, i32x4.splat(P1));
  v128.store(to, i32x4.splat(P2), 16);
  v128.store(to, i32x4.splat(P3), 32);
  v128.store(to, i32x4.splat(P4), 48);
}

/** Keys of up to so many bytes are taken four at a time. */
export const MOST_GATHERED: u32 = 256;

@inline
function rotate(x: v128, bits: i32): v128 {
  return v128.or(i32x4.shl(x, bits), i32x4.shr_u(x, 32 - bits));
}

/** A lane times P3 after the last whole stripe. */
@inline
function mixProduct(hash: v128, product: v128, p4: v128): v128 {
  return i32x4.mul(rotate(i32x4.add(hash, product), 17), p4);
}

/** A byte times P5 after the last whole lane. */
@inline
function mixByteProduct(hash: v128, product: v128, p1: v128): v128 {
  return i32x4.mul(rotate(i32x4.add(hash, product), 11), p1);
}

/** A lane times P2 into one of the four accumulators of a stripe. */
@inline
function round(accumulator: v128, product: v128, p1: v128): v128 {
  return i32x4.mul(rotate(i32x4.add(accumulator, product), 13), p1);
}

@inline
function converge(a: v128, b: v128, c: v128, d: v128): v128 {
  return i32x4.add(i32x4.add(rotate(a, 1), rotate(b, 7)), i32x4.add(rotate(c, 12), rotate(d, 18)));
}

@inline
function avalanche(hash: v128, p2: v128, p3: v128): v128 {
  let mixed = i32x4.mul(v128.xor(hash, i32x4.shr_u(hash, 15)), p2);
  mixed = i32x4.mul(v128.xor(mixed, i32x4.shr_u(mixed, 13)), p3);
  return v128.xor(mixed, i32x4.shr_u(mixed, 16));
}

/** The words at one offset of four keys. */
@inline
function words(offset: usize, key0: usize, key1: usize, key2: usize, key3: usize): v128 {
  let word = v128.load_zero<u32>(key0 + offset);
  word = v128.load_lane<u32>(key1 + offset, word, 1);
  word = v128.load_lane<u32>(key2 + offset, word, 2);
  return v128.load_lane<u32>(key3 + offset, word, 3);
}

/** The bytes at one offset of four keys, as words. */
@inline
function byte4(offset: usize, key0: usize, key1: usize, key2: usize, key3: usize): v128 {
  let byte = i32x4.splat(0);
  byte = v128.load_lane<u8>(key0 + offset, byte, 0);
  byte = v128.load_lane<u8>(key1 + offset, byte, 4);
  byte = v128.load_lane<u8>(key2 + offset, byte, 8);
  return v128.load_lane<u8>(key3 + offset, byte, 12);
}

/**
 * Hashes of four keys of 13 bytes, of as many seeds as there are: those of one seed are `column` bytes behind those of
 * the one before.
 */
@inline
export function hash13(
  key0: usize,
  key1: usize,
  key2: usize,
  key3: usize,
  seeds: usize,
  count: u32,
  to: usize,
  column: usize,
): void {
  const p1 = v128.load(primes);
  const p2 = v128.load(primes, 16);
  const p3 = v128.load(primes, 32);
  const p4 = v128.load(primes, 48);
  const word0 = i32x4.mul(words(0, key0, key1, key2, key3), p3);
  const word4 = i32x4.mul(words(4, key0, key1, key2, key3), p3);
  const word8 = i32x4.mul(words(8, key0, key1, key2, key3), p3);
  const byte12 = i32x4.mul(i32x4.shr_u(words(9, key0, key1, key2, key3), 24), i32x4.splat(P5));
  const end = seeds + (<usize>count << 2);
  // Three seeds in step: none of an instruction's results is needed by the next one.
  for (; seeds + 12 <= end; seeds += 12) {
    let hash0 = mixProduct(i32x4.splat(load<u32>(seeds) + P5 + 13), word0, p4);
    let hash1 = mixProduct(i32x4.splat(load<u32>(seeds, 4) + P5 + 13), word0, p4);
    let hash2 = mixProduct(i32x4.splat(load<u32>(seeds, 8) + P5 + 13), word0, p4);
    hash0 = mixProduct(hash0, word4, p4);
    hash1 = mixProduct(hash1, word4, p4);
    hash2 = mixProduct(hash2, word4, p4);
    hash0 = mixProduct(hash0, word8, p4);
    hash1 = mixProduct(hash1, word8, p4);
    hash2 = mixProduct(hash2, word8, p4);
    hash0 = mixByteProduct(hash0, byte12, p1);
    hash1 = mixByteProduct(hash1, byte12, p1);
    hash2 = mixByteProduct(hash2, byte12, p1);
    v128.store(to, avalanche(hash0, p2, p3));
    v128.store(to + column, avalanche(hash1, p2, p3));
    v128.store(to + 2 * column, avalanche(hash2, p2, p3));
    to += 3 * column;
  }
  for (; seeds < end; seeds += 4) {
    let hash = mixProduct(i32x4.splat(load<u32>(seeds) + P5 + 13), word0, p4);
    hash = mixProduct(hash, word4, p4);
    hash = mixProduct(hash, word8, p4);
    v128.store(to, avalanche(mixByteProduct(hash, byte12, p1), p2, p3));
    to += column;
  }
}

/** Four keys of any one length: words, then the bytes behind the last of them. */
export function gatherAny(room: usize, length: u32, key0: usize, key1: usize, key2: usize, key3: usize): void {
  let to = room;
  let offset: usize = 0;
  const wordsEnd = <usize>(length & ~3);
  for (; offset < wordsEnd; offset += 4) {
    v128.store(to, words(offset, key0, key1, key2, key3));
    to += 16;
  }
  for (; offset < <usize>length; offset++) {
    v128.store(to, byte4(offset, key0, key1, key2, key3));
    to += 16;
  }
}

/** Hashes of what {@link gatherAny} left. */
export function hashFour(room: usize, length: u32, seed: u32): v128 {
  const p1 = v128.load(primes);
  const p2 = v128.load(primes, 16);
  const p3 = v128.load(primes, 32);
  const p4 = v128.load(primes, 48);
  let from = room;
  let left = length;
  let hash = i32x4.splat(seed + P5);
  if (left >= 16) {
    let a = i32x4.splat(seed + P1 + P2);
    let b = i32x4.splat(seed + P2);
    let c = i32x4.splat(seed);
    let d = i32x4.splat(seed - P1);
    for (; left >= 16; left -= 16) {
      a = round(a, i32x4.mul(v128.load(from), p2), p1);
      b = round(b, i32x4.mul(v128.load(from, 16), p2), p1);
      c = round(c, i32x4.mul(v128.load(from, 32), p2), p1);
      d = round(d, i32x4.mul(v128.load(from, 48), p2), p1);
      from += 64;
    }
    hash = converge(a, b, c, d);
  }
  hash = i32x4.add(hash, i32x4.splat(length));
  for (; left >= 4; left -= 4) {
    hash = mixProduct(hash, i32x4.mul(v128.load(from), p3), p4);
    from += 16;
  }
  for (; left > 0; left--) {
    hash = mixByteProduct(hash, i32x4.mul(v128.load(from), i32x4.splat(P5)), p1);
    from += 16;
  }
  return avalanche(hash, p2, p3);
}

/** Hashes of one key of any length. */
export function hashRow(key: usize, length: u32, seeds: v128): v128 {
  const p1 = v128.load(primes);
  const p2 = v128.load(primes, 16);
  const p3 = v128.load(primes, 32);
  const p4 = v128.load(primes, 48);
  let from = key;
  let left = length;
  let hash = i32x4.add(seeds, i32x4.splat(P5));
  if (left >= 16) {
    let a = i32x4.add(seeds, i32x4.splat(P1 + P2));
    let b = i32x4.add(seeds, p2);
    let c = seeds;
    let d = i32x4.sub(seeds, p1);
    for (; left >= 16; left -= 16) {
      a = round(a, i32x4.splat(load<u32>(from) * P2), p1);
      b = round(b, i32x4.splat(load<u32>(from, 4) * P2), p1);
      c = round(c, i32x4.splat(load<u32>(from, 8) * P2), p1);
      d = round(d, i32x4.splat(load<u32>(from, 12) * P2), p1);
      from += 16;
    }
    hash = converge(a, b, c, d);
  }
  hash = i32x4.add(hash, i32x4.splat(length));
  for (; left >= 4; left -= 4) {
    hash = mixProduct(hash, i32x4.splat(load<u32>(from) * P3), p4);
    from += 4;
  }
  for (; left > 0; left--) hash = mixByteProduct(hash, i32x4.splat(<u32>load<u8>(from++) * P5), p1);
  return avalanche(hash, p2, p3);
}
