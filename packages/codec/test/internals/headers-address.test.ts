import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import {
  AddressError,
  formatIpv4,
  formatIpv4At,
  formatIpv6,
  formatIpv6At,
  formatMac,
  parseAddress,
  parseIpv4,
  parseIpv6,
  parseMac,
  writeAddress,
  writeMac,
} from '../../src/address.js';
import { bits, ipv6Words, mac } from './header-samples.js';

function offsetOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof AddressError) return error.offset;
    throw error;
  }
  return -1;
}

describe('IPv4 text', () => {
  test('a word reads back from its text', () => {
    fc.assert(
      fc.property(bits(32), (word) => {
        const text = formatIpv4(word);
        expect(isIPv4(text)).toBe(true);
        expect(parseIpv4(text)).toBe(word);
        expect(parseAddress(text)).toEqual({ version: 4, words: [word] });
      }),
    );
    expect(formatIpv4(0xc0a80101)).toBe('192.168.1.1');
    expect(formatIpv4At(new Uint8Array([9, 10, 0, 1, 1]), 1)).toBe('10.0.1.1');
  });

  test('bad text is refused where it goes wrong', () => {
    expect(offsetOf(() => parseIpv4(''))).toBe(0);
    expect(offsetOf(() => parseIpv4('10.0.1'))).toBe(6);
    expect(offsetOf(() => parseIpv4('10.0.1.256'))).toBe(7);
    expect(offsetOf(() => parseIpv4('10.00.1.2'))).toBe(3);
    expect(offsetOf(() => parseIpv4('10.0.1.2.3'))).toBe(8);
    expect(offsetOf(() => parseIpv4('10.0.1.2 '))).toBe(8);
    expect(offsetOf(() => parseIpv4('10..1.2'))).toBe(3);
  });
});

describe('IPv6 text', () => {
  test('is the form of RFC 5952, as another implementation writes it', () => {
    fc.assert(
      fc.property(ipv6Words, (words) => {
        const text = formatIpv6(...words);
        expect(isIPv6(text)).toBe(true);
        expect(parseIpv6(text)).toEqual(words);
        // URL writes the mapped form in hexadecimal, which section 5 of the RFC leaves open.
        if (!text.includes('.')) expect(new URL(`http://[${text}]/`).hostname).toBe(`[${text}]`);
      }),
      { numRuns: runs(2000) },
    );
  });

  test('follows the rules of RFC 5952 section 4 and 5', () => {
    const rewritten = (text: string): string => formatIpv6(...parseIpv6(text));
    expect(rewritten('2001:0DB8::0001')).toBe('2001:db8::1');
    expect(rewritten('2001:db8:0:0:1:0:0:1')).toBe('2001:db8::1:0:0:1');
    expect(rewritten('2001:db8:0:1:1:1:1:1')).toBe('2001:db8:0:1:1:1:1:1');
    expect(rewritten('0:0:0:0:0:0:0:0')).toBe('::');
    expect(rewritten('::1')).toBe('::1');
    expect(rewritten('fe80:0:0:0:0:0:0:0')).toBe('fe80::');
    expect(rewritten('::ffff:a00:1')).toBe('::ffff:10.0.0.1');
    expect(rewritten('64:ff9b::192.0.2.33')).toBe('64:ff9b::c000:221');
  });

  test('what is no IPv6 address is refused, and nothing else', () => {
    for (const text of [
      '',
      ':',
      ':::',
      '1',
      '1:2:3:4:5:6:7',
      '1:2:3:4:5:6:7:8:9',
      '1:2:3:4:5:6:7:8:',
      '::1::',
      '12345::',
      'g::',
      '1:2:3:4:5:6:7::8',
      '::1.2.3',
      '::1.2.3.4:5',
      '1:2:3:4:5:6:7:1.2.3.4',
      '::1%eth0',
      ' ::1',
    ]) {
      let refused = false;
      try {
        parseIpv6(text);
      } catch (error) {
        refused = error instanceof AddressError && error.code === 'ERR_ADDRESS';
      }
      expect(refused, text).toBe(!isIPv6(text) || text.includes('%'));
    }
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('0', '1', 'f', ':', ':', '::', '.', '12'), maxLength: 20 }),
        (text) => {
          expect(offsetOf(() => parseIpv6(text)) < 0).toBe(isIPv6(text));
        },
      ),
      { numRuns: runs(3000) },
    );
  });

  test('bytes and text agree', () => {
    fc.assert(
      fc.property(ipv6Words, fc.nat(5), (words, offset) => {
        const bytes = new Uint8Array(offset + 18).fill(0xcc);
        const text = formatIpv6(...words);
        expect(writeAddress(text, bytes, offset)).toBe(16);
        expect(formatIpv6At(bytes, offset)).toBe(text);
        expect(bytes.subarray(offset + 16)).toEqual(new Uint8Array([0xcc, 0xcc]));
      }),
    );
  });
});

describe('MAC text', () => {
  test('reads back, in either case and with dashes', () => {
    fc.assert(
      fc.property(mac, (text) => {
        expect(formatMac(parseMac(text))).toBe(text);
        expect(formatMac(parseMac(text.toUpperCase().replaceAll(':', '-')))).toBe(text);
      }),
    );
  });

  test('bad text is refused where it goes wrong', () => {
    expect(offsetOf(() => parseMac('02:00:00:00:00'))).toBe(14);
    expect(offsetOf(() => parseMac('02:00:00:0g:00:01'))).toBe(9);
    expect(offsetOf(() => parseMac('02:00:00-00:00:01'))).toBe(8);
    expect(offsetOf(() => parseMac('02:00:00:00:00:01:'))).toBe(17);
    expect(offsetOf(() => parseMac('020000000001'))).toBe(2);
  });
});

test('an address that has no room is the caller’s mistake', () => {
  expect(() => writeAddress('10.0.0.1', new Uint8Array(3))).toThrow(RangeError);
  expect(() => writeAddress('::1', new Uint8Array(16), 1)).toThrow(RangeError);
  expect(() => writeMac('02:00:00:00:00:01', new Uint8Array(5))).toThrow(RangeError);
});
