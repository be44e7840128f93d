import * as fc from 'fast-check';
import type { GeneratedFrame } from './frame.js';
import { joined } from './values.js';

/** Changes to bytes. Positions are fractions of the length, so that they fit every frame. */
type Change =
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'flip'; readonly at: readonly number[] }
  | { readonly kind: 'byte' | 'word'; readonly at: number; readonly value: number }
  | { readonly kind: 'length'; readonly field: number; readonly value: number }
  | { readonly kind: 'insert' | 'delete'; readonly at: number; readonly piece: Uint8Array };

const BYTES: readonly number[] = [0, 1, 2, 3, 4, 0x0f, 0x1f, 0x7f, 0x80, 0xf0, 0xfe, 0xff];
const WORDS: readonly number[] = [0, 1, 4, 7, 8, 12, 19, 20, 0x7fff, 0x8000, 0xfffe, 0xffff];

const RANGE = 0x10000;
const position = (fraction: number, length: number): number => Math.floor((fraction / RANGE) * length);

/** Fractions, more often near the front, where the headers are. */
const place = /* @__PURE__ */ fc.oneof(
  { arbitrary: fc.nat(RANGE - 1), weight: 3 },
  { arbitrary: fc.nat(RANGE >>> 2), weight: 2 },
);

/** Offset and size of the certain and likely length fields of a generated Ethernet frame. */
function lengthFields(bytes: Uint8Array): [at: number, size: 1 | 2][] {
  const fields: [number, 1 | 2][] = [];
  const type = bytes.length > 14 ? (bytes[12]! << 8) | bytes[13]! : 0;
  let l4 = 0;
  let protocol = 0;
  if (type === 0x0800) {
    fields.push([14, 1], [16, 2], [20, 2]);
    l4 = 14 + (bytes[14]! & 15) * 4;
    protocol = bytes[23] ?? 0;
  } else if (type === 0x86dd) {
    fields.push([18, 2], [20, 1]);
    l4 = 54;
    protocol = bytes[20] ?? 0;
  }
  let payload = l4;
  if (protocol === 17) {
    fields.push([l4 + 4, 2]);
    payload = l4 + 8;
  } else if (protocol === 6) {
    fields.push([l4 + 12, 1]);
    payload = l4 + 20;
  }
  // Shim, report and INT headers: lengths, counts and types are single bytes near the front.
  for (let at = payload; at < payload + 24; at++) fields.push([at, 1]);
  return fields.filter(([at, size]) => at + size <= bytes.length);
}

function apply(bytes: Uint8Array, change: Change): Uint8Array {
  const { length } = bytes;
  const out = bytes.slice();
  switch (change.kind) {
    case 'cut':
      return bytes.slice(0, position(change.at, length + 1));
    case 'flip':
      for (const at of change.at) {
        const bit = position(at, length * 8);
        if (length > 0) out[bit >>> 3]! ^= 1 << (bit & 7);
      }
      return out;
    case 'byte':
      if (length > 0) out[position(change.at, length)] = BYTES[change.value % BYTES.length]!;
      return out;
    case 'word': {
      const at = position(change.at, length);
      const value = WORDS[change.value % WORDS.length]!;
      if (at + 2 <= length) out.set([value >>> 8, value & 255], at);
      return out;
    }
    case 'length': {
      const fields = lengthFields(bytes);
      const field = fields[position(change.field, fields.length)];
      if (field === undefined) return out;
      const [at, size] = field;
      const list = size === 1 ? BYTES : WORDS;
      const pick = change.value % (list.length + 4);
      // One or two off, or an extreme.
      const now = size === 1 ? out[at]! : (out[at]! << 8) | out[at + 1]!;
      const value = list[pick] ?? now + ([-2, -1, 1, 2][pick - list.length] ?? 0);
      if (size === 1) out[at] = value;
      else out.set([(value >>> 8) & 255, value & 255], at);
      return out;
    }
    case 'insert': {
      const at = position(change.at, length + 1);
      return joined(bytes.subarray(0, at), change.piece, bytes.subarray(at));
    }
    default: {
      const at = position(change.at, length);
      return joined(bytes.subarray(0, at), bytes.subarray(at + change.piece.length));
    }
  }
}

const nat16 = /* @__PURE__ */ fc.nat(0xffff);
const piece = /* @__PURE__ */ fc.uint8Array({ minLength: 1, maxLength: 9 });
const change: fc.Arbitrary<Change> = /* @__PURE__ */ fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('cut' as const), at: fc.nat(RANGE - 1) }), weight: 3 },
  {
    arbitrary: fc.record({
      kind: fc.constant('flip' as const),
      at: fc.array(place, { minLength: 1, maxLength: 6 }),
    }),
    weight: 3,
  },
  { arbitrary: fc.record({ kind: fc.constantFrom('byte', 'word'), at: place, value: nat16 }), weight: 3 },
  { arbitrary: fc.record({ kind: fc.constant('length' as const), field: fc.nat(RANGE - 1), value: nat16 }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constantFrom('insert', 'delete'), at: place, piece }), weight: 2 },
);

function bytesIn(one: GeneratedFrame | Uint8Array): Uint8Array {
  return one instanceof Uint8Array ? one : one.bytes;
}

/**
 * Bytes that are probably malformed: frames cut at any byte, with flipped bits, with bytes and words set to extremes,
 * with length fields at extremes or off by one or two, with bytes inserted or deleted, the front of one frame joined to
 * the back of another, and random bytes. A few stay unchanged by chance.
 *
 * @param frames the original frames
 */
export function malformed(frames: fc.Arbitrary<GeneratedFrame> | fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  const good = (frames as fc.Arbitrary<GeneratedFrame | Uint8Array>).map(bytesIn);
  const changed = fc
    .tuple(good, fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([bytes, changes]) => changes.reduce(apply, bytes));
  const spliced = fc.tuple(good, good, fc.nat(RANGE - 1), fc.nat(RANGE - 1), fc.boolean()).map(([a, b, x, y, same]) => {
    const end = position(x, a.length + 1);
    const start = same ? Math.min(end, b.length) : position(y, b.length + 1);
    return joined(a.subarray(0, end), b.subarray(start));
  });
  return fc.oneof(
    { arbitrary: changed, weight: 10 },
    { arbitrary: spliced, weight: 2 },
    { arbitrary: fc.uint8Array({ maxLength: 200, size: 'max' }), weight: 1 },
  );
}
