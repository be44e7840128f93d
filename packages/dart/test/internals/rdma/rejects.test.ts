/** Every reason to reject a packet, and attacks: memory outside a region never changes. */
import { readFileSync } from 'node:fs';
import { decodeRoce, ROCE_OPCODE } from '@int/codec';
import { icrc, writeIcrc } from '@int/codec/internals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { MULTI_WRITE_OPCODE } from '../../../src/rdma/multi-write.js';
import { FIRST_REJECT, OUTCOME_NAMES, type OutcomeName } from '../../../src/rdma/outcomes.js';
import { RNIC_STATE_WORDS } from '../../../src/rdma/rnic-state.js';
import { SoftRnic, type SoftRnicOptions } from '../../../src/rdma/soft-rnic.js';
import type { RdmaTarget } from '../../../src/rdma/target.js';
import {
  atomicFrame,
  BASE,
  bytesOf,
  GuardedTarget,
  hexOf,
  RC,
  REMOTE_KEY,
  SEED,
  storeOf,
  UC,
  writeFrame,
  writerTo,
} from '../../rdma/fixtures.js';
import { encodeMultiWrite } from './multi-write.js';

fc.configureGlobal({ seed: SEED });

const SIZE = 96;
const CLOSED_KEY = 0x51;
const PAYLOAD = Uint8Array.from({ length: 24 }, (_, at) => at + 1);
const { RC_COMPARE_SWAP, RC_FETCH_ADD } = ROCE_OPCODE;

/** An RNIC in front of guarded memory; `base` is that of a region of {@link SIZE} bytes. */
function guarded(base = BASE, options: SoftRnicOptions = {}): { rnic: SoftRnic; target: GuardedTarget } {
  const target = new GuardedTarget(SIZE);
  const rnic = new SoftRnic({
    queuePairs: [{ number: UC }, { number: RC, service: 'rc' }],
    regions: [
      { remoteKey: REMOTE_KEY, base, target, access: { write: true, atomic: base % 8n === 0n } },
      { remoteKey: CLOSED_KEY, base, target, access: { write: false } },
    ],
    multiWrite: true,
    ...options,
  });
  return { rnic, target };
}

/** A multi-slot write to the UC queue pair. */
function multiFrame(
  addresses: readonly bigint[],
  payload = PAYLOAD,
  edit: (body: Uint8Array) => void = () => {},
): Uint8Array {
  const body = new Uint8Array(8 + 8 * addresses.length + payload.length);
  encodeMultiWrite({ remoteKey: REMOTE_KEY, addresses, payload }, body);
  edit(body);
  // The RETH of a WRITE is the first 16 bytes of the body.
  const view = new DataView(body.buffer);
  const reth = { virtualAddress: view.getBigUint64(0), remoteKey: view.getUint32(8), dmaLength: view.getUint32(12) };
  return fixed(writeFrame(0, body.subarray(16), reth), (frame) => {
    frame[42] = MULTI_WRITE_OPCODE;
  });
}

/** A frame with something changed and its iCRC made right again. */
function fixed(frame: Uint8Array, edit: (frame: Uint8Array) => void): Uint8Array {
  const changed = frame.slice();
  edit(changed);
  writeIcrc(icrc(changed, 14, changed.length - 18), changed, changed.length - 4);
  return changed;
}

/** A frame with 4 bytes behind its BTH. */
function shortFrame(opcode: number, queuePair: number): Uint8Array {
  const acknowledge = atomicFrame(ROCE_OPCODE.RC_ACKNOWLEDGE, 0, {}, { aeth: { syndrome: 0, msn: 0 } });
  return fixed(acknowledge, (frame) => frame.set([opcode, 0, 0xff, 0xff, 0, 0, queuePair >>> 8, queuePair & 255], 42));
}

const good = writeFrame(0, PAYLOAD);
const at =
  (position: number, ...bytes: number[]) =>
  (frame: Uint8Array): void =>
    frame.set(bytes, position);

/** Frames by what they must be rejected for, none of which may change a byte. */
const REJECTED: readonly (readonly [OutcomeName, string, Uint8Array])[] = [
  ['truncated', 'nothing', new Uint8Array(0)],
  ['truncated', 'a cut Ethernet header', good.subarray(0, 13)],
  ['truncated', 'a cut IP header', good.subarray(0, 33)],
  ['truncated', 'a cut packet', good.subarray(0, good.length - 1)],
  ['truncated', 'a write without all of its RETH', shortFrame(ROCE_OPCODE.UC_WRITE_ONLY, UC)],
  ['truncated', 'an atomic without all of its header', shortFrame(RC_FETCH_ADD, RC)],
  ['truncated', 'a multi-slot write of 4 bytes', shortFrame(MULTI_WRITE_OPCODE, UC)],
  ['notRoce', 'ARP', fixed(good, at(12, 0x08, 0x06))],
  ['notRoce', 'TCP', fixed(good, at(23, 6))],
  ['notRoce', 'a fragment', fixed(good, at(20, 0x20))],
  ['notRoce', 'another port', fixed(good, at(36, 0x12, 0xb8))],
  ['header', 'an IPv6 packet that says it is IPv4', fixed(good, at(14, 0x65)).slice()],
  [
    'header',
    'an IP header of 16 bytes',
    (() => {
      const frame = good.slice();
      frame[14] = 0x44;
      return frame;
    })(),
  ],
  ['header', 'a UDP length that is not the rest', fixed(good, at(38, 0, 70))],
  ['header', 'another transport version', fixed(good, at(43, 0x41))],
  [
    'header',
    'bytes behind an atomic',
    fixed(writeFrame(0, PAYLOAD), (frame) => frame.set([RC_FETCH_ADD, 0, 0xff, 0xff, 0, 0, 1, 0x13], 42)),
  ],
  [
    'icrc',
    'a wrong iCRC',
    (() => {
      const frame = good.slice();
      frame[frame.length - 1]! ^= 1;
      return frame;
    })(),
  ],
  ['queuePair', 'another queue pair', writeFrame(0, PAYLOAD, {}, { destinationQp: UC + 2 })],
  ['partition', 'another partition', writeFrame(0, PAYLOAD, {}, { partitionKey: 0x1234 })],
  ['opcode', 'SEND', fixed(good, at(42, 0x24))],
  ['opcode', 'WRITE first', fixed(good, at(42, ROCE_OPCODE.UC_WRITE_FIRST))],
  ['opcode', 'an answer', fixed(good, at(42, ROCE_OPCODE.RC_ATOMIC_ACKNOWLEDGE))],
  ['opcode', 'a multi-slot write of another version', multiFrame([BASE], PAYLOAD, (body) => body.set([2]))],
  ['opcode', 'a multi-slot write to no address', multiFrame([BASE], PAYLOAD, (body) => body.set([0], 1))],
  ['opcode', 'a multi-slot write to 9 addresses', multiFrame([BASE], PAYLOAD, (body) => body.set([9], 1))],
  [
    'truncated',
    'a multi-slot write with fewer addresses than it says',
    multiFrame([BASE], PAYLOAD, (body) => body.set([8], 1)),
  ],
  ['service', 'an atomic on UC', atomicFrame(RC_FETCH_ADD, 0, {}, { destinationQp: UC })],
  ['service', 'a write of UC on RC', writeFrame(0, PAYLOAD, {}, { destinationQp: RC })],
  ['service', 'a multi-slot write on RC', fixed(multiFrame([BASE]), at(47, 0, 1, 0x13))],
  ['remoteKey', 'another remote key', writeFrame(0, PAYLOAD, { remoteKey: (REMOTE_KEY ^ 1) >>> 0 })],
  ['remoteKey', 'an atomic with another remote key', atomicFrame(RC_FETCH_ADD, 0, { remoteKey: 0 })],
  ['access', 'a write where none is allowed', writeFrame(0, PAYLOAD, { remoteKey: CLOSED_KEY })],
  ['access', 'an atomic where none is allowed', atomicFrame(RC_FETCH_ADD, 0, { remoteKey: CLOSED_KEY })],
  ['dmaLength', 'a length of 0', writeFrame(0, PAYLOAD.subarray(0, 0))],
  ['dmaLength', 'a length of 0 with a payload', writeFrame(0, PAYLOAD, { dmaLength: 0 })],
  ['dmaLength', 'a length above the payload', writeFrame(0, PAYLOAD, { dmaLength: 25 })],
  ['dmaLength', 'a length below the payload', writeFrame(0, PAYLOAD, { dmaLength: 23 })],
  ['dmaLength', 'a length of 2^32 - 1', writeFrame(0, PAYLOAD, { dmaLength: 0xffffffff })],
  [
    'dmaLength',
    'a multi-slot write whose length is not its payload',
    multiFrame([BASE], PAYLOAD, (body) => body.set([25], 3)),
  ],
  ['bounds', 'an address one below', writeFrame(0, PAYLOAD, { virtualAddress: BASE - 1n })],
  ['bounds', 'an address just behind', writeFrame(0, PAYLOAD, { virtualAddress: BASE + BigInt(SIZE) })],
  [
    'bounds',
    'an address from which the end is one byte outside',
    writeFrame(0, PAYLOAD, { virtualAddress: BASE + 73n }),
  ],
  ['bounds', 'address 0', writeFrame(0, PAYLOAD, { virtualAddress: 0n })],
  ['bounds', 'the last address', writeFrame(0, PAYLOAD, { virtualAddress: 2n ** 64n - 1n })],
  ['bounds', 'an address 2^32 further', writeFrame(0, PAYLOAD, { virtualAddress: BASE + 2n ** 32n })],
  ['bounds', 'an address 2^53 further', writeFrame(0, PAYLOAD, { virtualAddress: BASE + 2n ** 53n })],
  ['bounds', 'an address 2^63 further', writeFrame(0, PAYLOAD, { virtualAddress: BASE + 2n ** 63n })],
  ['bounds', 'a write of more than the region', writeFrame(0, new Uint8Array(SIZE + 1).fill(1))],
  ['bounds', 'an atomic across the end', atomicFrame(RC_FETCH_ADD, 0, { virtualAddress: BASE + BigInt(SIZE - 4) })],
  ['bounds', 'an atomic below', atomicFrame(RC_COMPARE_SWAP, 0, { virtualAddress: BASE - 8n })],
  ['bounds', 'a multi-slot write of which only the last address is outside', multiFrame([BASE, BASE + 8n, BASE + 80n])],
  ['alignment', 'an unaligned atomic', atomicFrame(RC_FETCH_ADD, 0, { virtualAddress: BASE + 4n })],
];

describe('a packet is rejected and nothing written', () => {
  test.each(REJECTED)('as %s: %s', (name, _, frame) => {
    const { rnic, target } = guarded();
    const outcome = rnic.receive(frame);
    expect(OUTCOME_NAMES[outcome]).toBe(name);
    expect(rnic.counters).toMatchObject({ [name]: 1, accepted: 0, rejected: 1 });
    expect(target.isUntouched).toBe(true);
  });

  test('for every reason there is a case here, or in the tests of the order', () => {
    const reached = new Set<string>(REJECTED.map(([name]) => name));
    const elsewhere = ['stale', 'gap', 'duplicate'];
    expect([...reached, ...elsewhere].sort()).toEqual([...OUTCOME_NAMES.slice(FIRST_REJECT)].sort());
  });

  test('as opcode, if multi-slot writes are not enabled', () => {
    const { rnic, target } = guarded(BASE, { multiWrite: false });
    expect(OUTCOME_NAMES[rnic.receive(multiFrame([BASE]))]).toBe('opcode');
    expect(target.isUntouched).toBe(true);
    expect(OUTCOME_NAMES[guarded().rnic.receive(multiFrame([BASE]))]).toBe('multiWrite');
  });

  test('with any single bit of what is not masked flipped, and taken with any masked bit flipped', () => {
    const masked = new Set([15, 22, 24, 25, 40, 41, 46]);
    const link = 12;
    for (const frame of [good, writeFrame(0, PAYLOAD.subarray(0, 21))]) {
      for (let byte = 0; byte < frame.length; byte++) {
        for (let bit = 0; bit < 8; bit++) {
          const { rnic, target } = guarded();
          const flipped = frame.slice();
          flipped[byte]! ^= 1 << bit;
          const isAccepted = rnic.receive(flipped) < FIRST_REJECT;
          expect(isAccepted, `byte ${byte} bit ${bit}`).toBe(byte < link || masked.has(byte));
          expect(isAccepted || target.isUntouched).toBe(true);
        }
      }
    }
  });

  test('cut anywhere', () => {
    for (let length = 0; length < good.length; length++) {
      const { rnic, target } = guarded();
      // In a larger buffer, whose other bytes are those of the packet.
      expect(OUTCOME_NAMES[rnic.receive(good, 0, length)]).toBe('truncated');
      expect(target.isUntouched).toBe(true);
    }
  });
});

describe('a region', () => {
  test('can be written up to its first and last byte, and at the end of all addresses, where nothing wraps', () => {
    for (const base of [0n, 1n, BASE, 2n ** 32n - 50n, 2n ** 53n + 1n, 2n ** 64n - BigInt(SIZE)]) {
      const { rnic, target } = guarded(base);
      const last = BigInt(SIZE - 24);
      let psn = 0;
      const send = (address: bigint): string => {
        const virtualAddress = BigInt.asUintN(64, address);
        return OUTCOME_NAMES[rnic.receive(writeFrame(psn++, PAYLOAD, { virtualAddress }))]!;
      };
      expect(send(base - 1n)).toBe('bounds');
      expect(send(base + last + 1n)).toBe('bounds');
      expect(send(base + BigInt(SIZE))).toBe('bounds');
      expect(target.isUntouched).toBe(true);
      expect(send(base)).toBe('write');
      expect(send(base + last)).toBe('write');
      expect(bytesOf(target).subarray(0, 24)).toEqual(PAYLOAD);
      expect(bytesOf(target).subarray(SIZE - 24)).toEqual(PAYLOAD);
      expect(target.isIntact).toBe(true);
    }
  });

  test('of any size at any base is reached exactly where it is', () => {
    /** So large that it is only told where something would be written. */
    class FarTarget implements RdmaTarget {
      readonly pieces = [];
      offset = -1;
      constructor(readonly byteLength: number) {}
      writeBytes(offset: number): void {
        this.offset = offset;
      }
      compareSwap(): bigint {
        return 0n;
      }
      fetchAdd(): bigint {
        return 0n;
      }
    }
    const sizes = fc.oneof(fc.nat(100), fc.nat(2 ** 31 - 1), fc.maxSafeNat());
    const bases = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const distances = fc.oneof(fc.bigInt({ min: -30n, max: 30n }), fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }));
    fc.assert(
      fc.property(sizes, bases, distances, fc.boolean(), (size, drawn, distance, isFromEnd) => {
        const wide = BigInt(size);
        const base = drawn + wide > 2n ** 64n ? 2n ** 64n - wide : drawn;
        const target = new FarTarget(size);
        const rnic = new SoftRnic({ queuePairs: [{ number: UC }], regions: [{ remoteKey: REMOTE_KEY, base, target }] });
        const virtualAddress = BigInt.asUintN(64, base + distance + (isFromEnd ? wide - 24n : 0n));
        const offset = virtualAddress - base;
        const isInside = offset >= 0n && offset + 24n <= wide;
        const outcome = OUTCOME_NAMES[rnic.receive(writeFrame(0, PAYLOAD, { virtualAddress }))];
        expect(outcome).toBe(isInside ? 'write' : 'bounds');
        expect(target.offset).toBe(isInside ? Number(offset) : -1);
      }),
      { numRuns: runs(500) },
    );
  });

  test('that does not lie in 64 bits of addresses, or not in its target, cannot be made', () => {
    const target = new GuardedTarget(SIZE);
    const region = { remoteKey: 1, base: BASE, target };
    const make =
      (more: object): (() => SoftRnic) =>
      () =>
        new SoftRnic({ regions: [{ ...region, ...more }] });
    expect(make({ base: 2n ** 64n - BigInt(SIZE) + 1n })).toThrow(RangeError);
    expect(make({ base: -1n })).toThrow(RangeError);
    expect(make({ size: SIZE + 1 })).toThrow(RangeError);
    expect(make({ base: 4n, access: { atomic: true } })).toThrow(RangeError);
    expect(make({ remoteKey: 2 ** 32 })).toThrow(RangeError);
    expect(() => new SoftRnic({ regions: [region, region] })).toThrow(RangeError);
    expect(() => new SoftRnic({ queuePairs: [{ number: 1 }, { number: 1 }] })).toThrow(RangeError);
    expect(() => new SoftRnic({ queuePairs: [{ number: 2 ** 24 }] })).toThrow(RangeError);
    expect(() => new SoftRnic({ state: new Uint32Array(RNIC_STATE_WORDS - 1) })).toThrow(RangeError);
    expect(() => new SoftRnic({ port: -1 })).toThrow(RangeError);
  });

  test('of less than its target can be written only so far', () => {
    const target = new GuardedTarget(SIZE);
    const rnic = new SoftRnic({
      queuePairs: [{ number: UC }],
      regions: [{ remoteKey: REMOTE_KEY, base: BASE, target, size: 30 }],
    });
    expect(OUTCOME_NAMES[rnic.receive(writeFrame(0, PAYLOAD, { virtualAddress: BASE + 7n }))]).toBe('bounds');
    expect(OUTCOME_NAMES[rnic.receive(writeFrame(1, PAYLOAD, { virtualAddress: BASE + 6n }))]).toBe('write');
  });

  test('is bound to other memory between two packets', () => {
    const { rnic, target } = guarded();
    const next = new GuardedTarget(SIZE);
    rnic.receive(writeFrame(0, PAYLOAD));
    const before = bytesOf(target);
    rnic.rebind(REMOTE_KEY, next);
    rnic.receive(writeFrame(1, PAYLOAD, { virtualAddress: BASE + 24n }));
    expect(bytesOf(target)).toEqual(before);
    expect(bytesOf(next).subarray(24, 48)).toEqual(PAYLOAD);
    expect(() => rnic.rebind(REMOTE_KEY, new GuardedTarget(SIZE - 1))).toThrow(RangeError);
    expect(() => rnic.rebind(1, next)).toThrow(RangeError);
  });
});

describe('the worked examples', () => {
  interface Vector {
    name: string;
    hex: string;
    expected: { payloadHex?: string; restoredHex?: string };
  }
  const file = new URL('../../../../codec/test/vectors/spec-vectors.json', import.meta.url);
  const vectors = (JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[]).filter(({ name }) =>
    name.includes('roce'),
  );
  const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));

  test('are executed, and rejected while INT is inside', () => {
    expect(vectors.length).toBe(4);
    for (const { name, hex, expected } of vectors) {
      const target = new GuardedTarget(64);
      const rnic = new SoftRnic({
        queuePairs: [{ number: 0x112, service: 'rc' }],
        regions: [{ remoteKey: 0x1a2b, base: 0x7f1234560000n, target, size: 64 }],
      });
      const far = OUTCOME_NAMES[rnic.receive(bytes(expected.restoredHex ?? hex))];
      // Address 0x40 is behind 64 bytes; 128 hold it.
      expect(far, name).toBe('bounds');
      const wide = new GuardedTarget(128);
      const second = new SoftRnic({
        queuePairs: [{ number: 0x112, service: 'rc' }],
        regions: [{ remoteKey: 0x1a2b, base: 0x7f1234560000n, target: wide }],
      });
      expect(OUTCOME_NAMES[second.receive(bytes(expected.restoredHex ?? hex))], name).toBe('write');
      const payload = decodeRoce(bytes(expected.restoredHex ?? hex)).payload;
      expect(bytesOf(wide).subarray(64, 64 + payload.length)).toEqual(payload);
      if (expected.restoredHex !== undefined) expect(OUTCOME_NAMES[second.receive(bytes(hex))]).toBe('notRoce');
    }
  });
});

describe('whatever arrives', () => {
  const seeds: readonly Uint8Array[] = [
    good,
    writeFrame(0, PAYLOAD.subarray(0, 21), { virtualAddress: BASE + 64n }),
    writeFrame(0, PAYLOAD, {}, { source: '2001:db8::1', destination: '2001:db8::2' }),
    atomicFrame(RC_FETCH_ADD, 0),
    atomicFrame(RC_COMPARE_SWAP, 0, { virtualAddress: BASE + BigInt(SIZE - 8) }),
    multiFrame([BASE, BASE + 72n]),
    ...writerTo(storeOf(4)).writeMulti(Uint8Array.of(1), new Uint8Array(20)),
  ];
  const edits = fc.array(fc.tuple(fc.nat(130), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff, -1), fc.nat(255)), {
    minLength: 1,
    maxLength: 5,
  });

  test('nothing outside is written, and each packet is counted once', () => {
    const { rnic, target } = guarded(BASE, { icrc: 'skip' });
    const { rnic: strict, target: other } = guarded();
    const accepted = new Set<string>();
    let sent = 0;
    fc.assert(
      fc.property(fc.nat(seeds.length - 1), edits, fc.boolean(), fc.nat(40), (which, changes, repairs, cut) => {
        const frame = seeds[which]!.slice(0, seeds[which]!.length - (cut < 8 ? cut : 0));
        for (const [position, value, random] of changes) {
          if (position < frame.length) frame[position] = value < 0 ? random : value;
        }
        const isLong = frame.length > 90 && frame[14]! >>> 4 === 4 && (frame[14]! & 15) >= 5;
        if (repairs && isLong) writeIcrc(icrc(frame, 14, frame.length - 18), frame, frame.length - 4);
        sent++;
        for (const one of [rnic, strict]) {
          one.expect(UC, null);
          one.expect(RC, null);
        }
        const before = hexOf(target);
        const outcome = rnic.receive(frame);
        if (outcome < FIRST_REJECT) accepted.add(OUTCOME_NAMES[outcome]!);
        else expect(hexOf(target)).toBe(before);
        strict.receive(frame);
        expect(target.isIntact && other.isIntact).toBe(true);
      }),
      { numRuns: runs(8000) },
    );
    for (const { counters } of [rnic, strict]) {
      const single = OUTCOME_NAMES.reduce((sum, name) => sum + counters[name], 0);
      expect(single).toBe(sent);
      expect(counters.accepted + counters.rejected).toBe(sent);
    }
    expect([...accepted].sort()).toEqual(['compareSwap', 'fetchAdd', 'multiWrite', 'write']);
  });

  test('random bytes are rejected, as frames, IP packets and datagrams', () => {
    const { rnic, target } = guarded();
    const ends = { source: '10.0.1.1', destination: '10.0.2.2', sourcePort: 1, destinationPort: 4791 };
    let sent = 0;
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 150 }), (bytes) => {
        const outcomes = [rnic.receive(bytes), rnic.receiveIp(bytes), rnic.receiveDatagram(bytes, ends)];
        sent += 3;
        expect(outcomes.every((outcome) => outcome >= FIRST_REJECT)).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
    expect(rnic.counters.rejected).toBe(sent);
    expect(target.isUntouched).toBe(true);
    expect(() => rnic.receive(good, 1)).not.toThrow();
    expect(() => rnic.receive(good, 0, good.length + 1)).toThrow(RangeError);
    expect(() => rnic.receiveRows(good, Uint32Array.of(0), Uint32Array.of(good.length + 1))).toThrow(RangeError);
    expect(() => rnic.receiveRows(good, Uint32Array.of(0), Uint32Array.of(1), 0, 2)).toThrow(RangeError);
  });
});
