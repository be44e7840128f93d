/** CRC-32 with any polynomial, reflected, eight bytes at a time. */

export const TABLE_BYTES: usize = 8 * 1024;

/**
 * Address of the entry of one of a word's bytes in slice 0: `shift` is the byte's place less two, as an entry has four
 * bytes. That in slice k is 1024 k bytes behind it.
 */
@inline
function entry(table: usize, word: u32, shift: u32): usize {
  return table + <usize>((word >> shift) & 0x3fc);
}

@inline
function firstEntry(table: usize, word: u32): usize {
  return table + <usize>((word << 2) & 0x3fc);
}

function reverse(word: u32): u32 {
  let bits = word;
  bits = ((bits >> 1) & 0x55555555) | ((bits & 0x55555555) << 1);
  bits = ((bits >> 2) & 0x33333333) | ((bits & 0x33333333) << 2);
  bits = ((bits >> 4) & 0x0f0f0f0f) | ((bits & 0x0f0f0f0f) << 4);
  return bswap<u32>(bits);
}

/**
 * Makes the tables of a polynomial: entry 256 k + b is what byte b with k zero bytes behind it leaves.
 *
 * @param polynomial most significant bit first, x^32 left out
 */
export function makeTables(table: usize, polynomial: u32): void {
  const reflected = reverse(polynomial);
  for (let byte: u32 = 0; byte < 256; byte++) {
    let register = byte;
    for (let bit = 0; bit < 8; bit++) register = (register >> 1) ^ (reflected & (0 - (register & 1)));
    store<u32>(table + (<usize>byte << 2), register);
  }
  for (let index: usize = 256; index < 2048; index++) {
    const register = load<u32>(table + ((index - 256) << 2));
    store<u32>(table + (index << 2), (register >> 8) ^ load<u32>(firstEntry(table, register)));
  }
}

@inline
export function advance8(table: usize, register: u32, word: u64): u32 {
  const low = register ^ <u32>word;
  const high = <u32>(word >> 32);
  return (
    load<u32>(firstEntry(table, low), 7168) ^
    load<u32>(entry(table, low, 6), 6144) ^
    load<u32>(entry(table, low, 14), 5120) ^
    load<u32>(entry(table, low, 22), 4096) ^
    load<u32>(firstEntry(table, high), 3072) ^
    load<u32>(entry(table, high, 6), 2048) ^
    load<u32>(entry(table, high, 14), 1024) ^
    load<u32>(entry(table, high, 22))
  );
}

@inline
export function advance4(table: usize, register: u32, word: u32): u32 {
  const low = register ^ word;
  return (
    load<u32>(firstEntry(table, low), 3072) ^
    load<u32>(entry(table, low, 6), 2048) ^
    load<u32>(entry(table, low, 14), 1024) ^
    load<u32>(entry(table, low, 22))
  );
}

@inline
export function advance1(table: usize, register: u32, byte: u32): u32 {
  return (register >> 8) ^ load<u32>(firstEntry(table, register ^ byte));
}

/** The register after a run of bytes. */
@inline
export function advance(table: usize, register: u32, from: usize, count: u32): u32 {
  let next = from;
  let left = count;
  for (; left >= 8; left -= 8) {
    register = advance8(table, register, load<u64>(next));
    next += 8;
  }
  if (left >= 4) {
    register = advance4(table, register, load<u32>(next));
    next += 4;
    left -= 4;
  }
  for (; left > 0; left--) register = advance1(table, register, load<u8>(next++));
  return register;
}
