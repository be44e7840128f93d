import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { CodecError } from '../../src/errors.js';
import {
  gpintProbe,
  gpintProbeExtended,
  intMd,
  ipv4,
  ipv6,
  MAX_PROBE_BYTES,
  reportV20Group,
  reportV20Individual,
  shimV2,
  udp,
} from '../../src/headers/index.js';
import { intV05, intV10 } from '../../src/headers/int.js';
import { tcp } from '../../src/headers/transport.js';
import { geneve, gre } from '../../src/headers/tunnels.js';
import { SAMPLES, type Sample } from './header-samples.js';

const GUARD = 0xa5;
const offsets = fc.integer({ min: 0, max: 9 });

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function fromHex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

/** What every header codec must do. */
function contract<T extends object>({ name, codec, arbitrary }: Sample<T>): void {
  describe(`the ${name} codec`, () => {
    test('gives back what it wrote, and writes nothing else', () => {
      fc.assert(
        fc.property(arbitrary, offsets, offsets, (value, offset, margin) => {
          const length = codec.encodingLength(value);
          const shared = new Uint8Array(7 + offset + length + margin).fill(GUARD);
          const out = shared.subarray(7);
          expect(codec.encodeInto(value, out, offset)).toBe(length);
          expect(shared.subarray(0, 7 + offset).every((byte) => byte === GUARD)).toBe(true);
          expect(out.subarray(offset + length).every((byte) => byte === GUARD)).toBe(true);
          expect(codec.decode(out, offset)).toEqual(value);
          expect(hex(codec.encode(value))).toBe(hex(out.subarray(offset, offset + length)));
        }),
      );
    });

    test('says TRUNCATED for every shorter input, at the part that is cut', () => {
      fc.assert(
        fc.property(arbitrary, offsets, (value, offset) => {
          const encoded = codec.encode(value);
          const bytes = new Uint8Array(offset + encoded.length);
          bytes.set(encoded, offset);
          for (let cut = 0; cut < encoded.length; cut++) {
            const error = caught(() => codec.decode(bytes.subarray(0, offset + cut), offset));
            if (!CodecError.is(error)) throw error;
            expect(error.code).toBe('TRUNCATED');
            expect(error.layer).toBe(codec.layer);
            expect(error.offset).toBeGreaterThanOrEqual(offset);
            expect(error.offset).toBeLessThanOrEqual(offset + cut);
            // Only headers that hold a list name a place behind their start.
            if (!['geneve', 'gpintProbe', 'gpintProbeExtended'].includes(name)) expect(error.offset).toBe(offset);
          }
        }),
        { numRuns: runs(30) },
      );
    });

    test('refuses values that do not fit, by name, and leaves the output alone', () => {
      const [value] = fc.sample(arbitrary, 1);
      if (value === undefined) throw new Error('no sample');
      const length = codec.encodingLength(value);
      let fields = 0;
      for (const [field, good] of Object.entries(value) as [string, unknown][]) {
        const bad: unknown[] =
          typeof good === 'number'
            ? [-1, 0.5, 2 ** 33, Number.NaN, '1']
            : typeof good === 'bigint'
              ? [-1n, 1n << 64n, 1]
              : typeof good === 'boolean'
                ? [1, undefined]
                : field === 'source' || field === 'destination'
                  ? ['', 7, '1.2.3']
                  : [];
        for (const wrong of bad) {
          fields++;
          const out = new Uint8Array(length).fill(GUARD);
          const error = caught(() => codec.encodeInto({ ...value, [field]: wrong }, out));
          expect(error).toBeInstanceOf(Error);
          if (typeof good !== 'string') expect((error as Error).message).toContain(field);
          expect(out.every((byte) => byte === GUARD)).toBe(true);
        }
      }
      expect(fields).toBeGreaterThan(0);
    });

    test('refuses an output without room', () => {
      const [value] = fc.sample(arbitrary, 1);
      if (value === undefined) throw new Error('no sample');
      const length = codec.encodingLength(value);
      expect(() => codec.encodeInto(value, new Uint8Array(length - 1))).toThrow(RangeError);
      expect(() => codec.encodeInto(value, new Uint8Array(length), 1)).toThrow(RangeError);
      expect(() => codec.encodeInto(value, new Uint8Array(length), -1)).toThrow(RangeError);
    });

    test('refuses arguments that are no bytes or no offset', () => {
      expect(() => codec.decode([1, 2, 3] as unknown as Uint8Array)).toThrow(TypeError);
      expect(() => codec.decode(new Uint8Array(64), -1)).toThrow(RangeError);
      expect(() => codec.decode(new Uint8Array(64), 0.5)).toThrow(RangeError);
      expect(caught(() => codec.decode(new Uint8Array(4), 5))).toMatchObject({ code: 'TRUNCATED', offset: 5 });
    });
  });
}

for (const sample of Object.values(SAMPLES)) contract(sample as unknown as Sample<object>);

describe('header codecs on known bytes', () => {
  test('an IPv4 header with DSCP and flags reads field by field', () => {
    const bytes = fromHex('455c004f 12344000 3e061317 0a000101 0a000202');
    expect(ipv4.decode(bytes)).toEqual({
      dscp: 0x17,
      ecn: 0,
      totalLength: 79,
      identification: 0x1234,
      reserved: false,
      dontFragment: true,
      moreFragments: false,
      fragmentOffset: 0,
      timeToLive: 62,
      protocol: 6,
      headerChecksum: 0x1317,
      source: '10.0.1.1',
      destination: '10.0.2.2',
      options: new Uint8Array(0),
    });
  });

  test('an INT-MD header reads field by field', () => {
    expect(intMd.decode(fromHex('2e000200 90005453 80004000'))).toEqual({
      discard: true,
      hopExceeded: true,
      mtuExceeded: true,
      reserved: 0,
      hopMl: 2,
      remainingHopCount: 0,
      instructionBitmap: 0x9000,
      domainId: 0x5453,
      domainInstructions: 0x8000,
      domainFlags: 0x4000,
    });
  });

  test('the shim of v2.x reads by its next protocol type', () => {
    expect(shimV2.decode(fromHex('14182328'))).toEqual({
      type: 1,
      npt: 1,
      reserved: 0,
      length: 24,
      destinationPort: 9000,
    });
    expect(shimV2.decode(fromHex('38050006'))).toEqual({
      type: 3,
      npt: 2,
      reserved: 0,
      length: 5,
      reserved2: 0,
      protocol: 6,
    });
    expect(shimV2.decode(fromHex('10070028'))).toMatchObject({ npt: 0, dscp: 10 });
    expect(shimV2.decode(fromHex('1c03abcd'))).toMatchObject({ npt: 3, value: 0xabcd });
  });

  test('report v2.0 headers read field by field', () => {
    expect(reportV20Group.decode(fromHex('21412345 00000003'))).toEqual({ hwId: 5, sequence: 0x12345, nodeId: 3 });
    expect(reportV20Individual.decode(fromHex('130f02c0'))).toEqual({
      reportType: 1,
      innerType: 3,
      reportLength: 15,
      metadataLength: 2,
      dropped: true,
      queueCongested: true,
      trackedFlow: false,
      intermediate: false,
      reserved: 0,
    });
  });

  test('a version nibble of another header is refused', () => {
    expect(caught(() => ipv4.decode(new Uint8Array(20).fill(0x60)))).toMatchObject({ code: 'BAD_IP_VERSION' });
    expect(caught(() => ipv6.decode(new Uint8Array(40).fill(0x45)))).toMatchObject({ code: 'BAD_IP_VERSION' });
    expect(caught(() => intV05.decode(fromHex('1000000000000000')))).toMatchObject({ code: 'BAD_INT_VERSION' });
    expect(caught(() => intV10.decode(fromHex('2000000000000000')))).toMatchObject({ code: 'BAD_INT_VERSION' });
    expect(caught(() => intMd.decode(fromHex('100000000000000000000000')))).toMatchObject({
      code: 'BAD_INT_VERSION',
      layer: 'int',
      offset: 0,
    });
    expect(caught(() => reportV20Group.decode(fromHex('1000000000000000')))).toMatchObject({
      code: 'BAD_REPORT_VERSION',
    });
  });

  test('a header length below the fixed header is refused', () => {
    const ip = new Uint8Array(20).fill(0x44);
    expect(caught(() => ipv4.decode(ip))).toMatchObject({ code: 'BAD_IP_LENGTH', offset: 0 });
    expect(caught(() => tcp.decode(new Uint8Array(20).fill(0x40)))).toMatchObject({
      code: 'BAD_TCP_LENGTH',
      offset: 12,
    });
  });

  test('raw parts are views of the input, not copies', () => {
    const bytes = new Uint8Array(64);
    bytes.set(fromHex('46000018 00000000 40110000 0a000001 0a000002 94040000'), 8);
    const { options } = ipv4.decode(bytes, 8);
    expect(hex(options)).toBe('94040000');
    bytes[28] = 1;
    expect(options[0]).toBe(1);
  });

  test('options and data of a wrong size are refused by name', () => {
    const [base] = fc.sample(SAMPLES.ipv4.arbitrary, 1);
    for (const size of [1, 44]) {
      expect(() => ipv4.encode({ ...base!, options: new Uint8Array(size) })).toThrow(/options/);
      expect(() => ipv4.encodingLength({ ...base!, options: new Uint8Array(size) })).toThrow(RangeError);
    }
  });

  test('a UDP header takes no more than its eight bytes', () => {
    expect(udp.byteLength).toBe(8);
    expect(udp.decode(fromHex('9c4013880077065f1418'))).toEqual({
      sourcePort: 40000,
      destinationPort: 5000,
      length: 119,
      checksum: 0x065f,
    });
  });
});

describe('Geneve', () => {
  const bytes = fromHex('0500 6558 0000c800 01030101 11223344 01020301 55667788 ffffffff');

  test('a cut option is named where it starts', () => {
    for (const [cut, offset] of [
      [7, 0],
      [9, 8],
      [15, 8],
      [17, 16],
      [23, 16],
    ] as const) {
      expect(caught(() => geneve.decode(bytes.subarray(0, cut)))).toMatchObject({ code: 'TRUNCATED', offset });
    }
  });

  test('an option that runs past the option length is a bad tunnel', () => {
    const short = bytes.slice();
    short[0] = 3;
    expect(caught(() => geneve.decode(short))).toMatchObject({ code: 'BAD_TUNNEL', layer: 'geneve', offset: 16 });
  });

  test('options of more than 63 words are refused', () => {
    const [base] = fc.sample(SAMPLES.geneve.arbitrary, 1);
    const option = { optionClass: 0x0103, type: 1, reserved: 0, data: new Uint8Array(124) };
    expect(() => geneve.encode({ ...base!, options: [option, option] })).toThrow(/252/);
    expect(() => geneve.encode({ ...base!, options: [{ ...option, data: new Uint8Array(128) }] })).toThrow(/data/);
  });
});

describe('GRE', () => {
  test('optional words stand in the order checksum, key, sequence number', () => {
    expect(gre.decode(fromHex('b00088b5 12340000 deadbeef 00000007'))).toEqual({
      reserved: 0,
      protocolType: 0x88b5,
      checksum: 0x1234,
      reserved2: 0,
      key: 0xdeadbeef,
      sequenceNumber: 7,
    });
  });

  test('source routes and other versions are refused', () => {
    expect(caught(() => gre.decode(fromHex('40000800')))).toMatchObject({ code: 'BAD_TUNNEL', offset: 0 });
    expect(caught(() => gre.decode(fromHex('20018880')))).toMatchObject({ code: 'BAD_TUNNEL', offset: 1 });
  });
});

describe('GPINT probes', () => {
  const probe = {
    requestId: 0x1234,
    type: 'port-packets' as const,
    route: [
      { nextPort: 3, firstMeasurement: 4, measurementCount: 2 },
      { nextPort: 1, firstMeasurement: 0, measurementCount: 1 },
    ],
    switches: [{ switchId: 9, queueDepth: 12, measurementCount: 2 }],
    measurements: [0x01020304, 0xfffffffe],
  };

  test('the plain layout is the one of the paper', () => {
    expect(hex(gpintProbe.encode(probe))).toBe('246900020304020100010001090c0002000201020304fffffffe');
  });

  test('the extended layout widens ports, switch ids and queue depths to 16 bits', () => {
    const wide = { ...probe, switches: [{ switchId: 900, queueDepth: 1200, measurementCount: 2 }] };
    expect(hex(gpintProbeExtended.encode(wide))).toBe(
      ['2469', '0002', '00030402', '00010001', '0001', '038404b00002', '0002', '01020304', 'fffffffe'].join(''),
    );
    expect(() => gpintProbe.encode(wide)).toThrow(/switchId/);
  });

  test('a probe of 2200 bytes is encoded and one of more is refused', () => {
    const long = (measurements: number, hops: number) => ({
      ...probe,
      route: Array.from({ length: hops }, () => probe.route[0]!),
      switches: [{ switchId: 1, queueDepth: 0, measurementCount: measurements }],
      measurements: Array.from({ length: measurements }, (_, index) => index),
    });
    expect(MAX_PROBE_BYTES).toBe(2200);
    expect(gpintProbe.encode(long(541, 8)).length).toBe(2200);
    expect(() => gpintProbe.encode(long(541, 9))).toThrow(/2203/);
  });

  test('a number of measurements that the DLV headers do not count is refused', () => {
    expect(() => gpintProbe.encode({ ...probe, measurements: [1] })).toThrow(/measurements/);
    const bytes = gpintProbe.encode(probe);
    bytes[15] = 1;
    expect(caught(() => gpintProbe.decode(bytes))).toMatchObject({ code: 'BAD_PROBE', layer: 'gpint', offset: 16 });
  });
});
