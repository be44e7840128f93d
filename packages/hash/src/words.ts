/**
 * Reverses the order of the four bytes of a 32-bit word.
 *
 * Words of keys are in network order. xxHash reads little-endian lanes, and a reflected CRC keeps its register in
 * reverse order; this function converts between them. It takes two rotations and two masks. V8 turns each rotation into
 * one instruction; shifting four bytes would take eight.
 *
 * @param word any number; taken modulo 2^32
 * @returns the swapped word as a signed 32-bit integer
 */
export function swapBytes(word: number): number {
  return (((word << 8) | (word >>> 24)) & 0x00ff00ff) | (((word >>> 8) | (word << 24)) & 0xff00ff00);
}

/**
 * Reads four bytes as a little-endian word.
 *
 * @param bytes the bytes to read from
 * @param offset offset of the first byte; not checked
 * @returns the word as a signed 32-bit integer
 */
export function readWord(bytes: Uint8Array, offset: number): number {
  return bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24);
}
