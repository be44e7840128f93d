/** Reports as datagrams: what a switch sends over UDP, and to Kafka as values. */
import { encodeRoce, ROCE_OPCODE } from '@int/codec';
import type { DartStore } from '@int/dart';
import type { Frames } from '../dart/rnic.js';
import { KEY_BYTES, mix32, putKey } from '../dart/workload.js';

export const QUEUE_PAIR = 0x11;
export const REMOTE_KEY = 0x1234_5678;
const BASE = 0x7f12_0000_0000n;
const ADDRESS = '127.0.0.1';
/** BTH, RETH and iCRC: the rest of a datagram is a slot. */
const HEADER_BYTES = 12 + 16 + 4;
const ETHERNET_BYTES = 14;
const IP_BYTES = 28;
const CHECKSUM_BYTES = 4;
/** Different datagrams; they are sent again and again. */
const DIFFERENT = 65_536;

export interface Ports {
  readonly source: number;
  readonly destination: number;
}

/** Bytes of a slot that a datagram of a size carries. */
function slotBytes(size: number): number {
  return size - HEADER_BYTES;
}

export function valueBytes(size: number): number {
  return slotBytes(size) - CHECKSUM_BYTES;
}

/** For a `SoftRnic` whose region is the slots of the store. */
export function rnicOptions(store: DartStore): {
  queuePairs: { number: number }[];
  regions: { remoteKey: number; base: bigint; target: DartStore }[];
} {
  return {
    queuePairs: [{ number: QUEUE_PAIR }],
    regions: [{ remoteKey: REMOTE_KEY, base: BASE, target: store }],
  };
}

/** RoCEv2 frames, each with a report of another key for a random one of the slots. */
export function makeFrames(size: number, slots: number, ports: Ports): Frames {
  const frameBytes = ETHERNET_BYTES + IP_BYTES + size;
  const stride = Math.ceil(frameBytes / 4) * 4;
  const bytes = new Uint8Array(DIFFERENT * stride);
  const offsets = Uint32Array.from({ length: DIFFERENT }, (_, k) => k * stride);
  const payload = new Uint8Array(slotBytes(size));
  for (let number = 0; number < DIFFERENT; number++) {
    putKey(payload, 0, number);
    const slot = Math.floor((mix32(number + 1) / 2 ** 32) * slots);
    encodeRoce(
      {
        ethernet: { destination: '02:00:00:00:00:01', source: '02:00:00:00:00:02' },
        source: ADDRESS,
        destination: ADDRESS,
        sourcePort: ports.source,
        destinationPort: ports.destination,
        opcode: ROCE_OPCODE.UC_WRITE_ONLY,
        destinationQp: QUEUE_PAIR,
        psn: number,
        payload,
        reth: {
          virtualAddress: BASE + BigInt(slot) * BigInt(payload.length),
          remoteKey: REMOTE_KEY,
          dmaLength: payload.length,
        },
      },
      bytes,
      offsets[number],
    );
  }
  return { bytes, offsets, lengths: new Uint32Array(DIFFERENT).fill(frameBytes) };
}

/** The same as datagrams. */
export function makeDatagrams(size: number, slots: number, ports: Ports): Uint8Array[] {
  const { bytes, offsets } = makeFrames(size, slots, ports);
  return Array.from(offsets, (offset) => {
    const at = offset + ETHERNET_BYTES + IP_BYTES;
    return bytes.subarray(at, at + size);
  });
}

/** Decoded reports: rows of keys and values. */
export function makeRows(size: number): {
  keys: { bytes: Uint8Array; offsets: Uint32Array; lengths: Uint32Array };
  values: Uint8Array;
} {
  const keys = {
    bytes: new Uint8Array(DIFFERENT * KEY_BYTES),
    offsets: Uint32Array.from({ length: DIFFERENT }, (_, row) => row * KEY_BYTES),
    lengths: new Uint32Array(DIFFERENT).fill(KEY_BYTES),
  };
  for (let row = 0; row < DIFFERENT; row++) putKey(keys.bytes, row * KEY_BYTES, row);
  return { keys, values: new Uint8Array(DIFFERENT * valueBytes(size)).fill(1) };
}
