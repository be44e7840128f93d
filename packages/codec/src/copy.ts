/** A copy of a part of `bytes`. Of a Node Buffer, too, whose own `slice` gives a view. */
export function copyOf(bytes: Uint8Array, start = 0, end: number = bytes.length): Uint8Array {
  return new Uint8Array(bytes.subarray(start, end));
}

/** The parts one behind the other, in a new array. */
export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
