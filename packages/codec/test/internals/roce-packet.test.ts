/** Whole RoCEv2 packets: worked examples, round trips, and bytes that are none. */

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { formatIpv4, formatIpv6, formatMac } from '../../src/address.js';
import { CodecError } from '../../src/errors.js';
import { icrc, ROCE_OPCODE, writeIcrc } from '../../src/headers/index.js';
import { verifyIcrc } from '../../src/headers/roce.js';
import { ROCE_ERROR_CODES } from '../../src/roce/decode.js';
import { decodeRoce, encodeRoce, fastIcrc, icrcDifference, type RocePacket } from '../../src/roce/index.js';
import { ROCE_PART, rocePartsOf } from '../../src/roce/opcodes.js';
import { SEED } from './header-samples.js';

fc.configureGlobal({ seed: SEED });

interface Vector {
  name: string;
  hex: string;
  expected: { payloadHex?: string; restoredHex?: string; bth?: Record<string, number> };
}
const vectors = (
  JSON.parse(readFileSync(new URL('../vectors/spec-vectors.json', import.meta.url), 'utf8')) as readonly Vector[]
).filter(({ name }) => name.includes('roce'));

const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const frameOf = (name: string): Uint8Array => fromHex(vectors.find((vector) => vector.name === name)!.hex);

function errorOf(run: () => unknown): CodecError | null {
  try {
    run();
  } catch (error) {
    if (CodecError.is(error)) return error;
    throw error;
  }
  return null;
}

const u8 = fc.nat(0xff);
const u16 = fc.nat(0xffff);
const u24 = fc.nat(0xffffff);
const u32 = fc.integer({ min: 0, max: 0xffffffff });
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const mac = fc.uint8Array({ minLength: 6, maxLength: 6 }).map((bytes) => formatMac(bytes));
const ends = fc.oneof(
  fc.record({ source: u32.map(formatIpv4), destination: u32.map(formatIpv4), version: fc.constant(4) }),
  fc.record({
    source: fc.tuple(u32, u32, u32, u32).map((words) => formatIpv6(...words)),
    destination: fc.tuple(u32, u32, u32, u32).map((words) => formatIpv6(...words)),
    version: fc.constant(6),
  }),
);

/** Any packet that can be written. */
const packets: fc.Arbitrary<RocePacket> = fc
  .record({
    ends,
    ethernet: fc.option(fc.record({ destination: mac, source: mac })),
    ip: fc.record({ dscp: fc.nat(63), ecn: fc.nat(3), timeToLive: u8 }),
    identification: u16,
    dontFragment: fc.boolean(),
    flowLabel: fc.nat(0xfffff),
    udp: fc.record({ sourcePort: u16, udpChecksum: u16 }),
    bth: fc.record({
      opcode: fc.constantFrom(...Object.values(ROCE_OPCODE)),
      solicitedEvent: fc.boolean(),
      migrated: fc.boolean(),
      partitionKey: u16,
      fecn: fc.boolean(),
      becn: fc.boolean(),
      destinationQp: u24,
      acknowledgeRequest: fc.boolean(),
      psn: u24,
    }),
    reth: fc.record({ virtualAddress: u64, remoteKey: u32, dmaLength: u32 }),
    atomicEth: fc.record({ virtualAddress: u64, remoteKey: u32, swapOrAdd: u64, compare: u64 }),
    aeth: fc.record({ syndrome: u8, msn: u24 }),
    immediate: u32,
    original: u64,
    payload: fc.uint8Array({ maxLength: 70 }),
  })
  .map((drawn) => {
    const parts = rocePartsOf(drawn.bth.opcode);
    const six = drawn.ends.version === 6;
    return {
      ethernet: drawn.ethernet,
      source: drawn.ends.source,
      destination: drawn.ends.destination,
      ...drawn.ip,
      identification: six ? 0 : drawn.identification,
      dontFragment: six || drawn.dontFragment,
      flowLabel: six ? drawn.flowLabel : 0,
      ...drawn.udp,
      destinationPort: 4791,
      ...drawn.bth,
      reth: (parts & ROCE_PART.RETH) === 0 ? null : drawn.reth,
      atomicEth: (parts & ROCE_PART.ATOMIC_ETH) === 0 ? null : drawn.atomicEth,
      aeth: (parts & ROCE_PART.AETH) === 0 ? null : drawn.aeth,
      immediate: (parts & ROCE_PART.IMMEDIATE) === 0 ? null : drawn.immediate,
      original: (parts & ROCE_PART.ORIGINAL) === 0 ? null : drawn.original,
      payload: (parts & ROCE_PART.PAYLOAD) === 0 ? new Uint8Array(0) : drawn.payload,
    };
  });

const linkOf = (packet: RocePacket): { linkType: 'ethernet' | 'ip' } => ({
  linkType: packet.ethernet === null ? 'ip' : 'ethernet',
});

describe('RoCEv2 packets', () => {
  test('of the worked examples read and written back are the same bytes', () => {
    let checked = 0;
    for (const { name, hex, expected } of vectors) {
      const frame = fromHex(expected.restoredHex ?? hex);
      const packet = decodeRoce(frame);
      if (expected.payloadHex !== undefined) expect(toHex(packet.payload), name).toBe(expected.payloadHex);
      if (expected.bth?.psn !== undefined) expect(packet.psn).toBe(expected.bth.psn);
      if (expected.bth?.opcode !== undefined) expect(packet.opcode).toBe(expected.bth.opcode);
      expect(packet.reth?.dmaLength).toBe(packet.payload.length);
      expect(toHex(encodeRoce(packet)), name).toBe(toHex(frame));
      checked++;
    }
    expect(checked).toBe(4);
  });

  test('written are read as they were, at any place in a buffer, in front of any bytes', () => {
    fc.assert(
      fc.property(packets, fc.nat(9), fc.nat(20), (packet, offset, behind) => {
        const { length } = encodeRoce(packet);
        const room = new Uint8Array(offset + length + behind).fill(0xa5);
        const written = encodeRoce(packet, room, offset);
        expect(written).toEqual(room.subarray(offset, offset + length));
        expect(room.subarray(0, offset).every((byte) => byte === 0xa5)).toBe(true);
        expect(room.subarray(offset + length).every((byte) => byte === 0xa5)).toBe(true);
        expect(decodeRoce(room, offset, linkOf(packet))).toEqual(packet);
        expect(toHex(encodeRoce(packet))).toBe(toHex(written));
      }),
      { numRuns: 400 },
    );
  });

  test('with VLAN tags in front are read without them', () => {
    const frame = frameOf('rocev2-rc-write-only-ipv4');
    const tagged = new Uint8Array(frame.length + 8);
    tagged.set(frame.subarray(0, 12));
    tagged.set([0x88, 0xa8, 0, 7, 0x81, 0, 0, 9], 12);
    tagged.set(frame.subarray(12), 20);
    expect(decodeRoce(tagged)).toEqual(decodeRoce(frame));
  });

  test('that cannot be are refused by name', () => {
    const fields = { source: '10.0.0.1', destination: '10.0.0.2', destinationQp: 1, psn: 0 };
    const opcode = ROCE_OPCODE.UC_WRITE_ONLY;
    const reth = { virtualAddress: 0n, remoteKey: 0, dmaLength: 0 };
    expect(() => encodeRoce({ ...fields, opcode })).toThrow(/reth/);
    expect(() => encodeRoce({ ...fields, opcode: 0x70 })).toThrow(/opcode/);
    expect(() => encodeRoce({ ...fields, opcode, reth, destination: '::1' })).toThrow(/version/);
    expect(() => encodeRoce({ ...fields, opcode, reth, psn: 2 ** 24 })).toThrow(/psn/);
    expect(() => encodeRoce({ ...fields, opcode, reth, payload: new Uint8Array(65_500) })).toThrow(/payload/);
    expect(() =>
      encodeRoce({ ...fields, opcode: 0x11, aeth: { syndrome: 0, msn: 0 }, payload: reth as never }),
    ).toThrow(TypeError);
    expect(() =>
      encodeRoce({ ...fields, opcode: 0x11, aeth: { syndrome: 0, msn: 0 }, payload: Uint8Array.of(1) }),
    ).toThrow(/no payload/);
    expect(() => encodeRoce({ ...fields, opcode, reth }, new Uint8Array(50))).toThrow(RangeError);
    expect(() => encodeRoce({ ...fields, opcode, reth }, new Uint8Array(500), -1)).toThrow(RangeError);
  });
});

describe('bytes that are no good RoCEv2 packet', () => {
  const good = frameOf('rocev2-rc-write-only-ipv4');
  /** The packet with some bytes replaced and the iCRC made right again. */
  const changed = (at: number, ...bytes: number[]): Uint8Array => {
    const frame = good.slice();
    frame.set(bytes, at);
    writeIcrc(icrc(frame, 14, frame.length - 18), frame, frame.length - 4);
    return frame;
  };
  const cases: readonly (readonly [string, Uint8Array, number])[] = [
    ['NOT_ROCE', changed(12, 0x08, 0x06), 12],
    ['NOT_ROCE', changed(23, 6), 14],
    ['NOT_ROCE', changed(20, 0x20), 14],
    ['NOT_ROCE', changed(36, 0x12, 0xb8), 34],
    ['BAD_IP_LENGTH', changed(16, 0, 10), 14],
    ['BAD_UDP_LENGTH', changed(38, 0, 57), 34],
    ['BAD_TRANSPORT_VERSION', changed(43, 0x41), 43],
    ['BAD_OPCODE', changed(42, 0x04), 42],
    ['BAD_PAD_COUNT', changed(42, ROCE_OPCODE.RC_ACKNOWLEDGE), 43],
    ['TRUNCATED', good.subarray(0, good.length - 1), 14],
  ];

  test.each(cases)('have the code %s and a place', (code, frame, offset) => {
    const error = errorOf(() => decodeRoce(frame));
    expect(error?.code).toBe(code);
    expect(error?.offset).toBe(offset);
    const shifted = new Uint8Array(frame.length + 5);
    shifted.set(frame, 5);
    expect(errorOf(() => decodeRoce(shifted, 5))?.offset).toBe(offset + 5);
  });

  test('have a wrong iCRC, which can be let pass', () => {
    const frame = good.slice();
    frame[80]! ^= 1;
    expect(errorOf(() => decodeRoce(frame))?.code).toBe('BAD_ICRC');
    expect(decodeRoce(frame, 0, { verifyIcrc: false }).payload.length).toBe(16);
  });

  test('whatever they are, give a packet or an error whose offset is inside', () => {
    const seeds = vectors.map(({ hex, expected }) => fromHex(expected.restoredHex ?? hex));
    const codes = new Set<string>(ROCE_ERROR_CODES);
    fc.assert(
      fc.property(
        fc.nat(seeds.length - 1),
        fc.array(fc.tuple(fc.nat(110), u8), { maxLength: 6 }),
        fc.nat(110),
        fc.boolean(),
        (which, edits, cut, verify) => {
          const frame = seeds[which]!.slice(0, Math.max(0, seeds[which]!.length - (cut > 60 ? 0 : cut)));
          for (const [at, value] of edits) if (at < frame.length) frame[at] = value;
          const error = errorOf(() => decodeRoce(frame, 0, { verifyIcrc: verify }));
          if (error === null) return;
          expect(codes.has(error.code), error.code).toBe(true);
          expect(error.offset).toBeGreaterThanOrEqual(0);
          expect(error.offset).toBeLessThanOrEqual(frame.length);
        },
      ),
      { numRuns: runs(3000) },
    );
    expect(() => decodeRoce(good, 0, { length: 200 })).toThrow(RangeError);
    expect(() => decodeRoce(good, -1)).toThrow(RangeError);
  });
});

describe('the fast invariant CRC', () => {
  test('equals the plain one for any packet', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0x45, 0x46, 0x4f, 0x60, 0x6f),
        fc.uint8Array({ minLength: 88, maxLength: 300 }),
        fc.nat(7),
        (first, data, offset) => {
          const shared = new Uint8Array(offset + data.length);
          shared.set(data, offset);
          shared[offset] = first;
          expect(fastIcrc(shared, offset, data.length)).toBe(icrc(shared, offset));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('tells which four bytes explain a difference', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 60, maxLength: 120 }), u32, fc.nat(50), (data, difference, at) => {
        data[0] = 0x45;
        const before = icrc(data);
        const place = 40 + Math.min(at, data.length - 44);
        const view = new DataView(data.buffer, data.byteOffset);
        view.setUint32(place, view.getUint32(place) ^ difference);
        expect(icrcDifference(before ^ icrc(data), data.length - place)).toBe(difference);
      }),
    );
    expect(verifyIcrc(frameOf('rocev2-rc-write-only-ipv4'), 14)).toBe(true);
  });
});
