import { RECORD_KINDS } from '@int/collector';
import { crc32c } from '@platformatic/kafka';
import { MIN_SLAB_BYTES } from '../message/slab.js';
import { MESSAGE_STATE, Parcel } from '../parcel.js';

/**
 * How messages are kept in a spool: chunks one behind the other, each a header and a payload.
 *
 * Header, big-endian: `INTK`, format (4 bytes), bytes of the payload, CRC-32C of the payload, number of messages, number
 * of messages of each kind, CRC-32C of the header up to here. Payload, for each message: kind (1 byte), bytes of the key
 * (2), bytes of the value (4), hash of the partitioner (4), time in ms (8, floating point), key, value.
 */
export const CHUNK_HEADER = 44;
/** A chunk cannot be longer: what says so is not a header. */
const MAX_CHUNK = 2 ** 30 + 2 ** 24;
/** What a header begins with. */
export const MAGIC = 0x494e_544b;
const FORMAT = 2;
const MESSAGE_HEADER = 19;

/** What a header says. */
export interface ChunkHeader {
  /** Bytes of the payload. */
  readonly payload: number;
  readonly crc: number;
  readonly messages: number;
  /** Messages by number of the kind. */
  readonly counts: readonly number[];
  /** Time of the earliest report, in milliseconds; infinity: there is none. */
  readonly earliestMs: number;
}

/**
 * Writes the messages of a parcel that are not settled as a chunk.
 * @param into what an earlier call returned, to be written over if it is long enough
 * @returns a chunk; a view if `into` was used
 */
export function encodeChunk({ slab, state, earliestMs }: Parcel, into: Buffer | null): Buffer {
  let bytes = CHUNK_HEADER;
  for (let row = 0; row < slab.count; row++) {
    if (state[row] === MESSAGE_STATE.SETTLED) continue;
    bytes += MESSAGE_HEADER + slab.keyEnd[row]! - slab.keyStart[row]! + slab.valueEnd[row]! - slab.valueStart[row]!;
  }
  const chunk = into !== null && into.length >= bytes ? into.subarray(0, bytes) : Buffer.allocUnsafeSlow(bytes);
  const counts = new Uint32Array(RECORD_KINDS.length);
  let messages = 0;
  let at = CHUNK_HEADER;
  for (let row = 0; row < slab.count; row++) {
    if (state[row] === MESSAGE_STATE.SETTLED) continue;
    const key = slab.key(row);
    const value = slab.value(row);
    chunk[at] = slab.kind[row]!;
    chunk.writeUInt16BE(key.length, at + 1);
    chunk.writeUInt32BE(value.length, at + 3);
    chunk.writeUInt32BE(slab.partitionHash[row]!, at + 7);
    chunk.writeDoubleBE(slab.timeMs[row]!, at + 11);
    chunk.set(key, at + MESSAGE_HEADER);
    chunk.set(value, at + MESSAGE_HEADER + key.length);
    at += MESSAGE_HEADER + key.length + value.length;
    counts[slab.kind[row]!]!++;
    messages += 1;
  }
  chunk.writeUInt32BE(MAGIC, 0);
  chunk.writeUInt32BE(FORMAT, 4);
  chunk.writeUInt32BE(bytes - CHUNK_HEADER, 8);
  chunk.writeUInt32BE(crc32c(chunk.subarray(CHUNK_HEADER)) >>> 0, 12);
  chunk.writeUInt32BE(messages, 16);
  counts.forEach((count, kind) => {
    chunk.writeUInt32BE(count, 20 + 4 * kind);
  });
  chunk.writeDoubleBE(earliestMs, 32);
  chunk.writeUInt32BE(crc32c(chunk.subarray(0, 40)) >>> 0, 40);
  return chunk;
}

/**
 * Reads a header.
 * @param bytes at least {@link CHUNK_HEADER} bytes
 * @returns null if it is none
 */
export function decodeHeader(bytes: Buffer): ChunkHeader | null {
  if (bytes.length < CHUNK_HEADER || bytes.readUInt32BE(0) !== MAGIC || bytes.readUInt32BE(4) !== FORMAT) return null;
  if (bytes.readUInt32BE(40) !== crc32c(bytes.subarray(0, 40)) >>> 0) return null;
  const payload = bytes.readUInt32BE(8);
  if (payload > MAX_CHUNK - CHUNK_HEADER) return null;
  const counts = RECORD_KINDS.map((_, kind) => bytes.readUInt32BE(20 + 4 * kind));
  return {
    payload,
    crc: bytes.readUInt32BE(12),
    messages: bytes.readUInt32BE(16),
    counts,
    earliestMs: bytes.readDoubleBE(32),
  };
}

/**
 * Reads the messages of a chunk.
 * @param payload the bytes behind the header
 * @returns a parcel with them, of which none is settled; null if the bytes are not what the header says
 */
export function decodePayload(header: ChunkHeader, payload: Buffer): Parcel | null {
  const { messages } = header;
  if (payload.length !== header.payload || crc32c(payload) >>> 0 !== header.crc) return null;
  if (messages < 1 || messages > payload.length / MESSAGE_HEADER) return null;
  const parcel = new Parcel({ messages, bytes: Math.max(payload.length, MIN_SLAB_BYTES) });
  const { slab } = parcel;
  let at = 0;
  for (let row = 0; row < messages; row++) {
    if (at + MESSAGE_HEADER > payload.length) return null;
    const kind = payload[at]!;
    const key = at + MESSAGE_HEADER;
    const value = key + payload.readUInt16BE(at + 1);
    const end = value + payload.readUInt32BE(at + 3);
    if (kind >= RECORD_KINDS.length || end > payload.length) return null;
    slab.kind[row] = kind;
    slab.keyStart[row] = key;
    slab.keyEnd[row] = value;
    slab.valueStart[row] = value;
    slab.valueEnd[row] = end;
    slab.partitionHash[row] = payload.readUInt32BE(at + 7);
    slab.timeMs[row] = payload.readDoubleBE(at + 11);
    at = end;
  }
  if (at !== payload.length) return null;
  slab.bytes.set(payload);
  slab.used = payload.length;
  slab.count = messages;
  parcel.begin();
  return parcel;
}
