import { ValueError } from '@int/network/internals';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  macText,
  maskOf,
  PROTOCOLS,
  parseMacNumber,
  parsePorts,
  parsePrefix,
  parseProtocol,
  prefixText,
  protocolName,
} from '../../../src/rules/address.js';
import { SEED } from '../../seed.js';
import { prefixes } from './arbitraries.js';

const options = { seed: SEED, numRuns: 500 };

describe('a prefix', () => {
  it('is read from its text', () => {
    expect(parsePrefix('10.0.0.0/8')).toEqual({ version: 4, words: [0x0a000000], length: 8 });
    expect(parsePrefix(' 10.1.2.3 ')).toEqual({ version: 4, words: [0x0a010203], length: 32 });
    expect(parsePrefix('0.0.0.0/0')).toEqual({ version: 4, words: [0], length: 0 });
    expect(parsePrefix('2001:db8::/33')).toEqual({ version: 6, words: [0x20010db8, 0, 0, 0], length: 33 });
    expect(parsePrefix('::1')).toEqual({ version: 6, words: [0, 0, 0, 1], length: 128 });
  });

  it('is the same after printing and reading', () => {
    fc.assert(
      fc.property(fc.oneof(prefixes(4), prefixes(6)), (prefix) => {
        expect(parsePrefix(prefixText(prefix))).toEqual(prefix);
      }),
      options,
    );
  });

  it('has no bit beyond its length; the message says which prefix and which address may be meant', () => {
    fc.assert(
      fc.property(fc.oneof(prefixes(4), prefixes(6)), fc.nat(127), (prefix, position) => {
        const bits = 32 * prefix.words.length;
        const bit = position % bits;
        fc.pre(bit >= prefix.length);
        const words = prefix.words.map((word, i) =>
          i === bit >> 5 ? (word | (0x80000000 >>> (bit & 31))) >>> 0 : word,
        );
        const address = prefixText({ version: prefix.version, words, length: bits });
        const run = (): unknown => parsePrefix(`${address}/${prefix.length}`);
        expect(run).toThrow(ValueError);
        expect(run).toThrow(`write ${prefixText(prefix)} for the network, or ${address} for the one address`);
      }),
      options,
    );
  });

  it('masks as many bits as its length says', () => {
    for (let length = 0; length <= 128; length++) {
      const ones = [0, 1, 2, 3].map((i) => maskOf(length, i).toString(2).padStart(32, '0')).join('');
      expect(ones).toBe('1'.repeat(length).padEnd(128, '0'));
    }
  });

  it.each([
    '',
    '/8',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '::/129',
    '1::2::3',
    '10.0.0.0.0',
    '01.2.3.4',
    'fe80::1%eth0',
    '10.0.0.0 /8',
    '10.0.0.0/255.0.255.0',
  ])('is not %j', (text) => {
    expect(() => parsePrefix(text)).toThrow(ValueError);
  });
});

describe('a protocol', () => {
  it('is a name or a number', () => {
    for (const [name, number] of Object.entries(PROTOCOLS)) expect(parseProtocol(name)).toBe(number);
    for (let number = 0; number < 256; number++) {
      expect(parseProtocol(number)).toBe(number);
      expect(parseProtocol(String(number))).toBe(number);
      expect(parseProtocol(protocolName(number))).toBe(number);
    }
  });

  it.each(['', 'TCP', 'toString', '__proto__', '-1', '1.5', '256', -1, 256, 1.5, Number.NaN])('is not %j', (value) => {
    expect(() => parseProtocol(value)).toThrow(ValueError);
  });
});

describe('ports', () => {
  it('are one or a range', () => {
    expect(parsePorts(80)).toEqual({ from: 80, to: 80 });
    expect(parsePorts('80')).toEqual({ from: 80, to: 80 });
    expect(parsePorts(' 80 - 443 ')).toEqual({ from: 80, to: 443 });
    expect(parsePorts('0-65535')).toEqual({ from: 0, to: 0xffff });
    expect(parsePorts('7-7')).toEqual({ from: 7, to: 7 });
  });

  it.each(['', '-', '-1', '80-', '-80', '80-443-8080', '65536', '443-80', 'http', '80,443', '80:443', 65536, -1, 1.5])(
    'are not %j',
    (value) => {
      expect(() => parsePorts(value)).toThrow(ValueError);
    },
  );
});

describe('a MAC address', () => {
  it('is the same after printing and reading', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (mac) => {
        expect(parseMacNumber(macText(mac))).toBe(mac);
        expect(parseMacNumber(macText(mac).toUpperCase().replaceAll(':', '-'))).toBe(mac);
      }),
      options,
    );
  });

  it.each(['', '02:00:00:00:00', '02:00:00:00:00:0g', '02-00:00:00:00:01', '0200.0000.0001', '020000000001'])(
    'is not %j',
    (text) => {
      expect(() => parseMacNumber(text)).toThrow(ValueError);
    },
  );
});
