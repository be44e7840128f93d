/** What the tests of the wire share: a store in guarded memory, a writer to it, and packets with anything changed. */
import { encodeRoce, ROCE_OPCODE, type RoceFields } from '@int/codec';
import { DartStore, type RdmaCollector, type RdmaTarget, RdmaWriter, type RdmaWriterOptions } from '@int/dart';
import { hashParameters, KeyHashes } from '@int/dart/internals';

export const SEED = Number(process.env.INT_SEED ?? 20_250_705);
export const BASE = 0x7f12_3456_0040n;
export const REMOTE_KEY = 0x9a2b_3c4d;
export const UC = 0x112;
export const RC = 0x113;
export const COUNTERS_KEY = 0x77;
export const COUNTERS_BASE = 0x10_0000n;

export const HASHES = new KeyHashes(hashParameters('xxhash', 7));

export function storeOf(slots: number, valueBytes = 20, copies = 2, checksumBits = 32): DartStore {
  return new DartStore({ slots, valueBytes, copies, checksumBits, seed: 7, engine: 'plain' });
}

export function collectorOf(store: DartStore, more: Partial<RdmaCollector> = {}): RdmaCollector {
  return {
    id: 0,
    address: '10.0.2.2',
    port: 4791,
    queuePair: UC,
    atomicQueuePair: RC,
    remoteKey: REMOTE_KEY,
    base: BASE,
    slots: store.geometry.slots,
    ...more,
  };
}

export function writerTo(store: DartStore, more: Partial<RdmaWriterOptions> = {}): RdmaWriter {
  const { geometry, hashes } = store;
  return new RdmaWriter({ geometry, hashes, collectors: [collectorOf(store)], source: '10.0.1.1', ...more });
}

/** All bytes of a target. */
export function bytesOf(target: RdmaTarget): Uint8Array {
  return new Uint8Array(Buffer.concat(target.pieces));
}

/** The same as text, which is compared faster. */
export function hexOf(target: RdmaTarget): string {
  return Buffer.concat(target.pieces).toString('hex');
}

const GUARD_BYTE = 0xa7;
const GUARD = 256;
const GUARDS = Buffer.alloc(GUARD, GUARD_BYTE);

/** Memory with guard bytes on both sides, which only tell whether the middle was left. */
export class GuardedTarget implements RdmaTarget {
  readonly byteLength: number;
  readonly pieces: readonly Uint8Array[];
  readonly #all: Uint8Array;
  readonly #view: DataView;

  constructor(byteLength: number) {
    this.byteLength = byteLength;
    this.#all = new Uint8Array(byteLength + 2 * GUARD).fill(GUARD_BYTE);
    this.#all.fill(0, GUARD, GUARD + byteLength);
    this.#view = new DataView(this.#all.buffer);
    this.pieces = [this.#all.subarray(GUARD, GUARD + byteLength)];
  }

  /** Without any check: what the RNIC lets pass, happens. */
  writeBytes(offset: number, source: Uint8Array, from: number, length: number): void {
    for (let at = 0; at < length; at++) this.#all[GUARD + offset + at] = source[from + at]!;
  }

  compareSwap(offset: number, compare: bigint, swap: bigint): bigint {
    const before = this.#view.getBigUint64(GUARD + offset, true);
    if (before === compare) this.#view.setBigUint64(GUARD + offset, swap, true);
    return before;
  }

  fetchAdd(offset: number, add: bigint): bigint {
    const before = this.#view.getBigUint64(GUARD + offset, true);
    this.#view.setBigUint64(GUARD + offset, before + add, true);
    return before;
  }

  get isIntact(): boolean {
    const behind = GUARD + this.byteLength;
    return GUARDS.equals(this.#all.subarray(0, GUARD)) && GUARDS.equals(this.#all.subarray(behind));
  }

  get isUntouched(): boolean {
    return this.isIntact && this.pieces[0]!.every((byte) => byte === 0);
  }

  clear(): void {
    this.#all.fill(0, GUARD, GUARD + this.byteLength);
  }
}

const ENDS = { source: '10.0.1.1', destination: '10.0.2.2' };
export const MACS = { source: '02:00:00:00:00:01', destination: '02:00:00:00:00:02' };

/** An RDMA WRITE frame to the UC queue pair, in which anything can be another. */
export function writeFrame(
  psn: number,
  payload: Uint8Array,
  reth: Partial<{ virtualAddress: bigint; remoteKey: number; dmaLength: number }> = {},
  more: Partial<RoceFields> = {},
): Uint8Array {
  return encodeRoce({
    ...ENDS,
    ethernet: MACS,
    opcode: ROCE_OPCODE.UC_WRITE_ONLY,
    destinationQp: UC,
    psn,
    reth: { virtualAddress: BASE, remoteKey: REMOTE_KEY, dmaLength: payload.length, ...reth },
    payload,
    ...more,
  });
}

/** An atomic to the RC queue pair. */
export function atomicFrame(
  opcode: number,
  psn: number,
  atomicEth: Partial<{ virtualAddress: bigint; remoteKey: number; swapOrAdd: bigint; compare: bigint }> = {},
  more: Partial<RoceFields> = {},
): Uint8Array {
  return encodeRoce({
    ...ENDS,
    ethernet: MACS,
    opcode,
    destinationQp: RC,
    psn,
    acknowledgeRequest: true,
    atomicEth: { virtualAddress: BASE, remoteKey: REMOTE_KEY, swapOrAdd: 1n, compare: 0n, ...atomicEth },
    ...more,
  });
}
