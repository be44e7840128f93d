/** Compares the tag: instanceof fails for a typed array of another realm (a vm context, a test runner). */
function isTagged(value: unknown, tag: string): boolean {
  return Object.prototype.toString.call(value) === `[object ${tag}]`;
}

/**
 * Checks a range of bytes and returns its end.
 *
 * @param bytes the bytes; a Buffer is one
 * @param offset first byte
 * @param length number of bytes; undefined means up to the end of `bytes`
 * @returns the offset one past the last byte
 * @throws TypeError if `bytes` is not a Uint8Array
 * @throws RangeError if offset or length is not a whole number, or the range is not inside `bytes`
 */
export function rangeEnd(bytes: Uint8Array, offset: number, length: number | undefined): number {
  if (!(bytes instanceof Uint8Array) && !isTagged(bytes, 'Uint8Array')) {
    throw new TypeError('bytes must be a Uint8Array');
  }
  const end = length === undefined ? bytes.length : offset + length;
  // NaN fails the test, and so do fractions, negative offsets and negative lengths.
  if (Number.isInteger(offset) && Number.isInteger(end) && offset >= 0 && end >= offset && end <= bytes.length) {
    return end;
  }
  throw new RangeError(`offset ${offset}, length ${length ?? 'to the end'}: not inside ${bytes.length} bytes`);
}

/**
 * Checks that a 64-bit result fits.
 *
 * @param out receives the two words
 * @throws TypeError if `out` is not a Uint32Array
 * @throws RangeError if it has fewer than two elements
 */
export function checkWordPair(out: Uint32Array): void {
  if (!(out instanceof Uint32Array) && !isTagged(out, 'Uint32Array')) {
    throw new TypeError('out must be a Uint32Array');
  }
  if (out.length < 2) {
    throw new RangeError(`out must hold 2 words, it holds ${out.length}`);
  }
}
