/** What a writer sends leaves in a store's memory what the store itself would write. */
import { readFileSync } from 'node:fs';
import { decodeRoce, ROCE_OPCODE } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DartCounters } from '../../../src/rdma/counters.js';
import { FrameRows } from '../../../src/rdma/frame-rows.js';
import { MULTI_WRITE_OPCODE } from '../../../src/rdma/multi-write.js';
import { OUTCOME_NAMES } from '../../../src/rdma/outcomes.js';
import { SoftRnic } from '../../../src/rdma/soft-rnic.js';
import type { DartStore } from '../../../src/store/dart-store.js';
import type { KeyRows } from '../../../src/store/rows.js';
import {
  BASE,
  bytesOf,
  COUNTERS_BASE,
  COUNTERS_KEY,
  collectorOf,
  GuardedTarget,
  HASHES,
  hexOf,
  RC,
  REMOTE_KEY,
  SEED,
  storeOf,
  UC,
  writerTo,
} from '../../rdma/fixtures.js';
import { decodeMultiWrite, encodeMultiWrite } from './multi-write.js';

fc.configureGlobal({ seed: SEED });

function rnicTo(store: DartStore, service: 'uc' | 'rc' = 'uc'): SoftRnic {
  return new SoftRnic({
    queuePairs: [
      { number: UC, service },
      { number: RC, service: 'rc' },
    ],
    regions: [{ remoteKey: REMOTE_KEY, base: BASE, target: store, access: { write: true, atomic: true } }],
    multiWrite: true,
  });
}

const shapes = fc.record({
  slots: fc.integer({ min: 1, max: 300 }),
  valueBytes: fc.constantFrom(1, 4, 20, 31),
  copies: fc.integer({ min: 1, max: 8 }),
  checksumBits: fc.constantFrom(8, 13, 16, 24, 32),
});
const keyLists = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 20 });

function rowsOf(keys: readonly Uint8Array[]): KeyRows {
  const bytes = new Uint8Array(Buffer.concat(keys));
  const lengths = Uint32Array.from(keys, (key) => key.length);
  const offsets = new Uint32Array(keys.length);
  for (let row = 1; row < keys.length; row++) offsets[row] = offsets[row - 1]! + lengths[row - 1]!;
  return { bytes, offsets, lengths };
}

function valuesOf(keys: number, valueBytes: number): Uint8Array {
  return Uint8Array.from({ length: keys * valueBytes }, (_, at) => (at * 37 + 11) & 0xff);
}

describe('the packets of a writer', () => {
  test('of one copy each leave the bytes that DartStore.writeCopy leaves', () => {
    fc.assert(
      fc.property(shapes, keyLists, fc.constantFrom('uc' as const, 'rc' as const), (shape, keys, service) => {
        const { slots, valueBytes, copies, checksumBits } = shape;
        const byWire = storeOf(slots, valueBytes, copies, checksumBits);
        const direct = storeOf(slots, valueBytes, copies, checksumBits);
        const rnic = rnicTo(byWire, service);
        const writer = writerTo(byWire, { service });
        keys.forEach((key, at) => {
          const value = valuesOf(1, valueBytes).map((byte) => byte ^ at);
          direct.writeCopy(key, value, at % copies);
          for (const frame of writer.writeCopy(key, value, at % copies)) rnic.receive(frame);
        });
        expect(rnic.counters.accepted).toBe(keys.length);
        expect(hexOf(byWire)).toBe(hexOf(direct));
        expect(byWire.slotWrites).toBe(direct.slotWrites);
      }),
      { numRuns: 100 },
    );
  });

  test('of rows, in batches and as multi-slot writes, leave the bytes that DartStore.writeRows leaves', () => {
    fc.assert(
      fc.property(shapes, keyLists, fc.boolean(), fc.integer({ min: 1, max: 9 }), (shape, keys, isMulti, room) => {
        const { slots, valueBytes, copies, checksumBits } = shape;
        const byWire = storeOf(slots, valueBytes, copies, checksumBits);
        const direct = storeOf(slots, valueBytes, copies, checksumBits);
        const rnic = rnicTo(byWire);
        const writer = writerTo(byWire);
        const rows = rowsOf(keys);
        const values = valuesOf(keys.length, valueBytes);
        direct.writeRows(rows, values, 0, keys.length);
        const perKey = isMulti ? 1 : copies;
        const size = isMulti ? writer.multiPacketBytes : writer.packetBytes;
        const frames = new FrameRows(room * perKey, room * perKey * size);
        let packets = 0;
        for (let row = 0; row < keys.length; ) {
          const next = isMulti
            ? writer.writeMultiRows(rows, values, row, keys.length, frames)
            : writer.writeRows(rows, values, row, keys.length, frames);
          expect(next - row).toBe(Math.min(room, keys.length - row));
          packets += frames.count;
          rnic.receiveRows(frames.bytes, frames.offsets, frames.lengths, 0, frames.count);
          frames.clear();
          row = next;
        }
        expect(packets).toBe(keys.length * perKey);
        expect(rnic.counters).toMatchObject({ [isMulti ? 'multiWrite' : 'write']: packets, rejected: 0 });
        expect(hexOf(byWire)).toBe(hexOf(direct));
      }),
      { numRuns: 100 },
    );
  });

  test('are RDMA WRITE-only packets that the codec reads, over IPv4 and IPv6', () => {
    const store = storeOf(1000);
    for (const six of [false, true]) {
      const collectors = [collectorOf(store, six ? { address: '2001:db8::2' } : {})];
      const writer = writerTo(store, { collectors, source: six ? '2001:db8::1' : '10.0.1.1', firstPsn: 0xffffff });
      const key = Uint8Array.of(1, 2, 3);
      const value = valuesOf(1, 20);
      const packets = writer.write(key, value).map((frame) => decodeRoce(frame));
      expect(packets.map(({ psn }) => psn)).toEqual([0xffffff, 0]);
      packets.forEach((packet, copy) => {
        expect(packet).toMatchObject({
          opcode: ROCE_OPCODE.UC_WRITE_ONLY,
          destinationQp: UC,
          acknowledgeRequest: false,
        });
        expect(packet.reth).toEqual({
          virtualAddress: BASE + BigInt(store.slotOf(key, copy) * 24),
          remoteKey: REMOTE_KEY,
          dmaLength: 24,
        });
        expect(packet.payload.subarray(4)).toEqual(value);
        expect(Buffer.from(packet.payload).readUInt32BE(0)).toBe(store.checksumOf(key));
      });
    }
  });

  test('have the right address however large the store is, and wherever it lies', () => {
    const bases = fc.bigInt({ min: 0n, max: 2n ** 64n - 24n * 2n ** 32n });
    fc.assert(
      fc.property(
        bases,
        fc.integer({ min: 1, max: 2 ** 32 - 1 }),
        fc.uint8Array({ maxLength: 20 }),
        (base, slots, key) => {
          const store = storeOf(10);
          const writer = writerTo(store, { collectors: [collectorOf(store, { base, slots })] });
          const addresses = [0, 1].map(
            (copy) => base + BigInt(store.hashes.slot(copy, key, 0, key.length) % slots) * 24n,
          );
          const written = writer.write(key, valuesOf(1, 20)).map((frame) => decodeRoce(frame).reth?.virtualAddress);
          expect(written).toEqual(addresses);
          expect(decodeMultiWrite(writer.writeMulti(key, valuesOf(1, 20))[0]!, 54)?.addresses).toEqual(addresses);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('are counted per collector, and go to both collectors of a key with two replicas', () => {
    const store = storeOf(1000);
    const collectors = [0, 1, 2].map((id) => collectorOf(store, { id, address: `10.0.2.${id + 1}` }));
    const writer = writerTo(store, { collectors, replicas: 2 });
    const keys = rowsOf(Array.from({ length: 50 }, (_, at) => Uint8Array.of(at, 1)));
    const frames = new FrameRows(200, 200 * writer.packetBytes);
    expect(writer.writeRows(keys, valuesOf(50, 20), 0, 50, frames)).toBe(50);
    expect(frames.count).toBe(200);
    const seen = [0, 0, 0];
    for (let row = 0; row < frames.count; row++) {
      const packet = decodeRoce(frames.packet(row));
      const collector = frames.collectors[row]!;
      expect(packet.destination).toBe(`10.0.2.${collector + 1}`);
      expect(packet.psn).toBe(seen[collector]!++);
    }
    expect(seen.every((count) => count > 0)).toBe(true);
    expect([0, 1, 2].map((collector) => writer.nextPsn(collector))).toEqual(seen);
    for (const packet of writer.writeCopy(Uint8Array.of(9), valuesOf(1, 20), 1))
      expect(decodeRoce(packet)).toBeDefined();
  });

  test('that insert do what DartStore.insert does', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        keyLists,
        fc.constantFrom('uc' as const, 'rc' as const),
        (slots, keys, service) => {
          const byWire = storeOf(slots, 4);
          const direct = storeOf(slots, 4);
          const rnic = rnicTo(byWire, service);
          const writer = writerTo(byWire, { service });
          const answers: (bigint | null)[] = [];
          rnic.onAnswer = (answer) => {
            const packet = decodeRoce(answer);
            if (packet.opcode === ROCE_OPCODE.RC_ATOMIC_ACKNOWLEDGE) answers.push(packet.original);
          };
          const stored = keys.map((key, at) => {
            const value = Uint8Array.of(at, 2, 3, 4);
            for (const frame of writer.insert(key, value)) rnic.receive(frame);
            return direct.insert(key, value);
          });
          expect(rnic.counters).toMatchObject({ write: keys.length, compareSwap: keys.length, rejected: 0 });
          expect(hexOf(byWire)).toBe(hexOf(direct));
          expect(answers.map((original) => original === 0n)).toEqual(stored);
        },
      ),
      { numRuns: 100 },
    );
  });

  test('that add do what DartCounters.add does, and reads are never too small', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), keyLists, fc.integer({ min: 1, max: 8 }), (cells, keys, copies) => {
        const byWire = new DartCounters({ cells, copies, hashes: HASHES });
        const direct = new DartCounters({ cells, copies, hashes: HASHES });
        const rnic = new SoftRnic({
          queuePairs: [{ number: RC, service: 'rc' }],
          regions: [
            { remoteKey: COUNTERS_KEY, base: COUNTERS_BASE, target: byWire, access: { write: false, atomic: true } },
          ],
        });
        const counters = { remoteKey: COUNTERS_KEY, base: COUNTERS_BASE, cells };
        const store = storeOf(10);
        const writer = writerTo(store, {
          collectors: [collectorOf(store, { counters })],
          hashes: HASHES,
          counterCopies: copies,
        });
        const sums = new Map<string, bigint>();
        keys.forEach((key, at) => {
          const amount = 2n ** 33n + BigInt(at);
          direct.add(key, amount);
          for (const frame of writer.add(key, amount)) rnic.receive(frame);
          const name = key.join();
          sums.set(name, (sums.get(name) ?? 0n) + amount);
        });
        expect(rnic.counters.fetchAdd).toBe(keys.length * copies);
        expect(hexOf(byWire)).toBe(hexOf(direct));
        for (const key of keys) expect(byWire.read(key) >= sums.get(key.join())!).toBe(true);
      }),
      { numRuns: 100 },
    );
    const alone = new DartCounters({ cells: 10_000, hashes: HASHES });
    alone.add(Uint8Array.of(1), -1);
    alone.add(Uint8Array.of(1), 3);
    expect(alone.read(Uint8Array.of(1))).toBe(2n);
    expect(alone.read(Uint8Array.of(2))).toBe(0n);
    alone.clear();
    expect(alone.read(Uint8Array.of(1))).toBe(0n);
    expect(() => alone.fetchAdd(4, 1n)).toThrow(RangeError);
    expect(() => alone.writeBytes(79_999, new Uint8Array(2), 0, 2)).toThrow(RangeError);
  });

  test('that insert and add in rows are those of one key after the other', () => {
    fc.assert(
      fc.property(keyLists, fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 5 }), (keys, replicas, room) => {
        const store = storeOf(50, 4);
        const counters = { remoteKey: COUNTERS_KEY, base: COUNTERS_BASE, cells: 33 };
        const collectors = [0, 1, 2].map((id) => collectorOf(store, { id, address: `10.0.2.${id + 1}`, counters }));
        const make = () => writerTo(store, { collectors, replicas: replicas as 1 | 2 });
        const [single, batch] = [make(), make()];
        const rows = rowsOf(keys);
        const values = valuesOf(keys.length, 4);
        const amounts = Uint32Array.from(keys, (_, row) => 2 ** 32 - 1 - row);
        const expected = keys.flatMap((key, row) => single.insert(key, values.subarray(row * 4, row * 4 + 4)));
        expected.push(...keys.flatMap((key, row) => single.add(key, amounts[row]!)));
        const packets: Uint8Array[] = [];
        const frames = new FrameRows(room * 4, room * 4 * 90);
        const drain = (fill: (row: number) => number): void => {
          for (let row = 0; row < keys.length; frames.clear()) {
            row = fill(row);
            for (let at = 0; at < frames.count; at++) {
              packets.push(frames.packet(at).slice());
              expect(decodeRoce(frames.packet(at)).destination).toBe(`10.0.2.${frames.collectors[at]! + 1}`);
            }
          }
        };
        drain((row) => batch.insertRows(rows, values, row, keys.length, frames));
        drain((row) => batch.addRows(rows, amounts, row, keys.length, frames));
        expect(packets).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  test('cannot be asked for what is not possible', () => {
    const store = storeOf(10);
    const writer = writerTo(store, { collectors: [collectorOf(store)] });
    const value = valuesOf(1, 20);
    expect(() => writer.write(Uint8Array.of(1), value.subarray(1))).toThrow(RangeError);
    expect(() => writer.writeCopy(Uint8Array.of(1), value, 2)).toThrow(RangeError);
    expect(() => writer.write(new Uint8Array(70_000), value)).toThrow(RangeError);
    expect(() => writer.insert(Uint8Array.of(1), value)).toThrow(TypeError);
    expect(() => writer.add(Uint8Array.of(1), 1)).toThrow(TypeError);
    expect(() => writerTo(store, { source: '::1' })).toThrow(RangeError);
    expect(() => writerTo(store, { firstPsn: 2 ** 24 })).toThrow(RangeError);
    expect(() => writerTo(store, { collectors: [collectorOf(store, { base: 2n ** 64n - 239n })] })).toThrow(RangeError);
    expect(() => writerTo(store, { collectors: [collectorOf(store, { base: 2n ** 64n - 240n })] })).not.toThrow();
    const { atomicQueuePair: _, ...withoutAtomics } = collectorOf(storeOf(10, 4));
    expect(() =>
      writerTo(storeOf(10, 4), { collectors: [withoutAtomics] }).insert(Uint8Array.of(1), new Uint8Array(4)),
    ).toThrow(TypeError);
  });
});

describe('multi-slot writes', () => {
  const multi = fc.record({
    remoteKey: fc.integer({ min: 0, max: 0xffffffff }),
    addresses: fc.array(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), { minLength: 1, maxLength: 8 }),
    payload: fc.uint8Array({ minLength: 1, maxLength: 60 }),
  });

  test('are read as they were written, and never from bytes that are too few', () => {
    fc.assert(
      fc.property(multi, fc.nat(9), (value, offset) => {
        const out = new Uint8Array(200);
        const length = encodeMultiWrite(value, out, offset);
        expect(decodeMultiWrite(out, offset)).toEqual(value);
        for (let cut = 0; cut < length; cut++)
          expect(decodeMultiWrite(out.subarray(0, offset + cut), offset)).toBeNull();
      }),
    );
    expect(() =>
      encodeMultiWrite({ remoteKey: 0, addresses: [], payload: Uint8Array.of(1) }, new Uint8Array(99)),
    ).toThrow(RangeError);
    expect(() =>
      encodeMultiWrite({ remoteKey: 0, addresses: [1n], payload: new Uint8Array(0) }, new Uint8Array(99)),
    ).toThrow(RangeError);
    expect(() =>
      encodeMultiWrite({ remoteKey: 0, addresses: [1n], payload: Uint8Array.of(1) }, new Uint8Array(16)),
    ).toThrow(RangeError);
  });

  test('are executed as in the worked packet of the description', () => {
    const description = readFileSync(new URL('../../../MULTI-WRITE.md', import.meta.url), 'utf8');
    const block = /```text\n(.*?)```/s.exec(description)![1]!;
    // The hexadecimal digits of a line end where two spaces begin what they mean.
    const digits = block.split('\n').map((line) => line.split('  ')[0]!);
    const packet = new Uint8Array(Buffer.from(digits.join('').replaceAll(' ', ''), 'hex'));
    const target = new GuardedTarget(0x90);
    const rnic = new SoftRnic({
      queuePairs: [{ number: 0x112, expectedPsn: 42 }],
      regions: [{ remoteKey: 0x1a2b, base: 0x7f1234560000n, target }],
      multiWrite: true,
    });
    expect(OUTCOME_NAMES[rnic.receiveIp(packet)]).toBe('multiWrite');
    const expected = new Uint8Array(0x90);
    for (const offset of [0x40, 0x88]) expected.set([0xc0, 0xff, 0xee, 1, 10, 11, 12, 13], offset);
    expect(bytesOf(target)).toEqual(expected);
    expect(rnic.counters.lost).toBe(0);
  });

  test('of a writer are laid out as the description says', () => {
    const store = storeOf(1000, 20, 4);
    const key = Uint8Array.of(5, 6);
    const [frame] = writerTo(store).writeMulti(key, valuesOf(1, 20));
    expect(frame!.length).toBe(122);
    expect(frame![42]).toBe(MULTI_WRITE_OPCODE);
    const body = decodeMultiWrite(frame!, 54)!;
    expect(body.addresses).toEqual([0, 1, 2, 3].map((copy) => BASE + BigInt(store.slotOf(key, copy) * 24)));
    expect(body.remoteKey).toBe(REMOTE_KEY);
    expect(body.payload.length).toBe(24);
  });
});
