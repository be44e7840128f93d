/** Numbers, words and bytes with frequent edge values: most faults of a codec concern edges. */
import * as fc from 'fast-check';

/** Numbers of `width` bits: one draw in three is an edge (0, 1, all ones, only the highest bit, all but it). */
export function bits(width: number): fc.Arbitrary<number> {
  const max = 2 ** width - 1;
  const edges = [0, 1, max, max - 1, 2 ** (width - 1), 2 ** (width - 1) - 1].filter((edge) => edge >= 0);
  return fc.oneof(
    { arbitrary: fc.integer({ min: 0, max }), weight: 2 },
    { arbitrary: fc.constantFrom(...new Set(edges)), weight: 1 },
  );
}

/**
 * Words of 32 bits. Edges are all ones (an item that is not available), and words with one half, one byte or three
 * bytes of ones, which are values.
 */
export const word32: fc.Arbitrary<number> = /* @__PURE__ */ fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 0xffffffff }), weight: 5 },
  {
    arbitrary: fc.constantFrom(
      ...[0, 1, 0xffffffff, 0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000],
      ...[0xffff0000, 0x0000ffff, 0xff000000, 0x00ffffff, 0xffff1234, 0x1234ffff, 0xff000001, 0x01ffffff],
    ),
    weight: 2,
  },
);

/** Instruction bitmaps: none, one, all, the usual ones, any. */
export const bitmap16: fc.Arbitrary<number> = /* @__PURE__ */ fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 0xffff }), weight: 3 },
  {
    arbitrary: fc.constantFrom(
      ...[0, 0xffff, 0x8000, 0x0001, 0xf000, 0xfe00, 0xff00, 0xff80, 0xf800, 0xdc00, 0x9c00],
      ...[0x4000, 0x0c00, 0x0200, 0x0080, 0x007e, 0x7fff, 0xfffe, 0x3000],
    ),
    weight: 2,
  },
);

/** Up to `max` words: mostly a few, sometimes any number, sometimes exactly `max`. */
export function words(max: number, few = 24): fc.Arbitrary<number[]> {
  const some = fc.array(word32, { maxLength: Math.min(few, max), size: 'max' });
  if (max <= few) return some;
  return fc.oneof(
    { arbitrary: some, weight: 16 },
    { arbitrary: fc.array(word32, { maxLength: max, size: 'max' }), weight: 1 },
    { arbitrary: fc.array(word32, { minLength: max, maxLength: max, size: 'max' }), weight: 1 },
  );
}

/** Pieces of bytes, one behind the other. */
export function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.length;
  }
  return out;
}

/** The bytes of big-endian words. */
export function bytesOf(list: readonly number[]): Uint8Array {
  const out = new Uint8Array(list.length * 4);
  const view = new DataView(out.buffer);
  for (let k = 0; k < list.length; k++) view.setUint32(4 * k, list[k]!);
  return out;
}

/** Dotted text of a 32-bit word. */
function ipv4Text(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
}

/** RFC 5952 text of four 32-bit words. */
function ipv6Text(parts: readonly number[]): string {
  if (parts[0] === 0 && parts[1] === 0 && parts[2] === 0xffff) return `::ffff:${ipv4Text(parts[3]!)}`;
  const groups = parts.flatMap((word) => [word >>> 16, word & 0xffff]);
  let start = 0;
  let length = 1;
  for (let first = 0; first < 8; first++) {
    let run = 0;
    while (first + run < 8 && groups[first + run] === 0) run++;
    if (run > length) {
      start = first;
      length = run;
    }
  }
  const text = (list: readonly number[]): string => list.map((group) => group.toString(16)).join(':');
  return length < 2 ? text(groups) : `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`;
}

/** An IPv4 address in text form. */
export const ipv4Address: fc.Arbitrary<string> = /* @__PURE__ */ word32.map(ipv4Text);

/** An IPv6 address in its RFC 5952 text form: runs of zeros of every length are common. */
export const ipv6Address: fc.Arbitrary<string> = /* @__PURE__ */ fc
  .tuple(word32, word32, word32, word32, fc.integer({ min: 0, max: 255 }))
  .map(([a, b, c, d, zeros]) => {
    // Half of the addresses keep all their words; in the others each bit of `zeros` clears a group.
    if (zeros < 128) return ipv6Text([a, b, c, d]);
    const clear = (word: number, shift: number): number => {
      const high = (zeros >>> shift) & 1 ? 0 : 0xffff0000;
      const low = (zeros >>> (shift + 1)) & 1 ? 0 : 0xffff;
      return (word & (high | low)) >>> 0;
    };
    return ipv6Text([clear(a, 0), clear(b, 1), clear(c, 2), clear(d, 4)]);
  });
