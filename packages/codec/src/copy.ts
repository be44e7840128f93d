/** A copy of a part of `bytes`; of a Node Buffer too, whose own `slice` gives a view. */
export function copyOf(bytes: Uint8Array, start = 0, end: number = bytes.length): Uint8Array {
  return new Uint8Array(bytes.subarray(start, end));
}
