/**
 * Reverses the order of the four bytes of a 32-bit word.
 *
 * Keys are written with their words in network order, xxHash reads little-endian lanes and a reflected CRC keeps its
 * register the other way round: this is the one step between them. Two rotations and two masks: V8 turns each rotation
 * into one instruction, where four shifted bytes would cost eight.
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
 * @param bytes where to read
 * @param offset the first of them; not checked
 * @returns the word as a signed 32-bit integer
 */
export function readWord(bytes: Uint8Array, offset: number): number {
  return bytes[offset]! | (bytes[offset + 1]! << 8) | (bytes[offset + 2]! << 16) | (bytes[offset + 3]! << 24);
}
