function isBytes(value: unknown): boolean {
  // The tag, not instanceof alone: a Uint8Array made in another realm (a vm context, a test runner) is one too.
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === '[object Uint8Array]';
}

/**
 * Checks a range of bytes and returns where it ends.
 *
 * @param bytes the bytes; a Buffer is one
 * @param offset first byte
 * @param length number of bytes; undefined means up to the end of `bytes`
 * @returns the offset one past the last byte
 * @throws TypeError if `bytes` is not a Uint8Array
 * @throws RangeError if offset or length is not a whole number, or the range is not inside `bytes`
 */
export function rangeEnd(bytes: Uint8Array, offset: number, length: number | undefined): number {
  if (!isBytes(bytes)) {
    throw new TypeError('bytes must be a Uint8Array');
  }
  const end = length === undefined ? bytes.length : offset + length;
  // One comparison chain: NaN fails it, and so do fractions, negative offsets and negative lengths.
  if (Number.isInteger(offset) && Number.isInteger(end) && offset >= 0 && end >= offset && end <= bytes.length) {
    return end;
  }
  throw new RangeError(`offset ${offset}, length ${length ?? 'to the end'}: not inside ${bytes.length} bytes`);
}

/**
 * Checks that a 64-bit result fits.
 *
 * @param out where the two words go
 * @throws TypeError if `out` is not a Uint32Array
 * @throws RangeError if it has fewer than two elements
 */
export function checkWordPair(out: Uint32Array): void {
  if (Object.prototype.toString.call(out) !== '[object Uint32Array]') {
    throw new TypeError('out must be a Uint32Array');
  }
  if (out.length < 2) {
    throw new RangeError(`out must hold 2 words, it holds ${out.length}`);
  }
}
