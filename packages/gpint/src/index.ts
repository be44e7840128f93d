/**
 * Reads a 32-bit big-endian number. Replace this by what the package is for.
 *
 * @param bytes at least `offset + 4` bytes long
 * @param offset where the number starts, in bytes
 * @throws RangeError if the number does not lie within `bytes`
 */
export function readUint32(bytes: Uint8Array, offset = 0): number {
  if (offset < 0 || offset + 4 > bytes.length) {
    throw new RangeError(`offset ${offset} leaves no 4 bytes of ${bytes.length}`);
  }
  return new DataView(bytes.buffer, bytes.byteOffset + offset, 4).getUint32(0);
}
