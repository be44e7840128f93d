import { hashParameters, KeyHashes, MAX_COPIES } from '@int/dart/internals';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { SEED } from '../seed.js';

const KEY_BITS = 13 * 8;

/** The images of the unit vectors under an affine map of keys to 32 bits. */
function columnsOf(hash: (key: Uint8Array) => number): number[] {
  const zero = hash(new Uint8Array(13));
  return Array.from({ length: KEY_BITS }, (_, bit) => {
    const key = new Uint8Array(13);
    key[bit >> 3] = 0x80 >>> (bit & 7);
    return hash(key) ^ zero;
  });
}

/** Rank over GF(2) of vectors given as big integers. */
function rank(vectors: readonly bigint[]): number {
  const basis: bigint[] = [];
  for (let vector of vectors) {
    for (const one of basis) if ((vector ^ one) < vector) vector ^= one;
    if (vector === 0n) continue;
    basis.push(vector);
    basis.sort((a, b) => (a < b ? 1 : -1));
  }
  return basis.length;
}

describe('the CRCs', () => {
  const hashes = new KeyHashes(hashParameters('crc'));
  const uses = [
    ...Array.from({ length: MAX_COPIES }, (_, copy) => (key: Uint8Array) => hashes.slot(copy, key, 0, key.length)),
    (key: Uint8Array) => hashes.checksum(key, 0, key.length),
    (key: Uint8Array) => hashes.collector(key, 0, key.length),
  ];

  it('have polynomials of which none is the reciprocal of another', () => {
    const { slots, checksum, collector } = hashes.parameters;
    const all = [...slots, checksum, collector];
    const mirrored = (polynomial: number): number => {
      // The reciprocal of x^32 + p(x): bits 0..32 turned round, the top one left out again.
      let out = 0;
      for (let bit = 0; bit < 32; bit++) if ((polynomial >>> bit) & 1) out |= (2 ** (32 - bit)) & 0xffffffff;
      return (out | 1) >>> 0;
    };
    expect(new Set(all).size).toBe(all.length);
    for (const one of all) expect(all.filter((other) => other !== one)).not.toContain(mirrored(one));
  });

  // Where M is a power of two, two keys collide in slot n if their difference is in the accelerator of a linear map. Maps are
  // independent if, taken together, they have full rank: 16 bits are left over, as a random square matrix often has less.
  it.each([8, 12, 16, 20, 26])(
    'are independent maps of flow keys to 2^%i slots and a checksum, whichever are taken',
    (bits) => {
      const mask = (1n << BigInt(bits)) - 1n;
      const columns = uses.map(columnsOf);
      for (let first = 0; first < uses.length; first++) {
        const most = Math.min(uses.length, Math.floor((KEY_BITS - 16) / bits));
        for (const count of new Set([2, most])) {
          const taken = Array.from({ length: count }, (_, index) => columns[(first + index) % columns.length]!);
          const joint = Array.from({ length: KEY_BITS }, (_, bit) =>
            taken.reduce((vector, column) => (vector << BigInt(bits)) | (BigInt(column[bit]! >>> 0) & mask), 0n),
          );
          expect(rank(joint), `${count} from ${first} on`).toBe(count * bits);
        }
      }
    },
  );

  it('would not be, if they were one polynomial with a prefix', () => {
    const prefixed = [0, 1].map((prefix) =>
      columnsOf((key) => hashes.slot(0, Uint8Array.of(prefix, ...key), 0, key.length + 1)),
    );
    const joint = Array.from({ length: KEY_BITS }, (_, bit) =>
      prefixed.reduce((vector, column) => (vector << 16n) | (BigInt(column[bit]! >>> 0) & 0xffffn), 0n),
    );
    expect(rank(joint)).toBe(16);
  });
});

describe('the family xxhash', () => {
  it('has seeds that differ for every use and every seed, and are the same for the same seed', () => {
    const all = new Set<number>();
    for (let seed = 0; seed < 100; seed++) {
      const { slots, checksum, collector } = hashParameters('xxhash', seed);
      for (const one of [...slots, checksum, collector]) all.add(one);
    }
    expect(all.size).toBe(100 * (MAX_COPIES + 2));
    expect(hashParameters('xxhash', 7)).toEqual(hashParameters('xxhash', 7));
  });
});

describe.each(['xxhash', 'crc'] as const)('two keys of one checksum (%s)', (family) => {
  // n keys make n^2 / 2^33 such pairs. That they meet in another use as well, in all its 32 bits, has a chance of 2^-32.
  it.each([16, 37])('do not meet in other uses, keys of %i bytes', (length) => {
    const count = 400_000;
    const random = new Random(SEED);
    const keys = new Uint8Array(count * length);
    for (let at = 0; at < keys.length; at++) keys[at] = random.uint32() >>> 24;
    const hashes = new KeyHashes(hashParameters(family, 1));
    const slots = new Uint32Array(count * 4);
    const out = new Uint32Array(4);
    const checksums = new Float64Array(count);
    for (let row = 0; row < count; row++) {
      // The row in the lower bits, so that sorting keeps it.
      checksums[row] = hashes.all(keys, row * length, length, 4, out) * 2 ** 20 + row;
      slots.set(out, row * 4);
    }
    checksums.sort();
    let pairs = 0;
    let meetings = 0;
    for (let at = 1; at < count; at++) {
      if (Math.floor(checksums[at]! / 2 ** 20) !== Math.floor(checksums[at - 1]! / 2 ** 20)) continue;
      pairs++;
      const [one, other] = [checksums[at]! % 2 ** 20, checksums[at - 1]! % 2 ** 20];
      for (let copy = 0; copy < 4; copy++) if (slots[one * 4 + copy] === slots[other * 4 + copy]) meetings++;
    }
    // 18.6 expected.
    expect(pairs).toBeGreaterThan(4);
    expect(pairs).toBeLessThan(45);
    expect(meetings).toBe(0);
  });
});
