import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { CodecError } from '../../src/errors.js';
import { bth, icrc, ROCE_OPCODE, reth, writeIcrc } from '../../src/headers/index.js';
import { verifyIcrc } from '../../src/headers/roce.js';
import { SEED } from './header-samples.js';

fc.configureGlobal({ seed: SEED });

interface Vector {
  name: string;
  hex: string;
  expected: { icrcHex?: string; restoredHex?: string };
}
const vectors = (
  JSON.parse(readFileSync(new URL('../vectors/spec-vectors.json', import.meta.url), 'utf8')) as readonly Vector[]
).filter(({ name }) => name.includes('roce'));

const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

function vector(name: string): Uint8Array {
  const found = vectors.find((entry) => entry.name === name);
  if (found === undefined) throw new Error(name);
  return fromHex(found.hex);
}

/** The definition, byte for byte, with another CRC. */
function reference(packet: Uint8Array): number {
  const bytes = new Uint8Array(8 + packet.length).fill(0xff, 0, 8);
  bytes.set(packet, 8);
  const ones = packet[0]! >>> 4 === 4 ? [1, 8, 10, 11] : [1, 2, 3, 7];
  if (packet[0]! >>> 4 === 6) bytes[8]! |= 0x0f;
  const udp = packet[0]! >>> 4 === 4 ? (packet[0]! & 15) * 4 : 40;
  for (const at of [...ones, udp + 6, udp + 7, udp + 12]) bytes[8 + at] = 0xff;
  return crc32(bytes);
}

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (CodecError.is(error)) return error.code;
    throw error;
  }
  return 'OK';
}

describe('the invariant CRC', () => {
  test('of every worked packet is the one it carries', () => {
    let checked = 0;
    for (const { name, hex, expected } of vectors) {
      const frame = fromHex(expected.restoredHex ?? hex);
      expect(verifyIcrc(frame, 14), name).toBe(true);
      const out = new Uint8Array(4);
      writeIcrc(icrc(frame, 14, frame.length - 18), out, 0);
      expect(out).toEqual(frame.subarray(-4));
      if (expected.icrcHex !== undefined) expect(Buffer.from(out).toString('hex')).toBe(expected.icrcHex);
      checked++;
    }
    expect(checked).toBe(4);
  });

  test('is wrong while INT is inside and right again after exact restoration', () => {
    const inside = vectors.find(({ name }) => name === 'md21-rocev2-npt1')!;
    expect(verifyIcrc(fromHex(inside.hex), 14)).toBe(false);
    expect(verifyIcrc(fromHex(inside.expected.restoredHex!), 14)).toBe(true);
  });

  test('equals its definition for any packet, IPv4 with options and IPv6', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(0x45, 0x46, 0x4f, 0x60, 0x6f),
        fc.uint8Array({ minLength: 88, maxLength: 300 }),
        fc.nat(7),
        (first, data, offset) => {
          const shared = new Uint8Array(offset + data.length);
          shared.set(data, offset);
          shared[offset] = first;
          expect(icrc(shared, offset)).toBe(reference(shared.subarray(offset)));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  test('ignores what routers may change, and nothing else', () => {
    for (const name of ['rocev2-rc-write-only-ipv4', 'rocev2-rc-write-only-ipv6']) {
      const frame = vector(name);
      const six = frame[14]! >>> 4 === 6;
      const udpAt = six ? 40 : 20;
      const masked = new Set([...(six ? [1, 2, 3, 7] : [1, 8, 10, 11]), udpAt + 6, udpAt + 7, udpAt + 12]);
      const end = frame.length - 14 - 4;
      const before = icrc(frame, 14, end);
      // Byte 0 and the lengths say where things are, so they are left alone here.
      for (let at = 1; at < end; at++) {
        const changed = frame.slice();
        changed[14 + at]! ^= 0x01;
        expect(icrc(changed, 14, end) === before, `${name} byte ${at}`).toBe(masked.has(at));
      }
    }
  });

  test('of a packet that is cut or no IP packet is refused', () => {
    const frame = vector('rocev2-rc-write-only-ipv4');
    expect(codeOf(() => icrc(frame, 14, 39))).toBe('TRUNCATED');
    expect(codeOf(() => icrc(new Uint8Array(0)))).toBe('TRUNCATED');
    expect(codeOf(() => verifyIcrc(frame.subarray(0, 80), 14))).toBe('TRUNCATED');
    expect(codeOf(() => icrc(new Uint8Array(60)))).toBe('BAD_IP_VERSION');
    expect(codeOf(() => icrc(new Uint8Array(60).fill(0x44)))).toBe('BAD_IP_LENGTH');
    for (let cut = 0; cut < frame.length; cut++) {
      expect(codeOf(() => verifyIcrc(frame.subarray(0, cut), 14))).toBe('TRUNCATED');
    }
  });
});

describe('RoCEv2 headers', () => {
  test('of an RDMA WRITE read field by field', () => {
    const frame = vector('rocev2-rc-write-only-ipv4');
    expect(bth.decode(frame, 42)).toEqual({
      opcode: ROCE_OPCODE.RC_WRITE_ONLY,
      solicitedEvent: false,
      migrated: true,
      padCount: 0,
      transportVersion: 0,
      partitionKey: 0xffff,
      fecn: false,
      becn: false,
      reserved: 0,
      destinationQp: 0x112,
      acknowledgeRequest: true,
      reserved2: 0,
      psn: 0x0abcde,
    });
    expect(reth.decode(frame, 54)).toEqual({ virtualAddress: 0x7f1234560040n, remoteKey: 0x1a2b, dmaLength: 16 });
    expect(bth.decode(vector('rocev2-rc-write-only-pad3'), 42).padCount).toBe(3);
  });

  test('a packet sequence number is 24 bits: what has wrapped further is refused', () => {
    const header = bth.decode(vector('rocev2-rc-write-only-ipv4'), 42);
    expect(bth.decode(bth.encode({ ...header, psn: 0xffffff })).psn).toBe(0xffffff);
    expect(() => bth.encode({ ...header, psn: 0x1000000 })).toThrow(/psn/);
  });
});
