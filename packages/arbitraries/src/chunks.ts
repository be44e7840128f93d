import * as fc from 'fast-check';

/**
 * Any division of bytes into the chunks of a stream: one piece, single bytes, empty pieces, anything between. The
 * pieces are views of `bytes`; in order they give `bytes` again.
 */
export function chunks(bytes: Uint8Array): fc.Arbitrary<Uint8Array[]> {
  const { length } = bytes;
  const cut = (points: readonly number[]): Uint8Array[] => {
    const at = [0, ...[...points].sort((a, b) => a - b), length];
    return at.slice(1).map((end, k) => bytes.subarray(at[k]!, end));
  };
  return fc.oneof(
    { arbitrary: fc.array(fc.nat(length), { maxLength: 12 }).map(cut), weight: 8 },
    { arbitrary: fc.array(fc.nat(length), { maxLength: length, size: 'max' }).map(cut), weight: 1 },
    { arbitrary: fc.constant(Array.from({ length }, (_, k) => k)).map(cut), weight: 1 },
  );
}
