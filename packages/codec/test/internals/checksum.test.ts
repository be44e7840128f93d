import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import {
  addOnesComplement,
  checksumComplement,
  foldSum,
  ipv4HeaderChecksum,
  isValidSum,
  pseudoHeaderSum,
  subtractOnesComplement,
  sumRange,
  tcpChecksum,
  udpChecksum,
  udpChecksumField,
  updateChecksum,
  updateUdpChecksum,
} from '../../src/checksum.js';
import { bits, SEED } from './header-samples.js';

fc.configureGlobal({ seed: SEED });

/** All bytes of the word: the Checksum Complement is not used (INT v2.1 section 5.6). */
const CHECKSUM_COMPLEMENT_UNUSED = 0xffff_ffff;
const sumWord = (word: number): number => addOnesComplement(word >>> 16, word & 0xffff);

/** One's complement sum by definition: all words as one big number modulo 65,535. */
function referenceSum(bytes: Uint8Array): number {
  let total = 0n;
  for (let i = 0; i < bytes.length; i += 2) total += BigInt((bytes[i]! << 8) | (bytes[i + 1] ?? 0));
  if (total === 0n) return 0;
  return Number(total % 65_535n) || 0xffff;
}

function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

interface Vector {
  name: string;
  start: string;
  hex: string;
  expected: { ip?: unknown; udp?: { checksum?: number }; restoredHex?: string };
}
const vectors = JSON.parse(
  readFileSync(new URL('../vectors/spec-vectors.json', import.meta.url), 'utf8'),
) as readonly Vector[];

describe('sums', () => {
  test('the example of RFC 1071 section 3 sums to 0xddf2', () => {
    expect(sumRange(fromHex('0001f203f4f5f6f7'), 0, 8)).toBe(0xddf2);
  });

  test('a range of any length at any offset sums as defined', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(9), fc.nat(9), (data, before, after) => {
        const bytes = new Uint8Array(before + data.length + after).fill(0xee);
        bytes.set(data, before);
        expect(sumRange(bytes, before, data.length)).toBe(referenceSum(data));
      }),
      { numRuns: runs(1000) },
    );
  });

  test('long ranges of ones do not overflow', () => {
    for (const length of [32_767, 32_768, 32_769, 65_535, 200_001]) {
      const bytes = new Uint8Array(length).fill(0xff);
      expect(sumRange(bytes, 0, length)).toBe(referenceSum(bytes));
    }
  });

  test('a sum may start from another, however large', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.uint8Array({ maxLength: 64 }), (initial, bytes) => {
        const expected = (BigInt(initial) + BigInt(referenceSum(bytes))) % 65_535n;
        expect(sumRange(bytes, 0, bytes.length, initial) % 65_535).toBe(Number(expected));
        expect(foldSum(initial) % 65_535).toBe(Number(BigInt(initial) % 65_535n));
        expect(foldSum(initial) === 0).toBe(initial === 0);
      }),
    );
  });

  test('addition and subtraction are those of one’s complement', () => {
    fc.assert(
      fc.property(bits(16), bits(16), (a, b) => {
        expect(addOnesComplement(a, b) % 65_535).toBe((a + b) % 65_535);
        expect(subtractOnesComplement(a, b) % 65_535).toBe((a - b + 65_535) % 65_535);
        expect(addOnesComplement(a, b)).toBeLessThanOrEqual(0xffff);
      }),
    );
  });

  test('the sum of a word is the sum of its halves', () => {
    fc.assert(
      fc.property(bits(32), (word) => {
        expect(sumWord(word)).toBe(foldSum((word >>> 16) + (word & 0xffff)));
      }),
    );
  });
});

describe('checksums of packets', () => {
  test('computed checksums equal those in the worked packets', () => {
    let checked = 0;
    for (const { start, hex, expected } of vectors) {
      for (const text of [start === 'ethernet' ? hex : '', expected.restoredHex ?? '']) {
        const frame = fromHex(text);
        if (frame.length === 0 || frame[12] !== 0x08) continue;
        expect(ipv4HeaderChecksum(frame, 14)).toBe((frame[24]! << 8) | frame[25]!);
        const length = ((frame[16]! << 8) | frame[17]!) - 20;
        if (frame[23] === 17 && (frame[40]! | frame[41]!) !== 0) {
          expect(udpChecksum(frame, 14, 34, length)).toBe((frame[40]! << 8) | frame[41]!);
          checked++;
        } else if (frame[23] === 6) {
          expect(tcpChecksum(frame, 14, 34, length)).toBe((frame[50]! << 8) | frame[51]!);
          checked++;
        }
      }
    }
    expect(checked).toBeGreaterThan(12);
  });

  test('a packet with its checksum sums to a one’s complement zero, IPv4 and IPv6', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.constantFrom(6, 17),
        fc.uint8Array({ minLength: 20, maxLength: 90 }),
        (six, protocol, l4) => {
          const ipLength = six ? 40 : 20;
          const packet = new Uint8Array(3 + ipLength + l4.length);
          packet.fill(0x5c, 3, 3 + ipLength);
          packet[3] = six ? 0x60 : 0x45;
          packet.set(l4, 3 + ipLength);
          const field = 3 + ipLength + (protocol === 6 ? 16 : 6);
          const compute = protocol === 6 ? tcpChecksum : udpChecksum;
          const checksum = compute(packet, 3, 3 + ipLength, l4.length);
          packet[field] = checksum >>> 8;
          packet[field + 1] = checksum & 0xff;
          const pseudo = pseudoHeaderSum(packet, 3, protocol, l4.length);
          expect(isValidSum(sumRange(packet, 3 + ipLength, l4.length, pseudo))).toBe(true);
          // The field itself is taken as zero: computing again gives the same.
          expect(compute(packet, 3, 3 + ipLength, l4.length)).toBe(checksum);
          packet[3 + ipLength + 1]! ^= 0x10;
          expect(isValidSum(sumRange(packet, 3 + ipLength, l4.length, pseudo))).toBe(false);
        },
      ),
    );
  });

  test('a UDP checksum that computes to 0 is sent as 0xffff', () => {
    const packet = new Uint8Array(28);
    packet.set(fromHex('4500001c00000000401100000a0000010a000002'), 0);
    packet.set(fromHex('0000 0035 0008 0000'), 20);
    // The source port is chosen so that all words sum to 0xffff.
    const rest = sumRange(packet, 20, 8, pseudoHeaderSum(packet, 0, 17, 8));
    const port = 0xffff - rest;
    packet[20] = port >>> 8;
    packet[21] = port & 0xff;
    expect(sumRange(packet, 20, 8, pseudoHeaderSum(packet, 0, 17, 8))).toBe(0xffff);
    expect(udpChecksum(packet, 0, 20, 8)).toBe(0xffff);
    expect(udpChecksumField(0)).toBe(0xffff);
    expect(udpChecksumField(0x1234)).toBe(0x1234);
  });
});

describe('incremental update', () => {
  test('the example of RFC 1624 section 4 gives 0x0000', () => {
    expect(updateChecksum(0xdd2f, 0x5555, 0x3285)).toBe(0x0000);
  });

  test('it equals a computation from scratch, and keeps an error visible', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 2, maxLength: 60 }),
        fc.nat(),
        bits(16),
        bits(16),
        (data, position, word, error) => {
          const bytes = data.length % 2 === 0 ? data : data.subarray(1);
          if (bytes.length === 0) return;
          const at = (position % (bytes.length / 2)) * 2;
          const old = (bytes[at]! << 8) | bytes[at + 1]!;
          const before = ~sumRange(bytes, 0, bytes.length) & 0xffff;
          const changed = bytes.slice();
          changed[at] = word >>> 8;
          changed[at + 1] = word & 0xff;
          const after = ~sumRange(changed, 0, changed.length) & 0xffff;
          expect(updateChecksum(before, old, word) % 65_535).toBe(after % 65_535);
          const wrong = updateChecksum(addOnesComplement(before, error), old, word);
          expect(wrong % 65_535).toBe((after + error) % 65_535);
        },
      ),
      { numRuns: runs(1000) },
    );
  });

  test('a UDP checksum of 0 stays 0, and no other becomes 0', () => {
    fc.assert(
      fc.property(bits(16), bits(16), bits(16), (checksum, removed, added) => {
        expect(updateUdpChecksum(0, removed, added)).toBe(0);
        if (checksum !== 0) expect(updateUdpChecksum(checksum, removed, added)).not.toBe(0);
      }),
    );
  });
});

describe('the Checksum Complement', () => {
  test('cancels a change: the checksum over what came before is right over what came after', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 4, maxLength: 40 }),
        fc.uint8Array({ minLength: 4, maxLength: 40 }),
        (before, after) => {
          const complement = checksumComplement(referenceSum(before), referenceSum(after));
          expect(complement).toBeGreaterThanOrEqual(0);
          expect(complement).toBeLessThanOrEqual(0xffff);
          expect((referenceSum(after) + sumWord(complement)) % 65_535).toBe(referenceSum(before) % 65_535);
        },
      ),
    );
  });

  test('never is the value that says unused', () => {
    for (const [removed, added] of [
      [0, 0],
      [0xffff, 0xffff],
      [0xffff, 0],
      [0, 0xffff],
      [0x1234, 0x1234],
    ] as const) {
      expect(checksumComplement(removed, added)).not.toBe(CHECKSUM_COMPLEMENT_UNUSED);
    }
    // Its sum is zero, so a checksum does not see it.
    expect(isValidSum(sumWord(CHECKSUM_COMPLEMENT_UNUSED))).toBe(true);
  });
});
