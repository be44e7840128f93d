/** Packet sequence numbers, the answers of reliable connections, and packets taken many at a time. */
import { CodecError, decodeRoce, ROCE_OPCODE, type RoceFields, type RocePacket } from '@int/codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SYNDROME } from '../../../src/rdma/answers.js';
import { FrameRows } from '../../../src/rdma/frame-rows.js';
import { FIRST_REJECT, OUTCOME_NAMES } from '../../../src/rdma/outcomes.js';
import { type QueuePairOptions, STALE_RUN_LIMIT } from '../../../src/rdma/queue-pairs.js';
import {
  ENTRY_WORDS,
  QUEUE_PAIR_WORD,
  QUEUE_PAIRS_AT,
  REGION_WORD,
  REGIONS_AT,
  type RnicAccelerator,
  STATE_WORD,
} from '../../../src/rdma/rnic-state.js';
import { SoftRnic } from '../../../src/rdma/soft-rnic.js';
import {
  atomicFrame,
  BASE,
  bytesOf,
  GuardedTarget,
  hexOf,
  MACS,
  RC,
  REMOTE_KEY,
  SEED,
  UC,
  writeFrame,
} from '../../rdma/fixtures.js';

fc.configureGlobal({ seed: SEED });

const LAST = 0xffffff;
const { RC_COMPARE_SWAP, RC_FETCH_ADD, RC_WRITE_ONLY } = ROCE_OPCODE;

function setUp(uc: Partial<QueuePairOptions> = {}, rc: Partial<QueuePairOptions> = {}) {
  const target = new GuardedTarget(64);
  const rnic = new SoftRnic({
    queuePairs: [
      { number: UC, ...uc },
      { number: RC, service: 'rc', peer: 0x55, ...rc },
    ],
    regions: [{ remoteKey: REMOTE_KEY, base: BASE, target, access: { write: true, atomic: true } }],
  });
  const answers: RocePacket[] = [];
  rnic.onAnswer = (answer) => answers.push(decodeRoce(answer));
  /** Sends a write of one byte. */
  const uw = (psn: number, value = 1): string => OUTCOME_NAMES[rnic.receive(writeFrame(psn, Uint8Array.of(value)))]!;
  const rw = (psn: number, more: Partial<RoceFields> = {}, value = 1): string => {
    const fields = { opcode: RC_WRITE_ONLY, destinationQp: RC, acknowledgeRequest: true, ...more };
    return OUTCOME_NAMES[rnic.receive(writeFrame(psn, Uint8Array.of(value), {}, fields))]!;
  };
  const add = (psn: number, amount = 1n): string =>
    OUTCOME_NAMES[rnic.receive(atomicFrame(RC_FETCH_ADD, psn, { swapOrAdd: amount }))]!;
  const cell = (): bigint => new DataView(bytesOf(target).buffer).getBigUint64(0, true);
  return { rnic, target, answers, uw, rw, add, cell };
}

describe('an unreliable queue pair', () => {
  test('takes the first sequence number that comes, unless one is expected', () => {
    const { uw, rnic } = setUp();
    expect(uw(0x123456)).toBe('write');
    expect(uw(0x123457)).toBe('write');
    expect(rnic.counters).toMatchObject({ lost: 0, gaps: 0 });
    const other = setUp({ expectedPsn: 5 });
    expect(other.uw(8)).toBe('write');
    expect(other.rnic.counters).toMatchObject({ lost: 3, gaps: 1 });
    expect(setUp({ expectedPsn: 5 }).uw(4)).toBe('stale');
  });

  test('goes on from 2^24 - 1 to 0', () => {
    const { uw, rnic } = setUp();
    for (const psn of [LAST - 1, LAST, 0, 1]) expect(uw(psn)).toBe('write');
    expect(rnic.counters).toMatchObject({ write: 4, lost: 0, gaps: 0, stale: 0 });
    expect(uw(LAST)).toBe('stale');
    rnic.expect(UC, LAST);
    expect(uw(2)).toBe('write');
    expect(rnic.counters).toMatchObject({ lost: 3, gaps: 1 });
  });

  test('counts what is lost and goes on, whatever was lost', () => {
    fc.assert(
      fc.property(fc.nat(LAST), fc.array(fc.integer({ min: 0, max: 0x7fffff }), { maxLength: 30 }), (first, skips) => {
        const { uw, rnic } = setUp();
        expect(uw(first)).toBe('write');
        let psn = first;
        for (const skip of skips) {
          psn = (psn + 1 + skip) & LAST;
          expect(uw(psn)).toBe('write');
        }
        const { lost, gaps, write } = rnic.counters;
        expect(lost).toBe(skips.reduce((sum, skip) => sum + skip, 0));
        expect(gaps).toBe(skips.filter((skip) => skip > 0).length);
        expect(write).toBe(skips.length + 1);
      }),
      { numRuns: 50 },
    );
  });

  test('rejects as stale what is behind by less than 2^23, and takes what is not', () => {
    const { uw, rnic, target } = setUp({ expectedPsn: 0 });
    expect(uw(LAST)).toBe('stale');
    expect(uw(0x800001)).toBe('stale');
    expect(target.isUntouched).toBe(true);
    expect(uw(0x800000)).toBe('write');
    expect(rnic.counters).toMatchObject({ stale: 2, lost: 0x800000, gaps: 1 });
  });

  test('with a smaller window takes nothing further ahead', () => {
    const { uw } = setUp({ expectedPsn: 100, window: 10 });
    expect(uw(111)).toBe('stale');
    expect(uw(110)).toBe('write');
    expect(() => setUp({ window: 0 })).toThrow(RangeError);
  });

  test('takes up a switch that began anew after 16 stale packets in a row', () => {
    const { uw, rnic } = setUp({ expectedPsn: 1000 });
    for (let psn = 0; psn < STALE_RUN_LIMIT; psn++) expect(uw(psn)).toBe('stale');
    for (let psn = STALE_RUN_LIMIT; psn < 40; psn++) expect(uw(psn)).toBe('write');
    expect(rnic.counters).toMatchObject({ stale: STALE_RUN_LIMIT, restarts: 1, lost: 0, write: 24 });
  });

  test('does not take up stale packets that do not follow each other, or come between others', () => {
    const { uw, rnic } = setUp({ expectedPsn: 1000 });
    for (let psn = 0; psn < 100; psn += 2) expect(uw(psn)).toBe('stale');
    for (let turn = 0; turn < 40; turn++) {
      expect(uw(500 + turn)).toBe('stale');
      if (turn % 10 === 9) expect(uw(1000 + (turn - 9) / 10)).toBe('write');
    }
    expect(rnic.counters).toMatchObject({ restarts: 0, write: 4 });
    for (let psn = 0; psn < 40; psn++) expect(uw(700)).toBe('stale');
    expect(rnic.counters.restarts).toBe(0);
  });

  test('does not answer, and moves on past a packet that is rejected for its address', () => {
    const { rnic, uw, answers } = setUp({ expectedPsn: 0 });
    rnic.receive(writeFrame(0, Uint8Array.of(1), { virtualAddress: 0n }, { acknowledgeRequest: true }));
    expect(uw(1)).toBe('write');
    expect(rnic.counters).toMatchObject({ bounds: 1, lost: 0, write: 1 });
    expect(answers).toEqual([]);
  });

  test('hands on immediate data', () => {
    const target = new GuardedTarget(64);
    const seen: number[][] = [];
    const rnic = new SoftRnic({
      queuePairs: [{ number: UC }],
      regions: [{ remoteKey: REMOTE_KEY, base: BASE, target }],
      onImmediate: (value, queuePair) => seen.push([value, queuePair]),
    });
    const more = { opcode: ROCE_OPCODE.UC_WRITE_ONLY_IMMEDIATE, immediate: 0xfedcba98 };
    rnic.receive(writeFrame(0, Uint8Array.of(7, 8, 9), {}, more));
    rnic.receive(writeFrame(1, Uint8Array.of(7, 8, 9), { remoteKey: 0 }, more));
    expect(seen).toEqual([[0xfedcba98, UC]]);
    expect([...bytesOf(target).subarray(0, 4)]).toEqual([7, 8, 9, 0]);
  });
});

describe('who does not know a remote key', () => {
  const stranger = { remoteKey: 0 };
  const one = Uint8Array.of(1);

  test('cannot move the sequence of an unreliable queue pair, or have it taken up anew', () => {
    const { rnic, uw } = setUp();
    rnic.receive(writeFrame(500, one, stranger));
    expect(uw(5)).toBe('write');
    rnic.receive(writeFrame(1000, one, stranger));
    for (let psn = 0xff0000; psn < 0xff0040; psn++) rnic.receive(writeFrame(psn, one, stranger));
    expect(uw(6)).toBe('write');
    expect(rnic.counters).toMatchObject({ remoteKey: 2, stale: 64, lost: 0, gaps: 0, restarts: 0, write: 2 });
  });

  test('cannot move the sequence of a reliable queue pair, or use up the answer to a gap', () => {
    const { rnic, rw, answers } = setUp({}, { expectedPsn: 0 });
    const reliable = { opcode: RC_WRITE_ONLY, destinationQp: RC, acknowledgeRequest: true };
    expect(rw(0)).toBe('write');
    rnic.receive(writeFrame(1, one, stranger, reliable));
    expect(rw(1)).toBe('write');
    answers.length = 0;
    rnic.receive(writeFrame(9, one, stranger, reliable));
    rnic.receive(writeFrame(1, one, stranger, reliable));
    expect(answers).toEqual([]);
    expect(rw(3)).toBe('gap');
    expect(answers.map(({ aeth }) => aeth?.syndrome)).toEqual([SYNDROME.SEQUENCE_ERROR]);
    expect(rnic.counters).toMatchObject({ remoteKey: 1, gap: 2, duplicate: 1, write: 2 });
  });
});

describe('a reliable queue pair', () => {
  test('takes the next packet only, and answers a gap once', () => {
    const { rw, rnic, answers } = setUp();
    expect(rw(LAST)).toBe('write');
    expect(rw(2)).toBe('gap');
    expect(rw(3)).toBe('gap');
    expect(rw(0)).toBe('write');
    expect(rw(4)).toBe('gap');
    expect(answers.map(({ psn, aeth }) => [psn, aeth?.syndrome])).toEqual([
      [LAST, SYNDROME.ACKNOWLEDGED],
      [0, SYNDROME.SEQUENCE_ERROR],
      [0, SYNDROME.ACKNOWLEDGED],
      [1, SYNDROME.SEQUENCE_ERROR],
    ]);
    expect(rnic.counters).toMatchObject({ write: 2, gap: 3, acknowledgements: 2, negativeAcknowledgements: 2 });
  });

  test('answers when it is asked to: to the sender, with everything the other way round', () => {
    for (const six of [false, true]) {
      const { rw, answers } = setUp();
      const ends = six
        ? { source: '2001:db8::1', destination: '2001:db8::2' }
        : { source: '10.0.1.1', destination: '10.0.2.2' };
      rw(7, { acknowledgeRequest: false, ...ends });
      expect(answers).toEqual([]);
      rw(8, { ...ends, sourcePort: 50_000 });
      expect(answers[0]).toMatchObject({
        ethernet: { source: MACS.destination, destination: MACS.source },
        source: ends.destination,
        destination: ends.source,
        sourcePort: 50_000,
        destinationPort: 4791,
        opcode: ROCE_OPCODE.RC_ACKNOWLEDGE,
        destinationQp: 0x55,
        psn: 8,
        aeth: { syndrome: SYNDROME.ACKNOWLEDGED, msn: 2 },
      });
    }
  });

  test('acknowledges a write that comes again, and does not write it again', () => {
    const { rw, rnic, answers, target } = setUp();
    rw(1, {}, 1);
    rw(2, {}, 2);
    expect(rw(1, {}, 1)).toBe('duplicate');
    expect(bytesOf(target)[0]).toBe(2);
    expect(answers.map(({ psn }) => psn)).toEqual([1, 2, 2]);
    expect(rnic.counters).toMatchObject({ write: 2, duplicate: 1, rejected: 1 });
  });

  test('executes an atomic once, however often it comes, and answers each time the same', () => {
    fc.assert(
      fc.property(fc.nat(LAST), fc.array(fc.nat(5), { minLength: 1, maxLength: 30 }), (first, repeats) => {
        const { add, cell, answers } = setUp();
        let sum = 0n;
        repeats.forEach((again, at) => {
          const psn = (first + at) & LAST;
          expect(add(psn, BigInt(at + 1))).toBe('fetchAdd');
          for (let turn = 0; turn < again; turn++) expect(add(psn, BigInt(at + 1))).toBe('duplicate');
          for (const answer of answers.splice(0)) {
            expect(answer).toMatchObject({ opcode: ROCE_OPCODE.RC_ATOMIC_ACKNOWLEDGE, psn, original: sum });
          }
          sum += BigInt(at + 1);
          expect(cell()).toBe(sum);
        });
      }),
      { numRuns: 50 },
    );
  });

  test('does not answer a duplicate atomic that it has forgotten, or that is another one', () => {
    const { add, cell, answers } = setUp();
    for (let psn = 0; psn < 20; psn++) add(psn);
    answers.length = 0;
    expect(add(0)).toBe('duplicate');
    expect(add(19, 2n)).toBe('duplicate');
    expect(answers).toEqual([]);
    expect(add(19)).toBe('duplicate');
    expect(answers.length).toBe(1);
    expect(cell()).toBe(20n);
  });

  test('swaps only what compares equal, in memory that is little-endian, and says what was there', () => {
    const { rnic, answers, target } = setUp();
    const swap = (psn: number, compare: bigint, swapOrAdd: bigint) =>
      rnic.receive(atomicFrame(RC_COMPARE_SWAP, psn, { compare, swapOrAdd }));
    swap(0, 0n, 0x0102030405060708n);
    swap(1, 0n, 5n);
    swap(2, 0x0102030405060708n, 2n ** 64n - 1n);
    expect(answers.map(({ original }) => original)).toEqual([0n, 0x0102030405060708n, 0x0102030405060708n]);
    rnic.receive(atomicFrame(RC_FETCH_ADD, 3, { swapOrAdd: 2n }));
    expect(bytesOf(target)[0]).toBe(1);
    swap(4, 1n, 0x0102030405060708n);
    expect([...bytesOf(target).subarray(0, 8)]).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(rnic.counters).toMatchObject({ compareSwap: 4, fetchAdd: 1 });
  });

  test('says why it does not do something, and stays usable', () => {
    const { rnic, answers, rw } = setUp({}, { expectedPsn: 0 });
    rnic.receive(atomicFrame(RC_FETCH_ADD, 0, { virtualAddress: BASE + 4n }));
    rnic.receive(atomicFrame(RC_FETCH_ADD, 1, { remoteKey: 0 }));
    rnic.receive(writeFrame(1, Uint8Array.of(1), { dmaLength: 2 }, { opcode: RC_WRITE_ONLY, destinationQp: RC }));
    rnic.receive(writeFrame(2, Uint8Array.of(1), { virtualAddress: 0n }, { opcode: RC_WRITE_ONLY, destinationQp: RC }));
    expect(answers.map(({ aeth }) => aeth?.syndrome)).toEqual([
      SYNDROME.INVALID_REQUEST,
      SYNDROME.REMOTE_ACCESS_ERROR,
      SYNDROME.INVALID_REQUEST,
      SYNDROME.REMOTE_ACCESS_ERROR,
    ]);
    expect(rw(3)).toBe('write');
    expect(rnic.counters).toMatchObject({ alignment: 1, remoteKey: 1, dmaLength: 1, bounds: 1, write: 1 });
  });

  test('without somewhere to answer to works all the same', () => {
    const { rnic, rw, add } = setUp();
    rnic.onAnswer = null;
    expect([rw(0), rw(2), add(1), add(1)]).toEqual(['write', 'gap', 'fetchAdd', 'duplicate']);
    expect(rnic.counters).toMatchObject({ acknowledgements: 0, negativeAcknowledgements: 0 });
  });
});

/**
 * The plain good case as rnic-state.ts defines it, from nothing but the state's words: what an accelerator in WebAssembly does,
 * said once more in other words.
 */
class ReferenceAccelerator implements RnicAccelerator {
  runs = 0;
  readonly #state: Uint32Array;
  readonly #target: GuardedTarget;

  constructor(state: Uint32Array, target: GuardedTarget) {
    this.#state = state;
    this.#target = target;
  }

  run(bytes: Uint8Array, offsets: Uint32Array, lengths: Uint32Array, from: number, to: number): number {
    this.runs++;
    let row = from;
    while (row < to && this.#takes(bytes.subarray(offsets[row]!, offsets[row]! + lengths[row]!))) row++;
    return row;
  }

  #takes(frame: Uint8Array): boolean {
    const state = this.#state;
    if (frame[12] !== 8 || frame[13] !== 0 || frame[14] !== 0x45) return false;
    let packet: RocePacket;
    try {
      packet = decodeRoce(frame, 0, { verifyIcrc: state[STATE_WORD.CHECKS_ICRC] === 1 });
    } catch (error) {
      if (CodecError.is(error)) return false;
      throw error;
    }
    const { opcode, partitionKey, destinationQp, psn, reth, payload } = packet;
    if (opcode !== 0x2a || reth === null || (partitionKey & 0x7fff) !== (state[STATE_WORD.PARTITION_KEY]! & 0x7fff))
      return false;
    const pair = QUEUE_PAIRS_AT;
    const isNext =
      state[pair + QUEUE_PAIR_WORD.NUMBER] === destinationQp &&
      state[pair + QUEUE_PAIR_WORD.SERVICE] === 0 &&
      state[pair + QUEUE_PAIR_WORD.IS_SYNCHRONISED] === 1 &&
      state[pair + QUEUE_PAIR_WORD.STALE_RUN] === 0 &&
      state[pair + QUEUE_PAIR_WORD.EXPECTED] === psn;
    if (!isNext || state[STATE_WORD.QUEUE_PAIRS] !== 2 || state[STATE_WORD.REGIONS] !== 1) return false;
    const word = (at: number): bigint => BigInt(state[REGIONS_AT + at]!);
    if (reth.remoteKey !== state[REGIONS_AT + REGION_WORD.REMOTE_KEY] || word(REGION_WORD.CAN_WRITE) !== 1n)
      return false;
    const base = (word(REGION_WORD.BASE_HIGH) << 32n) | word(REGION_WORD.BASE_LOW);
    const size = (word(REGION_WORD.SIZE_HIGH) << 32n) | word(REGION_WORD.SIZE_LOW);
    const offset = BigInt.asUintN(64, reth.virtualAddress - base);
    if (reth.dmaLength === 0 || reth.dmaLength !== payload.length || offset + BigInt(payload.length) > size)
      return false;
    this.#target.writeBytes(Number(offset), payload, 0, payload.length);
    state[pair + QUEUE_PAIR_WORD.EXPECTED] = (psn + 1) & LAST;
    return true;
  }
}

describe('many frames at once', () => {
  const kinds = fc.constantFrom(
    'good',
    'good',
    'good',
    'good',
    'gap',
    'stale',
    'icrc',
    'address',
    'immediate',
    'add',
    'wide',
  );

  test('leave what one after the other leaves, with and without an accelerator for the plain good case', () => {
    fc.assert(
      fc.property(fc.array(kinds, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (drawn, step) => {
        const single = setUp();
        const batch = setUp();
        const accelerator = setUp();
        const reference = new ReferenceAccelerator(accelerator.rnic.state, accelerator.target);
        accelerator.rnic.useAccelerator(reference);
        const frames = new FrameRows(drawn.length, drawn.length * 150);
        let psn = 10;
        let atomicPsn = 0;
        drawn.forEach((kind, at) => {
          if (kind === 'gap') psn += 3;
          const address = kind === 'address' ? BASE + 60n : BASE + BigInt(at % 50);
          const more = kind === 'immediate' ? { opcode: ROCE_OPCODE.UC_WRITE_ONLY_IMMEDIATE, immediate: 1 } : {};
          const payload = new Uint8Array((at % 7) + 5).fill(at + 1);
          const six = kind === 'wide' ? { source: '2001:db8::1', destination: '2001:db8::2' } : {};
          const frame =
            kind === 'add'
              ? atomicFrame(RC_FETCH_ADD, atomicPsn++, { virtualAddress: BASE + 8n })
              : writeFrame(kind === 'stale' ? psn - 5 : psn, payload, { virtualAddress: address }, { ...more, ...six });
          if (kind === 'icrc') frame[60]! ^= 4;
          else if (kind !== 'stale' && kind !== 'add') psn++;
          frames.bytes.set(frame, frames.append(frame.length, 0));
        });
        let accepted = 0;
        for (let row = 0; row < frames.count; row++) {
          if (single.rnic.receive(frames.bytes, frames.offsets[row], frames.lengths[row]) < FIRST_REJECT) accepted++;
        }
        for (const { rnic } of [batch, accelerator]) {
          let taken = 0;
          for (let row = 0; row < frames.count; row += step) {
            const to = Math.min(row + step, frames.count);
            taken += rnic.receiveRows(frames.bytes, frames.offsets, frames.lengths, row, to);
          }
          expect(taken).toBe(accepted);
        }
        expect(reference.runs).toBeGreaterThan(0);
        for (const { rnic, target } of [batch, accelerator]) {
          expect(hexOf(target)).toBe(hexOf(single.target));
          expect(target.isIntact).toBe(true);
          expect(rnic.counters).toEqual(single.rnic.counters);
          expect(rnic.state.subarray(0, QUEUE_PAIRS_AT + 2 * ENTRY_WORDS)).toEqual(
            single.rnic.state.subarray(0, QUEUE_PAIRS_AT + 2 * ENTRY_WORDS),
          );
        }
      }),
      { numRuns: 100 },
    );
  });

  test('go to no accelerator any more once a region is bound to other memory', () => {
    const { rnic, target } = setUp({ expectedPsn: 0 });
    const accelerator = new ReferenceAccelerator(rnic.state, target);
    rnic.useAccelerator(accelerator);
    rnic.rebind(REMOTE_KEY, new GuardedTarget(64));
    const frame = writeFrame(0, Uint8Array.of(9));
    expect(rnic.receiveRows(frame, Uint32Array.of(0), Uint32Array.of(frame.length))).toBe(1);
    expect(accelerator.runs).toBe(0);
    expect(target.isUntouched).toBe(true);
  });
});

describe('an arena of frames', () => {
  test('says what fits, and has views of its packets', () => {
    const frames = new FrameRows(2, 10);
    expect(frames.hasRoom(2, 10)).toBe(true);
    expect(frames.hasRoom(3, 1) || frames.hasRoom(1, 11)).toBe(false);
    frames.bytes.fill(3, frames.append(4, 7), 4);
    expect(frames.packet(0)).toEqual(new Uint8Array(4).fill(3));
    expect(frames.collectors[0]).toBe(7);
    expect(() => frames.packet(1)).toThrow(RangeError);
    frames.clear();
    expect(frames.count + frames.used).toBe(0);
    expect(() => new FrameRows(-1, 1)).toThrow(RangeError);
    expect(() => new FrameRows(1, 0.5)).toThrow(RangeError);
  });
});
