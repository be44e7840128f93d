import { ROCE_OPCODE } from '@int/codec';
import { AcceleratorRnic, DartStore, SoftRnic, type SoftRnicOptions } from '@int/dart';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import { BASE, REMOTE_KEY, UC, writeFrame } from '../rdma/fixtures.js';
import { SEED } from '../seed.js';

const OTHER_KEY = 0x55;
const READ_ONLY_KEY = 0x56;
const OTHER_UC = 0x212;
const RELIABLE = 0x300;
const SLOTS = 500;

/** A store in TypeScript and one in WebAssembly, an RNIC to each. */
class RnicPair {
  readonly plainStore: DartStore;
  readonly store: DartStore;
  readonly plain: SoftRnic;
  readonly rnic: SoftRnic;
  readonly accelerator: AcceleratorRnic;
  readonly others: readonly DartStore[];

  constructor(valueBytes: number, shared: boolean, size: number, icrc: 'check' | 'skip') {
    const dimensions = { slots: SLOTS, valueBytes, shared };
    this.plainStore = new DartStore({ ...dimensions, engine: 'plain' });
    this.store = new DartStore(dimensions);
    this.others = [0, 1].map(() => new DartStore({ slots: 64, engine: 'plain' }));
    this.accelerator = new AcceleratorRnic(this.store.accelerator!, [REMOTE_KEY, READ_ONLY_KEY]);
    const options = (target: DartStore, other: DartStore): SoftRnicOptions => ({
      icrc,
      queuePairs: [
        { number: UC, expectedPsn: 5 },
        // Its number has the same lower byte.
        { number: OTHER_UC },
        { number: RELIABLE, service: 'rc', expectedPsn: 0 },
      ],
      regions: [
        { remoteKey: OTHER_KEY, base: BASE, target: other },
        { remoteKey: REMOTE_KEY, base: BASE, target, size },
        { remoteKey: READ_ONLY_KEY, base: BASE, target, access: { write: false } },
      ],
    });
    this.plain = new SoftRnic(options(this.plainStore, this.others[0]!));
    this.rnic = new SoftRnic({ ...options(this.store, this.others[1]!), state: this.accelerator.state });
    this.rnic.useAccelerator(this.accelerator);
  }

  /** Lets both take frames and compares all they leave. */
  receive(bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array, inside = bytes): void {
    const accepted = this.plain.receiveRows(bytes, offsets, lengths);
    expect(this.rnic.receiveRows(inside, offsets, lengths)).toBe(accepted);
    this.compare();
  }

  compare(): void {
    expect(this.rnic.counters).toEqual(this.plain.counters);
    expect(this.store.slotWrites).toBe(this.plainStore.slotWrites);
    expect(this.accelerator.state.every((word, at) => word === this.plain.state[at])).toBe(true);
    const [one, other] = [this.plainStore.segments[0]!, this.store.segments[0]!];
    for (const part of ['slots', 'begun', 'done'] as const) {
      expect(Buffer.compare(Buffer.from(other[part]), Buffer.from(one[part]))).toBe(0);
    }
    const [first, second] = this.others;
    expect(Buffer.compare(Buffer.from(second!.pieces[0]!), Buffer.from(first!.pieces[0]!))).toBe(0);
  }
}

/** Frames one behind the other, with `gap` bytes between them. */
function layOut(frames: readonly Uint8Array[], gap: number): [Uint8Array, Uint32Array, Uint32Array] {
  const offsets = new Uint32Array(frames.length);
  let at = gap;
  for (const [index, { length }] of frames.entries()) {
    offsets[index] = at;
    at += length + gap;
  }
  const bytes = new Uint8Array(at);
  for (const [index, frame] of frames.entries()) bytes.set(frame, offsets[index]!);
  return [bytes, offsets, Uint32Array.from(frames, ({ length }) => length)];
}

const often = <Value>(usual: Value, ...others: Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 24, arbitrary: fc.constant(usual) }, ...others.map((other) => fc.constant(other)));

const frames = fc.record({
  number: fc.oneof({ weight: 12, arbitrary: fc.constantFrom(UC, OTHER_UC) }, fc.constantFrom(RELIABLE, 9)),
  jump: often(0, 1, 40, 0xffffff, 0x800000),
  opcode: often<number>(ROCE_OPCODE.UC_WRITE_ONLY, ROCE_OPCODE.RC_WRITE_ONLY, ROCE_OPCODE.UC_WRITE_ONLY_IMMEDIATE),
  remoteKey: often(REMOTE_KEY, OTHER_KEY, READ_ONLY_KEY, 1),
  slot: fc.nat(SLOTS + 1),
  shift: often(0n, 1n, -1n, 7n, -(1n << 40n), 1n << 32n, 1n << 62n),
  bytes: fc.oneof({ weight: 8, arbitrary: fc.constant(24) }, fc.integer({ min: 0, max: 3000 })),
  lie: often(0, 1, -1, 0x10000),
  partitionKey: often(0xffff, 0x7fff, 0x1234),
  port: often(4791, 4790),
  /** A byte of the frame to change, and by what. */
  spoiled: often(0, 1),
  at: fc.nat(120),
  by: fc.integer({ min: 1, max: 255 }),
  cut: often(0, 1, 30, 70),
  trailer: often(0, 5),
  isIpv6: often(false, true),
});

describe('an RNIC with an accelerator', () => {
  it('does what one in TypeScript does, whatever arrives', () => {
    fc.assert(
      fc.property(
        fc.array(frames, { minLength: 1, maxLength: 150 }),
        fc.record({
          valueBytes: fc.constantFrom(20, 4, 1, 33),
          shared: fc.boolean(),
          isCut: fc.boolean(),
          icrc: often<'check' | 'skip'>('check', 'skip'),
          gap: fc.constantFrom(0, 3, 700),
          isInside: fc.boolean(),
        }),
        (specs, { valueBytes, shared, isCut, icrc, gap, isInside }) => {
          const slotBytes = valueBytes + 4;
          const pair = new RnicPair(valueBytes, shared, (isCut ? SLOTS - 40 : SLOTS) * slotBytes, icrc);
          const next = new Map([[UC, 5]]);
          const made = specs.map((spec, index) => {
            const psn = ((next.get(spec.number) ?? 0) + spec.jump) & 0xffffff;
            next.set(spec.number, (psn + 1) & 0xffffff);
            const payload = new Uint8Array(spec.bytes).fill(index + 1);
            const virtualAddress = BigInt.asUintN(64, BASE + BigInt(spec.slot * slotBytes) + spec.shift);
            const reth = { virtualAddress, remoteKey: spec.remoteKey, dmaLength: Math.max(0, spec.bytes + spec.lie) };
            const isImmediate = spec.opcode === ROCE_OPCODE.UC_WRITE_ONLY_IMMEDIATE;
            const frame = writeFrame(psn, payload, reth, {
              destinationQp: spec.number,
              opcode: spec.opcode,
              partitionKey: spec.partitionKey,
              ...(isImmediate ? { immediate: 7 } : {}),
              ...(spec.isIpv6 ? { source: '2001:db8::1', destination: '2001:db8::2' } : {}),
            });
            if (spec.spoiled === 1 && spec.at < frame.length) frame[spec.at]! ^= spec.by;
            const whole = new Uint8Array(Math.max(0, frame.length - spec.cut) + spec.trailer);
            whole.set(frame.subarray(0, whole.length - spec.trailer));
            return whole;
          });
          const [bytes, offsets, lengths] = layOut(made, gap);
          const inside = isInside ? pair.store.accelerator!.host.arena.bytes(bytes.length) : bytes;
          inside.set(bytes);
          pair.receive(bytes, offsets, lengths, inside);
        },
      ),
      { seed: SEED, numRuns: runs(60) },
    );
  }, 60_000);

  it('takes all good frames itself, and none of them twice', () => {
    const pair = new RnicPair(20, false, SLOTS * 24, 'check');
    const good = Array.from({ length: 200 }, (_, index) =>
      writeFrame(5 + index, new Uint8Array(24).fill(index), { virtualAddress: BASE + BigInt((index % SLOTS) * 24) }),
    );
    const [bytes, offsets, lengths] = layOut(good, 0);
    expect(pair.accelerator.run(bytes, offsets, lengths, 0, 200)).toBe(200);
    expect(pair.accelerator.run(bytes, offsets, lengths, 0, 200)).toBe(0);
    expect(pair.store.slotWrites).toBe(200);
    expect([...pair.store.pieces[0]!.subarray(199 * 24, 201 * 24)]).toEqual([
      ...new Array<number>(24).fill(199),
      ...new Array<number>(24).fill(0),
    ]);
  });

  it('stops at each frame of which one bit is another', () => {
    const pair = new RnicPair(20, false, SLOTS * 24, 'check');
    const frame = writeFrame(5, new Uint8Array(23).fill(3));
    const before = pair.accelerator.state.slice();
    // What routers may change is not protected: type of service, time to live, checksums, congestion bits.
    const free = new Set([15, 22, 24, 25, 40, 41, 46]);
    for (let bit = 14 * 8; bit < frame.length * 8; bit++) {
      if (free.has(bit >> 3)) continue;
      const spoiled = frame.slice();
      spoiled[bit >> 3]! ^= 1 << (bit & 7);
      expect(pair.accelerator.run(spoiled, new Uint32Array(1), new Uint32Array([frame.length]), 0, 1)).toBe(0);
    }
    expect(pair.accelerator.state).toEqual(before);
    expect(pair.store.slotWrites).toBe(0);
    expect(pair.accelerator.run(frame, new Uint32Array(1), new Uint32Array([frame.length]), 0, 1)).toBe(1);
  });

  it('writes nothing outside of a region at the end of the slots', () => {
    const pair = new RnicPair(20, false, SLOTS * 24, 'skip');
    const at = (offset: bigint, count: number): boolean => {
      const virtualAddress = BigInt.asUintN(64, BASE + offset);
      const psn = pair.accelerator.state[16 + 2]!;
      const frame = writeFrame(psn, new Uint8Array(count), { virtualAddress });
      return pair.accelerator.run(frame, new Uint32Array(1), new Uint32Array([frame.length]), 0, 1) === 1;
    };
    const end = BigInt(SLOTS * 24);
    expect([at(end - 24n, 24), at(end - 23n, 24), at(end, 1), at(end - 1n, 1), at(-1n, 1), at(-1n, 2)]).toEqual([
      true,
      false,
      false,
      true,
      false,
      false,
    ]);
    expect([at(1n << 32n, 1), at(-(1n << 32n), 1), at((1n << 64n) - 24n, 24), at(0n, SLOTS * 24)]).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});
