import { UdpSource } from '@int/collector';
import { prefixesOf, SenderList } from '@int/collector/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { SEED } from '../seed.js';
import { addressText, type PlainPrefix, plainlyAdmits } from './plain-senders.js';

/** Few bytes, so that prefixes and addresses often share bits. */
const byte = fc.constantFrom(0, 1, 10, 127, 128, 255);
const ipv4 = fc.uint8Array({ minLength: 4, maxLength: 4 }).chain(() => fc.array(byte, { minLength: 4, maxLength: 4 }));
const ipv6 = fc.array(byte, { minLength: 16, maxLength: 16 });
const mapped = ipv4.map((address) => [...new Array<number>(10).fill(0), 0xff, 0xff, ...address]);
const address = fc.oneof(ipv4, ipv6, mapped).map((bytes) => Uint8Array.from(bytes));
const prefix: fc.Arbitrary<PlainPrefix> = address.chain((bytes) =>
  fc.integer({ min: 0, max: bytes.length * 8 }).map((length) => ({ address: bytes, length })),
);
const textOf = ({ address: bytes, length }: PlainPrefix): string => `${addressText(bytes)}/${length}`;
const listOf = (...from: readonly string[]): SenderList => new SenderList(prefixesOf(from));

describe('SenderList', () => {
  test('admits what the plain rule of prefixes admits, as bytes and as text', () => {
    const seen = { admitted: 0, refused: 0 };
    fc.assert(
      fc.property(
        fc.array(prefix, { maxLength: 4 }),
        fc.array(address, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 5 }),
        (prefixes, strangers, offset) => {
          const senders = listOf(...prefixes.map(textOf));
          // Also the first and a near address of each prefix, since random ones are rarely in it.
          const near = prefixes.map(({ address: bytes }) =>
            bytes.map((one, at) => (at === bytes.length - 1 ? one ^ 1 : one)),
          );
          for (const each of [...strangers, ...prefixes.map(({ address: bytes }) => bytes), ...near]) {
            const wanted = plainlyAdmits(prefixes, each);
            const memory = new Uint8Array(offset + each.length + 3).fill(0x5a);
            memory.set(each, offset);
            expect([addressText(each), senders.has(memory, offset, each.length)]).toEqual([addressText(each), wanted]);
            expect([addressText(each), senders.hasText(addressText(each))]).toEqual([addressText(each), wanted]);
            seen[wanted ? 'admitted' : 'refused']++;
          }
        },
      ),
      { numRuns: runs(1600), seed: SEED },
    );
    expect(Math.min(seen.admitted, seen.refused)).toBeGreaterThan(100);
  });

  test('reads addresses as sockets give them', () => {
    const senders = listOf('10.9.0.0/16', '2001:db8::/32', 'fe80::/10', '192.0.2.7');
    for (const known of ['10.9.255.1', '::ffff:10.9.0.1', '2001:db8::1', 'fe80::1%eth0', '192.0.2.7']) {
      expect([known, senders.hasText(known)]).toEqual([known, true]);
    }
    for (const other of ['10.10.0.1', '::ffff:10.8.0.1', '::10.9.0.1', '2001:db9::1', '192.0.2.8', '', 'x', ':::']) {
      expect([other, senders.hasText(other)]).toEqual([other, false]);
    }
  });

  test('nobody is in an empty list, and all addresses of a family are in a prefix of no bits', () => {
    expect(listOf().hasText('127.0.0.1')).toBe(false);
    expect(listOf('0.0.0.0/0').hasText('203.0.113.9')).toBe(true);
    expect(listOf('0.0.0.0/0').hasText('::1')).toBe(false);
    expect(listOf('::/0').hasText('::1')).toBe(true);
    expect(listOf('::ffff:10.0.0.0/104').hasText('10.1.2.3')).toBe(true);
  });

  test('refuses a text that is no prefix, and names it', () => {
    const open = (from: string) => new UdpSource({ address: 'udp://127.0.0.1:0', from: [from] });
    for (const bad of ['10.9.0.0/33', '10.9', 'leaf-1', '10.9.0.0/16/1', '']) {
      expect(() => open(bad)).toThrow(new RangeError(`from: "${bad}" is no address or prefix: write 10.9.0.0/16`));
    }
  });
});
