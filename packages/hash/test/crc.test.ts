import { runInNewContext } from 'node:vm';
import { crc32 as zlibCrc32 } from 'node:zlib';
import {
  CRC_8,
  CRC_16_ARC,
  CRC_16_CCITT,
  CRC_16_CCITT_FALSE,
  CRC_16_X25,
  CRC_32,
  CRC_32_AUTOSAR,
  CRC_32_BZIP2,
  CRC_32C,
  CRC_32D,
  CRC_32K,
  CRC_32Q,
  type CrcParameters,
  crc32,
  createCrc,
  writeFlowKeyIpv4,
  writeFlowKeyIpv6,
} from '@int/hash';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { referenceCrc } from './crc-reference.js';
import { randomBytes, seed } from './seed.js';

const nineDigits = new TextEncoder().encode('123456789');

/** Rows of the RevEng catalogue: name, width, polynomial, init, reflectIn, reflectOut, xorOut, check. */
const catalogue: [string, number, number, number, boolean, boolean, number, number][] = [
  ['CRC-3/GSM', 3, 0x3, 0x0, false, false, 0x7, 0x4],
  ['CRC-4/G-704', 4, 0x3, 0x0, true, true, 0x0, 0x7],
  ['CRC-5/USB', 5, 0x05, 0x1f, true, true, 0x1f, 0x19],
  ['CRC-6/G-704', 6, 0x03, 0x00, true, true, 0x00, 0x06],
  ['CRC-7/MMC', 7, 0x09, 0x00, false, false, 0x00, 0x75],
  ['CRC-8/MAXIM-DOW', 8, 0x31, 0x00, true, true, 0x00, 0xa1],
  ['CRC-8/SMBUS', 8, 0x07, 0x00, false, false, 0x00, 0xf4],
  ['CRC-10/ATM', 10, 0x233, 0x000, false, false, 0x000, 0x199],
  ['CRC-11/FLEXRAY', 11, 0x385, 0x01a, false, false, 0x000, 0x5a3],
  ['CRC-12/UMTS', 12, 0x80f, 0x000, false, true, 0x000, 0xdaf],
  ['CRC-14/DARC', 14, 0x0805, 0x0000, true, true, 0x0000, 0x082d],
  ['CRC-15/CAN', 15, 0x4599, 0x0000, false, false, 0x0000, 0x059e],
  ['CRC-16/ARC', 16, 0x8005, 0x0000, true, true, 0x0000, 0xbb3d],
  ['CRC-16/DECT-R', 16, 0x0589, 0x0000, false, false, 0x0001, 0x007e],
  ['CRC-16/DNP', 16, 0x3d65, 0x0000, true, true, 0xffff, 0xea82],
  ['CRC-16/GENIBUS', 16, 0x1021, 0xffff, false, false, 0xffff, 0xd64e],
  ['CRC-16/IBM-3740', 16, 0x1021, 0xffff, false, false, 0x0000, 0x29b1],
  ['CRC-16/IBM-SDLC', 16, 0x1021, 0xffff, true, true, 0xffff, 0x906e],
  ['CRC-16/KERMIT', 16, 0x1021, 0x0000, true, true, 0x0000, 0x2189],
  ['CRC-16/MODBUS', 16, 0x8005, 0xffff, true, true, 0x0000, 0x4b37],
  ['CRC-16/RIELLO', 16, 0x1021, 0xb2aa, true, true, 0x0000, 0x63d0],
  ['CRC-16/T10-DIF', 16, 0x8bb7, 0x0000, false, false, 0x0000, 0xd0db],
  ['CRC-16/XMODEM', 16, 0x1021, 0x0000, false, false, 0x0000, 0x31c3],
  ['CRC-17/CAN-FD', 17, 0x1685b, 0x00000, false, false, 0x00000, 0x04f03],
  ['CRC-21/CAN-FD', 21, 0x102899, 0x000000, false, false, 0x000000, 0x0ed841],
  ['CRC-24/BLE', 24, 0x00065b, 0x555555, true, true, 0x000000, 0xc25a56],
  ['CRC-24/OPENPGP', 24, 0x864cfb, 0xb704ce, false, false, 0x000000, 0x21cf02],
  ['CRC-31/PHILIPS', 31, 0x04c11db7, 0x7fffffff, false, false, 0x7fffffff, 0x0ce9e46c],
  ['CRC-32/AIXM', 32, 0x814141ab, 0x00000000, false, false, 0x00000000, 0x3010bf7f],
  ['CRC-32/AUTOSAR', 32, 0xf4acfb13, 0xffffffff, true, true, 0xffffffff, 0x1697d06a],
  ['CRC-32/BASE91-D', 32, 0xa833982b, 0xffffffff, true, true, 0xffffffff, 0x87315576],
  ['CRC-32/BZIP2', 32, 0x04c11db7, 0xffffffff, false, false, 0xffffffff, 0xfc891918],
  ['CRC-32/CD-ROM-EDC', 32, 0x8001801b, 0x00000000, true, true, 0x00000000, 0x6ec2edc4],
  ['CRC-32/CKSUM', 32, 0x04c11db7, 0x00000000, false, false, 0xffffffff, 0x765e7680],
  ['CRC-32/ISCSI', 32, 0x1edc6f41, 0xffffffff, true, true, 0xffffffff, 0xe3069283],
  ['CRC-32/ISO-HDLC', 32, 0x04c11db7, 0xffffffff, true, true, 0xffffffff, 0xcbf43926],
  ['CRC-32/JAMCRC', 32, 0x04c11db7, 0xffffffff, true, true, 0x00000000, 0x340bc6d9],
  ['CRC-32/MEF', 32, 0x741b8cd7, 0xffffffff, true, true, 0x00000000, 0xd2c22f51],
  ['CRC-32/MPEG-2', 32, 0x04c11db7, 0xffffffff, false, false, 0x00000000, 0x0376e6e7],
  ['CRC-32/XFER', 32, 0x000000af, 0x00000000, false, false, 0x00000000, 0xbd0be338],
];

const presets: [string, CrcParameters, number][] = [
  ['CRC_32', CRC_32, 0xcbf43926],
  ['CRC_32C', CRC_32C, 0xe3069283],
  ['CRC_32D', CRC_32D, 0x87315576],
  ['CRC_32K', CRC_32K, 0x2d3dd0ae],
  ['CRC_32Q', CRC_32Q, 0x3010bf7f],
  ['CRC_32_AUTOSAR', CRC_32_AUTOSAR, 0x1697d06a],
  ['CRC_32_BZIP2', CRC_32_BZIP2, 0xfc891918],
  ['CRC_16_ARC', CRC_16_ARC, 0xbb3d],
  ['CRC_16_CCITT_FALSE', CRC_16_CCITT_FALSE, 0x29b1],
  ['CRC_16_CCITT', CRC_16_CCITT, 0x2189],
  ['CRC_16_X25', CRC_16_X25, 0x906e],
  ['CRC_8', CRC_8, 0xf4],
];

const anyParameters: fc.Arbitrary<CrcParameters> = fc.integer({ min: 1, max: 32 }).chain((width) => {
  const field = fc.integer({ min: 0, max: 2 ** width - 1 });
  return fc.record({
    width: fc.constant(width),
    polynomial: field,
    init: field,
    reflectIn: fc.boolean(),
    reflectOut: fc.boolean(),
    xorOut: field,
  });
});
const word = fc.integer({ min: 0, max: 0xffffffff });

describe('createCrc', () => {
  it.each(catalogue)(
    'gives the catalogue check value of %s',
    (_, width, polynomial, init, reflectIn, reflectOut, xorOut, check) => {
      const parameters = { width, polynomial, init, reflectIn, reflectOut, xorOut };
      expect(createCrc(parameters).digest(nineDigits)).toBe(check);
      expect(referenceCrc(parameters, nineDigits)).toBe(check);
    },
  );

  it.each(presets)('has %s with its check value', (_, parameters, check) => {
    expect(createCrc(parameters).digest(nineDigits)).toBe(check);
  });

  it('agrees with one bit at a time for any parameters, any bytes and any place in a larger buffer', () => {
    fc.assert(
      fc.property(
        anyParameters,
        fc.uint8Array({ maxLength: 70 }),
        fc.nat(9),
        fc.nat(9),
        (parameters, bytes, before, after) => {
          const buffer = new Uint8Array(before + bytes.length + after).fill(0xa5);
          buffer.set(bytes, before);
          const expected = referenceCrc(parameters, bytes);
          const crc = createCrc(parameters);
          expect(crc.digest(bytes)).toBe(expected);
          expect(crc.digest(buffer, before, bytes.length)).toBe(expected);
          expect(crc.digest(buffer.subarray(before, before + bytes.length))).toBe(expected);
        },
      ),
      { seed, numRuns: 300 },
    );
  });

  it('continues: any division into pieces gives the CRC of the whole', () => {
    const pieces = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 6 });
    fc.assert(
      fc.property(anyParameters, pieces, (parameters, parts) => {
        const crc = createCrc(parameters);
        let value = crc.empty;
        for (const part of parts) {
          value = crc.update(value, part);
        }
        expect(value).toBe(crc.digest(Uint8Array.from(parts.flatMap((part) => [...part]))));
      }),
      { seed, numRuns: 200 },
    );
  });

  it('continues over a word as over its four bytes in network order', () => {
    fc.assert(
      fc.property(anyParameters, fc.uint8Array({ maxLength: 9 }), word, (parameters, bytes, next) => {
        const crc = createCrc(parameters);
        const last = Uint8Array.of(next >>> 24, next >>> 16, next >>> 8, next);
        expect(crc.updateWord(crc.digest(bytes), next)).toBe(crc.update(crc.digest(bytes), last));
        expect(crc.updateWord(crc.digest(bytes), next | 0)).toBe(crc.update(crc.digest(bytes), last));
      }),
      { seed, numRuns: 200 },
    );
  });

  it('hashes flow keys from words as from bytes, for any parameters', () => {
    fc.assert(
      fc.property(
        anyParameters,
        fc.tuple(word, word, word, word),
        fc.tuple(word, word, word, word),
        fc.nat(255),
        word,
        (parameters, source, destination, protocol, ports) => {
          const crc = createCrc(parameters);
          const key = new Uint8Array(37);
          writeFlowKeyIpv4(key, 0, source[0], destination[0], protocol, ports);
          const expected = referenceCrc(parameters, key.subarray(0, 13));
          expect(crc.flowIpv4(source[0], destination[0], protocol, ports)).toBe(expected);
          expect(crc.flowIpv4(source[0] | 0, destination[0] | 0, protocol | 0x300, ports | 0)).toBe(expected);
          writeFlowKeyIpv6(key, 0, ...source, ...destination, protocol, ports);
          expect(crc.flowIpv6(...source, ...destination, protocol, ports)).toBe(referenceCrc(parameters, key));
        },
      ),
      { seed, numRuns: 200 },
    );
  });

  it('copies its parameters', () => {
    const parameters = { ...CRC_32 };
    const crc = createCrc(parameters);
    parameters.width = 16;
    expect(crc.parameters).toEqual(CRC_32);
    expect(crc.digest(nineDigits)).toBe(0xcbf43926);
  });

  it.each([
    ['a width of 0', { width: 0 }],
    ['a width of 33', { width: 33 }],
    ['a fractional width', { width: 15.5 }],
    ['a polynomial that has its top bit', { polynomial: 2 ** 32 }],
    ['a negative polynomial', { polynomial: -1 }],
    ['an init that is not a number', { init: Number.NaN }],
    ['an xorOut wider than the register', { width: 16, polynomial: 0x8005, init: 0, xorOut: 0x10000 }],
  ])('refuses %s', (_, change) => {
    expect(() => createCrc({ ...CRC_32, ...change })).toThrow(RangeError);
  });

  it('refuses a reflection that is not a boolean', () => {
    const parameters: CrcParameters = JSON.parse(JSON.stringify({ ...CRC_32, reflectIn: 1 }));
    expect(() => createCrc(parameters)).toThrow(TypeError);
  });
});

describe('crc32', () => {
  it('equals zlib at every length to 300 and every offset to 8', () => {
    const bytes = randomBytes(320);
    for (let length = 0; length <= 300; length++) {
      const offset = length % 9;
      const range = bytes.subarray(offset, offset + length);
      expect(crc32(bytes, offset, length)).toBe(zlibCrc32(range));
      expect(crc32(range)).toBe(zlibCrc32(range));
    }
  });

  it('continues from a value as zlib does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), word, (bytes, before) => {
        expect(crc32(bytes, 0, undefined, before)).toBe(zlibCrc32(bytes, before));
      }),
      { seed },
    );
  });

  it('equals zlib on a megabyte, and on a Buffer', () => {
    const bytes = randomBytes(1 << 20);
    expect(crc32(bytes)).toBe(zlibCrc32(bytes));
    expect(crc32(Buffer.from(nineDigits))).toBe(0xcbf43926);
  });

  it('is 0 for no bytes, 0x2144df1c for eight of 0xff, and that again for a message followed by its own CRC', () => {
    expect(crc32(new Uint8Array(0))).toBe(0);
    expect(crc32(new Uint8Array(8).fill(0xff))).toBe(0x2144df1c);
    const frame = new Uint8Array(64);
    frame.set(randomBytes(60));
    new DataView(frame.buffer).setUint32(60, crc32(frame, 0, 60), true);
    expect(crc32(frame)).toBe(0x2144df1c);
  });

  it('takes bytes of another realm and of shared memory', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(9));
    shared.set(nineDigits);
    expect(crc32(shared)).toBe(0xcbf43926);
    const foreign: Uint8Array = runInNewContext('Uint8Array.from("123456789", (digit) => digit.charCodeAt(0))');
    expect(foreign).not.toBeInstanceOf(Uint8Array);
    expect(crc32(foreign)).toBe(0xcbf43926);
  });

  it.each([
    ['a negative offset', -1, undefined],
    ['an offset past the end', 10, undefined],
    ['a fractional offset', 0.5, 1],
    ['an offset that is not a number', Number.NaN, undefined],
    ['a negative length', 3, -1],
    ['a length past the end', 3, 7],
    ['a fractional length', 0, 1.5],
    ['an infinite length', 0, Number.POSITIVE_INFINITY],
  ])('refuses %s', (_, offset, length) => {
    expect(() => crc32(nineDigits, offset, length)).toThrow(RangeError);
    expect(() => createCrc(CRC_16_ARC).digest(nineDigits, offset, length)).toThrow(RangeError);
  });

  it.each([
    ['a string', '"123456789"'],
    ['an array', '[1, 2, 3]'],
    ['nothing', 'null'],
  ])('refuses %s in place of bytes', (_, json) => {
    const bytes: Uint8Array = JSON.parse(json);
    expect(() => crc32(bytes)).toThrow(TypeError);
  });
});
