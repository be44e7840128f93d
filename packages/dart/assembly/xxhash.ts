/**
 * The hashes of the family `xxhash`: xxh64 of a key, of which each use then makes a hash of its own. See
 * `src/store/hashes.ts`.
 */

const P1: u64 = 0x9e3779b185ebca87;
const P2: u64 = 0xc2b2ae3d27d4eb4f;
const P3: u64 = 0x165667b19e3779f9;
const P4: u64 = 0x85ebca77c2b2ae63;
const P5: u64 = 0x27d4eb2f165667c5;

@inline
function round(accumulator: u64, lane: u64): u64 {
  return rotl<u64>(accumulator + lane * P2, 31) * P1;
}

@inline
function merge(hash: u64, accumulator: u64): u64 {
  return (hash ^ round(0, accumulator)) * P1 + P4;
}

@inline
function mixLane(hash: u64, lane: u64): u64 {
  return rotl<u64>(hash ^ round(0, lane), 27) * P1 + P4;
}

@inline
function mixWord(hash: u64, word: u32): u64 {
  return rotl<u64>(hash ^ (<u64>word * P1), 23) * P2 + P3;
}

@inline
function mixByte(hash: u64, byte: u8): u64 {
  return rotl<u64>(hash ^ (<u64>byte * P5), 11) * P1;
}

@inline
function avalanche(hash: u64): u64 {
  hash = (hash ^ (hash >> 33)) * P2;
  hash = (hash ^ (hash >> 29)) * P3;
  return hash ^ (hash >> 32);
}

/** xxh64 of a flow key of IPv4. */
@inline
export function xxh64Of13(key: usize, seed: u64): u64 {
  const hash = mixWord(mixLane(seed + P5 + 13, load<u64>(key)), load<u32>(key, 8));
  return avalanche(mixByte(hash, load<u8>(key, 12)));
}

export function xxh64(key: usize, length: u32, seed: u64): u64 {
  let left = length;
  let hash = seed + P5;
  if (left >= 32) {
    let a = seed + P1 + P2;
    let b = seed + P2;
    let c = seed;
    let d = seed - P1;
    for (; left >= 32; left -= 32) {
      a = round(a, load<u64>(key));
      b = round(b, load<u64>(key, 8));
      c = round(c, load<u64>(key, 16));
      d = round(d, load<u64>(key, 24));
      key += 32;
    }
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    hash = merge(merge(merge(merge(hash, a), b), c), d);
  }
  hash += <u64>length;
  for (; left >= 8; left -= 8) {
    hash = mixLane(hash, load<u64>(key));
    key += 8;
  }
  if (left >= 4) {
    hash = mixWord(hash, load<u32>(key));
    key += 4;
    left -= 4;
  }
  for (; left > 0; left--) hash = mixByte(hash, load<u8>(key++));
  return avalanche(hash);
}

/** The hashes of a use for four keys, from the words of their xxh64. */
@inline
export function useOf(low: v128, high: v128, seed: v128): v128 {
  let mixed = i32x4.add(high, seed);
  mixed = i32x4.mul(v128.xor(mixed, i32x4.shr_u(mixed, 16)), i32x4.splat(0x85ebca6b));
  mixed = i32x4.mul(v128.xor(mixed, i32x4.shr_u(mixed, 13)), i32x4.splat(0xc2b2ae35));
  return v128.xor(low, v128.xor(mixed, i32x4.shr_u(mixed, 16)));
}
