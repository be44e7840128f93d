import { expect, test } from 'vitest';
import { transcriptOf } from '../../../.ci/test/readmes.js';
import { linesOf, traced } from '../src/dart-query.js';

/** CRC-32 of a polynomial, the lowest bit first, begun with ones and inverted at the end: bit by bit. */
function crc(bytes: readonly number[], polynomial: number): number {
  let reversed = 0;
  for (let bit = 0; bit < 32; bit++) if (((polynomial >>> bit) & 1) === 1) reversed |= 1 << (31 - bit);
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ reversed : value >>> 1;
  }
  return ~value >>> 0;
}

/** 10.0.1.1:4000 to 10.0.2.LAST:80 by UDP: the 13 bytes of the key. */
const keyOf = (last: number): number[] => [10, 0, 1, 1, 10, 0, 2, last, 17, 0x0f, 0xa0, 0, 80];
/** Polynomials of the checksum and of the slots of both copies: p4/README.md. */
const [CHECKSUM, ...SLOTS] = [0x04c11db7, 0x1edc6f41, 0x741b8cd7] as const;

test('the memory holds the paths where a CRC says, and the operator reads them', () => {
  const { store, rnic, before, after } = traced();
  expect(before.map(({ path }) => path)).toEqual([[1, 2, 3], [1, 2, 3], null]);
  expect(after.map(({ path }) => path)).toEqual([[1, 2, 3], [1, 4, 3], null]);
  for (const [last, middle] of [
    [2, 2],
    [3, 4],
  ] as const) {
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc(keyOf(last), CHECKSUM));
    const value = [0, 0, 0, 1, 0, 0, 0, middle, 0, 0, 0, 3, ...Array<number>(8).fill(0)];
    for (const polynomial of SLOTS) {
      const at = 24 * (crc(keyOf(last), polynomial) % 65_536);
      expect([...store.segments[0]!.slots.subarray(at, at + 24)]).toEqual([...checksum, ...value]);
    }
  }
  // Two flows, twice, two copies each; and no slot but theirs.
  expect(rnic.counters).toMatchObject({ write: 8, rejected: 0 });
  const slots = Buffer.from(store.segments[0]!.slots);
  const used = Array.from({ length: 65_536 }, (_, slot) => slots.subarray(24 * slot, 24 * slot + 24));
  expect(used.filter((slot) => slot.some((byte) => byte !== 0))).toHaveLength(4);
  expect(linesOf({ store, rnic, before, after })).toEqual(
    transcriptOf('examples/dart-query/README.md', 'npm -s start -w @int/example-dart-query'),
  );
});
