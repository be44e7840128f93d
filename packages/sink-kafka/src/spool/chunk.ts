import { crc32 } from 'node:zlib';
import { RECORD_KINDS } from '@int/collector';
import { MIN_SLAB_BYTES } from '../message/slab.js';
import { MESSAGE_STATE, Parcel, perKind, REPORTS } from '../parcel.js';

/**
 * How messages are kept in a spool: chunks one behind the other, each a header and a payload.
 *
 * Header, big-endian: `INTK`, format (4 bytes), bytes of the payload, number of messages, number of messages of each
 * kind, number of messages of each kind in all chunks before (8 bytes each, floating point), time of the earliest report in
 * ms (8, floating point; infinity: there is none), CRC-32 of the header up to here. Payload, for each message: CRC-32 of what follows of it, kind (1 byte), bytes of the key (2), bytes of the value
 * (4), hash of the partitioner (4), time in ms (8, floating point), key, value.
 */
export const CHUNK_HEADER = 64;
const EARLIEST = CHUNK_HEADER - 12;
const HEADER_CRC = CHUNK_HEADER - 4;
/** Limit of a chunk: a header with a larger length is invalid. */
const MAX_CHUNK = 2 ** 30 + 2 ** 24;
const MAGIC = 0x494e_544b;
const FORMAT = 2;
const MESSAGE_HEADER = 23;
/** Bytes of sums that finding sound messages among damaged ones may cost, for each byte of the payload. */
const EFFORT = 64;

export interface ChunkHeader {
  /** Bytes of the payload. */
  readonly payload: number;
  readonly messages: number;
  /** Messages by number of the kind. */
  readonly counts: readonly number[];
  /** Messages of all chunks before it, by number of the kind. */
  readonly before: readonly number[];
  /** Time of the earliest report, in milliseconds; infinity: there is none. */
  readonly earliestMs: number;
}

/**
 * Writes messages of a parcel that are not settled as a chunk.
 * @param from first row
 * @param before messages of all chunks before it, by number of the kind
 * @param into what an earlier call returned, to be written over if it is long enough
 * @returns a chunk, a view if `into` was used; null if there are no such messages
 */
export function encodeChunk(
  { slab, state }: Parcel,
  from: number,
  before: ArrayLike<number>,
  into: Buffer | null,
): Buffer | null {
  let bytes = CHUNK_HEADER;
  for (let row = from; row < slab.count; row++) {
    if (state[row] === MESSAGE_STATE.SETTLED) continue;
    bytes += MESSAGE_HEADER + slab.keyEnd[row]! - slab.keyStart[row]! + slab.valueEnd[row]! - slab.valueStart[row]!;
  }
  if (bytes === CHUNK_HEADER) return null;
  const chunk = into !== null && into.length >= bytes ? into.subarray(0, bytes) : Buffer.allocUnsafeSlow(bytes);
  const counts = new Uint32Array(RECORD_KINDS.length);
  let messages = 0;
  let earliestMs = Number.POSITIVE_INFINITY;
  let at = CHUNK_HEADER;
  for (let row = from; row < slab.count; row++) {
    if (state[row] === MESSAGE_STATE.SETTLED) continue;
    const key = slab.key(row);
    const value = slab.value(row);
    const end = at + MESSAGE_HEADER + key.length + value.length;
    chunk[at + 4] = slab.kind[row]!;
    chunk.writeUInt16BE(key.length, at + 5);
    chunk.writeUInt32BE(value.length, at + 7);
    chunk.writeUInt32BE(slab.partitionHash[row]!, at + 11);
    chunk.writeDoubleBE(slab.timeMs[row]!, at + 15);
    chunk.set(key, at + MESSAGE_HEADER);
    chunk.set(value, at + MESSAGE_HEADER + key.length);
    chunk.writeUInt32BE(crc32(chunk.subarray(at + 4, end)), at);
    at = end;
    counts[slab.kind[row]!]!++;
    if (slab.kind[row] === REPORTS && slab.timeMs[row]! < earliestMs) earliestMs = slab.timeMs[row]!;
    messages += 1;
  }
  chunk.writeUInt32BE(MAGIC, 0);
  chunk.writeUInt32BE(FORMAT, 4);
  chunk.writeUInt32BE(bytes - CHUNK_HEADER, 8);
  chunk.writeUInt32BE(messages, 12);
  RECORD_KINDS.forEach((_, kind) => {
    chunk.writeUInt32BE(counts[kind]!, 16 + 4 * kind);
    chunk.writeDoubleBE(before[kind]!, 28 + 8 * kind);
  });
  chunk.writeDoubleBE(earliestMs, EARLIEST);
  chunk.writeUInt32BE(crc32(chunk.subarray(0, HEADER_CRC)), HEADER_CRC);
  return chunk;
}

/** Reads a header. @returns null if there is none at `at` */
export function decodeHeader(bytes: Buffer, at = 0): ChunkHeader | null {
  if (at + CHUNK_HEADER > bytes.length || bytes.readUInt32BE(at) !== MAGIC) return null;
  if (bytes.readUInt32BE(at + HEADER_CRC) !== crc32(bytes.subarray(at, at + HEADER_CRC))) return null;
  if (bytes.readUInt32BE(at + 4) !== FORMAT) return null;
  const payload = bytes.readUInt32BE(at + 8);
  const messages = bytes.readUInt32BE(at + 12);
  if (payload > MAX_CHUNK - CHUNK_HEADER || messages === 0 || messages * MESSAGE_HEADER > payload) return null;
  const counts = RECORD_KINDS.map((_, kind) => bytes.readUInt32BE(at + 16 + 4 * kind));
  if (counts.reduce((sum, count) => sum + count) !== messages) return null;
  const before = RECORD_KINDS.map((_, kind) => bytes.readDoubleBE(at + 28 + 8 * kind));
  return { payload, messages, counts, before, earliestMs: bytes.readDoubleBE(at + EARLIEST) };
}

/** Finds the next header. @returns its place; -1: there is none */
export function findHeader(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf('INTK', from, 'latin1'); at >= 0; at = bytes.indexOf('INTK', at + 1, 'latin1')) {
    if (decodeHeader(bytes, at) !== null) return at;
  }
  return -1;
}

/** The messages of one or more chunks. */
export class ChunkReader {
  readonly #parcel: Parcel;
  /** Bytes that are no sound message. */
  damagedBytes = 0;

  /** @param messages room for so many @param bytes room for payloads of so many together */
  constructor(messages: number, bytes: number) {
    this.#parcel = new Parcel({ messages, bytes: Math.max(bytes, MIN_SLAB_BYTES) });
  }

  /** The messages taken; none of them is settled. */
  finish(): Parcel {
    this.#parcel.begin();
    return this.#parcel;
  }

  /**
   * Takes the intact messages of a chunk, and skips damaged bytes between them.
   * @param bytes its payload, or as much as there is of it
   * @returns messages of the chunk that are not, by number of the kind
   */
  take({ counts, messages }: ChunkHeader, bytes: Buffer): Float64Array {
    const lost = perKind();
    for (let kind = 0; kind < lost.length; kind++) lost[kind] = counts[kind]!;
    let taken = 0;
    let effort = EFFORT * bytes.length;
    let at = 0;
    while (at < bytes.length && taken < messages && effort > 0) {
      const end = messageEnd(bytes, at);
      const isSound = end > 0 && bytes.readUInt32BE(at) === crc32(bytes.subarray(at + 4, end));
      effort -= end > 0 ? end - at : 1;
      if (!isSound) {
        this.damagedBytes += 1;
        at += 1;
        continue;
      }
      this.#append(bytes, at, end);
      lost[bytes[at + 4]!]!--;
      taken += 1;
      at = end;
    }
    this.damagedBytes += bytes.length - at;
    return lost;
  }

  #append(bytes: Buffer, at: number, end: number): void {
    const { slab } = this.#parcel;
    const row = slab.count;
    const key = at + MESSAGE_HEADER;
    slab.kind[row] = bytes[at + 4]!;
    slab.partitionHash[row] = bytes.readUInt32BE(at + 11);
    slab.timeMs[row] = bytes.readDoubleBE(at + 15);
    slab.bytes.set(bytes.subarray(key, end), slab.used);
    slab.keyStart[row] = slab.used;
    slab.keyEnd[row] = slab.used + bytes.readUInt16BE(at + 5);
    slab.valueStart[row] = slab.keyEnd[row]!;
    slab.used += end - key;
    slab.valueEnd[row] = slab.used;
    slab.count = row + 1;
  }
}

/** Where a message at `at` would end; -1: there can be none. */
function messageEnd(bytes: Buffer, at: number): number {
  if (at + MESSAGE_HEADER > bytes.length || bytes[at + 4]! >= RECORD_KINDS.length) return -1;
  const end = at + MESSAGE_HEADER + bytes.readUInt16BE(at + 5) + bytes.readUInt32BE(at + 7);
  return end > bytes.length ? -1 : end;
}
