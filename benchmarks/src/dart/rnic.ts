/** RoCEv2 frames in memory, and the software RNIC that takes them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { encodeRoce, ROCE_OPCODE } from '@int/codec';
import { AcceleratorRnic, type DartStore, SoftRnic } from '@int/dart';
import { cutChecksum, KeyHashes } from '@int/dart/internals';
import { BATCH, KEY_BYTES, mix32, putKey, putValue, SLOT_BYTES, VALUE_BYTES } from './workload.js';

const QUEUE_PAIR = 0x11;
const REMOTE_KEY = 0x1234_5678;
const BASE = 0x7f12_0000_0000n;
/** Frames begin at multiples of this. */
const ALIGNMENT = 4;

/** Frames one behind the other. */
export interface Frames {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
}

/** An RNIC whose only region is a store's slots, with the store's accelerator if it has one. */
export function makeRnic(store: DartStore): SoftRnic {
  const accelerator = store.accelerator === null ? null : new AcceleratorRnic(store.accelerator, [REMOTE_KEY]);
  const rnic = new SoftRnic({
    queuePairs: [{ number: QUEUE_PAIR, expectedPsn: 0 }],
    regions: [{ remoteKey: REMOTE_KEY, base: BASE, target: store }],
    ...(accelerator === null ? {} : { state: accelerator.state }),
  });
  rnic.useAccelerator(accelerator);
  return rnic;
}

/** The same frames in the memory of the store's accelerator. */
export function inPlace(store: DartStore, { bytes, offsets, lengths }: Frames): Frames {
  const { arena } = store.accelerator!.host;
  const rows = offsets.length;
  const placed = { bytes: arena.bytes(bytes.length), offsets: arena.words(rows), lengths: arena.words(rows) };
  placed.bytes.set(bytes);
  placed.offsets.set(offsets);
  placed.lengths.set(lengths);
  return placed;
}

/** Makes the RNIC take the first frame again. */
export function rewind(rnic: SoftRnic): void {
  rnic.expect(QUEUE_PAIR, 0);
}

/** The frames of switches that each send a report of a key of its own into one of its slots. */
export function makeFrames(store: DartStore, count: number): Frames {
  const { parameters } = store.hashes;
  const hashes = new KeyHashes(parameters);
  const key = new Uint8Array(KEY_BYTES);
  const payload = new Uint8Array(SLOT_BYTES);
  const view = new DataView(payload.buffer);
  const offsets = new Uint32Array(count);
  const lengths = new Uint32Array(count);
  let bytes = new Uint8Array(count * 128);
  let at = 0;
  for (let number = 0; number < count; number++) {
    putKey(key, 0, number);
    view.setUint32(0, cutChecksum(hashes.checksum(key, 0, KEY_BYTES), 32));
    putValue(payload, SLOT_BYTES - VALUE_BYTES, number);
    const slot = store.slotOf(key, mix32(number) % store.geometry.copies);
    const frame = encodeRoce(
      {
        ethernet: { destination: '02:00:00:00:00:01', source: '02:00:00:00:00:02' },
        source: '10.0.0.1',
        destination: '10.0.0.2',
        opcode: ROCE_OPCODE.UC_WRITE_ONLY,
        destinationQp: QUEUE_PAIR,
        psn: number & 0xffffff,
        payload,
        reth: {
          virtualAddress: BASE + BigInt(slot) * BigInt(SLOT_BYTES),
          remoteKey: REMOTE_KEY,
          dmaLength: SLOT_BYTES,
        },
      },
      bytes,
      at,
    );
    offsets[number] = at;
    lengths[number] = frame.length;
    at += Math.ceil(frame.length / ALIGNMENT) * ALIGNMENT;
  }
  bytes = bytes.slice(0, at);
  return { bytes, offsets, lengths };
}

/** The file format of `benchmarks/native/twins/dart_bench.c`. */
export function writeFrames(path: string, rnic: SoftRnic, frames: Frames): void {
  const { bytes, offsets, lengths } = frames;
  const parts = [Uint32Array.of(offsets.length, bytes.length), rnic.state, offsets, lengths, bytes];
  writeFileSync(
    path,
    Buffer.concat(parts.map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength))),
  );
}

export function readFrames(path: string, stateWords: number): Frames {
  const file = readFileSync(path);
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
  const [count, length] = new Uint32Array(bytes, 0, 2);
  const offsetsAt = 8 + stateWords * 4;
  return {
    offsets: new Uint32Array(bytes, offsetsAt, count),
    lengths: new Uint32Array(bytes, offsetsAt + count! * 4, count),
    bytes: new Uint8Array(bytes, offsetsAt + count! * 8, length),
  };
}

/** Gives all frames to the RNIC, a batch a call. @returns frames that it executed */
export function receiveAll(rnic: SoftRnic, { bytes, offsets, lengths }: Frames): number {
  let taken = 0;
  for (let from = 0; from < offsets.length; from += BATCH) {
    taken += rnic.receiveRows(bytes, offsets, lengths, from, Math.min(offsets.length, from + BATCH));
  }
  return taken;
}
